"""The columnar index of Common Crawl: Parquet, one row a capture.

Its schema: cc-index-table, "cc-index-schema-flat".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import and_, or_
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.archive.index import date_range
from dbce_spark.archive.index.capture_filter import Selection
from dbce_spark.archive.index.index_entry import IndexEntry, NoEntry, entry_of
from dbce_spark.archive.index.index_fault import BadLine
from dbce_spark.archive.index.sorted_file import behind
from dbce_spark.files import timestamps
from dbce_spark.model import RejectReason

_ROWS = 8192
"""Rows of a batch: about 4 MB."""
_NAMES = {
    "url_surtkey": "urlkey",
    "url": "url",
    "fetch_time": "timestamp",
    "fetch_status": "status",
    "content_digest": "digest",
    "content_mime_type": "mime",
    "content_mime_detected": "mime-detected",
    "content_languages": "languages",
    "warc_filename": "filename",
    "warc_record_offset": "offset",
    "warc_record_length": "length",
}
"""The columns that are read, by the names of CDXJ. The others (charset, redirect, segment, ...) select nothing."""
_NEEDED = ("fetch_time", "warc_filename", "warc_record_offset")


@dataclass(frozen=True, slots=True)
class PushedDown:
    """A number of rows that were not read from a file, since no filter could pass them."""

    rows: int


def read(stream: BinaryIO, path: str, selection: Selection) -> Iterator[IndexEntry | BadLine | PushedDown]:
    """Read the rows of one Parquet file that the filters may pass.

    Row groups and rows that they cannot pass are left out by the file's own statistics and by Arrow; their number comes
    last.
    """
    import pyarrow.dataset as ds  # only here: it takes pandas with it, and a worker without such an index needs neither

    try:
        fragment = ds.ParquetFileFormat().make_fragment(pa.PythonFile(stream, mode="r"))
        schema = fragment.physical_schema
        missing = [name for name in _NEEDED if name not in schema.names]
        if missing or not {"url", "url_surtkey"} & set(schema.names):
            yield BadLine(
                path, 0, RejectReason.NOT_AN_INDEX, f"a Parquet file without the columns {missing or ['url']}"
            )
            return
        columns = [name for name in _NAMES if name in schema.names]
        rows = 0
        scanner = fragment.scanner(
            columns=columns, filter=_pushed(selection, schema), batch_size=_ROWS, batch_readahead=2, use_threads=False
        )
        for batch in scanner.to_batches():
            rows += batch.num_rows
            yield from _entries(batch, path)
        yield PushedDown(fragment.count_rows() - rows)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:  # text that is none, dates beyond Python's
        yield BadLine(path, 0, RejectReason.INDEX_UNREADABLE, f"{type(error).__name__}: {error}"[:500])


def _entries(batch: pa.RecordBatch, path: str) -> Iterator[IndexEntry | BadLine]:
    for row in batch.to_pylist():
        fields: dict[str, Any] = {_NAMES[name]: value for name, value in row.items()}
        try:
            fields["timestamp"] = _digits(fields["timestamp"])
            yield entry_of(fields)
        except NoEntry as error:
            yield BadLine(path, -1, RejectReason.BROKEN_INDEX_LINE, str(error))


def _digits(fetched: Any) -> str:
    """Format a time as digits; Arrow timestamps without a zone are UTC."""
    if not isinstance(fetched, datetime):
        return "" if fetched is None else "".join(filter(str.isdigit, str(fetched)))
    timestamp = timestamps.from_datetime(fetched)
    return f"{timestamps.digits(timestamp)}{timestamp % timestamps.SECOND:06}"


def _pushed(selection: Selection, schema: pa.Schema) -> pc.Expression | None:
    """Build a condition that every selected row fulfils; None if nothing would leave rows out.

    Null is undeclared, and passes here as it does later. Statistics could not answer the other filters.
    """
    config = selection.config
    found = [
        condition
        for condition in (
            _fetched(config.since, config.until, schema),
            _prefixed(selection.prefixes, schema),
            _with_status(config.statuses, schema),
        )
        if condition is not None
    ]
    return reduce(and_, found) if found else None


def _with_status(statuses: tuple[int, ...], schema: pa.Schema) -> pc.Expression | None:
    if not statuses or "fetch_status" not in schema.names or not pa.types.is_integer(schema.field("fetch_status").type):
        return None
    status = pc.field("fetch_status")
    return status.is_null() | status.isin([*statuses, 0])


def _fetched(first: str, last: str, schema: pa.Schema) -> pc.Expression | None:
    if not pa.types.is_timestamp(schema.field("fetch_time").type):
        return None
    fetched = pc.field("fetch_time")
    conditions = [
        *([fetched >= _moment(date_range.since(first), schema)] if first else []),
        *([fetched < _moment(date_range.until(last), schema)] if last else []),
    ]
    return reduce(and_, conditions) | fetched.is_null() if conditions else None


def _moment(microseconds: int, schema: pa.Schema) -> pa.Scalar:
    return pa.scalar(microseconds, pa.timestamp("us")).cast(schema.field("fetch_time").type)


def _prefixed(prefixes: tuple[str, ...], schema: pa.Schema) -> pc.Expression | None:
    if not prefixes or "url_surtkey" not in schema.names:
        return None
    key = pc.field("url_surtkey")
    ranges = [(key >= prefix) & (key < behind(prefix)) for prefix in prefixes]
    return reduce(or_, ranges) | key.is_null()
