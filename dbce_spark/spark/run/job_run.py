"""A run at work: the one object that every stage of the main job is given."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dbce_spark.config import DbceConfig
from dbce_spark.log import Log
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.prior_state import PriorState
from dbce_spark.spark.run.progress import Progress
from dbce_spark.spark.run.run_request import RunRequest


@dataclass(frozen=True, slots=True)
class Run:
    """The state that all stages share. It stays in the driver; tasks bind parts of it to names of their own."""

    spark: SparkSession
    request: RunRequest
    config: DbceConfig
    progress: Progress

    @property
    def work(self) -> str:
        """The folder in whose staging folder stages hand on their tables."""
        return self.request.work

    @property
    def output(self) -> str:
        """The folder, or URL, of the tables that the run gives; without a slash at its end."""
        return self.request.output.rstrip("/")

    @property
    def prior(self) -> PriorState:
        """The state of the collection that the run extends; empty if it extends none."""
        return self.request.prior

    @property
    def log(self) -> Log:
        return self.progress.log

    def staged(self, name: str, schema: pa.Schema) -> DataFrame:
        """Read a staged table."""
        return staging.read(self.spark, self.work, name, schema)

    def is_empty(self, name: str) -> bool:
        """Return whether a staged table has no rows."""
        return staging.is_empty(self.work, name)

    def count_rows(self, name: str) -> int:
        """Count the rows of a staged table."""
        return staging.count_rows(self.work, name)

    def count_by(self, name: str, column: str) -> Counter[Any]:
        """Count the rows of a staged table by their value in a column."""
        return staging.count_by(self.work, name, column)

    def stage_rows(self, rows: DataFrame, name: str) -> None:
        """Write a staged table, unless it is whole already."""
        staging.write(rows, self.work, name)

    def staged_from(self, rows: DataFrame, name: str, schema: pa.Schema) -> DataFrame:
        """Write a staged table, unless it is whole already, and read it."""
        self.stage_rows(rows, name)
        return self.staged(name, schema)
