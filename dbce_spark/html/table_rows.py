"""Rows of tables in the text of a page: a row is a line, its cells parted by tabs, as browsers copy them.

A row with text beside its cells is lines: a table may as well lay out a whole page. So is one with a cell of several
blocks, unless it is of a table of data and its fields are short. Lines and blocks within a cell are one.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, MutableSequence, Sequence
from typing import Any, NamedTuple

from dbce_spark.html.elements import DROPPED_TAGS
from dbce_spark.html.layout_tables import MOST_WORDS, is_layout_table

_CELL_TAGS = frozenset(("td", "th"))
_PARTING = ("\n", "\t")
_FIELDS = 3
"""Cells of a row of data with several blocks in one, at least: two may be the columns of a layout."""
LINE_BREAK = "\v"
"""The sign of a <br> in the text of a block, until it is known whether that is in a row. No cleaned page has it."""

_Spans = Sequence[tuple[int, int]]


class Elements(NamedTuple):
    """The elements of a page, as in `PageTree`: of each its slot, its parent and its blocks; of each block what holds
    it; and of each slot the tag."""

    slots: Sequence[int]
    parents: Sequence[int]
    firsts: Sequence[int]
    lasts: Sequence[int]
    holders: Sequence[int]
    tags: Sequence[str]


class Tables:
    """The tables of a page, each looked at once, when it is asked for."""

    def __init__(self, root: Any, elements: Elements):
        self._root = root
        self._elements = elements
        self._tables: dict[int, Any] = {}
        self._is_of_data: dict[int, bool] = {}

    def hold_data(self, row: int) -> bool:
        """Test for a row, by the index of its element, of a table that does not only lay out; lists are no fields."""
        slots, parents, _, _, holders, tags = self._elements
        for holder in set(holders[self._elements.firsts[row] : self._elements.lasts[row]]):
            while holder != row:
                if tags[slots[holder]] == "li":
                    return False
                holder = parents[holder]
        table = row
        while table >= 0 and tags[slots[table]] != "table":
            table = parents[table]
        if table not in self._is_of_data:
            self._is_of_data[table] = table >= 0 and not is_layout_table(self._element(table))
        return self._is_of_data[table]

    def _element(self, table: int) -> Any:
        if not self._tables:
            self._tables.update(self._found())
        return self._tables[table]

    def _found(self) -> Iterator[tuple[int, Any]]:
        """Iterate over all tables: the walk has those that are in no dropped element, in order."""
        slots, tags = self._elements.slots, self._elements.tags
        tables = (one for one in self._root.iter("table") if next(one.iterancestors(*DROPPED_TAGS), None) is None)
        return zip((at for at, slot in enumerate(slots) if tags[slot] == "table"), tables, strict=True)


def cell_slots(tags: Sequence[str], parents: Sequence[int]) -> set[int]:
    """Return the slots of cells of rows. tags, parents: one entry a slot, as in `PageTree`."""
    slots = enumerate(zip(tags, parents, strict=True))
    return {slot for slot, (tag, above) in slots if tag in _CELL_TAGS and tags[above] == "tr"}


def separators(texts: MutableSequence[str], elements: Elements, cells: Collection[int], tables: Tables) -> list[str]:
    """Return what stands before each block of a page: a newline, within a row a tab for each cell that ends, within a
    cell of it a space; and put spaces for the line breaks in a row.

    texts: one a block. cells: their slots.
    """
    before = ["\n"] * len(texts)
    if not cells:
        return before
    for row, row_cells in _rows(elements, cells).items():
        for block, separator in _in_row(texts, row_cells, elements, row, tables).items():
            before[block] = separator
            texts[block] = texts[block].replace(LINE_BREAK, " ")
    return before


def _rows(elements: Elements, cells: Collection[int]) -> Mapping[int, list[int]]:
    """Collect the cells of each row, in order, as indexes of elements."""
    parents = elements.parents
    rows = defaultdict(list)
    for element, slot in enumerate(elements.slots):
        if slot in cells:
            rows[parents[element]].append(element)
    return rows


def _in_row(
    texts: Sequence[str], cells: Sequence[int], elements: Elements, row: int, tables: Tables
) -> Mapping[int, str]:
    """Return what stands before the blocks of a row; nothing if it is lines."""
    firsts, lasts = elements.firsts, elements.lasts
    filled = [at for at, cell in enumerate(cells) if lasts[cell] > firsts[cell]]
    spans = [(firsts[cells[at]], lasts[cells[at]]) for at in filled]
    blocks = range(firsts[row], lasts[row])
    if len(filled) < 2 or len(blocks) != sum(last - first for first, last in spans):
        return {}
    if any(sign in texts[block] for block in blocks for sign in _PARTING):
        return {}
    if len(blocks) > len(filled) and not (_are_fields(texts, spans) and tables.hold_data(row)):
        return {}
    before = dict.fromkeys(blocks, " ")
    ended = 0
    for at, (first, _) in zip(filled, spans, strict=True):
        before[first] = "\t" * (at - ended)
        ended = at
    before[blocks[0]] = f"\n{before[blocks[0]]}"
    return before


def _are_fields(texts: Sequence[str], spans: _Spans) -> bool:
    """Test for the cells of a row of data: short texts, at least half of them of one block. Products that stand in a
    row have several each."""
    if len(spans) < _FIELDS or 2 * sum(last - first > 1 for first, last in spans) > len(spans):
        return False
    return all(len(" ".join(texts[first:last]).split()) <= MOST_WORDS for first, last in spans)
