"""The bins of many features at once, and the bin of each value without a search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dbce_spark.model import Codes

Values = npt.NDArray[np.float64]

_MOST_CELLS = 4096
"""Cells of a table: 36 KB, what the processor's nearest cache holds. One feature in ten needs more."""

_AT_ONCE = 1 << 16
"""Values that are looked up at once: 512 KB, which stay in the processor's cache from one step to the next."""


class BinTable(NamedTuple):
    """A table of some edges among all positive numbers, which are cut into cells.

    A search takes six steps, and half of the time the processor guesses the next one wrong. But the leading bits of a
    positive number, read as an integer, grow with the number: the cell. So many bits are taken that no two edges share
    a cell. All that is less than the second edge lies in the first cell.
    """

    shift: int  # bits that are not taken
    first: int  # the first cell
    below: npt.NDArray[np.uint8]  # how many edges are less than all of a cell
    within: Values  # the edge that lies in a cell, infinite where none does


def table(edges: Values) -> BinTable | None:
    """Build the table of some edges.

    None where there would be too many cells, or no edge, or another than the first is not positive."""
    if not len(edges) or (edges[1:] <= 0).any():
        return None
    bits = edges.view(np.int64)
    apart = (bits[1:] ^ bits[:-1]).view(np.uint64)
    shift = int(apart.min(initial=np.uint64(2**64 - 1))).bit_length() - 1
    cells = bits >> shift
    first = int(cells[1]) - 1 if len(cells) > 1 else int(cells[0])
    cells = np.maximum(cells - first, 0)
    if cells[-1] >= _MOST_CELLS:
        return None
    within = np.full(cells[-1] + 1, np.inf)
    within[cells] = edges
    return BinTable(shift, first, cells.searchsorted(np.arange(len(within))).astype(np.uint8), within)


@dataclass(frozen=True, slots=True)
class BinTables:
    """The tables of some features, one behind the other: for a page of few blocks, all of them take as many steps as
    one. `shifts`, `firsts`, `lasts` (the last cell) and `moves` (from a cell to its entry in `below` and `within`) are
    columns: (features, 1)."""

    shifts: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]
    lasts: npt.NDArray[np.int64]
    moves: npt.NDArray[np.int64]
    below: npt.NDArray[np.uint8]
    within: Values

    @classmethod
    def joined(cls, tables: Sequence[BinTable]) -> "BinTables":
        """Join the tables of some features."""
        counts = np.array([(one.shift, one.first, len(one.within)) for one in tables], np.int64).reshape(-1, 3, 1)
        shifts, firsts, sizes = counts[:, 0], counts[:, 1], counts[:, 2]
        moves = np.cumsum(sizes, axis=0) - sizes - firsts
        below = np.concatenate([np.empty(0, np.uint8), *(one.below for one in tables)])
        within = np.concatenate([np.empty(0), *(one.within for one in tables)])
        return cls(shifts, firsts, firsts + sizes - 1, moves, below, within)

    def bins(self, features: npt.NDArray[np.intp], columns: Sequence[Values]) -> Codes:
        """Count for each value of some features, a column each, the edges that are at most as large.

        Returns (features, values)."""
        bins = np.empty((len(columns), len(columns[0])), np.uint8)
        step = max(1, _AT_ONCE // len(columns[0]))
        for start in range(0, len(columns), step):
            some = slice(start, start + step)
            of, values = features[some], np.concatenate(columns[some]).reshape(-1, bins.shape[1])
            cells = values.view(np.int64) >> self.shifts[of]
            np.clip(cells, self.firsts[of], self.lasts[of], out=cells)
            cells += self.moves[of]
            np.add(self.below.take(cells, mode="clip"), values >= self.within.take(cells, mode="clip"), out=bins[some])
        return bins
