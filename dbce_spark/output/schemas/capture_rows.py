"""Define the table `captures`: when each URL was fetched, and which extraction holds its text."""

from collections.abc import Sequence

import pyarrow as pa

from dbce_spark.archive.revisits import Resolved
from dbce_spark.model import Capture
from dbce_spark.output.schemas.codec import INT, LONG, STRING, TIME, encode, fields

CAPTURES = pa.schema(
    fields(
        capture_id=STRING,
        url=STRING,
        url_key=STRING,
        site=STRING,
        timestamp=TIME,
        extraction_id=STRING,
        record_type=STRING,
        http_status=INT,
        payload_digest=STRING,
        warc_file=STRING,
        warc_offset=LONG,
        warc_length=LONG,
        record_id=STRING,
    )
)
"""When each URL was fetched, and which extraction holds its text of then."""

CAPTURE_IDS = pa.schema(fields(capture_id=STRING))
"""Captures by their ids alone."""


def captures_batch(captures: Sequence[Capture]) -> pa.RecordBatch:
    """Store captures that have extractions of their own as CAPTURES rows."""
    ids = [capture.capture_id for capture in captures]
    return encode(CAPTURES, captures, capture_id=ids, extraction_id=ids)


def revisited_batch(resolved: Sequence[Resolved]) -> pa.RecordBatch:
    """Store revisits whose originals were found as CAPTURES rows."""
    return encode(
        CAPTURES,
        [one.revisit for one in resolved],
        capture_id=[one.capture_id for one in resolved],
        extraction_id=[one.original_id for one in resolved],
        record_type=["revisit"] * len(resolved),
        payload_digest=[one.payload_digest for one in resolved],
    )
