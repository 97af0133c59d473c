"""The main job: its stages in order, and the account of what it did."""

import json
import platform
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import dbce_spark
from dbce_spark import tables
from dbce_spark.config import DbceConfig
from dbce_spark.errors import OutputError
from dbce_spark.spark import annotations, crosses, extractions, pages, staging
from dbce_spark.spark.progress import Progress

RUN_FILE = "run.json"
_VERSIONS_OF = ("pyspark", "pyarrow", "lxml", "warcio", "FastWARC", "datasketch", "rapidfuzz", "numpy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a run is asked to do, its parameters aside. `started` is when the command began, by `time.monotonic`."""

    files: Sequence[str]
    output: str
    overwrite: bool
    with_html: bool
    limit: int | None
    started: float


def check_output(output: str, *, overwrite: bool) -> None:
    """Raises OutputError if there is something at `output` that may not be replaced."""
    folder = Path(output)
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputError(f"{output} is a file; give a folder for the output")
    if any(folder.iterdir()) and not overwrite:
        raise OutputError(f"{output} exists; give another --output, or --overwrite to replace it")
    ours = {RUN_FILE, "extractions", "rejects", staging.FOLDER}
    if foreign := sorted({entry.name for entry in folder.iterdir()} - ours):
        raise OutputError(f"{output} holds {foreign[0]}, which no run has written; --overwrite only replaces an output")


def run(spark: SparkSession, request: Request, config: DbceConfig, *, visible: bool) -> dict[str, Any]:
    """Runs all stages and returns what run.json says."""
    output = request.output
    _clear(output)
    progress = Progress(spark.sparkContext, visible=visible)
    progress.seconds["start"] = round(time.monotonic() - request.started, 3)
    seen = spark.sparkContext.accumulator(0)
    with progress.stage(pages.NAME, lambda: f"{seen.value:,} rows of {len(request.files):,} files"):
        pages.stage(
            spark, request.files, output, config, with_html=request.with_html, limit=request.limit, seen=seen
        )
        passed_over = pages.keep(spark, output, limit=request.limit)
    with progress.stage(crosses.NAME):
        sizes = crosses.stage(spark, output, config)
    with progress.stage(annotations.NAME):
        annotations.stage(spark, output, config)
    with progress.stage("extractions"):
        extractions.write(spark, output, config)
    report = _account(spark, request, config, passed_over, sizes) | {"seconds": progress.seconds}
    cores = spark.sparkContext.defaultParallelism
    working = sum(seconds for name, seconds in progress.seconds.items() if name != "start")
    report["cores"] = cores
    report["pages_per_second_per_core"] = round(report["extractions"] / working / cores, 2)
    (Path(output) / RUN_FILE).write_text(json.dumps(report, indent=2, sort_keys=False) + "\n", encoding="utf-8")
    shutil.rmtree(Path(output) / staging.FOLDER)
    return report


def _clear(output: str) -> None:
    """Takes an earlier run's marker away first: from here on, what lies there is not finished."""
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RUN_FILE).unlink(missing_ok=True)
    for name in ("extractions", "rejects", staging.FOLDER):
        shutil.rmtree(folder / name, ignore_errors=True)


def _account(
    spark: SparkSession, request: Request, config: DbceConfig, passed_over: Counter[str], sizes: crosses.BucketSizes
) -> dict[str, Any]:
    """The counts, from what was written: a retried task counts once."""
    staged = pages.staged(spark, request.output)
    tallies = staged.where(staging.is_kind(tables.TALLY)).groupBy("filter").agg(F.sum("count").alias("n")).collect()
    counts = {row["filter"]: row["n"] for row in tallies}
    reasons = staged.where(staging.is_kind(tables.REJECT)).groupBy("reason").count().collect()
    written = spark.read.parquet(f"{request.output}/extractions") if passed_over.total() >= 0 else None
    statuses = {row["status"]: row["count"] for row in written.groupBy("status").count().collect()} if written else {}
    skipped = Counter({name: n for name, n in counts.items() if name}) + passed_over
    return {
        "records_read": counts.get("", 0),
        "captures": staged.where(staging.is_kind(tables.PAGE)).count(),
        "extractions": sum(statuses.values()),
        "crossed": statuses.get("crossed", 0),
        "single": statuses.get("single", 0),
        "rejects": {row["reason"]: row["count"] for row in sorted(reasons)},
        "skipped": {name: n for name, n in sorted(skipped.items()) if n},
        "largest_bucket": sizes.largest,
        "capped_buckets": sizes.capped,
        "files": len(request.files),
        "config": config.as_dict(),
        "versions": _versions(spark),
    }


def _versions(spark: SparkSession) -> dict[str, str]:
    installed = {name.lower(): version(name) for name in _VERSIONS_OF}
    java = spark.sparkContext._jvm.System.getProperty("java.version")  # type: ignore[union-attr]
    return {"dbce_spark": dbce_spark.__version__, "python": platform.python_version(), "java": java, **installed}
