"""A run by index: the driver knows archives and counts only, and Spark gives what local.extract() gives."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

from dbce_spark.dbce import local
from dbce_spark.spark.jobs import job
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.tables import extraction_rows, reject_rows
from tests.builders import archive, config, gzipped, http, record
from tests.spark.partitions import spread_over

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONFIG = config(
    "label.by=T002",
    "input.records_per_task=4",
    "fetch.first_wait_seconds=0.001",
    "fetch.gap_bytes=100",
    'select.until="2021"',
)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two archives of ten pages, a CDXJ of both with what can be wrong in one, and a file that is no index."""
    folder = tmp_path_factory.mktemp("crawl")
    lines = ["this is no line", line("gone", 0, 99, "gone.warc.gz"), line("out", 0, 99, "../out.warc.gz")]
    for name in ("a", "b"):
        members = gzipped(
            *(
                record(
                    http(f"<p>Page {at} of {name}</p>"),
                    url=f"http://www.example.org/{name}{at}",
                    date=f"{year}-01-02T00:00:00Z",
                )
                for at, year in enumerate([2020, 2021, 2022, 2020, 2021] * 2)
            )
        )
        archive(folder / f"{name}.warc.gz", *members)
        offset = 0
        for at, member in enumerate(members):
            year = (2020, 2021, 2022)[at % 5 % 3]
            lines.append(line(f"{name}{at}", offset, len(member), f"{name}.warc.gz", year))
            offset += len(member)
    (folder / "index.cdxj").write_text("\n".join([*lines[::-1], lines[-1]]) + "\n")
    (folder / "other.cdxj").write_text("neither key nor date\n")
    return folder


def line(page: str, offset: int, length: int, filename: str, year: int = 2020) -> str:
    """What an index says of a page."""
    fields = {"url": f"http://www.example.org/{page}", "mime": "text/html", "status": "200", "filename": filename}
    written = json.dumps(fields | {"offset": str(offset), "length": str(length)})
    return f"org,example)/{page} {year}0102000000 {written}"


def indexes(crawl: Path) -> list[str]:
    return [str(crawl / "index.cdxj"), str(crawl / "missing.cdxj"), str(crawl / "other.cdxj")]


@pytest.fixture(scope="module")
def expected(crawl: Path) -> local.Result:
    return local.extract([str(crawl / "a.warc.gz")], CONFIG, indexes(crawl))


def test_only_what_is_wanted_is_read(crawl: Path, expected: local.Result) -> None:
    """What the filters refuse is counted and not fetched, what is wrong with an index is a reject, the same place twice
    is read once, and a capture that is in an input file and at a place is one."""
    assert {"read": 26, "selected": 18, "skipped": {"select:date": 4}, "undeclared": {}, "duplicate": 1} == {
        name: count for name, count in (expected.selection or {}).items() if name != "faults"
    }
    assert {"broken_index_line": 1, "unsafe_path": 1, "index_unreadable": 1, "not_an_index": 1, "fetch_failed": 1} == {
        str(one.reason): 1 for one in expected.rejects
    }
    assert {"select:date": 2, "duplicate": 8} == dict(expected.skipped)
    assert ["a0", "a1", "a3", "a4", "a5", "a6", "a8", "a9", "b0", "b1", "b3", "b4", "b5", "b6", "b8", "b9"] == sorted(
        one.page.capture.url.rsplit("/")[-1] for one in expected.extractions
    )
    captures = len(expected.extractions) + len(expected.revisits)
    assert expected.records_read == captures + len(expected.rejects) + expected.skipped.total()
    assert {"count": 3, "of": 7} == {name: expected.failed_files[name] for name in ("count", "of")}
    assert ["gone.warc.gz", "missing.cdxj", "other.cdxj"] == [Path(one).name for one in expected.failed_files["first"]]


@pytest.mark.spark
@pytest.mark.parametrize("partitions", [1, 3])
def test_spark_gives_what_plain_python_gives(
    spark: "SparkSession", crawl: Path, expected: local.Result, tmp_path: Path, partitions: int
) -> None:
    """With four records a task: the same rows, rejects and counts."""
    request = RunRequest(
        files=[str(crawl / "a.warc.gz")],
        indexes=indexes(crawl)[::-1],
        output=str(tmp_path),
        with_html=False,
        limit=None,
        started=0.0,
    )
    with spread_over(spark, partitions):
        report = job.run(spark, request, CONFIG)

    assert [row_of(one) for one in expected.extractions] == rows(tmp_path, "extractions", "capture_id", _COLUMNS)
    assert sorted(map(reject_of, expected.rejects)) == sorted(
        map(tuple, rows(tmp_path, "rejects", "reason", _REJECTED))
    )
    assert {
        "records_read": expected.records_read,
        "skipped": dict(sorted(expected.skipped.items())),
        "selection": expected.selection,
        "failed_files": expected.failed_files,
        "files": 4,
    } == {name: report[name] for name in ("records_read", "skipped", "selection", "failed_files", "files")}
    assert json.loads((tmp_path / "run.json").read_text()) == json.loads(json.dumps(report))


_COLUMNS = ["capture_id", "warc_file", "warc_offset", "warc_length", "text"]
_REJECTED = ["warc_file", "warc_offset", "url", "stage", "reason", "detail"]


def row_of(one: Any) -> list[Any]:
    capture = one.page.capture
    return [one.page.capture_id, capture.warc_file, capture.warc_offset, capture.warc_length, one.text]


def reject_of(one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in _REJECTED)


def rows(output: Path, name: str, key: str, columns: list[str]) -> list[list[Any]]:
    schema = extraction_rows.EXTRACTIONS if name == "extractions" else reject_rows.REJECTS
    table = ds.dataset(output / name, partitioning="hive", schema=schema).to_table(columns).sort_by(key)
    return [list(row.values()) for row in table.to_pylist()]
