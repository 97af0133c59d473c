"""Records in segments: put together within their file, or rejected with what is missing."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.records import records
from dbce_spark.archive.segmented_records import Segment, join_segments
from dbce_spark.archive.warc import Fetch
from dbce_spark.model import Reject, RejectReason
from tests.support.builders import DATE, URL, archive, at_most, gzipped, http, outcomes_of, read, record
from tests.support.segments import ORIGIN, segments

HTML = "<p>" + " ".join(f"word{nth}" for nth in range(300)) + "</p>"


def details(path: str) -> list[str]:
    return [one.detail for one in read(path) if isinstance(one, Reject)]


@pytest.mark.parametrize("version", ["0.18", "1.0", "1.1"])
@pytest.mark.parametrize("count", [2, 3, 9])
def test_segments_are_put_together(tmp_path: Path, version: str, count: int) -> None:
    """A page in segments is the capture that it would be in one piece, at the place of its first segment."""
    whole, *_ = read(archive(tmp_path / "whole.warc", record(http(HTML), WARC_Record_ID=ORIGIN)))
    found = read(archive(tmp_path / "a.warc.gz", *gzipped(*segments(http(HTML), count, version=version))))
    first = found[0]

    assert ["skip:segment"] * (count - 1) == outcomes_of(tmp_path / "a.warc.gz")[1:]
    assert isinstance(first, Fetch)
    assert (whole.html, whole.capture.capture_id, 0, ORIGIN, False) == (
        first.html,
        first.capture.capture_id,
        first.capture.warc_offset,
        first.capture.record_id,
        first.capture.truncated,
    )


@given(st.permutations(range(5)))
def test_the_order_of_segments_does_not_matter(tmp_path_factory: pytest.TempPathFactory, order: list[int]) -> None:
    """In whatever order the segments lie in their file, the page is whole, and every record has its outcome."""
    made = segments(http(HTML), 5)
    path = archive(tmp_path_factory.mktemp("made") / "a.warc", *(made[at] for at in order))
    found = read(path)

    assert [HTML.encode()] == [one.html for one in found if isinstance(one, Fetch)]
    assert 5 == len(found)


@pytest.mark.parametrize("hit", range(3))
def test_page_of_segments_of_which_one_is_damaged_is_flagged(tmp_path: Path, hit: int) -> None:
    """Any of them may be the one whose member fails its check."""
    made = gzipped(*segments(http(HTML), 3))
    made[hit] = made[hit][:-8] + b"none" + made[hit][-4:]
    (page,) = (one for one in read(archive(tmp_path / "a.warc.gz", *made)) if isinstance(one, Fetch))

    assert (HTML.encode(), ["damaged"]) == (page.html, [*page.defects])


def test_digest_of_the_first_segment_is_not_that_of_the_record(tmp_path: Path) -> None:
    """Each segment has a digest of its own block."""
    first, *others = segments(http(HTML), 3)
    digest = b"WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\nContent-Length"
    (page,) = (
        one
        for one in read(archive(tmp_path / "a.warc", first.replace(b"Content-Length", digest, 1), *others))
        if isinstance(one, Fetch)
    )

    assert frozenset() == page.defects


def test_records_between_segments_are_read(tmp_path: Path) -> None:
    """Segments of two records and other records may alternate."""
    one, other = segments(http("<p>one</p>"), 2), segments(http("<p>other</p>"), 2, "<urn:uuid:b>", f"{URL}?b")
    path = archive(tmp_path / "a.warc", one[0], other[0], record(url=f"{URL}?c"), other[1], one[1])

    assert sorted([URL, f"{URL}?b", f"{URL}?c", "skip:segment", "skip:segment"]) == sorted(outcomes_of(path))


@pytest.mark.parametrize(
    ("kept", "outcomes", "detail"),
    [
        ([0], ["reject:segment_missing"], f"segments 2 of {ORIGIN} are not in this file, 1 are"),
        (
            [0, 2],
            ["reject:segment_missing", "skip:segment"],
            f"segments 2 of 3 of {ORIGIN} are not in this file, 1, 3 are",
        ),
        ([0, 1], ["reject:segment_missing", "skip:segment"], f"segments 3 of {ORIGIN} are not in this file, 1, 2 are"),
        ([2], ["reject:segment_missing"], f"segments 1, 2 of 3 of {ORIGIN} are not in this file, 3 are"),
        ([1, 2], ["reject:segment_missing"] * 2, f"segments 1 of 3 of {ORIGIN} are not in this file, 2, 3 are"),
    ],
)
def test_segment_that_is_missing(tmp_path: Path, kept: list[int], outcomes: list[str], detail: str) -> None:
    """A record of which a segment is not in the file is a reject that says which; those after it are accounted for."""
    made = segments(http(HTML), 3)
    path = archive(tmp_path / "a.warc", *(made[at] for at in kept))

    assert outcomes == outcomes_of(path)
    assert {detail} == set(details(path))


def test_segments_in_two_files_are_rejects(tmp_path: Path) -> None:
    """A record is put together within one file only."""
    first, second = segments(http(HTML), 2)

    assert ["reject:segment_missing"] == outcomes_of(archive(tmp_path / "a.warc", first))
    assert ["reject:segment_missing"] == outcomes_of(archive(tmp_path / "b.warc", second))


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({}, "it does not name the record that it is of"),
        ({"WARC_Segment_Origin_ID": ORIGIN}, "its number is ''"),
        ({"WARC_Segment_Origin_ID": ORIGIN, "WARC_Segment_Number": "1"}, "its number is '1'"),
        ({"WARC_Segment_Origin_ID": ORIGIN, "WARC_Segment_Number": "-2"}, "its number is '-2'"),
        ({"WARC_Segment_Origin_ID": ORIGIN, "WARC_Segment_Number": "9" * 40}, f"its number is '{'9' * 40}'"),
    ],
)
def test_continuation_that_says_nothing(tmp_path: Path, fields: dict[str, str], detail: str) -> None:
    """A continuation of no record, or without a number, is a reject by itself."""
    path = archive(tmp_path / "a.warc", record(b"x", kind="continuation", **fields))

    assert ([detail], ["reject:segment_missing"]) == (details(path), outcomes_of(path))


def test_segment_that_is_there_twice(tmp_path: Path) -> None:
    """The second of the same number is a reject; the page is whole."""
    first, second, third = segments(http(HTML), 3)
    path = archive(tmp_path / "a.warc", first, second, second, third)

    assert ["segment 2 is in the file twice"] == details(path)
    assert HTML.encode() in [one.html for one in read(path) if isinstance(one, Fetch)]


def test_a_number_beyond_all_bounds_costs_nothing(tmp_path: Path) -> None:
    """A last segment of number 999,999,999 is a reject, and no list of those before it is made."""
    fields = {"WARC_Segment_Origin_ID": ORIGIN, "WARC_Segment_Number": "999999999", "WARC_Segment_Total_Length": "9"}
    path = archive(tmp_path / "a.warc", record(b"x", kind="continuation", **fields))

    assert ["reject:segment_missing"] == outcomes_of(path)
    assert 200 > len(details(path)[0])


def test_waiting_segments_are_bounded(tmp_path: Path) -> None:
    """Segments that wait for others never take more than a record may; the records behind them are read."""
    many = [segments(http(HTML), 2, f"<urn:uuid:{nth}a>")[0] for nth in range(20)]
    path = archive(tmp_path / "a.warc", *many, record(url=f"{URL}?after"))
    found = read(path, "input.max_record_bytes=6000")

    assert f"{URL}?after" in [one.capture.url for one in found if isinstance(one, Fetch)]
    assert [RejectReason.SEGMENT_MISSING] * 20 == [one.reason for one in found if isinstance(one, Reject)]
    assert any("wait for others" in one.detail for one in found if isinstance(one, Reject))


def test_heads_of_waiting_segments_are_bounded() -> None:
    """A head may have a megabyte of fields, which compress to nothing."""
    fields = {f"X{nth}": "y" for nth in range(500)}
    parts = [segments(http(HTML), 2, f"<urn:uuid:{nth}a>", **fields)[0] for nth in range(20)]
    found = [*join_segments(records(io.BytesIO(b"".join(parts)), at_most()), 500_000)]

    assert 20 == len(found)
    assert any("wait for others" in one.lack for one in found if isinstance(one, Segment))


def test_total_length_that_is_not_reached(tmp_path: Path) -> None:
    """A page whose segments hold less than the last of them says is flagged as truncated."""
    first, second = segments(http(HTML), 2)
    length = len(http(HTML))
    lying = second.replace(f"Total-Length: {length}".encode(), f"Total-Length: {length + 5}".encode())
    (page, _) = read(archive(tmp_path / "a.warc", first, lying))

    assert page.capture.truncated


def test_date_of_a_page_in_segments(tmp_path: Path) -> None:
    """Its date is that of its first segment."""
    first, second = segments(http(HTML), 2)
    later = second.replace(DATE.encode(), b"2021-01-02T03:04:05Z")
    one, _ = read(archive(tmp_path / "a.warc", later, first))
    expected, _ = read(archive(tmp_path / "b.warc", first, second))

    assert expected.capture.timestamp == one.capture.timestamp


def test_segments_behind_the_last(tmp_path: Path) -> None:
    """A segment with a number beyond the last one's makes no record whole."""
    made = segments(http(HTML), 3)[1:]
    path = archive(tmp_path / "a.warc", made[0], made[1].replace(b"Segment-Number: 3", b"Segment-Number: 4"))

    assert {f"segments 1, 3 of 4 of {ORIGIN} are not in this file, 2, 4 are"} == set(details(path))


def test_last_segment_before_others(tmp_path: Path) -> None:
    """Two segments, the first of which says that it is the last of two, are no record without a first."""
    second, third = segments(http(HTML), 3)[1:]
    path = archive(
        tmp_path / "a.warc", third.replace(b"Number: 3", b"Number: 2"), second.replace(b"Number: 2", b"Number: 3")
    )

    assert {f"segments 1 of 2 of {ORIGIN} are not in this file, 2, 3 are"} == set(details(path))


def test_what_waited_waits_no_more(tmp_path: Path) -> None:
    """However many records of a file are in segments, only those that are not whole yet take memory."""
    many = [one for nth in range(20) for one in segments(http(HTML), 2, f"<urn:uuid:{nth}a>", f"{URL}?{nth}")]
    found = read(archive(tmp_path / "a.warc", *many), "input.max_record_bytes=6000")

    assert [f"{URL}?{nth}" for nth in range(20)] == [one.capture.url for one in found if isinstance(one, Fetch)]
