"""The estimate of how much would be read."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index import read_estimate
from dbce_spark.archive.index.byte_ranges import group_by_file, spans
from dbce_spark.archive.index.capture_filter import FilterCounts, selection
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.index_file import read_entries
from tests.support.indexes import FETCH, cdxj_line, entry, select, write_lines


def test_with_an_index(tmp_path: Path) -> None:
    """Files, records, bytes and requests after the filters, and what each filter passed over."""
    some = [
        entry(offset=0, length=100),
        entry(offset=130, length=100),
        entry(offset=130, length=100),
        entry(offset=9000, length=-1),
        entry(offset=5, length=7, filename="b.warc.gz"),
        entry(status=404),
    ]
    path = write_lines(tmp_path / "a", [*map(cdxj_line, some), "broken"])
    counts = FilterCounts()
    found = read_entries([path], "", selection(select(statuses=(200,), languages=("de",))), FETCH, counts)
    expected = read_estimate.Estimate(
        archives=[str(tmp_path / "a.warc.gz"), str(tmp_path / "b.warc.gz")],
        records=4,
        record_bytes=207,
        requested_bytes=237,
        requests=3,
        unknown=1,
        duplicates=1,
        counts=counts,
    )

    assert expected == read_estimate.estimate([path], found, counts, FETCH)
    assert {"select:status": 1} == counts.skipped
    assert "1    select:status" in expected.text()


def test_archives_that_are_not_there_are_counted(tmp_path: Path) -> None:
    """Each is tried once, a WACZ for all in it."""
    (tmp_path / "a.wacz").write_bytes(b"PK")
    named = [f"{tmp_path}/{name}" for name in ("a.wacz!/b.warc", "c.warc", "a.wacz!/d.warc", "e.warc", "c.warc")]
    expected = f"2  missing or unreadable, of 3 files tried, such as {tmp_path}/c.warc; --base names their folder"

    assert expected == read_estimate.absence(named, FETCH).text().lstrip()
    assert "" == read_estimate.absence(named[:1], FETCH).text()


def test_an_archive_that_does_not_answer_is_the_last(tmp_path: Path) -> None:
    """Each of a server that is not there would take as long."""
    expected = "1  missing or unreadable, of 1 file tried, such as http://127.0.0.1:1/a; --base names their folder"

    assert expected == read_estimate.absence(["http://127.0.0.1:1/a", f"{tmp_path}/b.warc"], FETCH).text().lstrip()


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 500), st.integers(-1, 90)), max_size=12))
def test_it_is_what_reading_would_be(places: list[tuple[str, int, int]]) -> None:
    """The figures are those of the spans that reading would ask for."""
    some: list[IndexEntry] = [entry(path=path, offset=offset, length=length) for path, offset, length in places]
    files, duplicates = group_by_file(some)
    wanted = [span for one in files.values() for span in spans(one, FETCH.gap_bytes, FETCH.span_bytes)]
    actual = read_estimate.estimate([], some, FilterCounts(), FETCH)

    assert ([*files], len(wanted), duplicates) == (sorted(actual.archives), actual.requests, actual.duplicates)
    assert sum(span.length for span in wanted if span.length > 0) == actual.requested_bytes
    assert sum(map(len, files.values())) == actual.records
