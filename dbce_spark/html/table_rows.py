"""Rows of tables in the text of a page: a row is a line, its cells parted by tabs, as browsers copy them.

A row with text beside its cells is lines: a table may as well lay out a whole page. So is one with a cell of several
blocks, unless it is of a table of data and its fields are short. Lines and blocks within a cell are one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from dbce_spark.html.elements import CELL_TAGS, DROPPED_TAGS
from dbce_spark.html.layout_tables import MOST_WORDS, is_layout_table

_PARTING = ("\n", "\t")
_FIELDS = 3
"""Cells of a row of data with several blocks in one, at least: two may be the columns of a layout."""
LINE_BREAK = "\v"
"""The sign of a <br> in the text of a block, until it is known whether that is in a row. No cleaned page has it."""


class Elements(NamedTuple):
    """The elements of a page, as in `PageTree`: of each its slot, its parent and its blocks; of each block what holds
    it; and of each slot the tag."""

    slots: Sequence[int]
    parents: Sequence[int]
    firsts: Sequence[int]
    lasts: Sequence[int]
    holders: Sequence[int]
    tags: Sequence[str]

    def tag(self, element: int) -> str:
        """Return the tag of an element."""
        return self.tags[self.slots[element]]

    def blocks(self, element: int) -> range:
        """List the blocks within an element."""
        return range(self.firsts[element], self.lasts[element])

    def around(self, element: int, tag: str, top: int = -1) -> int:
        """Find the innermost element with a tag, from an element up to one around it, `top`; `top` if there is none."""
        while element > top and self.tag(element) != tag:
            element = self.parents[element]
        return element


def separators(texts: MutableSequence[str], elements: Elements, root: Any) -> list[str]:
    """Return what stands before each block of a page: a newline, within a row a tab for each cell that ends, within a
    cell of it a space; and put spaces for the line breaks in a row.

    texts: one a block. root: of the page's DOM.
    """
    before = ["\n"] * len(texts)
    for block, separator in _Rows(texts, elements, root).lines():
        before[block] = separator
        texts[block] = texts[block].replace(LINE_BREAK, " ")
    return before


class _Rows:
    """The rows of a page's tables, each table looked at once, when it is asked for."""

    def __init__(self, texts: Sequence[str], elements: Elements, root: Any):
        self._texts = texts
        self._elements = elements
        self._root = root
        self._is_of_data = {-1: False}  # of tables, and of rows in none

    def lines(self) -> Iterator[tuple[int, str]]:
        """Iterate over the blocks of the rows that are lines, each with what stands before it."""
        for row, cells in self._cells().items():
            fields = [self._elements.blocks(cell) for cell in cells]
            if self._is_line(row, [*filter(None, fields)]):
                yield from _parted(fields)

    def _cells(self) -> Mapping[int, list[int]]:
        """Collect the cells of each row, in order, as indexes of elements."""
        elements, rows = self._elements, defaultdict(list)
        if of_cells := {slot for slot, tag in enumerate(elements.tags) if tag in CELL_TAGS}:
            for element, slot in enumerate(elements.slots):
                if slot in of_cells and elements.tag(row := elements.parents[element]) == "tr":
                    rows[row].append(element)
        return rows

    def _is_line(self, row: int, fields: Sequence[range]) -> bool:
        """Test for a row of several fields, the cells with text, without lines in them and text beside them."""
        blocks = self._elements.blocks(row)
        if len(fields) < 2 or len(blocks) != sum(map(len, fields)):
            return False
        if len(blocks) > len(fields) and not self._is_data(row, fields):
            return False
        return not any(sign in self._texts[block] for block in blocks for sign in _PARTING)

    def _is_data(self, row: int, fields: Sequence[range]) -> bool:
        """Test for a row of data: of a table that does not only lay out, with short fields, at least half of them of
        one block, and without lists. Products that stand in a row have several blocks each."""
        if len(fields) < _FIELDS or 2 * sum(len(field) > 1 for field in fields) > len(fields):
            return False
        elements, texts = self._elements, self._texts
        table = elements.around(row, "table")
        if table not in self._is_of_data:
            self._is_of_data[table] = not is_layout_table(self._tables[table])
        if not self._is_of_data[table]:
            return False
        for field in fields:
            if len(" ".join(texts[field.start : field.stop]).split(None, MOST_WORDS)) > MOST_WORDS:
                return False
        return all(elements.around(elements.holders[block], "li", row) == row for block in elements.blocks(row))

    @cached_property
    def _tables(self) -> Mapping[int, Any]:
        """Find all tables: the walk has those that are in no dropped element, in order."""
        slots, tags = self._elements.slots, self._elements.tags
        places = (at for at, slot in enumerate(slots) if tags[slot] == "table")
        found = (one for one in self._root.iter("table") if next(one.iterancestors(*DROPPED_TAGS), None) is None)
        return dict(zip(places, found, strict=True))


def _parted(fields: Sequence[range]) -> Iterator[tuple[int, str]]:
    """Iterate over the blocks of a row, each with what parts it from the one before. fields: of all its cells."""
    separator = "\n"
    for field in fields:
        for block in field:
            yield block, separator
            separator = " "
        separator = "\t" if field else f"{separator}\t"
