"""Range reads: every requested record has an outcome, whatever the storage does."""

import os
from hashlib import sha256
from pathlib import Path

import fsspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.fetch import Fetched, Unfetched, fetch
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.range_reader import RangeReader
from dbce_spark.archive.records import Record, records
from dbce_spark.config import FetchConfig, load
from dbce_spark.errors import ConfigError
from dbce_spark.model import RejectReason
from tests.support.builders import at_most, gzipped, record
from tests.support.indexes import FETCH, entry, fetching
from tests.support.range_server import served

MEMBERS = gzipped(*(record(url=f"http://www.example.org/{nth}") for nth in range(6)))
FILE = b"".join(MEMBERS)
LIMIT = 1 << 20


def entries(path: str, known: bool = True) -> list[IndexEntry]:
    """Return the entries of the six records of FILE."""
    starts = [sum(map(len, MEMBERS[:nth])) for nth in range(len(MEMBERS))]
    return [
        entry(path=path, offset=start, length=len(member) if known else -1)
        for start, member in zip(starts, MEMBERS, strict=True)
    ]


def outcomes(path: str, wanted: list[IndexEntry], patience: FetchConfig = FETCH, limit: int = LIMIT) -> list[str]:
    """List "ok" for each record that came whole, else the reason."""
    return [_outcome(one) for one in fetch(path, wanted, patience, limit)]


def _outcome(one: Fetched | Unfetched) -> str:
    if isinstance(one, Unfetched):
        return one.detail
    return "ok" if one.data in MEMBERS else f"{len(one.data)} bytes"


@pytest.fixture
def local(tmp_path: Path) -> str:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(FILE)
    return str(path)


@pytest.mark.parametrize("known", [True, False])
def test_every_record_comes_by_itself(local: str, known: bool) -> None:
    """An entry gets its own member and nothing behind it, with or without a length in the index."""
    actual = [one.data for one in fetch(local, entries(local, known), FETCH, LIMIT) if isinstance(one, Fetched)]

    assert MEMBERS == actual


def test_record_reader_takes_what_is_fetched(local: str) -> None:
    """The bytes of an entry are one record to the reader of records."""
    (found,) = fetch(local, entries(local)[2:3], FETCH, LIMIT)
    assert isinstance(found, Fetched)
    actual = [one.url for one in records(found.stream(), at_most(record_bytes=LIMIT)) if isinstance(one, Record)]

    assert ["http://www.example.org/2"] == actual


def _with_dictionary() -> tuple[bytes, list[bytes]]:
    """Return the frame of a dictionary, and those of fifty records that need it."""
    plain: list[bytes | bytearray | memoryview] = [record(url=f"http://www.example.org/{nth}") for nth in range(50)]
    trained = zstandard.train_dictionary(1024, plain * 20)
    frames = [zstandard.ZstdCompressor(dict_data=trained).compress(one) for one in plain]
    head = b"\x5d\x2a\x4d\x18" + len(trained.as_bytes()).to_bytes(4, "little") + trained.as_bytes()
    return head, frames


@pytest.mark.parametrize("known", [True, False])
def test_dictionary_comes_with_a_record(tmp_path: Path, known: bool) -> None:
    """A record of a .warc.zst is handed on behind the frame that holds its dictionary, and can be read."""
    head, frames = _with_dictionary()
    path = tmp_path / "a.warc.zst"
    path.write_bytes(head + b"".join(frames))
    wanted = entry(offset=len(head) + len(frames[0]), length=len(frames[1]) if known else -1)
    (found,) = fetch(str(path), [wanted], FETCH, LIMIT)

    assert isinstance(found, Fetched)
    assert (head, frames[1]) == (found.dictionary, found.data)
    assert ["http://www.example.org/1"] == [
        one.url for one in records(found.stream(), at_most(record_bytes=LIMIT)) if isinstance(one, Record)
    ]


@pytest.mark.parametrize("before", [[], [""]])
def test_dictionary_that_cannot_be_read(before: list[str]) -> None:
    """The records that came are faults, since none can be read without it; the next range requests it again."""
    head, frames = _with_dictionary()
    starts = [len(head) + sum(map(len, frames[:nth])) for nth in range(4)]
    wanted = [entry(offset=starts[nth], length=len(frames[nth])) for nth in (0, 1, 3)]
    with served(a__zst=head + b"".join(frames)) as site:
        site.troubles = ["", *before, *["status 503"] * FETCH.attempts]
        found = [*fetch(f"{site.url}/a.zst", wanted, fetching(gap_bytes=0), LIMIT)]

        assert len(site.asked) == 1 + len(before) + FETCH.attempts + 3
    assert [RejectReason.FETCH_FAILED] * 2 == [one.fault for one in found if isinstance(one, Unfetched)]
    assert all("HTTP 503 (3 attempts)" in one.detail for one in found if isinstance(one, Unfetched))
    assert [head] == [one.dictionary for one in found if isinstance(one, Fetched)]


