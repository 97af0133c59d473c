"""Runs of blocks that stand once more right behind themselves: slides of a carousel, a text for telephones too.

A run of one block is as often content twice; a heading that follows itself is not.
"""

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from dbce_spark.model import Blocks, Ints, Keys

_HEADING = re.compile(r"/h[1-6]\[\d+\]$")

LEAST_BLOCKS, LEAST_WORDS = 4, 20
"""Of a run, at least: shorter ones recur by chance, as cells of a table do (docs/method.md)."""


def without_repeats(blocks: Blocks, texts: Keys, is_kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Keep one of each run of kept blocks, or heading, that is followed by itself, whatever is dropped between. Equal
    rows of a table stay: they are data, such as the lines of a log.

    texts: a key of each block's text.
    """
    kept = np.flatnonzero(is_kept)
    left = is_kept.copy()
    for start, end in _runs(texts[kept], blocks.words[kept]):
        left[kept[start:end]] = False
    if (left < is_kept).any():
        left |= is_kept & blocks.in_rows()
    again = np.flatnonzero(texts[kept[1:]] == texts[kept[:-1]])
    for before, at in zip(kept[again].tolist(), kept[again + 1].tolist(), strict=True):
        if is_heading(blocks.xpaths[before]) and is_heading(blocks.xpaths[at]):
            left[at] = False
    return left


def is_heading(xpath: str) -> bool:
    """Test for a block that is a heading, by its XPath."""
    return _HEADING.search(xpath) is not None


def _runs(texts: Keys, words: Ints) -> Iterator[tuple[int, int]]:
    """Iterate over the runs that equal as many blocks right before them: from, and up to but not including."""
    for length in _lengths(texts):
        is_same = np.concatenate(([False], texts[length:] == texts[:-length], [False]))
        begins, ends = (np.flatnonzero(edge) for edge in (is_same[1:] > is_same[:-1], is_same[1:] < is_same[:-1]))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            first, last = begin + length, begin + length + (end - begin) // length * length
            if first < last and words[first : first + length].sum() >= LEAST_WORDS:
                yield first, last


def _lengths(texts: Keys) -> list[int]:
    """List the lengths that a run may have: so far from the block before with its text half of its blocks stand."""
    order = np.argsort(texts, kind="stable")
    distances = np.diff(order)[texts[order[1:]] == texts[order[:-1]]]
    lengths, counts = np.unique(distances[distances >= LEAST_BLOCKS], return_counts=True)
    found: list[int] = lengths[2 * counts >= lengths].tolist()
    return found
