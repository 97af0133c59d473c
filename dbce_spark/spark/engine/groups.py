"""Groups of a sorted stream of Arrow batches: what groupBy().applyInArrow gives, at the cost of a slice a group.

And the number of each row within its group, where groups are too large for one task.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from dbce_spark.files import timestamps


def parted_by_url(rows: DataFrame, parts: int, *order: str) -> DataFrame:
    """Bring all rows of a URL to one partition, whose number is their `part`; sort by it, then in this order."""
    placed = rows.withColumn("part", F.pmod(F.xxhash64("url_key"), F.lit(parts)).cast("int"))
    return placed.repartition(parts, "part").sortWithinPartitions("part", *order)


def groups(batches: Iterator[pa.RecordBatch], keys: Sequence[str]) -> Iterator[pa.Table]:
    """Iterate over the groups of rows with equal `keys`, each as one table. The stream is sorted by them."""
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        starts = _starts(batch, keys)
        if pending and _key(pending[-1], keys, -1) != _key(batch, keys, 0):
            yield pa.Table.from_batches(pending)
            pending = []
        for start, end in pairwise(starts):
            yield pa.Table.from_batches([*pending, batch.slice(start, end - start)])
            pending = []
        pending.append(batch.slice(starts[-1]))
    if pending:
        yield pa.Table.from_batches(pending)


def _starts(batch: pa.RecordBatch, keys: Sequence[str]) -> list[int]:
    """Return the first row of each group within a batch."""
    changes = np.zeros(batch.num_rows - 1, np.bool_)
    for key in keys:
        column = batch.column(key)
        changes |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return [0, *(np.flatnonzero(changes) + 1).tolist()]


def _key(batch: pa.RecordBatch, keys: Sequence[str], row: int) -> tuple[object, ...]:
    return tuple(batch.column(key)[row].as_py() for key in keys)


def numbered(rows: DataFrame, keys: Sequence[str], by: Sequence[str] = ()) -> DataFrame:
    """Add `at` to rows: their number, from 0 on, within those of equal `keys`, in order of `by`, `timestamp` (in
    microseconds) and `capture_id`.

    Those of a large group never meet in one task: they are counted by the hour first.
    """
    hourly = rows.withColumn("hour", F.floor(F.col("timestamp") / timestamps.HOUR))
    hour = [*by, "hour"]
    counted = hourly.groupBy(*keys, *hour).agg(F.count("*").alias("captures"))
    earlier = Window.partitionBy(*keys).orderBy(*hour).rowsBetween(Window.unboundedPreceding, -1)
    first = counted.withColumn("first", F.coalesce(F.sum("captures").over(earlier), F.lit(0))).drop("captures")
    in_hour = F.row_number().over(Window.partitionBy(*keys, *hour).orderBy("timestamp", "capture_id")) - 1
    placed = hourly.join(first, on=[*keys, *hour], how="inner").withColumn("at", F.col("first") + in_hour)
    return placed.drop("hour", "first")
