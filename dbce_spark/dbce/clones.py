"""Runs of blocks that stand once more right behind themselves: slides of a carousel, a text for telephones too."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer[Any]]

LEAST_BLOCKS, LEAST_WORDS = 4, 20
"""Of a run, at least: shorter ones recur by chance, as cells of a table do (docs/method.md)."""


def without_clones(texts: Ints, words: Ints, is_kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Keep one of each run of kept blocks that is followed by itself, whatever else is dropped between.

    Of each block of a page: a key of its text, how many words it has, whether it is kept.
    """
    kept = np.flatnonzero(is_kept)
    left = is_kept.copy()
    for start, end in _runs(texts[kept], words[kept]):
        left[kept[start:end]] = False
    return left


def _runs(texts: Ints, words: Ints) -> Iterator[tuple[int, int]]:
    """Iterate over the runs that equal as many blocks right before them: from, and up to but not including."""
    for length in _lengths(texts):
        is_same = np.concatenate(([False], texts[length:] == texts[:-length], [False]))
        begins, ends = (np.flatnonzero(edge) for edge in (is_same[1:] > is_same[:-1], is_same[1:] < is_same[:-1]))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            first, last = begin + length, begin + length + (end - begin) // length * length
            if first < last and words[first : first + length].sum() >= LEAST_WORDS:
                yield first, last


def _lengths(texts: Ints) -> list[int]:
    """List the lengths that a run may have: so far from the block before with its text half of its blocks stand."""
    order = np.argsort(texts, kind="stable")
    distances = np.diff(order)[texts[order[1:]] == texts[order[:-1]]]
    lengths, counts = np.unique(distances[distances >= LEAST_BLOCKS], return_counts=True)
    found: list[int] = lengths[2 * counts >= lengths].tolist()
    return found
