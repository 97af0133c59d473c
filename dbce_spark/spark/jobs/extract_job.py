"""The main job: its stages in order, and the report of what it did."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.revisit_originals import account as originals_account
from dbce_spark.errors import JobError, OutputError
from dbce_spark.files import storage
from dbce_spark.log import Log
from dbce_spark.output import output_reader
from dbce_spark.spark.engine import small_run_settings
from dbce_spark.spark.run import heartbeat, plan, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import run_stage
from dbce_spark.spark.run.progress import Progress
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.run_request import EXISTS, RUN_FILE, RunRequest
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

_EXCEPTION = re.compile(r"[\w.]*(Error|Exception)\b.*: \S")
_TABLES = (
    write_extractions.NAME,
    text_duplicates.NAME,
    write_captures.NAME,
    write_extractions.REJECTS,
    *write_increment_tables.KEPT,
)
_IS_BROKEN = re.compile(r"FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|is broken|is not a Parquet file")
_STAGED = re.compile(rf"/{staging.FOLDER}/([^\s:'\"]+\.parquet)")
_GO_ON = "the same command goes on from there, --overwrite starts afresh"


def check_output(request: RunRequest, config: DbceConfig) -> None:
    """Check that a run may write its output.

    Raises:
        OutputError: the output holds something that may neither be replaced nor gone on with, or lies where nothing can
            be staged.
    """
    output = request.output
    if "://" in request.work:
        raise OutputError(
            f"{request.work} is no folder of a file system; give --staging DIR, which this machine and all workers have"
            " mounted"
        )
    # Staging alone, without a plan, is of a run that was ended before it began.
    holds = storage.list_names(output)
    if not (request.goes_on(config) or request.overwrite) and holds - {staging.FOLDER}:
        raise OutputError(EXISTS.format(output))
    ours = {RUN_FILE, *_TABLES, staging.FOLDER}
    if foreign := sorted(holds - ours):
        raise OutputError(f"{output} holds {foreign[0]}, which no run has written; --overwrite only replaces an output")


def identify_run(log: Log, request: RunRequest, config: DbceConfig) -> Log:
    """Give a log the id of its run: that of the run that it goes on with, if it does. Raises as `RunRequest.goes_on`
    does."""
    log.run_id, log.attempt = heartbeat.next_attempt(request.work, goes_on=request.goes_on(config))
    return log


def run(spark: SparkSession, request: RunRequest, config: DbceConfig, log: Log | None = None) -> dict[str, Any]:
    """Run all stages and return the content of run.json. `failed_files.check` tells whether too many files failed.

    Where a run with the same plan was ended before its time, this one goes on: what is staged, or written, is not done
    again. What else lies at the output is replaced.

    Raises:
        JobError: Spark gave up on a stage.
        OutputError: the output cannot be written, is being written by another run, is finished, or holds an unfinished
            run with another plan.
    """
    with staging.run_lock(request.work), heartbeat.keeping_failure(request.work), _as_ours(request):
        return _run(spark, request, config, log or identify_run(Log(), request, config))


@contextmanager
def _as_ours(request: RunRequest) -> Iterator[None]:
    """Turn what Spark and the file system raise within the block into errors of ours."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _gave_up(str(error) or type(error).__name__, request) from error
    except OSError as error:
        raise OutputError(f"{request.output}: {error}; {_GO_ON}") from error


def _gave_up(text: str, request: RunRequest) -> JobError:
    """Make an error of one sentence of Spark's long message. A staged file that is found broken is removed."""
    if "No space left on device" in text:
        return JobError(f"no space is left for the output, or in Spark's own folders; make room: {_GO_ON}")
    staged = _STAGED.search(text) if _IS_BROKEN.search(text) else None
    if staged:
        broken = staging.path(request.work, staged[1])
        staging.forget(request.work, broken)
        _remove_tables(request.output)
        return JobError(f"{broken} was broken, and is removed with all that was made of it; {_GO_ON}")
    return JobError(f"Spark gave up: {cause(text)}; its log says more. {_GO_ON.capitalize()}")


