"""Define the rows that the comparison of a site's pages returns, and those of captures that it affects."""

from collections.abc import Sequence

import pyarrow as pa

from dbce_spark.output.schemas.annotation_rows import ANNOTATIONS
from dbce_spark.output.schemas.codec import INT, PLACE_FIELDS, STRING, fields
from dbce_spark.output.schemas.evidence_rows import EVIDENCE

PAGE_ANNOTATIONS = pa.schema([*PLACE_FIELDS, *ANNOTATIONS])
"""An annotation of a staged page, and the place of that."""

PAGE_EVIDENCE = pa.schema([*PLACE_FIELDS, *EVIDENCE])
"""Evidence for a staged page, and the place of that."""

POOL_MEMBERS = pa.schema(fields(kind=INT, site=STRING, pool=STRING, capture_id=STRING, wanted=pa.bool_()))
"""A capture in a pool of siblings or snapshots; `wanted`: the pool gives evidence for it."""

LARGE_SITES = pa.schema(fields(site=STRING))
"""A site of which one worker cannot hold all that is compared."""

GROWN_SITES = pa.schema(fields(site=STRING, is_large=pa.bool_()))
"""A site of a collection that has grown, and whether one worker cannot hold it."""

AFFECTED = pa.schema([*fields(capture_id=STRING), *PLACE_FIELDS, *fields(is_affected=pa.bool_(), is_needed=pa.bool_())])
"""A capture of the prior state whose site has grown, with the place of its page: whether its evidence may have changed,
and whether others are compared with it."""

RELABEL = pa.schema(fields(capture_id=STRING, file_no=INT, row_group=INT, row_no=INT, before=STRING))
"""A prior capture whose evidence may have changed, and the digest of the evidence before; "" where it was fetched
again: then it is written again in any case."""


def placed_batch(places: Sequence[tuple[int, int]], rows: pa.RecordBatch) -> pa.RecordBatch:
    """Put the place of its page, file_no and row_no, before each row of a batch."""
    columns = [pa.array(column, pa.int32()) for column in zip(*places, strict=True)]
    return pa.RecordBatch.from_arrays([*columns, *rows.columns], schema=pa.schema([*PLACE_FIELDS, *rows.schema]))
