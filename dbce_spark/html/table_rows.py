"""Rows of tables in the text of a page: a row is a line, its cells parted by tabs, as browsers copy them.

A row with a cell of several blocks, or text beside its cells, is lines: a table may as well lay out a whole page.
Lines within a cell are one.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, MutableSequence, Sequence
from itertools import pairwise

_CELL_TAGS = frozenset(("td", "th"))
_PARTING = ("\n", "\t")
LINE_BREAK = "\v"
"""The sign of a <br> in the text of a block, until it is known whether that is in a row. No cleaned page has it."""


def cell_slots(tags: Sequence[str], parents: Sequence[int]) -> set[int]:
    """Return the slots of cells of rows. tags, parents: one entry a slot, as in `PageTree`."""
    slots = enumerate(zip(tags, parents, strict=True))
    return {slot for slot, (tag, above) in slots if tag in _CELL_TAGS and tags[above] == "tr"}


def separators(
    texts: MutableSequence[str],
    slots: Sequence[int],
    parents: Sequence[int],
    spans: tuple[Sequence[int], Sequence[int]],
    cells: Collection[int],
) -> list[str]:
    """Return what stands before each block of a page: a newline, within a row a tab for each cell that ends; and put
    spaces for the line breaks in a row.

    texts: one a block. slots, parents: one entry an element, as in `PageTree`. spans: of each element the first block
    within, and the last one more. cells: their slots.
    """
    before = ["\n"] * len(texts)
    if not cells:
        return before
    for row, row_cells in _rows(slots, parents, cells).items():
        for block, separator in _tabs(texts, row_cells, spans, row).items():
            before[block] = separator
            texts[block] = texts[block].replace(LINE_BREAK, " ")
    return before


def _rows(slots: Sequence[int], parents: Sequence[int], cells: Collection[int]) -> Mapping[int, list[int]]:
    """Collect the cells of each row, in order, as indexes of elements."""
    rows = defaultdict(list)
    for element, slot in enumerate(slots):
        if slot in cells:
            rows[parents[element]].append(element)
    return rows


def _tabs(
    texts: Sequence[str], cells: Sequence[int], spans: tuple[Sequence[int], Sequence[int]], row: int
) -> Mapping[int, str]:
    """Return what stands before the blocks of a row; nothing if it is lines."""
    firsts, lasts = spans
    filled = [(at, firsts[cell]) for at, cell in enumerate(cells) if lasts[cell] > firsts[cell]]
    if len(filled) < 2 or lasts[row] - firsts[row] != len(filled):  # also where a cell holds several blocks
        return {}
    if any(sign in texts[block] for _, block in filled for sign in _PARTING):
        return {}
    (empty, first), *_ = filled
    gaps = {block: "\t" * (at - last) for (last, _), (at, block) in pairwise(filled)}
    return {first: "\n" + "\t" * empty, **gaps}
