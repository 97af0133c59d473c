"""Tasks without input rows: each reads by itself what belongs to its number."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession


def one_task_each(spark: SparkSession, count: int) -> DataFrame:
    """Make the input of `count` tasks, one at least: each task has its number, from 0 on."""
    return spark.range(0, count, 1, count)


def task_numbers(batches: Iterator[pa.RecordBatch]) -> Iterator[int]:
    """Iterate over the numbers in the input of a task."""
    for batch in batches:
        yield from batch.column("id").to_pylist()