def test_dictionary_does_not_hide_a_failed_range() -> None:
    """A range that broke off counts as failed, though the dictionary could be read after it."""
    head, frames = _with_dictionary()
    starts = [len(head) + sum(map(len, frames[:nth])) for nth in range(6)]
    wanted = [entry(offset=starts[nth], length=len(frames[nth])) for nth in (0, 1, 3, 5)]
    with served(a__zst=head + b"".join(frames)) as site:
        site.troubles = ["broken", "status 503", "", "", "status 503", "status 503"]
        found = [*fetch(f"{site.url}/a.zst", wanted, fetching(gap_bytes=0, attempts=2, max_failed_spans=2), LIMIT)]

    details = [one.detail for one in found if isinstance(one, Unfetched)]
    assert [False, False, True] == ["not asked for behind 2 failed ranges" in detail for detail in details]


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 200)), max_size=12), st.integers(0, 80))
def test_every_entry_gets_exactly_its_bytes(places: list[tuple[int, int]], gap: int) -> None:
    """However entries lie, overlap and are joined, each gets the bytes of its own place and no others."""
    filesystem = fsspec.filesystem("memory")
    data = bytes(nth % 251 for nth in range(700))
    filesystem.pipe("/ranges/any", data)
    wanted = [entry(offset=offset, length=length) for offset, length in sorted(places)]
    found = fetch("memory://ranges/any", wanted, fetching(gap_bytes=gap, span_bytes=150), LIMIT)
    expected = [data[offset : offset + length] for offset, length in sorted(places)]
    actual = [one.data for one in found if isinstance(one, Fetched)]

    assert expected == actual


def test_file_that_ends_early(tmp_path: Path) -> None:
    """The bytes that are there of the last record are returned; a record wholly behind the end is a fault."""
    path = tmp_path / "cut.warc.gz"
    path.write_bytes(FILE[: -len(MEMBERS[-1]) - 10])
    expected = ["ok"] * 4 + [
        f"{len(MEMBERS[4]) - 10} bytes",
        f"the file ends before byte {len(FILE) - len(MEMBERS[5])}",
    ]
    actual = outcomes(str(path), entries(str(path)))

    assert expected == actual


@pytest.mark.parametrize("known", [True, False])
def test_file_that_is_missing(tmp_path: Path, known: bool) -> None:
    """One look is enough: a file that is not there will not come."""
    path = str(tmp_path / "gone.warc.gz")
    with RangeReader(path, FETCH) as ranges:
        ranges.read(0, 10)
        assert ranges.is_gone
    actual = outcomes(path, entries(path, known))

    assert len(MEMBERS) == len(actual)
    assert all("FileNotFoundError" in detail for detail in actual)


