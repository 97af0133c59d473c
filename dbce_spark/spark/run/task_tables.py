"""Tables that the tasks of a stage write by themselves, where rows of several tables come of the same work."""

from collections.abc import Mapping
from contextlib import ExitStack

import pyarrow as pa
from pyspark import TaskContext

from dbce_spark.files import parquet
from dbce_spark.spark.run import staging

_ROWS_PER_GROUP, _BYTES_PER_GROUP = 1 << 12, 64 << 20
"""Size of a row group: as many rows, or fewer where they have more bytes, wait to be written."""


class TaskTables(ExitStack):
    """The staged tables of one task: a file of each that it has rows of, named by the task's partition.

    A second attempt at the task writes the same files again. The driver has emptied the folders before the first.
    """

    def __init__(self, work: str, schemas: Mapping[str, pa.Schema]):
        super().__init__()
        self._work, self._schemas = work, schemas
        self._files: dict[str, parquet.ParquetWriter] = {}

    def write(self, name: str, rows: pa.RecordBatch) -> None:
        """Append rows to one of the tables."""
        if not rows.num_rows:
            return
        if name not in self._files:
            task = TaskContext.get()
            path = staging.staged_file(self._work, name, task.partitionId() if task else 0)
            file = parquet.writer(
                path,
                self._schemas[name],
                dictionary=False,
                rows_per_group=_ROWS_PER_GROUP,
                bytes_per_group=_BYTES_PER_GROUP,
            )
            self._files[name] = self.enter_context(file)
        self._files[name].write(rows)
