"""The bins of one feature, and the bin of each value without a search."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

_MOST_CELLS = 4096
"""Cells of a table: 36 KB, what the processor's nearest cache holds. One feature in ten needs more."""


@dataclass(frozen=True, slots=True)
class BinTable:
    """A table of some edges among all positive numbers, which are cut into cells.

    A search takes six steps, and half of the time the processor guesses the next one wrong. But the leading bits of a
    positive number, read as an integer, grow with the number: the cell. So many bits are taken that no two edges share
    a cell. All that is less than the second edge lies in the first cell.
    """

    shift: int  # bits that are not taken
    first: int  # the first cell
    below: npt.NDArray[np.uint8]  # how many edges are less than all of a cell
    within: Values  # the edge that lies in a cell, infinite where none does

    def bins(self, values: Values) -> npt.NDArray[np.uint8]:
        """Count for each value the edges that are at most as large."""
        bins: npt.NDArray[np.uint8]
        if len(self.within) == 1:
            bins = (values >= self.within[0]).view(np.uint8)
        else:
            cells = values.view(np.int64) >> self.shift
            cells -= self.first
            bins = self.below.take(cells, mode="clip")
            bins += values >= self.within.take(cells, mode="clip")
        return bins


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
