"""Store revisits, which refer to an earlier capture's payload, and restore them."""

from collections.abc import Sequence

import pyarrow as pa

from dbce_spark.model import Revisit
from dbce_spark.output.schemas.codec import INT, LONG, STRING, TIME, decode, encode, fields, row_places

REVISITS = pa.schema(
    fields(
        url=STRING,
        url_key=STRING,
        site=STRING,
        timestamp=TIME,
        warc_file=STRING,
        warc_offset=LONG,
        warc_length=LONG,
        record_id=STRING,
        http_status=INT,
        is_unmodified=pa.bool_(),
        digest=STRING,
        refers_to_id=STRING,
        refers_to_key=STRING,
        refers_to_time=TIME,
        file_no=INT,
        row_no=INT,
    )
)
"""Revisits as they were read; `file_no` and `row_no` say where the row is staged."""


def revisits_batch(revisits: Sequence[Revisit], *, file_no: int, first_row: int) -> pa.RecordBatch:
    """Store revisits as REVISITS rows."""
    return encode(REVISITS, revisits, **row_places(len(revisits), file_no, first_row))


def revisits_from(batch: pa.RecordBatch) -> list[Revisit]:
    """Restore revisits from REVISITS rows."""
    return [*decode(Revisit, batch)]
