"""The cut of the merging into tasks: the staged row groups of one task make one part of `extractions`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbce_spark.dbce.page_lots import LotSize
from dbce_spark.spark.engine.batches import lots

if TYPE_CHECKING:  # `dbce status` counts the tasks where there is no Spark
    from pyspark.sql import Column

ROWS_PER_GROUP = 512
"""Rows of a staged file for which all that was found is brought together."""
BYTES_PER_GROUP = 128 << 20
"""Bytes of pages behind which a row group ends before it has so many rows. As many wait to be written, or are read at
once; 512 gold pages have 60 to 150 MB."""
BATCH_CAPTURES = 128
"""Captures of a row group that are labelled at once."""
MERGED = LotSize(pages=BATCH_CAPTURES, blocks=100_000)
"""The size of a lot of these that become rows at once: twice what is scored at once, for twice as many pages."""

_TASKS_OF_SMALL_RUN = 32


@dataclass(frozen=True, slots=True)
class MergeTasks:
    """The row groups of each staged file, how many of them make a task, and how many tasks that are."""

    row_groups: list[int]
    per_task: int
    count: int

    def by_task(self, of_prior: Iterable[tuple[int, int]] = ()) -> list[list[tuple[int, int]]]:
        """List the row groups of each task (file, number), those of prior pages behind the run's own."""
        own = [(at, group) for at, count in enumerate(self.row_groups) for group in range(count)]
        return [*lots([*own, *sorted(of_prior)], self.per_task)]


def cut(captures: Sequence[int], rows_per_file: int) -> MergeTasks:
    """Cut a run into tasks by the captures of each staged file alone, so that the same input gives the same files."""
    row_groups = [-(-count // ROWS_PER_GROUP) for count in captures]
    per_task = max(1, min(rows_per_file // ROWS_PER_GROUP, sum(row_groups) // _TASKS_OF_SMALL_RUN))
    return MergeTasks(row_groups, per_task, max(1, -(-sum(row_groups) // per_task)))


def row_group() -> "Column":
    """Return the column `row_group`: the number of the row group that a staged row is in, from `row_no`."""
    from pyspark.sql import functions as F

    return F.floor(F.col("row_no") / ROWS_PER_GROUP).cast("int").alias("row_group")
