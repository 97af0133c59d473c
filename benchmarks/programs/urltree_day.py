"""Send a day of a stream through URL Tree, 100,000 documents if no number is given:
`python -m benchmarks.programs.urltree_day [DOCUMENTS]`.

Five domains publish all day, each more than a window holds: pages of 150 blocks, of which 80 are their domain's
template, 20 a list of the latest stories, and 50 their own, of a dozen invented words each. They come as HTML, and are
parsed, made into keys and labelled. Prints a line for every twentieth of the day: what the process holds in memory,
what the trees hold, and how long the documents took. Ends with 1 if memory grew by more than a tenth behind the
warm-up, which ends when all windows are full and have once thrown out what nobody holds.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import psutil

from dbce_spark import config
from dbce_spark.html.page import parse
from dbce_spark.streaming.urltree import urltree_settings
from dbce_spark.streaming.urltree.blocks import block_keys
from dbce_spark.streaming.urltree.domain_tree import Document, DomainTree
from dbce_spark.streaming.urltree.url_keys import url_key
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

DOMAINS = 5
DAY = 86_400_000_000
"""Microseconds."""
LINES = 20
WARM = 0.75
"""Share of the day behind which memory has to be flat: windows are full at half of it, and blocks that nobody holds are
thrown out for the first time, which takes room, at seven tenths."""
GROWTH = 1.1
"""Blocks that nobody holds any more come and go: up to a third of the others, 8 % of memory."""
TEMPLATE, LATEST, OWN = 80, 20, 50
"""Blocks of a page."""
BLOCK = 12
"""Words of a block."""
_WORDS = np.array(["".join(letters) for letters in product("bdklmnrst", "aeiou", "bdklmnrst", "aeio")])


@dataclass(frozen=True, slots=True)
class Mark:
    """The state after a number of documents."""

    documents: int
    resident: int  # bytes of the process
    held: int  # documents in all windows
    blocks: int  # numbered in all vocabularies
    parsing: float  # seconds of CPU since the mark before, until blocks had keys
    trees: float  # and those in trees

    def __str__(self) -> str:
        return (
            f"{self.documents:>7,} documents  {self.resident / 2**20:6.1f} MB  {self.held:>6,} held"
            f"  {self.blocks:>9,} blocks  parsing {self.parsing:6.1f} s  trees {self.trees:6.1f} s"
        )


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


def marks(documents: int, parameters: UrlTreeConfig) -> Iterator[Mark]:
    """Play a day of `documents` documents, marked LINES times."""
    sites = [Site(f"site{at}.eu", seed=at) for at in range(DOMAINS)]
    trees = [DomainTree(site.name, parameters) for site in sites]
    process, pages = psutil.Process(), config.default().page
    parsing = in_trees = 0.0
    for at in range(documents):
        number, place = divmod(at, DOMAINS)
        url, html = sites[place].page(number)
        began = time.process_time()
        parsed = parse(html, "utf-8", pages)
        document = Document(
            document_id=f"{number:032x}",
            url_key=url_key(url, parsed.declared.title, parameters.keys.rules),
            timestamp=at * DAY // documents,
            keys=block_keys(parsed.blocks, parameters.blocks.hash),
        )
        has_keys = time.process_time()
        trees[place].add(document)
        parsing, in_trees = parsing + has_keys - began, in_trees + time.process_time() - has_keys
        if (at + 1) % (documents // LINES) == 0:
            yield Mark(
                documents=at + 1,
                resident=process.memory_info().rss,
                held=sum(map(len, trees)),
                blocks=sum(tree.blocks for tree in trees),
                parsing=parsing,
                trees=in_trees,
            )
            parsing = in_trees = 0.0


def main(documents: int) -> int:
    """Play the day; return 1 if memory grew after the warm-up."""
    seen = []
    for mark in marks(documents, urltree_settings.load()):
        print(mark, flush=True)
        seen.append(mark)
    warm = [mark.resident for mark in seen if mark.documents >= WARM * documents]
    parsing, trees = (sum(getattr(mark, name) for mark in seen) for name in ("parsing", "trees"))
    print(f"{documents / (parsing + trees):,.0f} documents/s of CPU, {documents / trees:,.0f} through trees alone")
    print(f"behind the warm-up: {min(warm) / 2**20:.1f} to {max(warm) / 2**20:.1f} MB")
    return int(max(warm) > GROWTH * warm[0])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
