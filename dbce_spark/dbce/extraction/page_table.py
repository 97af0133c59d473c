"""The main content of pages that are rows of a table: for programs that hold pages in Arrow, pandas or polars."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from functools import partial
from typing import Any, Unpack

import pyarrow as pa

from dbce_spark.dbce.extraction.extract_options import TableOptions, chosen_formats, with_options
from dbce_spark.dbce.extraction.extracted_page import ExtractedPage
from dbce_spark.dbce.extraction.page_extraction import extract_parsed
from dbce_spark.dbce.extraction.page_input import Date, Html, parse_date
from dbce_spark.dbce.kept.kept_formats import ABOUT, HTML, MARKDOWN
from dbce_spark.dbce.pages import parse_fetches
from dbce_spark.errors import InputError
from dbce_spark.files.timestamps import to_datetime
from dbce_spark.html.about import About

Named = tuple[str, str | None, str | None]
"""The names of the columns of HTML, URL and date."""

_KEPT_HTML = "kept_html"
_ABOUT = [(one.name, pa.string() if one.type is str else pa.list_(pa.string())) for one in fields(About)]
_OF_FORMATS = {
    MARKDOWN: pa.field("markdown", pa.string()),
    HTML: pa.field(_KEPT_HTML, pa.string()),
    ABOUT: pa.field("about", pa.struct(_ABOUT)),
}
"""The columns that are added where they are asked for; that of HTML has another name, as pages have their `html`."""
_BLOCK = pa.struct(
    [
        ("text", pa.string()),
        ("label", pa.string()),
        ("score", pa.float64()),
        *((name, pa.int32()) for name in ("siblings", "siblings_with", "snapshots", "snapshots_with")),
    ]
)
_IS_TEXT = (pa.types.is_null, pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_IS_BYTES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
_IS_OF_ROLE = {
    "html": (*_IS_TEXT, *_IS_BYTES),
    "url": _IS_TEXT,
    "date": (*_IS_TEXT, pa.types.is_timestamp, pa.types.is_date),
}
"""Tests of the type of a column, one of which one in this role must pass."""
_WORDS = {"html": "text or bytes", "url": "text", "date": "timestamps, days or text"}
_BLOCK_NAMES = [field.name for field in _BLOCK]
_EXTRACTED = pa.schema(
    [
        *((name, pa.string()) for name in ("text", "title", "language", "page_text", "page_type")),
        ("confidence", pa.float64()),
        ("blocks", pa.list_(_BLOCK)),
        ("error", pa.string()),
    ]
)


def extract_table(
    pages: Any, *, html: str = "html", url: str | None = "url", date: str | None = None, **options: Unpack[TableOptions]
) -> pa.Table:
    """Extract the main content of the pages in a table, each compared with the others; return its rows in their order,
    with more columns.

    `pages` is an Arrow table or record batch, a DataFrame of pandas or polars, or any object with an Arrow interface.
    `html`, `url` and `date` name its columns: `html` of text or bytes; `url` of text (None: pages have no URL); `date`
    of timestamps, days or text such as ISO 8601. A date that cannot be read counts as none. A column that holds only
    nulls may be of any type.

    The columns `text`, `title`, `language`, `page_text`, `page_type`, `confidence` and `blocks` are added, with the
    values that pages have, and the column `error`: null in rows with a page; in others the reason, and all other added
    columns are null. `formats`, such as `["markdown", "html", "about"]`, adds `markdown`, `kept_html` and `about`. The
    other options are those of `dbce_spark.extract`. All pages of the table are held in memory.

    Raises:
        InputError: there is no such column, format or option, or a column of a name that is added, or something is of
            the wrong type.
        ConfigError: `classifier` is no file that `dbce train` wrote.
    """
    table = _as_table(pages)
    typed, named = _without_types_of_nulls(table), (html, url, date)
    added, settings = added_columns(options.pop("formats", ())), with_options(options)
    check_columns(typed.schema, named, added)
    found = extract_parsed(page_inputs(typed, named), partial(parse_fetches, config=settings), settings)
    return with_extracted(table, found, added)


def _as_table(pages: Any) -> pa.Table:
    if type(pages).__name__ == "LazyFrame":
        raise InputError("pages are a table that is there, and this LazyFrame is a query: give its .collect()")
    if isinstance(pages, pa.RecordBatch):
        return pa.Table.from_batches([pages])
    try:
        return pa.table(pages)
    except (TypeError, ValueError, pa.ArrowException) as error:
        kind, why = type(pages).__name__, " ".join(str(error).split())
        raise InputError(f"pages are a table of Arrow, pandas or polars, and this {kind} gives none: {why}") from error


def _without_types_of_nulls(table: pa.Table) -> pa.Table:
    """Return a table whose columns of nulls alone are of no type: pandas makes such a column one of numbers."""
    for at, column in enumerate(table.columns):
        if column.null_count == table.num_rows:
            table = table.set_column(at, table.column_names[at], pa.nulls(table.num_rows))
    return table


def added_columns(formats: Sequence[str]) -> pa.Schema:
    """Return the columns that are added to the rows of pages; `error` is null, or why the row is no page, and then all
    others are null.

    Raises:
        InputError: there is no such format.
    """
    return pa.schema([*_EXTRACTED, *(_OF_FORMATS[name] for name in chosen_formats(formats))])


def check_columns(schema: pa.Schema, named: Named, added: pa.Schema) -> None:
    """Check that a table has the columns that were named, each of its type, and none of those that are added.

    Raises:
        InputError: it lacks one, or has one of another type, or one that would be added.
    """
    for role, name in zip(_IS_OF_ROLE, named, strict=True):
        if name is None and role != "html":
            continue
        if schema.names.count(name) > 1:
            raise InputError(f"there are {schema.names.count(name)} columns {name}; rename all but one")
        if name not in schema.names:
            hint = "; url=None if pages have none" if role == "url" else ""
            raise InputError(f"there is no column {name}; there are {', '.join(schema.names)}{hint}")
        kind = schema.field(name).type
        if not _is_any(_value_type(kind), _IS_OF_ROLE[role]):
            raise InputError(f"the column {name} is of {kind}; {role} is {_WORDS[role]}")
    if taken := [name for name in added.names if name in schema.names]:
        raise InputError(f"there is a column {taken[0]} already; rename it, as a column of that name is added")


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_any(kind: pa.DataType, tests: Sequence[Callable[[pa.DataType], bool]]) -> bool:
    return any(test(kind) for test in tests)


def page_inputs(table: pa.Table, named: Named) -> list[tuple[Html, str | None, Date]]:
    """List the pages of a table. A null has no HTML, and a date that cannot be read counts as none: the column is there
    to be looked at, and one row of many does not end the job."""
    html, url, date = named
    nothing: list[None] = [None] * table.num_rows
    htmls = (b"" if one is None else one for one in _values(table.column(html)))
    urls = texts(table.column(url)) if url else nothing
    return [*zip(htmls, urls, _dates(table.column(date)) if date else nothing, strict=True)]


def texts(column: pa.ChunkedArray | pa.Array) -> list[str | None]:
    """List the values of a column of text; U+FFFD stands for what is not UTF-8."""
    return [one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in _values(column)]


def _values(column: pa.ChunkedArray | pa.Array) -> list[str | bytes | None]:
    """List the values of a column of text or bytes. A text that is not UTF-8, as Arrow and Spark take it without a
    look, is its bytes: the page's own charset may show in them."""
    try:
        values: list[str | bytes | None] = column.to_pylist()
        return values
    except UnicodeDecodeError:
        plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        return [*map(_text_or_bytes, plain.cast(pa.large_binary()).to_pylist())]


