"""Results that tasks return to the driver."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame

from dbce_spark.spark.run import checkpoints

T = TypeVar("T")


def task_results(rows: DataFrame, task: Callable[[Iterator[pa.RecordBatch]], T], kind: type[T]) -> list[T]:
    """Run a task over each partition of some rows; return the results of all, in the order of the partitions.

    They travel as JSON. `kind` is their type, as `checkpoints.once` takes it. Where there are no rows, Spark may plan
    no task.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"result": [checkpoints.text(task(batches))]})

    return [checkpoints.parsed(row["result"], kind) for row in rows.mapInArrow(run, "result string").collect()]
