"""Define the rows that a comparison of a site's pages takes and returns."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.tables.annotation_rows import ANNOTATIONS
from dbce_spark.tables.codec import INT, LONG, STRING, batch_of, encode, fields
from dbce_spark.tables.cross_rows import FOUND
from dbce_spark.tables.evidence_rows import EVIDENCE

TOLD = pa.schema(
    fields(
        file_no=INT,
        row_no=INT,
        annotation=pa.struct(ANNOTATIONS),
        evidence=pa.struct(EVIDENCE),
        sizes=pa.struct(fields(largest=LONG, capped=LONG)),
    )
)
"""The results of comparing the pages of a site, for one that is staged there: an annotation or evidence. Or the sizes
of the buckets of some sites."""

ASKED = pa.schema(
    fields(
        found=pa.struct(FOUND),
        seat=pa.struct(fields(kind=INT, site=STRING, pool=STRING, capture_id=STRING, wanted=pa.bool_())),
        known=pa.struct(
            fields(capture_id=STRING, file_no=INT, row_no=INT, is_affected=pa.bool_(), is_needed=pa.bool_())
        ),
        sizes=TOLD.field("sizes").type,
    )
)
"""The captures that the growth of a site affects: a cross, a capture in a pool, or a capture that the collection has,
with the place of its page: whether its labels may change, and whether it is compared with others. Or, again, sizes."""


def asked_batch(name: str, rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Store rows of one column of ASKED; the others are null."""
    return batch_of(ASKED, len(rows), {name: list(rows)})


def told_batch(places: Sequence[tuple[int | None, int | None]], **said: pa.RecordBatch) -> pa.RecordBatch:
    """Store results under the name of their column, with the places of the staged pages that they are for."""
    (name,) = said
    file_nos, row_nos = zip(*places, strict=True)
    columns = {"file_no": file_nos, "row_no": row_nos, name: said[name].to_struct_array()}
    return batch_of(TOLD, len(places), columns)


def sizes_batch(sizes: Sequence[BucketSizes]) -> pa.RecordBatch:
    """Store sizes of buckets as a TOLD row holds them."""
    return encode(pa.schema(list(TOLD.field("sizes").type)), sizes)
