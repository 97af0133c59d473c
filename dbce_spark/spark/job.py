"""The main job: its stages in order, and the account of what it did."""

import json
import platform
import re
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import dbce_spark
from dbce_spark import budget, store
from dbce_spark.config import DbceConfig
from dbce_spark.errors import JobError, OutputError
from dbce_spark.spark import annotations, captures, crosses, evidence, extractions, pages, revisits, selection, staging
from dbce_spark.spark.progress import Progress

RUN_FILE = "run.json"
_EXCEPTION = re.compile(r"[\w.]*(Error|Exception)\b.*: \S")
_VERSIONS_OF = ("pyspark", "pyarrow", "lxml", "warcio", "datasketch", "rapidfuzz", "numpy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a run is asked to do, its parameters aside. `started` is when the command began, by `time.monotonic`.

    File names in the `indexes` are relative to `base`; "": to the folder of their index.
    """

    files: Sequence[str]
    output: str
    with_html: bool
    limit: int | None
    started: float
    indexes: Sequence[str] = ()
    base: str = ""


def check_output(output: str, *, overwrite: bool) -> None:
    """Raises OutputError if `output` is no folder of a file system, or holds something that may not be replaced."""
    if "://" in output:
        raise OutputError(f"{output}: an output must be a folder that this machine and all workers have mounted")
    folder = Path(output)
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputError(f"{output} is a file; give a folder for the output")
    if any(folder.iterdir()) and not overwrite:
        raise OutputError(f"{output} exists; give another --output, or --overwrite to replace it")
    ours = {RUN_FILE, extractions.NAME, captures.NAME, extractions.REJECTS, staging.FOLDER}
    if foreign := sorted({entry.name for entry in folder.iterdir()} - ours):
        raise OutputError(f"{output} holds {foreign[0]}, which no run has written; --overwrite only replaces an output")


def run(spark: SparkSession, request: Request, config: DbceConfig) -> dict[str, Any]:
    """Runs all stages and returns what run.json says. `budget.check` says whether too many files failed.

    Raises:
        JobError: Spark gave up on a stage.
    """
    try:
        return _run(spark, request, config)
    except (PySparkException, Py4JError) as error:
        told = [line.strip() for line in str(error).splitlines() if line.strip()]
        cause = next((line for line in told if _EXCEPTION.match(line)), told[0] if told else type(error).__name__)
        raise JobError(f"Spark gave up: {cause[:300]}; its log says more, and --overwrite starts afresh") from error


def _run(spark: SparkSession, request: Request, config: DbceConfig) -> dict[str, Any]:
    output = request.output
    _clear(output)
    staging.prepare(output)
    progress = Progress(spark.sparkContext)
    progress.seconds["start"] = round(time.monotonic() - request.started, 3)
    selected = selection.Selected()
    if request.indexes:
        with progress.stage(selection.NAME):
            selected = selection.stage(spark, sorted(request.indexes), request.base, output, config)
    tallies, passed_over = _pages(spark, request, selected, config, progress)
    # Lines of an index that are no entries, and indexes that are none, are records that were read and rejected.
    refused = pages.Tally(selected.rejects.total(), rejects=selected.rejects, losses=selected.losses)
    tally = sum(tallies, refused)
    with progress.stage(revisits.NAME):
        account = revisits.Account()
        if tally.revisits:
            account = revisits.stage(spark, output, is_limited=request.limit is not None)
    with progress.stage(crosses.NAME):
        sizes = crosses.stage(spark, output, config)
    with progress.stage(evidence.NAME):
        evidence.stage(spark, output, config)
    with progress.stage(annotations.NAME):
        annotations.stage(spark, output, config)
    with progress.stage(extractions.NAME):
        statuses = extractions.write(spark, output, config, tallies)
    with progress.stage(captures.NAME):
        captures.write(spark, output, statuses.total() + account.shared)
    report = {
        "records_read": tally.records,
        "captures": statuses.total() + account.shared,
        "extractions": statuses.total(),
        "revisits": account.shared,
        "crossed": statuses["crossed"],
        "single": statuses["single"],
        "rejects": dict(sorted((tally.rejects + account.rejects).items())),
        "skipped": dict(sorted((tally.skipped + passed_over + account.skipped).items())),
        **({"selection": selected.as_dict()} if request.indexes else {}),
        "seconds": progress.seconds,
        "pages_per_second_per_core": _speed(statuses.total(), progress.seconds, spark.sparkContext.defaultParallelism),
        "cores": spark.sparkContext.defaultParallelism,
        "largest_bucket": sizes.largest,
        "capped_buckets": sizes.capped,
        "files": len(request.files) + len(selected.archives),
        "failed_files": budget.report(
            budget.joined(tally.losses, selected.archives),
            len(request.files) + len(request.indexes) + len(selected.archives),
        ),
        "config": config.as_dict(),
        "versions": _versions(spark),
    }
    with store.whole_file(f"{output.rstrip('/')}/{RUN_FILE}") as file:
        file.write(json.dumps(report, indent=2).encode() + b"\n")
    shutil.rmtree(Path(output) / staging.FOLDER)
    return report


def _pages(
    spark: SparkSession, request: Request, selected: selection.Selected, config: DbceConfig, progress: Progress
) -> tuple[list[pages.Tally], Counter[str]]:
    """The reading stage, with counts that grow as its tasks end.

    Returns a tally for each file and each part of the places, and how many captures were passed over when all were
    known.
    """
    records, read = (spark.sparkContext.accumulator(0) for _ in range(2))

    def seen(of_file: int, captures_of_file: int) -> None:
        records.add(of_file)
        read.add(captures_of_file)

    with progress.stage(pages.NAME, lambda: f"{records.value:,} records, {read.value:,} captures"):
        tallies = pages.stage(
            spark,
            sorted(request.files),
            selected.parts,
            request.output,
            config,
            with_html=request.with_html,
            limit=request.limit,
            seen=seen,
        )
        passed_over = pages.drop(spark, request.output, limit=request.limit)
    return tallies, passed_over


def _speed(extracted: int, seconds: dict[str, float], cores: int) -> float:
    """Pages a second and core, start aside."""
    working = sum(value for name, value in seconds.items() if name != "start")
    return round(extracted / working / cores, 2)


def _clear(output: str) -> None:
    """Takes an earlier run's marker away first: from here on, what lies there is not finished."""
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RUN_FILE).unlink(missing_ok=True)
    for name in (extractions.NAME, captures.NAME, extractions.REJECTS, staging.FOLDER):
        shutil.rmtree(folder / name, ignore_errors=True)


def _versions(spark: SparkSession) -> dict[str, str]:
    installed = {name.lower(): version(name) for name in _VERSIONS_OF}
    java = spark.sparkContext._jvm.System.getProperty("java.version")  # type: ignore[union-attr]
    return {"dbce_spark": dbce_spark.__version__, "python": platform.python_version(), "java": java, **installed}
