"""A run by index: the driver knows archives and counts only, and Spark gives what local.extract() gives."""

from pathlib import Path

import pytest

from dbce_spark.dbce import local
from dbce_spark.output.schemas import extraction_rows
from tests.support import indexed_archive
from tests.support.builders import config
from tests.support.spark_runs import WAYS, Input, Runs, rows

CONFIG = config(
    "label.by=T002",
    "input.records_per_task=4",
    "fetch.first_wait_seconds=0.001",
    "fetch.gap_bytes=100",
    'select.until="2021"',
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> local.Result:
    """The result of the plain engine over one of two archives and an index of both."""
    crawl = indexed_archive.write(tmp_path_factory.mktemp("crawl"))
    return local.extract([str(crawl / "a.warc.gz")], CONFIG, indexed_archive.indexes(crawl))


def test_only_what_is_wanted_is_read(plain: local.Result) -> None:
    """Captures that filters refuse are counted and not fetched, a fault of an index is a reject, a place that is named
    twice is read once, and a capture that is in an input file and at a place is one."""
    assert {"read": 26, "selected": 18, "skipped": {"select:date": 4}, "undeclared": {}, "duplicate": 1} == {
        name: count for name, count in (plain.selection or {}).items() if name != "faults"
    }
    assert {"broken_index_line": 1, "unsafe_path": 1, "index_unreadable": 1, "not_an_index": 1, "fetch_failed": 1} == {
        str(one.reason): 1 for one in plain.rejects
    }
    assert {"select:date": 2, "duplicate": 8} == dict(plain.skipped)
    assert ["a0", "a1", "a3", "a4", "a5", "a6", "a8", "a9", "b0", "b1", "b3", "b4", "b5", "b6", "b8", "b9"] == sorted(
        one.page.capture.url.rsplit("/")[-1] for one in plain.extractions
    )
    captures = len(plain.extractions) + len(plain.revisits)
    assert plain.records_read == captures + len(plain.rejects) + plain.skipped.total()
    assert {"count": 3, "of": 7} == {name: plain.failed_files[name] for name in ("count", "of")}
    assert ["gone.warc.gz", "missing.cdxj", "other.cdxj"] == [Path(one).name for one in plain.failed_files["first"]]


@pytest.mark.spark
@pytest.mark.parametrize("way", WAYS)
def test_the_places_of_an_index_are_read_as_by_plain_python(
    runs: Runs, expected: local.Result, whole_input: Input, way: str
) -> None:
    """With four records a task: the same places give the same texts, and as many archives were opened."""
    folder = Path(whole_input.indexes[-1]).parent
    by_index = [one for one in expected.extractions if one.page.capture.warc_file == str(folder / "b.warc.gz")]
    columns = ["capture_id", "warc_file", "warc_offset", "warc_length", "text"]
    found = [
        [row[name] for name in columns]
        for row in rows(runs[way].output, "extractions", extraction_rows.EXTRACTIONS)
        if row["warc_file"] == str(folder / "b.warc.gz")
    ]

    assert len(by_index) > 4
    assert [[getattr(one.page.capture, name, None) for name in columns[1:4]] for one in by_index] == [
        row[1:4] for row in found
    ]
    assert [(one.page.capture_id, one.text) for one in by_index] == [(row[0], row[4]) for row in found]
    assert expected.failed_files["of"] == runs[way].report["files"] + len(whole_input.indexes)
