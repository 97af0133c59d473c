"""A day on which five domains publish, each more than a window holds, and what a process held on it.

Pages have 150 blocks, of which 80 are their domain's template, 20 a list of the latest stories, and 50 their own, of a
dozen invented words each.
"""

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

DOMAINS = 5
DAY = 86_400_000_000
"""Microseconds."""
LINES = 20
GROWTH = 1.1
"""Blocks that nobody holds any more come and go: up to a third of the others, 8 % of memory."""
TEMPLATE, LATEST, OWN = 80, 20, 50
"""Blocks of a page."""
BLOCK = 12
"""Words of a block."""
_WORDS = np.array(["".join(letters) for letters in product("bdklmnrst", "aeiou", "bdklmnrst", "aeio")])


class Site:
    """A domain that publishes: each page in a section of ten days, under a name of its own."""

    def __init__(self, name: str, seed: int):
        self.name = name
        self._random = np.random.default_rng(seed)
        self._template, self._latest = self._texts(TEMPLATE), self._texts(LATEST)

    def page(self, number: int) -> tuple[str, bytes]:
        """Make the URL and the HTML of the page of this number. Its heading joins the list of the latest, and the
        oldest leaves it."""
        heading, *own = self._texts(1 + OWN)
        self._latest = [*self._latest[1:], heading]
        url = f"http://www.{self.name}/{'abcdefg'[number % 7]}/2011/{number // 1000}/a-story-of-the-day-{number}.html"
        lists = "".join(f"<ul>{''.join(f'<li>{text}' for text in one)}</ul>" for one in (self._template, self._latest))
        body = "".join(f"<p>{text}</p>" for text in own)
        parts = f"<nav>{lists}</nav><main><div>{body}</div></main>"
        return url, f"<html><head><title>{heading}</title></head><body>{parts}</body></html>".encode()

    def _texts(self, blocks: int) -> list[str]:
        return [" ".join(words) for words in _WORDS[self._random.integers(0, len(_WORDS), (blocks, BLOCK))]]


def play(marks: Iterable[Any], documents: int, warm: float, parts: tuple[str, str], where: str) -> int:
    """Print the marks of a day, and the documents a second; return 1 if memory grew after the warm-up, a share of the
    day. parts: the two fields of a mark that have seconds; where: what the second of them were spent in."""
    seen = []
    for mark in marks:
        print(mark, flush=True)
        seen.append(mark)
    resident = [mark.resident for mark in seen if mark.documents >= warm * documents]
    before, inside = (sum(getattr(mark, name) for mark in seen) for name in parts)
    print(f"{documents / (before + inside):,.0f} documents/s of CPU, {documents / inside:,.0f} {where} alone")
    print(f"behind the warm-up: {min(resident) / 2**20:.1f} to {max(resident) / 2**20:.1f} MB")
    return int(max(resident) > GROWTH * resident[0])
