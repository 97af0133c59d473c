"""The main job: its stages in order, and the report of what it did."""

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from dbce_spark.config import DbceConfig
from dbce_spark.errors import JobError, OutputError
from dbce_spark.log import Log, counted
from dbce_spark.spark.engine import small_run_settings
from dbce_spark.spark.engine.spark_errors import as_job_errors
from dbce_spark.spark.run import heartbeat, plan, run_lock, run_output, run_report, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import run_stage
from dbce_spark.spark.run.progress import Progress
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.run_report import Effort
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.stages import (
    find_originals,
    match_revisits,
    read_pages,
    select_records,
    write_captures,
    write_extractions,
    write_increment_tables,
)
from dbce_spark.spark.stages.compare_pages import compare
from dbce_spark.spark.stages.mark_duplicates import text_duplicates

READING = (select_records.STAGE, read_pages.STAGE)
"""Stages behind which the number of captures is known."""
LABELLING = (
    find_originals.STAGE,
    match_revisits.STAGE,
    *compare.STAGES,
    write_extractions.STAGE,
    text_duplicates.STAGE,
    write_captures.STAGE,
    write_increment_tables.STAGE,
)
"""Stages that compare the captures, and write what comes of it."""

_IS_BROKEN = re.compile(r"FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|is broken|is not a Parquet file")
_IS_WHOLE = re.compile(r"Permission denied|Too many open files|No space left on device")
"""Why a file that nothing is wrong with could not be read: of Java's errors only their texts tell."""
_STAGED = re.compile(rf"/{staging.FOLDER}/([^\s:'\"]+\.parquet)")
_GO_ON = "the same command goes on from there, --overwrite starts afresh"


def run(spark: SparkSession, request: RunRequest, config: DbceConfig, log: Log | None = None) -> dict[str, Any]:
    """Run all stages and return the content of run.json. `failed_files.check` tells whether too many files failed.

    Where a run with the same plan was ended before its time, this one goes on: what is staged, or written, is not done
    again. What else lies at the output is replaced.

    Raises:
        JobError: Spark gave up on a stage.
        OutputError: the output cannot be written, is being written by another run, is finished, or holds an unfinished
            run with another plan.
    """
    with run_lock.hold(request.work), heartbeat.keeping_failure(request.work), _as_ours(request):
        return _run(spark, request, config, log or run_output.identify(Log(), request, config))


@contextmanager
def _as_ours(request: RunRequest) -> Iterator[None]:
    """Turn what Spark and the file system raise within the block into errors of ours."""
    try:
        with as_job_errors(_GO_ON):
            yield
    except (JobError, OutputError) as error:  # OutputError: of a stage that the driver does by itself
        if broken := _of_broken(f"{error} {error.__cause__}", request):
            raise broken from error
        raise
    except OSError as error:
        raise OutputError(f"{request.output}: {error}; {_GO_ON}") from error


def _of_broken(text: str, request: RunRequest) -> JobError | None:
    """Remove the staged file that a message calls broken, if it does, and make an error of that."""
    staged = _STAGED.search(text) if _IS_BROKEN.search(text) and not _IS_WHOLE.search(text) else None
    if not staged:
        return None
    broken = staging.path(request.work, staged[1])
    run_output.forget(request, broken)
    return JobError(f"{broken} was broken, and is removed with all that was made of it; {_GO_ON}")


def _run(spark: SparkSession, request: RunRequest, config: DbceConfig, log: Log) -> dict[str, Any]:
    run = _begin(spark, request, config, log)
    account = RunAccount(
        sources=len(request.files) + len(request.indexes),
        is_increment=request.is_increment,
        pending=request.pending_revisits,
    )
    for stage in READING:
        run_stage(stage, run, account)
    with small_run_settings.settings(spark, account.fetches + request.prior.captures):
        for stage in LABELLING:
            run_stage(stage, run, account)
    return _end(run, account)


def _end(run: Run, account: RunAccount) -> dict[str, Any]:
    effort = Effort(
        engine="spark",
        cores=run.spark.sparkContext.defaultParallelism,
        seconds=run.progress.seconds,
        versions={**plan.versions(), "java": _java(run.spark)},
    )
    report = run_report.report(run.request, run.config, run.log, account, effort)
    run_output.sweep(run.request)
    run_output.finish(run.request, run.log, report)
    return report


def _begin(spark: SparkSession, request: RunRequest, config: DbceConfig, log: Log) -> Run:
    """Make the output ready: as an earlier run has left it, if this one goes on with that, and else empty."""
    goes_on = request.goes_on(config)
    if goes_on:
        run_output.go_on(request)
    else:
        run_output.begin(request, config)
    staging.prepare(request.work)
    if request.pending_revisits:
        shutil.copy(request.pending, staging.path(request.work, f"{staging.REVISITS}/pending.parquet"))
    _log_spark(spark, log)
    progress = Progress(spark.sparkContext, request.work, log)
    if goes_on:
        read = staging.read_sources(request.work)
        log.write("resume", f"goes on with an unfinished run: {_already_read(request, read)}", {"sources": len(read)})
    progress.spent("start", time.monotonic() - request.started)
    return Run(spark, request, config, progress)


def _log_spark(spark: SparkSession, log: Log) -> None:
    """Log the version of Spark, its master, its cores, and the address of its user interface."""
    context = spark.sparkContext
    text = f"Spark {spark.version} on {context.master}, {counted(context.defaultParallelism, 'core')}"
    figures = {
        "spark": spark.version,
        "master": context.master,
        "cores": context.defaultParallelism,
        "application_id": context.applicationId,
        "ui": context.uiWebUrl,
    }
    log.write("spark", text, figures)


def _already_read(request: RunRequest, read: Sequence[int]) -> str:
    """Describe how much of the reading an earlier run has done, by the numbers of the sources that it has read."""
    files = sum(number < len(request.files) for number in read)
    of_indexes = f", and {counted(len(read) - files, 'part')} of what the indexes name" if request.indexes else ""
    return f"{files:,} of {counted(len(request.files), 'file')}{of_indexes} read"


def _java(spark: SparkSession) -> str:
    java: str = spark.sparkContext._jvm.System.getProperty("java.version")  # type: ignore[union-attr]
    return java
