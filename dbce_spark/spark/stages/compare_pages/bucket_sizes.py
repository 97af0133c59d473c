"""Sizes of buckets, as the tasks that compare sites return them to the driver."""

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from dbce_spark.dbce.buckets import BucketSizes

_SIZES = "largest long, capped long"


def total(rows: DataFrame, task: Callable[[Iterator[pa.RecordBatch]], BucketSizes]) -> BucketSizes:
    """Run a task over each partition of some rows, and add up the sizes that the tasks return."""

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sizes = task(batches)
        yield pa.RecordBatch.from_pydict({"largest": [sizes.largest], "capped": [sizes.capped]})

    found = rows.mapInArrow(counted, _SIZES).collect()
    return sum((BucketSizes(row["largest"], row["capped"]) for row in found), BucketSizes())