def cause(text: str) -> str:
    """Return the line that names the cause in Spark's long message."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if _EXCEPTION.match(line)), lines[0])[:300]


def _run(spark: SparkSession, request: RunRequest, config: DbceConfig, log: Log) -> dict[str, Any]:
    run = _begin(spark, request, config, log)
    account = RunAccount(
        sources=len(request.files) + len(request.indexes),
        is_increment=request.is_increment,
        pending=request.pending_revisits,
    )
    for stage in READING:
        run_stage(stage, run, account)
    captures_to_compare = account.records.captures + account.records.revisits + request.prior.captures
    with small_run_settings.settings(spark, captures_to_compare):
        for stage in LABELLING:
            run_stage(stage, run, account)
    return _end(run, account)


def _end(run: Run, account: RunAccount) -> dict[str, Any]:
    """Write run.json, by which an output is finished, and remove what was staged.

    Raises:
        OutputError: a table has not the rows that were counted.
    """
    request, log, cores = run.request, run.log, run.spark.sparkContext.defaultParallelism
    report = {
        "run_id": log.run_id,
        "attempts": log.attempt,
        **account.counts(),
        **(_of_indexes(account) if request.indexes else {}),
        **({"settings": request.settings} if request.is_increment else {}),
        "seconds": run.progress.seconds,
        "pages_per_second_per_core": _speed(account.extractions, run.progress.seconds, cores),
        "cores": cores,
        "files": len(request.files) + len(account.selected.archives),
        "failed_files": account.failed_files(),
        "plan": request.plan(run.config).digest,
        "config": run.config.as_dict(),
        "versions": {**plan.versions(), "java": _java(run.spark)},
    }
    _sweep(request)
    _check_rows(run.output, report)
    with storage.atomic_file(f"{run.output}/{RUN_FILE}") as file:
        file.write(json.dumps(report, indent=2).encode() + b"\n")
    shutil.rmtree(staging.path(run.work, ""))
    _log_rejects(log, report)
    return report


def _check_rows(output: str, report: dict[str, Any]) -> None:
    """Check that all parts are there: one that an earlier attempt wrote may be gone."""
    try:
        output_reader.check_rows(output_reader.list_written(output), report)
    except OutputError as error:
        raise OutputError(f"{error}, with --overwrite") from error


def _of_indexes(account: RunAccount) -> dict[str, Any]:
    """Return what run.json holds of the lines of indexes, and of the originals that were looked for there."""
    originals = account.originals
    return {
        "selection": account.selected.as_dict(),
        "originals": originals_account(originals.looked_for, originals.named, originals.read),
    }


def _begin(spark: SparkSession, request: RunRequest, config: DbceConfig, log: Log) -> Run:
    """Make the output ready: as an earlier run has left it, if this one goes on with that, and else empty."""
    goes_on = request.goes_on(config)
    if goes_on:
        _sweep(request)
    else:
        _clear(request)
        plan.save(request.plan(config), request.work)
    staging.prepare(request.work)
    if request.pending_revisits:
        shutil.copy(request.pending, staging.path(request.work, f"{staging.REVISITS}/pending.parquet"))
    context = spark.sparkContext
    text = f"Spark {spark.version} on {context.master}, {context.defaultParallelism} cores"
    figures = {
        "spark": spark.version,
        "master": context.master,
        "cores": context.defaultParallelism,
        "application_id": context.applicationId,
        "ui": context.uiWebUrl,
    }
    log.write("spark", text, figures)
    progress = Progress(context, request.work, log)
    if goes_on:
        read = len(staging.read_sources(request.work))
        log.write("resume", f"goes on with an unfinished run: {_already_read(request)}", {"sources": read})
    progress.spent("start", time.monotonic() - request.started)
    return Run(spark, request, config, progress)


def _already_read(request: RunRequest) -> str:
    """Describe how much of the reading an earlier run has done."""
    read = staging.read_sources(request.work)
    files = sum(number < len(request.files) for number in read)
    of_indexes = f", and {len(read) - files:,} parts of what the indexes name" if request.indexes else ""
    return f"{files:,} of {len(request.files):,} files{of_indexes} are read"


def _log_rejects(log: Log, report: dict[str, Any]) -> None:
    counts = ", ".join(f"{count:,} {reason}" for reason, count in report["rejects"].items())
    figures = {name: report[name] for name in ("records_read", "rejects", "skipped")}
    log.write("rejects", f"rejects: {counts or 'none'}", figures)


def _speed(extracted: int, seconds: dict[str, float], cores: int) -> float:
    """Return pages a second and core, start aside."""
    working = sum(value for name, value in seconds.items() if name != "start")
    return round(extracted / working / cores, 2)


def _clear(request: RunRequest) -> None:
    """Remove what lies at the output, markers first: from then on the run is neither finished nor begun."""
    storage.remove(f"{request.output.rstrip('/')}/{RUN_FILE}")
    staging.clear(request.work)
    _remove_tables(request.output)


def _remove_tables(output: str) -> None:
    for name in _TABLES:
        storage.remove(f"{output.rstrip('/')}/{name}")


def _sweep(request: RunRequest) -> None:
    """Remove halves of files; an object store has none."""
    for folder in {request.work, request.output}:
        if "://" not in folder:
            staging.sweep(folder)


def _java(spark: SparkSession) -> str:
    java: str = spark.sparkContext._jvm.System.getProperty("java.version")  # type: ignore[union-attr]
    return java
