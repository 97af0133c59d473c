"""The columnar index: what its statistics rule out is not read."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbce_spark.archive.index.capture_filter import FilterCounts
from tests.support.indexes import entry, faults_in, found_in, offsets_in, write_parquet

ENTRIES = [
    entry(urlkey=f"org,site{nth:03})/", url=f"http://site{nth:03}.org/", offset=nth, status=200 if nth % 2 else 404)
    for nth in range(100)
]


def test_rows_are_entries(tmp_path: Path) -> None:
    """Common Crawl's columns give what its CDXJ gives."""
    written = entry(mime_detected="application/xhtml+xml", languages=("deu", "eng"), filename="crawl/a.warc.gz")
    path = write_parquet(tmp_path / "a", [written])
    expected = [replace(written, path="s3://commoncrawl/crawl/a.warc.gz")]

    assert expected == found_in(path, base="s3://commoncrawl/")


@pytest.mark.parametrize(
    ("chosen", "expected", "pushed"),
    [
        ({"domains": ("site042.org",)}, [42], 99),
        ({"surts": ("org,site04",)}, list(range(40, 50)), 90),
        ({"surts": ("org,site040)/", "org,site09")}, [40, *range(90, 100)], 89),
        ({"statuses": (404,)}, list(range(0, 100, 2)), 50),
        ({"since": "2021"}, [], 100),
        ({"until": "2019-12-31T23:59:59"}, [], 100),
        ({"since": "20200102", "until": "20200102"}, list(range(100)), 0),
        ({"urls": ("site007",)}, [7], 0),
        ({"mimes": ("image/png",)}, [], 0),
    ],
)
def test_what_is_pushed_down(tmp_path: Path, chosen: dict[str, Any], expected: list[int], pushed: int) -> None:
    """Keys, dates and statuses are left to the file; its rows are counted all the same."""
    path = write_parquet(tmp_path / "a", ENTRIES, rows_per_group=10)
    counts = FilterCounts()
    actual = [one.offset for one in found_in(path, counts=counts, **chosen) if hasattr(one, "offset")]

    assert (expected, 100, pushed) == (actual, counts.read, counts.skipped["select:index"])


def test_row_groups_are_left_out(tmp_path: Path) -> None:
    """A key that stands in one row group lets the pages of the others unread: they may be garbage."""
    path = tmp_path / "a"
    write_parquet(path, ENTRIES, rows_per_group=10)
    data = bytearray(path.read_bytes())
    first = pq.ParquetFile(path).metadata.row_group(0)
    data[4 : first.total_byte_size // 2] = b"\xff" * (first.total_byte_size // 2 - 4)
    path.write_bytes(data)

    assert [42] == offsets_in(str(path), domains=("site042.org",))
    assert [(0, "index_unreadable")] == faults_in(str(path))


def test_what_is_null_passes(tmp_path: Path) -> None:
    """A row that does not say its status passes, as a line of CDX does."""
    path = write_parquet(tmp_path / "a", [entry(status=0, mime="", digest="", offset=1), entry(status=500)])

    assert [1] == offsets_in(path, statuses=(200,), mimes=("text/html",), digests=("A" * 32,))


def test_row_that_is_no_entry(tmp_path: Path) -> None:
    """A row without a place is a fault, and the others are read."""
    table = pa.table(
        {
            "url": ["http://a/", "http://b/", None],
            "fetch_time": pa.array([0, None, 0], pa.timestamp("us")),
            "warc_filename": ["a", "b", "c"],
            "warc_record_offset": [1, 2, 3],
        }
    )
    pq.write_table(table, tmp_path / "a")

    assert [1] == offsets_in(str(tmp_path / "a"))
    assert [(-1, "broken_index_line")] * 2 == faults_in(str(tmp_path / "a"))


def test_table_of_something_else(tmp_path: Path) -> None:
    """Without the columns that say where records lie it is no index."""
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a")

    assert [(0, "not_an_index")] == faults_in(str(tmp_path / "a"))


def test_parquet_that_is_cut(tmp_path: Path) -> None:
    """Half a file is a fault, and no exception."""
    path = Path(write_parquet(tmp_path / "a", ENTRIES))
    path.write_bytes(path.read_bytes()[:-100])

    assert [(0, "index_unreadable")] == faults_in(str(path))


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("url", pa.array([b"http://www.example.org/\xff"]).view(pa.string())),
        ("fetch_time", pa.array([1 << 62], pa.timestamp("ms"))),
    ],
)
def test_values_that_python_does_not_know(tmp_path: Path, name: str, column: pa.Array) -> None:
    """A column of what is no text, or of dates in the year 100 million, is a fault and no error."""
    path = tmp_path / "index.parquet"
    table = pq.read_table(write_parquet(path, [entry()]))
    pq.write_table(table.set_column(table.schema.get_field_index(name), name, column), path)

    assert [(0, "index_unreadable")] == faults_in(str(path))
