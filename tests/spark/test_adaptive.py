"""Adaptive execution changes how Spark goes about a run, and nothing of what comes of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbce_spark import config, sources
from dbce_spark.samples import write_archive
from dbce_spark.spark import job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ADAPTIVE = "spark.sql.adaptive.enabled"
# Some sites are looked at whole, others by buckets, of which some are cut: every stage has rows.
CONFIG = config.load(settings=["bucket.cap=16", "bucket.whole_site_bytes=70000", "output.site_parts=5"])


@contextmanager
def adaptive(spark: "SparkSession", is_on: str) -> Iterator[None]:
    before = spark.conf.get(ADAPTIVE) or "true"
    spark.conf.set(ADAPTIVE, is_on)
    try:
        yield
    finally:
        spark.conf.set(ADAPTIVE, before)


def written(spark: "SparkSession", files: list[str], output: Path) -> dict[str, bytes]:
    """All files of all tables, by their names below the output."""
    job.run(spark, job.Request(files=files, output=str(output), with_html=True, limit=None, started=0.0), CONFIG)
    return {str(part.relative_to(output)): part.read_bytes() for part in output.glob("*/**/*.parquet")}


def test_adaptive_execution_changes_no_byte(spark: "SparkSession", tmp_path: Path) -> None:
    """With it and without, a run writes the same files of every table, byte for byte."""
    write_archive(tmp_path / "archive", pages=60, seed=7)
    (tmp_path / "archive" / "broken.warc.gz").write_bytes(b"this is no archive")
    files = sources.expand([str(tmp_path / "archive")], CONFIG.input.patterns)
    outputs = {}
    for is_on in ("true", "false"):
        with adaptive(spark, is_on):
            outputs[is_on] = written(spark, files, tmp_path / is_on)

    assert {"captures", "duplicates", "extractions", "rejects"} == {name.split("/")[0] for name in outputs["true"]}
    assert outputs["true"] == outputs["false"]
