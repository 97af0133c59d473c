"""Define the table `rejects`: records that became no row, and why."""

from collections.abc import Sequence

import pyarrow as pa

from dbce_spark.model import Reject
from dbce_spark.output.schemas.codec import LONG, STRING, encode, fields

REJECTS = pa.schema(
    fields(
        warc_file=STRING,
        warc_offset=LONG,
        record_id=STRING,
        url=STRING,
        stage=STRING,
        reason=STRING,
        detail=STRING,
    )
)
UNLABELLED = pa.schema([*REJECTS, *fields(capture_id=STRING)])
"""The reject of a page that could not be labelled, and its capture id."""


def rejects_batch(rejects: Sequence[Reject]) -> pa.RecordBatch:
    """Store rejects as REJECTS rows, their stage and reason in words."""
    stages, reasons = ([str(getattr(reject, name)) for reject in rejects] for name in ("stage", "reason"))
    return encode(REJECTS, rejects, stage=stages, reason=reasons)
