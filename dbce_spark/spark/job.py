"""The main job: its stages in order, and the account of what it did."""

import json
import logging
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbce_spark import storage
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.errors import JobError, OutputError
from dbce_spark.log import Log
from dbce_spark.spark import (
    annotations,
    captures,
    crosses,
    duplicates,
    evidence,
    extractions,
    growth,
    increment,
    ledger,
    little,
    originals,
    pages,
    parts,
    plan,
    revisits,
    selection,
    sites,
    staging,
)
from dbce_spark.spark.account import Account
from dbce_spark.spark.known import NOTHING, Known
from dbce_spark.spark.plan import Plan
from dbce_spark.spark.run import heartbeat
from dbce_spark.spark.run.progress import Progress, Steps
from dbce_spark.spark.tally import Tally, by_reason

RUN_FILE = "run.json"
_EXCEPTION = re.compile(r"[\w.]*(Error|Exception)\b.*: \S")
_TABLES = (extractions.NAME, duplicates.NAME, captures.NAME, extractions.REJECTS, *increment.KEPT)
_IS_BROKEN = re.compile(r"FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|is broken|is not a Parquet file")
_STAGED = re.compile(rf"/{staging.FOLDER}/([^\s:'\"]+\.parquet)")
_EXISTS = "{} exists; give another --output, or --overwrite to replace it"
_GO_ON = "the same command goes on from there, --overwrite starts afresh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a run is asked to do, its parameters aside. `started` is when the command began, by `time.monotonic`.

    File names in the `indexes` are relative to `base`; "": to the folder of their index. With `overwrite` it starts
    afresh, whatever an earlier run has left. `staging` is where stages hand on what the next needs; "": in the output.
    The output may be an increment of a collection that was labelled by `settings`; what it holds before is `known`.
    """

    files: Sequence[str]
    output: str
    with_html: bool
    limit: int | None
    started: float
    indexes: Sequence[str] = ()
    base: str = ""
    overwrite: bool = False
    staging: str = ""
    known: Known = NOTHING
    settings: dict[str, Any] | None = None

    @property
    def work(self) -> str:
        """Where the staging folder lies: on a file system that all workers have mounted."""
        return self.staging or self.output

    @property
    def is_increment(self) -> bool:
        return self.settings is not None

    @property
    def pending(self) -> Path:
        """Where the revisits are that a collection holds no original of."""
        return Path(self.known.folders[-1] if self.known else "", revisits.PENDING, "part-00000.parquet")

    @property
    def has_pending(self) -> bool:
        return self.pending.exists() and pq.read_metadata(self.pending).num_rows > 0

    def plan(self, config: DbceConfig) -> Plan:
        made = plan.of(self.files, self.indexes, self.base, config, limit=self.limit, with_html=self.with_html)
        return replace(made, output=self.output if self.staging else "")

    def told(self, config: DbceConfig) -> dict[str, Any]:
        """What a log says of it when it begins."""
        return {
            "files": len(self.files),
            "indexes": len(self.indexes),
            "output": self.output,
            "plan": self.plan(config).digest,
            "versions": plan.versions(),
        }

    def goes_on(self, config: DbceConfig) -> bool:
        """Whether the output holds an unfinished run that has set out to do the same.

        Raises:
            OutputError: that has set out to do something else, or is finished, and nothing may be overwritten.
        """
        if self.overwrite:
            return False
        if RUN_FILE in storage.names(self.output):
            raise OutputError(_EXISTS.format(self.output))
        return plan.is_begun(self.plan(config), self.work)


def check_output(request: Request, config: DbceConfig) -> None:
    """Raises OutputError if the output holds something that may neither be replaced nor gone on with, or if it lies
    where nothing can be staged."""
    output = request.output
    if "://" in request.work:
        raise OutputError(
            f"{request.work} is no folder of a file system; give --staging DIR, which this machine and all workers have"
            " mounted"
        )
    # Staging alone, without a plan, is of a run that was ended before it began.
    holds = storage.names(output)
    if not (request.goes_on(config) or request.overwrite) and holds - {staging.FOLDER}:
        raise OutputError(_EXISTS.format(output))
    ours = {RUN_FILE, *_TABLES, staging.FOLDER}
    if foreign := sorted(holds - ours):
        raise OutputError(f"{output} holds {foreign[0]}, which no run has written; --overwrite only replaces an output")


def name(log: Log, request: Request, config: DbceConfig) -> Log:
    """Gives a log the id of its run: that of the run that it goes on with, if it does. Raises as `Request.goes_on`
    does."""
    log.run_id, log.attempt = heartbeat.next_attempt(request.work, goes_on=request.goes_on(config))
    return log


def run(spark: SparkSession, request: Request, config: DbceConfig, log: Log | None = None) -> dict[str, Any]:
    """Runs all stages and returns what run.json says. `failed_files.check` says whether too many files failed.

    Where a run with the same plan was ended before its time, this one goes on: what is staged, or written, is not done
    again. What else lies at the output is replaced.

    Raises:
        JobError: Spark gave up on a stage.
        OutputError: the output cannot be written, is being written by another run, is finished, or holds an unfinished
            run with another plan.
    """
    with staging.alone(request.work), heartbeat.keeping_failure(request.work), _as_ours(request):
        return _run(spark, request, config, log or name(Log(), request, config))


@contextmanager
def _as_ours(request: Request) -> Iterator[None]:
    """What Spark and the file system raise within the block, as errors of ours."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _gave_up(str(error) or type(error).__name__, request) from error
    except OSError as error:
        raise OutputError(f"{request.output}: {error}; {_GO_ON}") from error


