"""Words in the names of classes and ids, and what they say of the text below: learned on many sites, listed by no one.

A word counts if it stands on pages of many hosts (`evaluation/training/word_weights.py`). It has two weights, in steps
of log-odds: for text anywhere below an element that is named by it, and for text that no other named element is nearer
to. `mainMenu` holds the words "main" and "menu", as does `main-menu`.
"""

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
import xxhash

from dbce_spark.dbce.classifier import slot_keys
from dbce_spark.dbce.classifier.features import Columns
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.dbce.classifier.slot_keys import doubled
from dbce_spark.html.page_walk import SlotName
from dbce_spark.model import Numbers

LOG_ODDS_STEPS = 64
"""Steps of a weight in one unit of log-odds."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LENGTHS = range(2, 21)
"""Letters of the words that are looked at."""
_CLASS_AND_ID = slice(1, 3)
_PACKED = struct.Struct("=3q")


def words_of(name: SlotName) -> set[str]:
    """Split the class and id of a slot into words of Latin letters, in lower case."""
    return {word.lower() for word in _parts(name) if len(word) in _LENGTHS}


def _parts(name: SlotName) -> list[str]:
    if isinstance(name, str):
        return []
    return _WORD.findall(" ".join(filter(None, name[_CLASS_AND_ID])))


def hashed(word: str) -> int:
    """Hash a word: a classifier holds words as these 64 bits, and none of them in letters."""
    return xxhash.xxh3_64_intdigest(word.encode())


@dataclass(frozen=True)
class ClassWords:
    """The hashes of words, ascending, and their weights, (2, words) steps: for all text below, and for the nearest."""

    hashes: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.int16]

    def columns(self, pages: Layout) -> Columns:
        """Compute the features of all blocks of some pages: (blocks,) each."""
        packed = b"".join(map(self._weighed, pages.own_names))
        below, nearest, known = np.frombuffer(packed, np.int64).reshape(-1, 3).T
        return columns(below, nearest, known > 0, pages.slot_parents, pages.block_slots)

    @cached_property
    def _weighed(self) -> Callable[[SlotName], bytes]:
        """Return what sums the weights of the words of a name, and counts its known words, and remembers it."""
        place_of = {word: at for at, word in enumerate(self.hashes.tolist())}
        below, nearest = self.weights.tolist()

        @lru_cache(maxsize=1 << 15)
        def place(word: str) -> int | None:
            return place_of.get(hashed(word.lower())) if len(word) in _LENGTHS else None

        @lru_cache(maxsize=1 << 15)
        def weighed(name: SlotName) -> bytes:
            found = {at for word in _parts(name) if (at := place(word)) is not None}
            return _PACKED.pack(sum([below[at] for at in found]), sum([nearest[at] for at in found]), len(found))

        return weighed


def columns(
    below: Numbers,
    nearest: Numbers,
    is_named: npt.NDArray[np.bool_],
    above: Numbers,
    of_blocks: Sequence[int] | Numbers,
) -> Columns:
    """Sum the weights of slots along the way from the root to each block.

    Of each slot: `below` and `nearest`, the weights of its own words; `is_named`, whether it has a known one; `above`,
    the index of the slot above it, a root's its own. `of_blocks` is the slot of each block.
    """
    total = np.append(below, 0)
    lowest, highest = (np.append(below, never) for never in (np.iinfo(np.int64).max, np.iinfo(np.int64).min))
    for far in doubled(above):
        total = total + total[far]
        lowest = np.minimum(lowest, lowest[far])
        highest = np.maximum(highest, highest[far])
    of_nearest = nearest[slot_keys.nearest(is_named, above)]
    found = {
        "above": total[:-1],
        "nearest": of_nearest,
        "together": total[:-1] + of_nearest,
        "lowest": lowest[:-1],
        "highest": highest[:-1],
        "here": below,
    }
    return {f"words_{name}": values[of_blocks].astype(np.float64) for name, values in found.items()}
