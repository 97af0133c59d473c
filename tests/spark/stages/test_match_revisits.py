"""Revisits on Spark: what plain Python makes of them, whatever the partitions; and the table of captures."""

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from dbce_spark.dbce import local
from dbce_spark.output.schemas import capture_rows, extraction_rows, reject_rows
from tests.support.revisit_archive import HOST
from tests.support.spark_runs import BY_ITSELF, ROWS_PER_FILE, WAYS, Ran, Runs, plain_captures, plain_rejects, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def ran(runs: Runs) -> Ran:
    """The run as it goes by itself."""
    return runs[BY_ITSELF]


@pytest.mark.parametrize("way", WAYS)
def test_spark_gives_what_plain_python_gives(runs: Runs, expected: local.Result, way: str) -> None:
    """However the rows are spread: the same captures and rejects."""
    found = rows(runs[way].output, "rejects", reject_rows.REJECTS)

    assert plain_captures(expected) == rows(runs[way].output, "captures", capture_rows.CAPTURES)
    assert plain_rejects(expected) == sorted(tuple(row.values()) for row in found)


def test_revisits_of_every_kind_are_there(expected: local.Result) -> None:
    """The archive of the runs has revisits with an original, duplicates among them, and such as have none."""
    assert len(expected.revisits) > 8
    assert {"revisit_unresolved", "segment_missing"} <= {str(one.reason) for one in expected.rejects}
    assert expected.skipped["duplicate"] > 0


def test_what_a_url_said_on_a_day(ran: Ran, spark: "SparkSession") -> None:
    """The latest capture of a URL up to a day names the extraction with its text, which may be of another URL."""
    spark.read.parquet(str(ran.output / "captures")).createOrReplaceTempView("captures")
    spark.read.parquet(str(ran.output / "extractions")).createOrReplaceTempView("extractions")

    def text_on(url: str, day: str) -> str:
        (found,) = spark.sql(
            "SELECT page_text FROM captures AS c JOIN extractions AS e ON c.extraction_id = e.capture_id "
            f"WHERE c.url = '{url}' AND c.timestamp < '{day}' ORDER BY c.timestamp DESC LIMIT 1"
        ).collect()
        return str(found["page_text"])

    assert "About apple\n" in text_on(f"{HOST}/apple", "2020-02-01")
    assert "About apple2\n" in text_on(f"{HOST}/apple", "2020-02-03")
    assert "About plum\n" in text_on(f"{HOST}/plum/again", "2020-12-31")


def test_captures_are_cut_into_files_by_url(ran: Ran, expected: local.Result) -> None:
    """All captures of a URL are in one file, sorted by URL and time; together the files have them all."""
    parts = [pq.read_table(path).to_pylist() for path in sorted((ran.output / "captures").iterdir())]
    keys = [{row["url_key"] for row in part} for part in parts]
    count = len(expected.extractions) + len(expected.revisits)

    assert len(parts) > 1
    assert count > ROWS_PER_FILE
    assert count == sum(map(len, parts))
    assert sum(map(len, keys)) == len(set().union(*keys))
    assert all(part == sorted(part, key=lambda row: (row["url_key"], row["timestamp"])) for part in parts)


def test_a_page_that_was_fetched_once_is_its_own_extraction(ran: Ran) -> None:
    """Each page is a capture whose extraction is its own, seen once where nothing revisits it."""
    captures = rows(ran.output, "captures", capture_rows.CAPTURES)
    found = {row["capture_id"]: row for row in rows(ran.output, "extractions", extraction_rows.EXTRACTIONS)}
    own = [row for row in captures if row["capture_id"] == row["extraction_id"]]
    shared = {row["extraction_id"] for row in captures if row["capture_id"] != row["extraction_id"]}
    alone = [row for name, row in found.items() if name not in shared]

    assert {*found} == {row["capture_id"] for row in own}
    assert shared
    assert all(
        (row["timestamp"], row["timestamp"], 0) == (row["first_seen"], row["last_seen"], row["revisits"])
        for row in alone
    )
