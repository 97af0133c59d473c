"""Store annotations of crosses, and restore them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dbce_spark.model import Annotation, BucketCross, Cross
from dbce_spark.output.schemas.codec import BINARY, build_batch, decode_row, fields, packed
from dbce_spark.output.schemas.cross_rows import BUCKET, CROSS, bucket_crosses_batch
from dbce_spark.output.schemas.page_rows import NUMBER

ANNOTATIONS = pa.schema([*CROSS, *BUCKET, *fields(run_ends=BINARY, run_bits=BINARY)])
"""An annotation, and the bucket its cross was found in."""


def annotations_batch(annotations: Sequence[tuple[BucketCross, Annotation]]) -> pa.RecordBatch:
    """Store annotations, each with its cross and bucket, as ANNOTATIONS rows."""
    crosses = bucket_crosses_batch([found for found, _ in annotations])
    columns = dict(zip(crosses.schema.names, crosses.columns, strict=True))
    columns["run_ends"] = packed((one.ends for _, one in annotations), NUMBER)
    columns["run_bits"] = packed((one.bits for _, one in annotations), np.uint8)
    return build_batch(ANNOTATIONS, len(annotations), columns)


def annotation_from(row: dict[str, Any]) -> Annotation:
    """Restore an annotation from an ANNOTATIONS row."""
    return Annotation(
        cross=decode_row(Cross, row),
        ends=np.frombuffer(row["run_ends"], NUMBER).astype(np.int32),
        bits=np.frombuffer(row["run_bits"], np.uint8),
    )
