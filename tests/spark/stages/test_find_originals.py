"""Originals that only an index has, on Spark: what plain Python makes of them, whatever the partitions."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbce_spark.dbce import local
from dbce_spark.output.schemas import capture_rows, extraction_rows, reject_rows
from tests.support.builders import config
from tests.support.partitions import spread_over
from tests.support.spark_runs import (
    WAYS,
    Input,
    Runs,
    extract,
    plain_captures,
    plain_extractions,
    plain_rejects,
    rows,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ACCOUNTS = ("records_read", "skipped", "selection", "originals", "failed_files")
FEW_WANTED = config(
    "label.by=T002",
    "language.detect=false",
    "duplicates.find=false",
    "input.records_per_task=2",
    "fetch.first_wait_seconds=0.001",
    "fetch.attempts=2",
    'select.since="2020"',
    "select.max_wanted=5",
    'select.hosts=["www.example.org"]',
)


@pytest.mark.parametrize("way", WAYS)
def test_the_account_is_that_of_plain_python(runs: Runs, expected: local.Result, way: str) -> None:
    """However the rows are spread: as many originals are looked for, found and pages. Their rows are among those of all
    others (test_job, test_revisits)."""
    assert {"skipped": dict(sorted(expected.skipped.items()))} | {
        name: getattr(expected, name) for name in ACCOUNTS if name != "skipped"
    } == {name: runs[way].report[name] for name in ACCOUNTS}


def test_originals_are_pages_rejects_and_none(expected: local.Result) -> None:
    """In the archive of the runs some are found and are pages, some are found and are none, and some cannot be had."""
    found = expected.originals or {}

    assert 0 < found["pages"] < found["found"] < found["revisits"]
    assert {"fetch_failed", "revisit_unresolved"} <= {str(one.reason) for one in expected.rejects}


def test_filters_and_a_limit_of_looking_up_count_as_in_plain_python(
    spark: "SparkSession", whole_input: Input, tmp_path: Path
) -> None:
    """Of some hosts, and no more than so many at once: the same rows, rejects and counts."""
    files = [path for path in whole_input.files if Path(path).parent.name == "originals"]
    expected = local.extract(files, FEW_WANTED, whole_input.indexes[:2])
    with spread_over(spark, 4):
        report = extract(spark, files, tmp_path, FEW_WANTED, whole_input.indexes[1::-1])

    assert plain_extractions(expected, FEW_WANTED) == rows(tmp_path, "extractions", extraction_rows.EXTRACTIONS)
    assert plain_captures(expected) == rows(tmp_path, "captures", capture_rows.CAPTURES)
    assert plain_rejects(expected) == sorted(
        tuple(row.values()) for row in rows(tmp_path, "rejects", reject_rows.REJECTS)
    )
    assert {"skipped": dict(sorted(expected.skipped.items()))} | {
        name: getattr(expected, name) for name in ACCOUNTS if name != "skipped"
    } == {name: report[name] for name in ACCOUNTS}
    assert (17, 5, 2) == (report["records_read"], report["extractions"], report["revisits"])
