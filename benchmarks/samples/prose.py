"""Invented text: sentences from shapes whose slots are filled from word lists."""

import re
from collections.abc import Mapping, Sequence
from random import Random

SLOT = re.compile(r"\{(\w+)\}|\[([^]]+)\]")
"""A hole: {word list}, or [one|of|these]."""
COMMONEST = 3
"""The odds of the first word of a list over the last ones (ranks fall off by Zipf's law)."""

FILLINGS = 40
"""The number of phrases that are made of a list entry with holes."""


class Shape:
    """A text with holes, ready to be filled."""

    __slots__ = ("_format", "_pools")

    def __init__(self, text: str, pools: Mapping[str, Sequence[str]]) -> None:
        self._format = SLOT.sub("%s", text.replace("%", "%%"))
        found = [pools[name] if name else choices.split("|") for name, choices in SLOT.findall(text)]
        self._pools = [(pool, len(pool)) for pool in found]

    def fill(self, dice: Random) -> str:
        random = dice.random
        return self._format % tuple([pool[int(random() * size)] for pool, size in self._pools])


class Register:
    """One way of writing in one language: its sentences, its headlines, and the gap between two sentences."""

    def __init__(
        self, pools: Mapping[str, Sequence[str]], *, sentences: Sequence[str], headlines: Sequence[str], gap: str
    ) -> None:
        drawn: dict[str, tuple[str, ...]] = {}
        for name in sorted(pools, key=lambda name: _depth(name, pools)):
            drawn[name] = _filled(name, pools[name], drawn)
        self._sentences = [Shape(text, drawn) for text in sentences]
        self._headlines = [Shape(text, drawn) for text in headlines]
        self._gap = gap

    def headline(self, dice: Random) -> str:
        return _capital(dice.choice(self._headlines).fill(dice))

    def sentence(self, dice: Random) -> str:
        return _capital(self._sentences[int(dice.random() * len(self._sentences))].fill(dice))

    def paragraph(self, dice: Random, sentences: int) -> str:
        return self._gap.join([self.sentence(dice) for _ in range(sentences)])

    def paragraphs(self, dice: Random, count: int) -> list[str]:
        """Draw `count` paragraphs of one to seven sentences, short ones more often."""
        return [self.paragraph(dice, 1 + int(7 * dice.random() ** 1.5)) for _ in range(count)]


def length(dice: Random, shortest: int, longest: int) -> int:
    """Draw a length: mostly near `shortest`, seldom near `longest`."""
    return shortest + int((longest - shortest + 1) * dice.random() ** 2.5)


def _capital(text: str) -> str:
    """Return the text with a capital first letter, also after an opening quotation mark."""
    first = 1 if text[0] in "“„«" else 0
    return text[:first] + text[first].upper() + text[first + 1 :]


def _depth(name: str, pools: Mapping[str, Sequence[str]]) -> int:
    """Measure how deep the lists are nested that a list's entries name; a list may not name itself."""
    named = {slot for entry in pools[name] for slot, _ in SLOT.findall(entry) if slot}
    return 1 + max((_depth(other, pools) for other in named), default=0)


def _filled(name: str, pool: Sequence[str], drawn: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Fill the entries to draw from: the first words repeated, so that a uniform draw gives natural frequencies, and
    every entry with holes replaced by fillings of it, so that phrases do not come back word for word on every page."""
    dice = Random(name)
    fillings = FILLINGS if any(SLOT.search(entry) for entry in pool) else 1
    return tuple(
        Shape(entry, drawn).fill(dice)
        for rank, entry in enumerate(pool)
        for _ in range(max(1, COMMONEST // (rank + 1)) * fillings)
    )
