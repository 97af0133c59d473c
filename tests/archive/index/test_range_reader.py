"""Files read by ranges: what fails for a while is tried again, and what stays away is an error."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.range_reader import backoff_seconds, open_file, open_ranges, wait_to_start
from dbce_spark.archive.records.record_reader import records
from tests.support.builders import gzipped, record
from tests.support.indexes import FETCH, fetching
from tests.support.range_server import served
from tests.support.record_bytes import LIMITS

FILE = b"".join(gzipped(*(record(url=f"http://www.example.org/{nth}") for nth in range(6))))


def test_stream_over_ranges() -> None:
    """An index on a server is a stream that can be read from anywhere, with the same patience."""
    with served(index=FILE) as site:
        site.troubles = ["status 503", "short"]
        with open_ranges(f"{site.url}/index", FETCH, 64) as stream:
            size = stream.seek(0, 2)
            stream.seek(100)
            middle = stream.read(20)
            stream.seek(0)
            actual = stream.read()

    assert (len(FILE), FILE[100:120], FILE) == (size, middle, actual)


@pytest.mark.parametrize("trouble", ["status 404", "reset"])
def test_stream_that_cannot_be_opened(trouble: str) -> None:
    """It is an OSError, as of a local file."""
    with served(index=FILE) as site:
        site.troubles = [trouble] * 3
        with pytest.raises(OSError):  # noqa: PT011
            open_ranges(f"{site.url}/index", FETCH)


@given(st.integers(0, 9), st.floats(0, 1000))
def test_waits_are_bounded(attempt: int, retry_after: float) -> None:
    """At most twice the limit: the server's wish, and the jitter, each up to it."""
    actual = backoff_seconds(attempt, retry_after, FETCH)

    assert min(retry_after, FETCH.max_wait_seconds) <= actual <= 2 * FETCH.max_wait_seconds


def test_processes_begin_apart_where_storage_is_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait before a first request is drawn, up to the limit, and there is one in each process."""
    waits: list[float] = []
    patience = fetching(start_jitter_seconds=7.0)
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", waits.append)
        for _ in range(20):
            wait_to_start.cache_clear()
            wait_to_start(patience)
            wait_to_start(patience)

    assert 0 <= min(waits) <= max(waits) <= 7
    assert (20, True) == (len(waits), len({*waits}) > 10)


def test_a_remote_file_is_read_on_behind_failures() -> None:
    """A file that is read from start to end is requested again from where it broke off, and comes whole."""
    with served(a__gz=FILE) as site:
        site.troubles = ["status 503", "", "broken", "reset"]
        with open_file(f"{site.url}/a.gz", FETCH) as stream:
            actual = stream.read()

    assert FILE == actual
    assert [] == site.troubles


def test_a_remote_file_that_stays_away_is_an_error() -> None:
    """When all attempts have failed, it is an OSError that says so."""
    with served(a__gz=FILE) as site, open_file(f"{site.url}/a.gz", FETCH) as stream:
        site.troubles = ["status 500"] * FETCH.attempts
        with pytest.raises(OSError, match=r"HTTP 500 \(3 attempts\)"):
            stream.read()


def test_a_local_file_is_opened_in_place(tmp_path: Path) -> None:
    """It has a file's own descriptor: nothing stands between."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(FILE)
    with open_file(str(path), FETCH) as stream:
        assert stream.fileno() > 0
        assert FILE == stream.read()


def test_scheme_in_capitals() -> None:
    """HTTP:// is http://, as RFC 3986 has it."""
    with served(a__gz=FILE) as site, open_file(f"{site.url}/a.gz".replace("http://", "HTTP://"), FETCH) as stream:
        assert FILE == stream.read()


def test_no_byte_of_an_archive_is_requested_twice() -> None:
    """The reader of records takes a remote archive in one pass: after its size, one request for all of a small one."""
    with served(a__gz=FILE) as site, open_file(f"{site.url}/a.gz", FETCH) as stream:
        assert len([*records(stream, LIMITS)]) == 6
        assert [("/a.gz", 0, 0), ("/a.gz", 0, len(FILE) - 1)] == site.asked


def test_what_was_just_read_is_not_requested_again() -> None:
    """A reader of zips seeks back and forth between a file's head and its content, each time within the same range."""
    with served(a__gz=FILE) as site, open_file(f"{site.url}/a.gz", FETCH) as stream:
        for at in (0, 30, len(FILE) - 9, 60, 0):
            stream.seek(at)
            assert FILE[at : at + 9] == stream.read(9)
            stream.seek(0, 2)

        assert 2 == len(site.asked)
