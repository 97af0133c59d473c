"""Rows of tables that are not written as tables: each a line, as in the text of the page."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

from dbce_spark.html.elements import BLOCK_TAGS, CELL_TAGS
from dbce_spark.html.layout_tables import is_row
from dbce_spark.html.removal import remove_elements

_MARK = re.compile(r"\(?(?:\d{1,3}|[^\W\d_]|[ivx]{1,4})(?:[.):]|\.\))|[•·●▪■◦○►»*–—-]", re.IGNORECASE)
"""A number or a letter with a sign behind it, or a bullet."""
_MOST_CELLS, _MOST_TEXTS = 5, 20
"""Cells of a row, and texts of each, in which a mark is looked for."""
_HOLD_OTHERS = frozenset({"table", "tr", *CELL_TAGS})
"""Elements in a table whose rows are not its own."""
_PLAIN = BLOCK_TAGS & {"center", "div", "p", *CELL_TAGS}
"""Blocks that show no more than their text, where they are alone in a cell."""


def join_rows(table: Any, *, is_layout: bool) -> None:
    """Make a paragraph of each row with several texts, unless a cell has more than one, in a table that is not written;
    if it only lays out a page, then where it is a single row, or the row begins with the mark of an item."""
    are_lines = not is_layout or is_row(table)
    for row in [*_own_rows(table)]:
        if (are_lines or _is_item(row)) and _is_line(row):
            _join(row)


def _own_rows(table: Any) -> Iterator[Any]:
    """Iterate over the rows of a table, in whatever groups or forms they are, without those of tables in it."""
    walker = etree.iterwalk(table, events=("start",))
    for _, part in walker:
        if part.tag == "tr":
            yield part
        if part is not table and part.tag in _HOLD_OTHERS:
            walker.skip_subtree()


def _is_item(row: Any) -> bool:
    """Test for a row that begins with a cell of a number, a letter or a bullet: so old pages lay out lists."""
    for cell in islice(row.iterchildren(*CELL_TAGS), _MOST_CELLS):
        text = "".join(islice(cell.itertext(), _MOST_TEXTS)).strip()
        if text:
            return _MARK.fullmatch(text) is not None
    return False


def _is_line(row: Any) -> bool:
    """Test for a row of two texts or more, each alone in its cell."""
    texts = 0
    if (row.text or "").strip():
        return False
    for cell in row:
        if cell.tag not in CELL_TAGS or (cell.tail or "").strip():
            return False
        if (found := _texts(cell)) > 1:
            return False
        texts += found
    return texts > 1


def _texts(cell: Any) -> int:
    """Count the texts in a cell, which blocks and empty lines part, up to two; a block that is more than its text, such
    as a list, counts as two."""
    texts, is_apart, is_break = 0, True, False
    for event, element in etree.iterwalk(cell, events=("start", "end")):
        is_start = event == "start"
        if element.tag in BLOCK_TAGS:
            if element.tag not in _PLAIN:
                return 2
            is_apart = True
        if is_start and element.tag == "br":
            is_apart |= is_break
            is_break = True
        text = element.text if is_start else None if element is cell else element.tail
        if text and not text.isspace():
            texts += is_apart
            is_apart = is_break = False
            if texts > 1:
                break
    return texts


def _join(row: Any) -> None:
    remove_elements(dict.fromkeys(row.iter("br"), " "))
    for cell in row:
        cell.tail = " "
        for one in cell.iter(*_PLAIN):
            one.tag = "span"
    row.tag = "p"
