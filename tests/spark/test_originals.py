"""Originals that only an index has, on Spark: what plain Python makes of them, whatever the partitions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local
from dbce_spark.spark.jobs import job
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.tables import capture_rows, extraction_rows, reject_rows
from tests import revisited
from tests.builders import config
from tests.spark.partitions import spread_over
from tests.spark.test_revisits import captures_of, extractions_of, rejects_of, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SETTINGS = (
    "label.by=T002",
    "language.detect=false",
    "input.records_per_task=2",
    "fetch.first_wait_seconds=0.001",
    "fetch.attempts=2",
    'select.since="2020"',
)
CONFIG = config(*SETTINGS)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """A crawl of revisits, and the index of their originals in two files: one original is in both."""
    folder = tmp_path_factory.mktemp("crawl")
    files, (index,) = revisited.write_with_index(folder)
    lines = Path(index).read_text().splitlines(keepends=True)
    for name, some in (("1.cdxj", lines[::2]), ("2.cdxj", [lines[0], *lines[1::2]])):
        (folder / name).write_text("".join(some))
    return files, [str(folder / "1.cdxj"), str(folder / "2.cdxj")]


def extracted(
    spark: "SparkSession",
    crawl: tuple[list[str], list[str]],
    output: Path,
    settings: DbceConfig = CONFIG,
    limit: int | None = None,
) -> dict[str, Any]:
    files, indexes = crawl
    request = RunRequest(
        files=files, indexes=indexes[::-1], output=str(output), with_html=False, limit=limit, started=0.0
    )
    return job.run(spark, request, settings)


@pytest.mark.parametrize(
    ("partitions", "settings"),
    [(1, ()), (4, ()), (4, ("select.max_wanted=5",)), (1, ('select.hosts=["www.example.org"]',))],
)
def test_spark_gives_what_plain_python_gives(
    spark: "SparkSession",
    crawl: tuple[list[str], list[str]],
    tmp_path: Path,
    partitions: int,
    settings: tuple[str, ...],
) -> None:
    """However the rows are spread, and however many are looked for: the same rows, rejects and counts."""
    chosen = config(*SETTINGS, *settings)
    expected = local.extract(*crawl[:1], chosen, crawl[1])
    with spread_over(spark, partitions):
        report = extracted(spark, crawl, tmp_path, chosen)
    rejects = ds.dataset(tmp_path / "rejects", schema=reject_rows.REJECTS).to_table().to_pylist()

    assert extractions_of(expected, chosen) == rows(tmp_path, "extractions", extraction_rows.EXTRACTIONS)
    assert captures_of(expected) == rows(tmp_path, "captures", capture_rows.CAPTURES)
    assert rejects_of(expected) == [
        (one["warc_file"], one["warc_offset"], one["reason"], one["detail"]) for one in rejects
    ]
    assert {
        "records_read": expected.records_read,
        "skipped": dict(sorted(expected.skipped.items())),
        "selection": expected.selection,
        "originals": expected.originals,
        "failed_files": expected.failed_files,
    } == {name: report[name] for name in ("records_read", "skipped", "selection", "originals", "failed_files")}


def test_every_record_is_accounted_for(
    spark: "SparkSession", crawl: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    """An original is no record that was read; the row of its payload stands for its first revisit."""
    report = extracted(spark, crawl, tmp_path)
    fates = (report["extractions"], report["revisits"], *report["rejects"].values(), *report["skipped"].values())

    assert (17, 5, 4) == (report["records_read"], report["extractions"], report["revisits"])
    assert report["records_read"] == sum(fates)


def test_up_to_a_limit_nothing_is_looked_up(
    spark: "SparkSession", crawl: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    """A run of a few captures asks no index for originals; the revisits count as beyond the limit."""
    report = extracted(spark, crawl, tmp_path, limit=10)

    assert {"revisits": 0, "found": 0, "pages": 0} == report["originals"]
    assert (2, {"limit": 15}) == (report["extractions"], report["skipped"])