def test_pipe_is_no_file(tmp_path: Path) -> None:
    """Opening a pipe would wait for ever."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    assert [f"{path} is no file"] == outcomes(str(path), entries(str(path))[:1])


def test_record_above_the_limit_is_not_fetched(local: str) -> None:
    """Neither one that the index tells nor one that shows while reading; the others come."""
    big = b"".join(sha256(bytes([nth])).digest() for nth in range(256)) * 30
    long = record(big)
    Path(local).write_bytes(long + MEMBERS[0])
    small = entry(path=local, offset=len(long), length=len(MEMBERS[0]))
    declared, undeclared = (entry(path=local, offset=0, length=length) for length in (len(long), -1))

    assert [f"{len(long)} bytes in one record, at most 10000 allowed", "ok"] == outcomes(
        local, [declared, small], limit=10_000
    )
    assert ["more than 10000 bytes in one record", "ok"] == outcomes(local, [undeclared, small], limit=10_000)


def test_place_without_a_record(local: str) -> None:
    """Without a length, what is no record has no end."""
    (actual,) = outcomes(local, [entry(path=local, offset=5, length=-1)])

    assert actual.startswith("no record")


@pytest.mark.parametrize(
    "trouble",
    [
        "status 503",
        "status 503 0",
        "status 429 1",
        "status 503 Wed, 21 Oct 2015 07:28:00 GMT",
        "reset",
        "short",
        "broken",
        "subset",
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_trouble_that_passes(trouble: str, known: bool) -> None:
    """A server that is busy, resets the connection or sends half of an answer is requested again."""
    with served(a__gz=FILE) as site:
        site.troubles = [trouble]
        actual = outcomes(f"{site.url}/a.gz", entries("", known))

        assert ["ok"] * 6 == actual
        assert len(site.asked) == (2 if known else 7)


@pytest.mark.parametrize("trouble", ["short", "broken"])
def test_half_an_answer_is_not_asked_for_twice(trouble: str) -> None:
    """Bytes that came before the connection broke are kept; the rest is requested from there."""
    with served(a__gz=FILE) as site:
        site.troubles = [trouble]
        outcomes(f"{site.url}/a.gz", entries(""))
        expected = [("/a.gz", 0, len(FILE) - 1), ("/a.gz", len(FILE) // 2, len(FILE) - 1)]

        assert expected == site.asked


def test_records_before_a_break_are_kept() -> None:
    """When retries end, the records that had come whole are returned, and the others are faults."""
    with served(a__gz=FILE) as site:
        site.troubles = ["broken", "status 503", "status 503"]
        actual = outcomes(f"{site.url}/a.gz", entries(""))

    whole = sum(sum(map(len, MEMBERS[: nth + 1])) <= len(FILE) // 2 for nth in range(6))
    assert ["ok"] * whole == actual[:whole]
    assert all("HTTP 503 (3 attempts)" in detail for detail in actual[whole:])
    assert whole == 2 or whole == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_what_the_server_refuses_is_asked_once(status: int) -> None:
    """Nothing more is requested, not even other records, of a file that is gone or not allowed."""
    with served(a__gz=FILE) as site:
        site.troubles = [f"status {status}"]
        actual = outcomes(f"{site.url}/a.gz", entries(""), fetching(gap_bytes=0, span_bytes=1))

        assert len(actual) == 6
        assert all(f"HTTP {status}" in detail for detail in actual)
        assert len(site.asked) == 1


def test_patience_with_a_file_ends() -> None:
    """Behind so many failed ranges in a row the rest of a file is not requested."""
    with served(a__gz=FILE) as site:
        site.troubles = ["reset"] * 100
        actual = outcomes(f"{site.url}/a.gz", entries(""), fetching(gap_bytes=0, span_bytes=1))

        assert [False, False, True, True, True, True] == ["not asked for" in detail for detail in actual]
        assert len(site.asked) == FETCH.max_failed_spans * FETCH.attempts


def test_server_that_is_not_there() -> None:
    """No connection is a failure like others."""
    with served() as site:
        url = site.url
    actual = outcomes(f"{url}/a.gz", entries("")[:1])

    assert "Connection" in actual[0] or "Max" in actual[0]


def test_server_that_knows_no_ranges() -> None:
    """The whole file is cut where that costs little, and refused where it does not."""
    with served(a__gz=FILE) as site:
        site.troubles = ["whole", "whole"]
        near = outcomes(f"{site.url}/a.gz", entries("")[1:2])
        far = outcomes(f"{site.url}/a.gz", entries("")[1:2], fetching(span_bytes=1))

    assert ["ok"] == near
    assert "sends whole files only" in far[0]


def test_server_that_sends_another_range() -> None:
    """Bytes from elsewhere are not taken for a record."""
    with served(a__gz=FILE) as site:
        site.troubles = ["shifted"]
        (actual,) = outcomes(f"{site.url}/a.gz", entries("")[:1])

    assert "asked for bytes from 0, sent 'bytes 1-" in actual


def test_range_behind_the_end_of_a_remote_file() -> None:
    """416 is not an error of the server: the file ends."""
    with served(a__gz=FILE) as site:
        actual = outcomes(f"{site.url}/a.gz", [entry(offset=len(FILE), length=10)])

    assert [f"the file ends before byte {len(FILE)}"] == actual


def test_neighbours_are_one_request() -> None:
    """Records that lie close together are requested at once, others by themselves."""
    with served(a__gz=FILE) as site:
        some = [one for nth, one in enumerate(entries("")) if nth in (0, 1, 5)]
        outcomes(f"{site.url}/a.gz", some)
        behind = some[1].offset + some[1].length

        assert [("/a.gz", 0, behind - 1), ("/a.gz", some[2].offset, len(FILE) - 1)] == site.asked


def test_store_of_fsspec() -> None:
    """Any URL that fsspec knows is read by ranges."""
    fsspec.filesystem("memory").pipe("/store/a.gz", FILE)

    assert ["ok"] * 6 == outcomes("memory://store/a.gz", entries(""))
    assert ["ok"] * 6 == outcomes("memory://store/a.gz", entries("", known=False))


@pytest.mark.parametrize("url", ["nosuch://a/b", "memory://store/none"])
def test_store_that_is_not_there(url: str) -> None:
    """A store without driver, or without the file, is a reason and no exception."""
    assert 6 == len(outcomes(url, entries("")))


@pytest.mark.parametrize(
    "fields",
    [
        {"gap_bytes": -1},
        {"attempts": 0},
        {"span_bytes": 0},
        {"timeout_seconds": 0.0},
        {"max_failed_spans": 0},
        {"start_jitter_seconds": -1.0},
    ],
)
def test_setting_out_of_its_range(fields: dict[str, float]) -> None:
    """The error names the parameter."""
    with pytest.raises(ConfigError, match=f"^fetch.{next(iter(fields))} is"):
        load(settings=[f"fetch.{name}={value}" for name, value in fields.items()])
