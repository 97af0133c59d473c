"""How Spark goes about a run changes nothing of what comes of it."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.samples import write_archive
from dbce_spark import config
from dbce_spark.archive import sources
from dbce_spark.spark.engine import small_run_settings
from dbce_spark.spark.engine.session import under
from dbce_spark.spark.jobs import job
from dbce_spark.spark.run.run_request import RunRequest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# Some sites are looked at whole, others by buckets, of which some are cut: every stage has rows.
CONFIG = config.load(settings=["bucket.cap=16", "bucket.whole_site_bytes=70000", "output.site_parts=5"])
WAYS = {
    "adaptive": {small_run_settings.FEW: "0"},
    "not adaptive": {small_run_settings.FEW: "0", small_run_settings.ADAPTIVE: "false"},
    "over little": {small_run_settings.FEW: "1000000"},
}


def written(spark: "SparkSession", files: list[str], output: Path) -> dict[str, bytes]:
    """All files of all tables, by their names below the output."""
    job.run(spark, RunRequest(files=files, output=str(output), with_html=True, limit=None, started=0.0), CONFIG)
    return {str(part.relative_to(output)): part.read_bytes() for part in output.glob("*/**/*.parquet")}


def test_no_way_of_spark_changes_a_byte(spark: "SparkSession", tmp_path: Path) -> None:
    """With adaptive execution and without, and as it is done over little, a run writes the same files of every table,
    byte for byte."""
    write_archive(tmp_path / "archive", pages=24, seed=7)
    (tmp_path / "archive" / "broken.warc.gz").write_bytes(b"this is no archive")
    files = sources.expand([str(tmp_path / "archive")], CONFIG.input.patterns)
    outputs = {}
    for way, chosen in WAYS.items():
        with under(spark, chosen):
            outputs[way] = written(spark, files, tmp_path / way)

    assert {"captures", "duplicates", "extractions", "rejects"} == {name.split("/")[0] for name in outputs["adaptive"]}
    assert outputs["adaptive"] == outputs["not adaptive"] == outputs["over little"]