def _text_or_bytes(raw: bytes | None) -> str | bytes | None:
    with suppress(UnicodeDecodeError):
        return None if raw is None else raw.decode()
    return raw


def _dates(column: pa.ChunkedArray) -> list[datetime | None]:
    if _is_any(_value_type(column.type), _IS_TEXT):
        micros = [None if one is None else parse_date(one) for one in texts(column)]
    else:
        zone = getattr(column.type, "tz", None)
        micros = column.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64()).to_pylist()
    return [*map(_datetime, micros)]


def _datetime(micros: int | None) -> datetime | None:
    with suppress(OverflowError):  # of no year that there is in Python
        return None if micros is None else to_datetime(micros)
    return None


def with_extracted(table: pa.Table, found: list[ExtractedPage], added: pa.Schema) -> pa.Table:
    """Add the columns of `added_columns` to the rows of some pages."""
    values = pa.Table.from_pylist([_row(one, added.names) for one in found], added)
    for name in added.names:
        table = table.append_column(added.field(name), values.column(name))
    return table


def _row(page: ExtractedPage, names: Sequence[str]) -> dict[str, object]:
    if page.error:
        return {"error": page.error}
    row = page.to_dict([one for one, column in _OF_FORMATS.items() if column.name in names])
    blocks = [{name: getattr(block, name) for name in _BLOCK_NAMES} for block in page.blocks]
    return {**row, _KEPT_HTML: row.get(HTML), "page_text": page.page_text, "blocks": blocks, "error": None}
