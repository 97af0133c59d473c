"""The main content of pages that are rows of a table: for programs that hold pages in Arrow, pandas or polars."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

import pyarrow as pa

from dbce_spark.dbce.extract_options import TableOptions, with_options
from dbce_spark.dbce.extracted_page import ExtractedPage, extract_parsed
from dbce_spark.dbce.kept_formats import HTML, MARKDOWN
from dbce_spark.dbce.pages import parse_fetches
from dbce_spark.errors import InputError

FORMATS = MARKDOWN, HTML
"""The columns that are added where they are asked for; that of HTML is `kept_html`, as pages have their `html`."""

_COLUMN_OF = {MARKDOWN: "markdown", HTML: "kept_html"}
_BLOCK = pa.struct(
    [
        ("text", pa.string()),
        ("label", pa.string()),
        ("score", pa.float64()),
        *((name, pa.int32()) for name in ("siblings", "siblings_with", "snapshots", "snapshots_with")),
    ]
)
_BLOCK_NAMES = [field.name for field in _BLOCK]
_TEXTS = ("text", "title", "language", "page_text", "page_type")
_EXTRACTED = pa.schema(
    [
        *((name, pa.string()) for name in _TEXTS),
        ("confidence", pa.float64()),
        ("blocks", pa.list_(_BLOCK)),
        ("error", pa.string()),
    ]
)


def extract_table(
    pages: Any, *, html: str = "html", url: str | None = "url", date: str | None = None, **options: Unpack[TableOptions]
) -> pa.Table:
    """Extract the main content of the pages in a table, each compared with the others; return its rows with the columns
    of `added_columns`.

    `pages` is an Arrow table or record batch, a DataFrame of pandas or polars, or anything that gives itself as Arrow.
    `html`, `url` and `date` name columns: of text or bytes, of text, and of timestamps or text as ISO 8601 has it. Rows
    keep their order. As by `extract_pages`, all pages of the table are held in memory.

    Raises:
        InputError: there is no such column, format or option, or a column of a name that is added, or something is of
            the wrong type.
    """
    table = pa.Table.from_batches([pages]) if isinstance(pages, pa.RecordBatch) else pa.table(pages)
    named = [name for name in (html, url, date) if name]
    added, settings = added_columns(options.pop("formats", ())), with_options(options)
    check_columns(table.column_names, named, added)
    columns = {name: table.column(name).to_pylist() for name in named}
    nothing = [None] * table.num_rows
    rows = zip(columns[html], columns[url] if url else nothing, columns[date] if date else nothing, strict=True)
    given = ((b"" if one is None else one, *rest) for one, *rest in rows)
    return with_extracted(table, extract_parsed(given, partial(parse_fetches, config=settings), settings), added)


def added_columns(formats: Sequence[str]) -> pa.Schema:
    """Return the columns that are added to the rows of pages; `error` is null, or why the row is no page, and then all
    others are null.

    Raises:
        InputError: there is no such format.
    """
    chosen = [formats] if isinstance(formats, str) else [*dict.fromkeys(formats)]
    if unknown := [name for name in chosen if name not in FORMATS]:
        raise InputError(f"there is no format {unknown[0]}; there are {', '.join(FORMATS)}")
    return pa.schema([*_EXTRACTED, *((_COLUMN_OF[name], pa.string()) for name in chosen)])


def check_columns(names: list[str], named: list[str], added: pa.Schema) -> None:
    """Check that a table has the columns that were named, and none of those that are added.

    Raises:
        InputError: it lacks one, or has one that would be added.
    """
    if missing := [name for name in named if name not in names]:
        raise InputError(f"there is no column {missing[0]}; there are {', '.join(names)}")
    if taken := [name for name in added.names if name in names]:
        raise InputError(f"there is a column {taken[0]} already; rename it, as a column of that name is added")


def with_extracted(table: pa.Table, found: list[ExtractedPage], added: pa.Schema) -> pa.Table:
    """Add the columns of `added_columns` to the rows of some pages."""
    values = pa.Table.from_pylist([_row(one, added.names) for one in found], added)
    for name in added.names:
        table = table.append_column(added.field(name), values.column(name))
    return table


def _row(page: ExtractedPage, names: Sequence[str]) -> dict[str, object]:
    if page.error:
        return {"error": page.error}
    blocks = [{name: getattr(block, name) for name in _BLOCK_NAMES} for block in page.blocks]
    texts = {name: getattr(page, name) for name in _TEXTS}
    kept = {column: getattr(page, one) for one, column in _COLUMN_OF.items() if column in names}
    return {**texts, **kept, "confidence": page.confidence, "blocks": blocks, "error": None}
