"""Tasks that compare sites, each of which one worker can hold, and write tables by themselves."""

from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.spark.run.task_tables import TaskTables

CompareSites = Callable[[Iterator[pa.Table], TaskTables, DbceConfig], BucketSizes]
"""Stages the tables of the sites of one task, each given as one table; returns the sizes of their buckets."""


def by_site(run: Run, rows: DataFrame, schemas: Mapping[str, pa.Schema], compare: CompareSites) -> BucketSizes:
    """Bring the rows of a site to one task, in order of captures, and compare the sites of each; `schemas` are those of
    the tables that this stages. Returns the sizes of all buckets."""
    work, config = run.work, run.config

    def of_task(batches: Iterator[pa.RecordBatch]) -> BucketSizes:
        with TaskTables(work, schemas) as tables:
            return compare(groups(batches, ["site"]), tables, config)

    staging.renew(work, *schemas)
    ordered = rows.repartition("site").sortWithinPartitions("site", "capture_id")
    return sum(task_results(ordered, of_task, BucketSizes), BucketSizes())
