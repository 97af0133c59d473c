"""A run whose stages are tried one by one, without the job around them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbce_spark.config import DbceConfig
from dbce_spark.log import Log
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.progress import Progress, job_group
from dbce_spark.spark.run.run_request import RunRequest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_in(spark: "SparkSession", folder: str, config: DbceConfig) -> Run:
    """A run that stages and writes in a folder, and reads no files."""
    staging.prepare(folder)
    request = RunRequest(files=[], output=folder, with_html=False, limit=None, started=0.0)
    return Run(spark, request, config, Progress(spark.sparkContext, folder, Log()))


def jobs_by_stage(spark: "SparkSession", report: Mapping[str, Any]) -> dict[str, int]:
    """Count the jobs of Spark's that each stage of a run took, by its run.json; stages without any are left out."""
    tracker = spark.sparkContext.statusTracker()
    groups = {stage: job_group(stage, report["run_id"], report["attempts"]) for stage in report["seconds"]}
    counts = {stage: len(tracker.getJobIdsForGroup(group)) for stage, group in groups.items()}
    return {stage: count for stage, count in counts.items() if count}
