"""Store revisits, which refer to an earlier capture's payload, restore them, and define the rows by which their
originals are found."""

from collections.abc import Sequence

import pyarrow as pa

from dbce_spark.model import Revisit
from dbce_spark.output.schemas.capture_rows import CAPTURES
from dbce_spark.output.schemas.codec import (
    INT,
    LONG,
    PLACE,
    PLACE_FIELDS,
    STRING,
    TIME,
    decode,
    encode,
    fields,
    row_places,
)
from dbce_spark.output.schemas.reject_rows import REJECTS

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
        **dict.fromkeys(PLACE, INT),
    )
)
"""Revisits as they were read; `file_no` and `row_no` say where the row is staged."""

ORIGINAL = pa.struct(fields(capture_id=STRING, payload_digest=STRING))
"""The capture whose payload a revisit has."""

CAPTURE_NAMES = pa.schema(fields(name=STRING, at=LONG, original=ORIGINAL))
"""A name of a capture, and its time in microseconds."""

WANTED = pa.schema([*PLACE_FIELDS, *fields(rank=INT, name=STRING, is_before=pa.bool_(), at=LONG)])
"""A name under which the original of a revisit is looked for; `at` is the revisit's time in microseconds."""

MATCHED = pa.schema([*PLACE_FIELDS, *fields(original=ORIGINAL)])
"""A revisit's place, and its original."""

LOST = pa.schema([*PLACE_FIELDS, *fields(warc_file=STRING, warc_offset=LONG)])
"""A revisit that is looked for in the indexes. No times are in it: Spark writes them as only Spark reads them."""

_PAYLOAD = pa.struct(
    [
        *fields(path=STRING, offset=LONG, length=LONG, mime=STRING, mime_detected=STRING, status=LONG, digest=STRING),
        *fields(languages=pa.list_(STRING)),
    ]
)
"""A `Payload`: rows of it are ordered as that is."""

PAYLOADS = pa.schema(fields(name=STRING, is_before=pa.bool_(), at=LONG, original=_PAYLOAD))
"""A payload that an index has under a name."""

CLAIMS = pa.schema([*PLACE_FIELDS, *fields(payload=_PAYLOAD, original=ORIGINAL)])
"""The payload of a revisit, and the page that was read of it if one was."""

PAYLOAD_OUTCOMES = pa.schema(
    [*fields(path=STRING, offset=LONG, original=ORIGINAL, filter=STRING, lack=STRING), *PLACE_FIELDS]
)
"""The outcome of a payload; `file_no` and `row_no` are those of the revisit whose page it is."""

OUTCOMES = pa.schema([*MATCHED, *fields(filter=STRING, lack=STRING, is_page=pa.bool_())])
"""The outcome of a revisit beside the pages that were read: it shares an extraction, is passed over, lacks what a page
needs, or is a page of its own. Those without a trace of an original have no row."""

FOUND = pa.schema([*CAPTURES, *PLACE_FIELDS])
"""A revisit with an original, and its place."""

SHARED = pa.schema([*CAPTURES, *fields(filter=STRING)])
LEFT = pa.schema([*REJECTS, *fields(filter=STRING)])
"""Rows of the output, of revisits with an original and of those without, and rows that are counted under a filter and
go no further."""


def revisits_batch(revisits: Sequence[Revisit], *, file_no: int, first_row: int) -> pa.RecordBatch:
    """Store revisits as REVISITS rows."""
    return encode(REVISITS, revisits, **row_places(len(revisits), file_no, first_row))


def revisits_from(batch: pa.RecordBatch) -> list[Revisit]:
    """Restore revisits from REVISITS rows."""
    return [*decode(Revisit, batch)]
