"""The main content of pages that are rows of a table: for programs that hold pages in Arrow, pandas or polars."""

from typing import Any

import pyarrow as pa

from dbce_spark.dbce.extracted_page import ExtractedPage, extract_pages
from dbce_spark.errors import InputError

_BLOCK = pa.struct(
    [
        ("text", pa.string()),
        ("label", pa.string()),
        ("score", pa.float64()),
        *((name, pa.int32()) for name in ("siblings", "siblings_with", "snapshots", "snapshots_with")),
    ]
)
_BLOCK_NAMES = [field.name for field in _BLOCK]
EXTRACTED = pa.schema(
    [
        *((name, pa.string()) for name in ("text", "title", "language", "page_text", "page_type")),
        ("confidence", pa.float64()),
        ("blocks", pa.list_(_BLOCK)),
        ("error", pa.string()),
    ]
)
"""The columns that are added; `error` is null, or why the row is no page, and then all others are null."""


def extract_table(pages: Any, *, html: str = "html", url: str | None = "url", date: str | None = None) -> pa.Table:
    """Extract the main content of the pages in a table, each compared with the others; return its rows with EXTRACTED.

    `pages` is an Arrow table or record batch, a DataFrame of pandas or polars, or anything that gives itself as Arrow.
    `html`, `url` and `date` name columns: of text or bytes, of text, and of timestamps or text as ISO 8601 has it. Rows
    keep their order. As by `extract_pages`, all pages of the table are held in memory.

    Raises:
        InputError: there is no such column, or one of a name that is added, or something is of the wrong type.
    """
    table = pa.Table.from_batches([pages]) if isinstance(pages, pa.RecordBatch) else pa.table(pages)
    named = [name for name in (html, url, date) if name]
    check_columns(table.column_names, named)
    columns = {name: table.column(name).to_pylist() for name in named}
    nothing = [None] * table.num_rows
    rows = zip(columns[html], columns[url] if url else nothing, columns[date] if date else nothing, strict=True)
    return with_extracted(table, extract_pages((b"" if one is None else one, *rest) for one, *rest in rows))


def check_columns(names: list[str], named: list[str]) -> None:
    """Check that a table has the columns that were named, and none of EXTRACTED.

    Raises:
        InputError: it lacks one, or has one that would be added.
    """
    if missing := [name for name in named if name not in names]:
        raise InputError(f"there is no column {missing[0]}; there are {', '.join(names)}")
    if taken := [name for name in EXTRACTED.names if name in names]:
        raise InputError(f"there is a column {taken[0]} already; rename it, as a column of that name is added")


def with_extracted(table: pa.Table, found: list[ExtractedPage]) -> pa.Table:
    """Add the columns of EXTRACTED to the rows of some pages."""
    added = pa.Table.from_pylist([_row(one) for one in found], EXTRACTED)
    for name in EXTRACTED.names:
        table = table.append_column(EXTRACTED.field(name), added.column(name))
    return table


def _row(page: ExtractedPage) -> dict[str, object]:
    if page.error:
        return {"error": page.error}
    blocks = [{name: getattr(block, name) for name in _BLOCK_NAMES} for block in page.blocks]
    texts = {name: getattr(page, name) for name in ("text", "title", "language", "page_text", "page_type")}
    return {**texts, "confidence": page.confidence, "blocks": blocks, "error": None}
