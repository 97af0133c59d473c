"""Tables that only lay out a page, as those of before style sheets do."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from dbce_spark.html.elements import CELL_TAGS, DROPPED_TAGS
from dbce_spark.html.shown_text import shown_text

_BLOCKS = ("p", "ul", "ol", "dl", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "form", "section", "article")
_NOT_IN_ROW = ("br", "callout", "caption", "img", "table", "th")
MOST_WORDS = 60
"""In a cell of a table of data. Of those of Wikipedia 1 in 500 has more."""
_LEAST_ROWS, _MOST_OF_NOTE = 3, 200
"""Rows of several cells, in a table with a note below, and words of the note."""


def is_layout_table(table: Any) -> bool:
    """Test for a table whose rows and columns say nothing: with another table in it, of one row or column, of long
    texts, or of pictures."""
    if (table.get("role") or "").strip().lower() in ("presentation", "none"):
        return True
    if next(table.iterdescendants("table"), None) is not None:
        return True
    if len([*islice(filter(_has_text, table.iterdescendants(*CELL_TAGS)), 2)]) < 2:
        return True
    if next(table.iterdescendants("th", "caption"), None) is not None:
        return _is_column_of_texts(table)
    rows = [[cell for cell in row if cell.tag == "td"] for row in table.iterdescendants("tr")]
    shown = [[cell for cell in row if _shows(cell)] for row in rows]
    if sum(map(bool, shown)) < 2 or max(map(len, shown)) < 2:
        return True
    of_data = shown[:-1] if _is_note(shown) else shown
    return any(_is_long(cell) for row in of_data for cell in row)


def _is_note(rows: Sequence[Sequence[Any]]) -> bool:
    """Test for a table whose last row is a note: one cell, below mostly rows of several."""
    *above, last = rows
    several = sum(len(row) > 1 for row in above)
    return (
        len(last) == 1 and several >= _LEAST_ROWS and 2 * several > len(above) and not _is_long(last[0], _MOST_OF_NOTE)
    )


def is_row(table: Any) -> bool:
    """Test for a layout table that is nothing but a row of short texts, each in a line: so it shows a line."""
    rows = [*islice(table.iterdescendants("tr"), 2)]
    if len(rows) != 1 or table.get("role") or next(table.iterdescendants(*_NOT_IN_ROW), None) is not None:
        return False
    return not any(map(_is_long, rows[0]))


def _is_column_of_texts(table: Any) -> bool:
    """Test for headings and texts below each other, which are sections."""
    rows = [[cell for cell in row if cell.tag in CELL_TAGS] for row in table.iterdescendants("tr")]
    return max(map(len, rows), default=0) < 2 and any(_is_long(cell) for row in rows for cell in row)


def _shows(cell: Any) -> bool:
    is_text = cell.text and not cell.text.isspace()
    return bool(is_text) or any(child.tag not in DROPPED_TAGS for child in cell)


def _has_text(cell: Any) -> bool:
    return any(text and not text.isspace() for text in _texts(cell))


def _is_long(cell: Any, most_words: int = MOST_WORDS) -> bool:
    if len([*islice(cell.iterdescendants(*_BLOCKS), 3)]) == 3:
        return True
    return len("".join(_texts(cell)).split(None, most_words)) > most_words


def _texts(cell: Any) -> Iterator[str]:
    """Iterate over the texts of a cell; of one with scripts or form controls, over the start of what is shown."""
    if next(cell.iterdescendants(*DROPPED_TAGS), None) is None:
        yield from cell.itertext()
    else:
        yield shown_text(cell)
