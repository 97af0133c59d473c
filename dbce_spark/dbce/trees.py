"""A forest of boosted decision trees over binned features: small, fast in numpy, and bit for bit the same anywhere.

A tree of at most 32 leaves is evaluated without walking it (Lucchese et al., *QuickScorer*, SIGIR 2015): every split
that sends a row to the right strikes out the leaves on its left; of those that remain the first is the row's. What all
splits on one feature strike out is one look-up by the feature's bin.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dbce_spark.model import Codes

LEAVES = 32
"""Most leaves of a tree: a bit each in 32."""

BINS = 64
"""Most bins of a feature."""

_CHUNK = 8192
"""Rows that are scored at once: their columns stay in the processor's cache."""

_DE_BRUIJN = np.uint32(0x077CB531)
_TOP = np.uint32(27)

Table = tuple[int, npt.NDArray[np.uint32]]
"""A feature, and the leaves that are left for each of its bins."""


@dataclass(frozen=True)
class Forest:
    """Trees one behind the other. The leaves of a tree are numbered from left to right.

    Of each split: `features`, `thresholds` (a bin above it goes right), and the leaves on its left, `firsts` up to, not
    including, `lasts`. `splits` and `leaves` say how many of each a tree has; `values` are those of the leaves, in
    log-odds.
    """

    features: npt.NDArray[np.uint16]
    thresholds: npt.NDArray[np.uint8]
    firsts: npt.NDArray[np.uint8]
    lasts: npt.NDArray[np.uint8]
    splits: npt.NDArray[np.uint8]
    leaves: npt.NDArray[np.uint8]
    values: npt.NDArray[np.float64]

    def log_odds(self, codes: Codes) -> npt.NDArray[np.float64]:
        """The sum over all trees for each row of (features, rows) bins."""
        total = np.zeros(codes.shape[1])
        for start in range(0, codes.shape[1], _CHUNK):
            rows = slice(start, start + _CHUNK)
            self._add(codes[:, rows], total[rows])
        return total

    def _add(self, codes: Codes, total: npt.NDArray[np.float64]) -> None:
        bins = {feature: codes[feature].astype(np.intp) for feature in self.used}
        struck = np.empty(len(total), np.uint32)
        left = np.empty(len(total), np.uint32)
        for tables, values in self._compiled:
            left.fill(0xFFFFFFFF)
            for feature, table in tables:
                table.take(bins[feature], out=struck, mode="clip")
                np.bitwise_and(left, struck, out=left)
            np.bitwise_and(left, np.negative(left), out=left)  # the first bit that is set
            np.multiply(left, _DE_BRUIJN, out=left)
            np.right_shift(left, _TOP, out=left)
            total += values[left]

    @property
    def used(self) -> list[int]:
        """The features that some split asks for."""
        used: list[int] = np.unique(self.features).tolist()
        return used

    @cached_property
    def _compiled(self) -> list[tuple[list[Table], npt.NDArray[np.float64]]]:
        split_ends, leaf_ends = np.cumsum(self.splits, dtype=np.intp), np.cumsum(self.leaves, dtype=np.intp)
        return [
            (
                self._tables(slice(split_end - splits, split_end)),
                _by_hash(self.values[leaf_end - leaves : leaf_end]),
            )
            for split_end, splits, leaf_end, leaves in zip(
                split_ends, self.splits.tolist(), leaf_ends, self.leaves.tolist(), strict=True
            )
        ]

    def _tables(self, of_tree: slice) -> list[Table]:
        tables: dict[int, npt.NDArray[np.uint32]] = defaultdict(lambda: np.full(BINS, 0xFFFFFFFF, np.uint32))
        columns = (self.features, self.thresholds, self.firsts, self.lasts)
        for feature, threshold, first, last in zip(*(column[of_tree].tolist() for column in columns), strict=True):
            on_the_left = (1 << last) - (1 << first)
            tables[feature][threshold + 1 :] &= np.uint32(~on_the_left & 0xFFFFFFFF)
        return list(tables.items())


def _by_hash(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The values of leaves where the product of their bit and a de Bruijn sequence finds them."""
    bits = np.uint32(1) << np.arange(len(values), dtype=np.uint32)
    hashed = np.zeros(LEAVES)
    hashed[(bits * _DE_BRUIJN) >> _TOP] = values
    return hashed
