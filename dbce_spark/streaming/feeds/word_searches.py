"""Searches for words that are drawn from a list, as feeds of the pages that a search engine finds.

A few words of a field and a search engine give a corpus of it: pages on which several of them stand together (BootCaT:
Baroni and Bernardini, LREC 2004). Engines that answer with RSS or Atom, such as SearXNG, are feeds like others.
"""

import random
from collections.abc import Iterable, Sequence
from math import comb
from urllib.parse import quote_plus

from dbce_spark.errors import InputError

WORDS = "{words}"
"""The place of the words in the address of a search."""


def draw(words: Iterable[str], searches: int, words_a_search: int, seed: int) -> list[tuple[str, ...]]:
    """Draw so many different sets of words, or all there are if these are fewer; the same seed draws the same.

    Raises:
        InputError: there are fewer words than a search has.
    """
    known = sorted(dict.fromkeys(words))
    if len(known) < words_a_search:
        raise InputError(
            f"{len(known)} different seed words are too few for searches of {words_a_search}; give more, or set"
            " acquire.words_a_search"
        )
    dice = random.Random(seed)
    wanted = min(searches, comb(len(known), words_a_search))
    drawn: dict[tuple[str, ...], None] = {}
    while len(drawn) < wanted:
        drawn[tuple(sorted(dice.sample(known, words_a_search)))] = None
    return [*drawn]


def addresses(template: str, drawn: Sequence[Sequence[str]]) -> list[str]:
    """Write the address of each search; words with a space between them are searched for as a phrase.

    Raises:
        InputError: the template has no place for words.
    """
    if WORDS not in template:
        raise InputError(f"--search {template}: write {WORDS} where the words belong, as in https://...?q={WORDS}")
    return [template.replace(WORDS, quote_plus(" ".join(map(_phrase, words)))) for words in drawn]


def _phrase(words: str) -> str:
    return f'"{words}"' if " " in words else words
