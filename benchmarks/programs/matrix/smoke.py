"""Run the commands on a combination of versions, and compare Spark's rows with those of plain Python.

`smoke.py ARCHIVE` runs where only the package is installed, so it imports nothing else: its caller makes the archive.
Its last line has the versions that it ran on, as JSON.
"""

import importlib.metadata
import json
import platform
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import SparkSession

from dbce_spark import config
from dbce_spark.archive.revisits import fetch_times
from dbce_spark.commands.cli import main
from dbce_spark.dbce import local
from dbce_spark.dbce.kept.kept_formats import Formats
from dbce_spark.files import sources
from dbce_spark.html import language
from dbce_spark.output.schemas import extraction_rows

LIBRARIES = ("pyspark", "pandas", "pyarrow", "numpy")
CONFIG = config.default()


def command(*words: str) -> None:
    """Run a command in this process; raise SystemExit if it fails."""
    if status := main(words):
        raise SystemExit(f"dbce {words[0]} ended with {status}")


def written() -> list[dict[str, Any]]:
    """Read the rows that Spark has written, by capture id."""
    return sorted_rows(
        ds.dataset("extracted/extractions", partitioning="hive", schema=extraction_rows.EXTRACTIONS).to_table()
    )


def expected(archive: Path) -> list[dict[str, Any]]:
    """Extract the archive in plain Python; return its rows by capture id."""
    result = local.extract(sources.expand([str(archive)], CONFIG.input.patterns), CONFIG)
    languages = language.detect_languages([one.text for one in result.extractions], CONFIG.language)
    again = fetch_times([extraction.page.capture for extraction in result.extractions], result.revisits)
    no_html = [Formats()] * len(result.extractions)
    batch = extraction_rows.extractions_batch(result.extractions, languages, no_html, CONFIG.output.site_parts, again)
    return sorted_rows(pa.Table.from_batches([batch]))


def sorted_rows(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.sort_by("capture_id").to_pylist()
    return rows


def versions() -> dict[str, str]:
    spark = SparkSession.getActiveSession()
    if spark is None:
        raise SystemExit("no Spark has run")
    java = spark._jvm.System.getProperty("java.version")  # type: ignore[union-attr]  # a session on a JVM has one
    libraries = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {**libraries, "java": java, "python": platform.python_version()}


def smoke(archive: Path) -> None:
    """Extract and report an archive, compare its rows, and print the versions."""
    command("extract", str(archive), "--output", "extracted", "--master", "local[2]")
    command("report", "extracted", "--output", "report")
    found = written()
    if not found or expected(archive) != found:
        raise SystemExit(f"Spark's {len(found)} rows are not those of plain Python")
    print(json.dumps(versions()))


if __name__ == "__main__":
    smoke(Path(sys.argv[1]))