def _gave_up(told: str, request: Request) -> JobError:
    """What Spark has told at length, in a sentence. A staged file that is found broken is removed."""
    if "No space left on device" in told:
        return JobError(f"no space is left for the output, or in Spark's own folders; make room: {_GO_ON}")
    staged = _STAGED.search(told) if _IS_BROKEN.search(told) else None
    if staged:
        broken = staging.path(request.work, staged[1])
        staging.forget(request.work, broken)
        _remove_tables(request.output)
        return JobError(f"{broken} was broken, and is removed with all that was made of it; {_GO_ON}")
    return JobError(f"Spark gave up: {cause(told)}; its log says more. {_GO_ON.capitalize()}")


def cause(told: str) -> str:
    """The line that names the cause, of what Spark has told at length."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return next((line for line in lines if _EXCEPTION.match(line)), lines[0])[:300]


def _run(spark: SparkSession, request: Request, config: DbceConfig, log: Log) -> dict[str, Any]:
    progress = _begin(spark, request, config, log)
    done = Account(sources=len(request.files) + len(request.indexes), is_increment=request.is_increment)
    if request.indexes:
        with progress.stage(selection.NAME):
            done.selected = _selected(spark, request, config)
    done.read(_pages(spark, request, done.selected, config, progress))
    failed = done.failed_files()
    progress.know(done.tally.counts() + Counter(sources=len(done.tallies), failed_files=failed["count"]))
    _warn(log, failed)
    with little.work(spark, done.tally.captures + done.tally.revisits + request.known.captures):
        _compare(spark, request, done, config, progress)
    return _end(spark, request, done, config, progress)


def _compare(spark: SparkSession, request: Request, done: Account, config: DbceConfig, progress: Progress) -> None:
    """What comes behind the reading: all that captures say of each other, and what is written of it."""
    work, known = request.work, request.known
    has_revisits = done.tally.revisits > 0 or request.has_pending
    if has_revisits:
        with progress.stage(originals.NAME):
            done.found = _originals(spark, request, len(done.tallies), config)
    with progress.stage(revisits.NAME):
        done.passed_over = pages.drop(spark, work, known, limit=request.limit)
        if has_revisits:
            done.revisited = revisits.stage(spark, work, known, is_limited=request.limit is not None)
    with progress.stage(sites.NAME):
        done.sizes = ledger.once(
            staging.done(work, sites.NAME), BucketSizes, lambda: sites.stage(spark, work, known, config)
        )
    done.sizes += _one_by_one(spark, request, config, progress)
    progress.know({"largest_bucket": done.sizes.largest, "capped_buckets": done.sizes.capped})
    progress.know(by_reason(done.tally.rejects + done.revisited.rejects))
    with progress.stage(extractions.NAME, _parts(done.page_files, config)):
        done.statuses = _extractions(spark, request, done.page_files, config, progress)
    if config.duplicates.find:
        with progress.stage(duplicates.NAME):
            done.marked = duplicates.write(spark, work, request.output, known, config.duplicates)
    with progress.stage(captures.NAME):
        captures.write(spark, work, request.output, done.captures)
    if request.is_increment:
        with progress.stage(increment.NAME):
            _keep(spark, request, done, has_revisits=has_revisits)


def _end(
    spark: SparkSession, request: Request, done: Account, config: DbceConfig, progress: Progress
) -> dict[str, Any]:
    """Writes run.json, by which an output is finished, and takes away what was staged."""
    log, cores = progress.log, spark.sparkContext.defaultParallelism
    report = {
        "run_id": log.run_id,
        "attempts": log.attempt,
        **done.counts(),
        **({"selection": done.selected.as_dict(), "originals": done.found.account} if request.indexes else {}),
        **({"settings": request.settings} if request.is_increment else {}),
        "seconds": progress.seconds,
        "pages_per_second_per_core": _speed(done.extractions, progress.seconds, cores),
        "cores": cores,
        "files": len(request.files) + len(done.selected.archives),
        "failed_files": done.failed_files(),
        "plan": request.plan(config).digest,
        "config": config.as_dict(),
        "versions": {**plan.versions(), "java": _java(spark)},
    }
    _sweep(request)
    with storage.whole_file(f"{request.output.rstrip('/')}/{RUN_FILE}") as file:
        file.write(json.dumps(report, indent=2).encode() + b"\n")
    shutil.rmtree(staging.path(request.work, ""))
    _tell_rejects(log, report)
    return report


def _selected(spark: SparkSession, request: Request, config: DbceConfig) -> selection.Selected:
    """What the indexes choose."""
    return ledger.once(
        staging.done(request.work, selection.NAME),
        selection.Selected,
        lambda: selection.stage(spark, sorted(request.indexes), request.base, request.work, config),
    )


def _extractions(
    spark: SparkSession, request: Request, page_files: Sequence[Tally], config: DbceConfig, progress: Progress
) -> Counter[str]:
    """The merging stage, with counts that grow as its tasks end."""
    counted = progress.counted
    return extractions.write(
        spark,
        request.work,
        request.output,
        request.known,
        config,
        page_files,
        is_increment=request.is_increment,
        seen=lambda counts: counted.add(counts),
    )


def _keep(spark: SparkSession, request: Request, done: Account, *, has_revisits: bool) -> None:
    """What later increments ask of this one."""
    kept = increment.Kept(request.work, request.output, request.known)
    kept.members(spark, done.extractions)
    if has_revisits:
        kept.pending(spark)
    kept.pages(len(done.page_files))
    kept.inputs(sorted(request.files))


def _begin(spark: SparkSession, request: Request, config: DbceConfig, log: Log) -> Progress:
    """Makes the output ready: as an earlier run has left it, if this one goes on with that, and else empty."""
    goes_on = request.goes_on(config)
    if goes_on:
        _sweep(request)
    else:
        _clear(request)
        plan.save(request.plan(config), request.work)
    staging.prepare(request.work)
    if request.has_pending:
        shutil.copy(request.pending, staging.path(request.work, f"{staging.REVISITS}/pending.parquet"))
    context = spark.sparkContext
    told = f"Spark {spark.version} on {context.master}, {context.defaultParallelism} cores"
    figures = {
        "spark": spark.version,
        "master": context.master,
        "cores": context.defaultParallelism,
        "application_id": context.applicationId,
        "ui": context.uiWebUrl,
    }
    log.tell("spark", told, figures)
    progress = Progress(context, request.work, log)
    if goes_on:
        read = len(staging.read_sources(request.work))
        log.tell("resume", f"goes on with an unfinished run: {_told(request)}", {"sources": read})
    progress.spent("start", time.monotonic() - request.started)
    return progress


def _told(request: Request) -> str:
    """What of the reading an earlier run has done."""
    read = staging.read_sources(request.work)
    files = sum(number < len(request.files) for number in read)
    of_indexes = f", and {len(read) - files:,} parts of what the indexes name" if request.indexes else ""
    return f"{files:,} of {len(request.files):,} files{of_indexes} are read"


def _tell_rejects(log: Log, report: dict[str, Any]) -> None:
    told = ", ".join(f"{count:,} {reason}" for reason, count in report["rejects"].items())
    figures = {name: report[name] for name in ("records_read", "rejects", "skipped")}
    log.tell("rejects", f"rejects: {told or 'none'}", figures)


def _warn(log: Log, failed: dict[str, Any]) -> None:
    """Names the first files that failed, while there is time to look at them."""
    if failed["count"]:
        first = next(iter(failed["first"].items()))
        told = f"{failed['count']:,} of {failed['of']:,} files failed; first {first[0]} ({first[1][:120]})"
        log.tell("warning", told, {"failed_files": failed}, level=logging.WARNING)


def _parts(tallies: Sequence[Tally], config: DbceConfig) -> Steps:
    """What the extractions are written in."""
    count = parts.of([one.captures for one in tallies], config.output.rows_per_file).count
    return Steps("parts", "parts", count, pages=("crossed", "single"), is_last=not config.duplicates.find)


def _pages(
    spark: SparkSession, request: Request, selected: selection.Selected, config: DbceConfig, progress: Progress
) -> list[Tally]:
    """The reading stage, with counts that grow as its tasks end. A tally for each file and each part of the places."""
    counted = progress.counted
    unit = "files and parts of indexes" if request.indexes else "files"
    steps = Steps(unit, "sources", len(request.files) + selected.parts, pages=("captures",))
    with progress.stage(pages.NAME, steps):
        return ledger.once(
            staging.done(request.work, pages.NAME),
            list[Tally],
            lambda: pages.stage(
                spark,
                sorted(request.files),
                selected.parts,
                request.work,
                config,
                with_html=request.with_html,
                limit=request.limit,
                seen=lambda counts: counted.add(counts),
            ),
        )


def _one_by_one(spark: SparkSession, request: Request, config: DbceConfig, progress: Progress) -> BucketSizes:
    """What pages say of each other where their site is not looked at whole: because it has grown, and only what is new
    is asked, or bucket by bucket because it is too large for one worker."""
    work, sizes = request.work, BucketSizes()
    has_grown = bool(request.known) and sites.has_grown(spark, work)
    if has_grown:
        with progress.stage(growth.NAME):
            sizes += ledger.once(
                staging.done(work, growth.NAME), BucketSizes, lambda: growth.stage(spark, work, request.known, config)
            )
    has_large = sites.has_large(spark, work)
    if has_large:
        with progress.stage(crosses.NAME):
            sizes += ledger.once(
                staging.done(work, crosses.NAME), BucketSizes, lambda: crosses.stage(spark, work, config)
            )
    if not has_large and not has_grown:
        return sizes
    with progress.stage(evidence.NAME):
        evidence.stage(spark, work, config, has_large=has_large)
    with progress.stage(annotations.NAME):
        annotations.stage(spark, work, config)
    return sizes


def _originals(spark: SparkSession, request: Request, first_no: int, config: DbceConfig) -> originals.Found:
    """The originals of revisits: among the pages that were read, then in the indexes. Of archives that are read up to a
    limit they are looked for no further."""
    revisits.match(spark, request.work, request.known)
    where = originals.Places(
        indexes=[] if request.limit is not None else sorted(request.indexes),
        base=request.base,
        output=request.work,
        first_no=first_no,
        with_html=request.with_html,
    )
    return originals.stage(spark, where, config)


def _speed(extracted: int, seconds: dict[str, float], cores: int) -> float:
    """Pages a second and core, start aside."""
    working = sum(value for name, value in seconds.items() if name != "start")
    return round(extracted / working / cores, 2)


def _clear(request: Request) -> None:
    """Takes an earlier run's markers away first: from here on, what lies there is neither finished nor begun."""
    storage.remove(f"{request.output.rstrip('/')}/{RUN_FILE}")
    staging.clear(request.work)
    _remove_tables(request.output)


def _remove_tables(output: str) -> None:
    for name in _TABLES:
        storage.remove(f"{output.rstrip('/')}/{name}")


def _sweep(request: Request) -> None:
    """Removes halves of files; an object store has none."""
    for folder in {request.work, request.output}:
        if "://" not in folder:
            staging.sweep(folder)


def _java(spark: SparkSession) -> str:
    java: str = spark.sparkContext._jvm.System.getProperty("java.version")  # type: ignore[union-attr]
    return java
