"""Fetch the bytes of the records that an index names, and of nothing else, from storage that may fail for a while."""

import io
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from dbce_spark.archive import zstd_frame
from dbce_spark.archive.index.byte_ranges import ByteSpan, spans
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.range_fault import Busy, ObjectGone
from dbce_spark.archive.index.range_storage import RangeSource, open_source
from dbce_spark.archive.index.record_extent import SKIPPABLE, NoRecord, end_of
from dbce_spark.archive.range_stream import range_stream
from dbce_spark.config import FetchConfig
from dbce_spark.files.sources import READ_AHEAD, is_remote, open_binary
from dbce_spark.model import RejectReason

_FIRST_WINDOW = 1 << 16
"""Bytes read first where a record's length is unknown; then twice as many, and so on."""
PROBE = 1 << 16
"""Bytes read at once where a sorted file is searched: hundreds of lines, and hardly longer under way than one."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The record of an entry as stored: one gzip member, zstd frame or plain record, and nothing behind it.

    Fewer bytes than the index says only where the file ends before: the record reader sees it by the record's own
    length.
    """

    entry: IndexEntry
    data: bytes
    dictionary: bytes = b""
    """The frame that a .warc.zst begins with, where the record cannot be inflated without it; else nothing."""

    def stream(self) -> BinaryIO:
        """Open the record, behind its dictionary, for a reader of records. Offsets in it count from there."""
        return io.BytesIO(self.dictionary + self.data)


@dataclass(frozen=True, slots=True)
class Unfetched:
    """An entry whose record could not be had."""

    entry: IndexEntry
    fault: RejectReason
    detail: str


def fetch(
    path: str, entries: Iterable[IndexEntry], config: FetchConfig, max_record_bytes: int
) -> Iterator[Fetched | Unfetched]:
    """Fetch the records that the entries of one file name; both in file order (`byte_ranges.group_by_file`).

    One for each entry, whatever happens; those of too large records before the others. After `config.max_failed_spans`
    spans in a row without an answer, or one that is gone, the rest is not requested.
    """
    allowed: list[IndexEntry] = []
    refused: list[IndexEntry] = []
    for entry in entries:
        (refused if entry.length > max_record_bytes else allowed).append(entry)
    yield from (Unfetched(one, RejectReason.TOO_LARGE, f"{one.length} bytes in one record") for one in refused)
    failures = 0
    last = ""
    with RangeReader(path, config) as ranges:
        for span in spans(allowed, config.gap_bytes, config.span_bytes):
            if ranges.is_gone or failures == config.max_failed_spans:
                detail = f"not asked for behind {max(1, failures)} failed ranges of this file: {last}"
                yield from (Unfetched(entry, RejectReason.FETCH_FAILED, detail) for entry in span.entries)
                continue
            found = _records(ranges, span, max_record_bytes)
            yield from (_with_dictionary(one, ranges, max_record_bytes) for one in found)
            details = [
                one.detail for one in found if isinstance(one, Unfetched) and one.fault is RejectReason.FETCH_FAILED
            ]
            failures = failures + 1 if ranges.has_failed else 0
            last = details[-1] if details else last


def _with_dictionary(found: Fetched | Unfetched, ranges: "RangeReader", max_bytes: int) -> Fetched | Unfetched:
    if isinstance(found, Fetched) and found.data.startswith(zstd_frame.MAGIC):
        return replace(found, dictionary=ranges.dictionary(max_bytes))
    return found


def _records(ranges: "RangeReader", span: ByteSpan, max_record_bytes: int) -> list[Fetched | Unfetched]:
    if span.length < 0:
        return [_of_unknown_length(ranges, span.entries[0], max_record_bytes)]
    data, detail = ranges.read(span.offset, span.length)
    return [_cut(entry, data, span.offset, detail) for entry in span.entries]


def _cut(entry: IndexEntry, data: bytes, start: int, detail: str) -> Fetched | Unfetched:
    """Cut an entry's part out of a span. Bytes that came before the span broke off are good."""
    own = data[entry.offset - start : entry.offset - start + entry.length]
    if detail and len(own) < entry.length:
        return Unfetched(entry, RejectReason.FETCH_FAILED, detail)
    if not own:
        return Unfetched(entry, RejectReason.FETCH_FAILED, f"the file ends before byte {entry.offset}")
    return Fetched(entry, own)


def _of_unknown_length(ranges: "RangeReader", entry: IndexEntry, max_record_bytes: int) -> Fetched | Unfetched:
    """Read until the record ends."""
    data = b""
    window = _FIRST_WINDOW
    while True:
        wanted = min(window, max_record_bytes + _FIRST_WINDOW) - len(data)
        more, detail = ranges.read(entry.offset + len(data), wanted)
        data += more
        try:
            end = end_of(data) if data else None
        except NoRecord as error:
            return Unfetched(entry, RejectReason.FETCH_FAILED, str(error))
        if end is not None:
            return Fetched(entry, data[:end])
        if detail or not data:
            return Unfetched(entry, RejectReason.FETCH_FAILED, detail or f"the file ends before byte {entry.offset}")
        if len(more) < wanted:
            return Fetched(entry, data)
        if len(data) > max_record_bytes:
            return Unfetched(entry, RejectReason.TOO_LARGE, f"more than {max_record_bytes} bytes in one record")
        window *= 2


class RangeReader:
    """A reader of ranges of one file, with retries. `is_gone`: no further request can help."""

    def __init__(self, path: str, config: FetchConfig):
        self._path, self._config = path, config
        self._source: RangeSource | None = None
        self.is_gone = False
        self._dictionary: bytes | None = None
        self.has_failed = False  # the last range could not be read as a whole

    def __enter__(self) -> "RangeReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._source is not None:
            self._source.close()

    def read(self, offset: int, length: int) -> tuple[bytes, str]:
        """Return the bytes of a range, and why they are not all; fewer without a reason where the file ends.

        A range that breaks off is continued from there.
        """
        buffer = bytearray()
        self.has_failed, detail = True, ""
        for attempt in range(self._config.attempts):
            try:
                self._opened().into(buffer, offset + len(buffer), length - len(buffer))
                self.has_failed = False
                return bytes(buffer), ""
            except ObjectGone as error:
                self.is_gone = True
                return bytes(buffer), str(error)
            except Busy as error:
                detail = f"{error} ({attempt + 1} attempts)"
                if attempt + 1 < self._config.attempts:
                    time.sleep(backoff_seconds(attempt, error.retry_after, self._config))
        return bytes(buffer), detail

    def dictionary(self, max_bytes: int) -> bytes:
        """Read the skippable frame at the start of a zstd file, once; b"" where there is none of this size."""
        if self._dictionary is None:
            found = SKIPPABLE.match(self.read(0, 8)[0])
            length = int.from_bytes(found[1], "little") if found else 0
            self._dictionary = self.read(0, 8 + length)[0] if 0 < length <= max_bytes else b""
        return self._dictionary

    def size(self) -> int:
        """Return the bytes of the file. Raises OSError where that cannot be read."""
        for attempt in range(self._config.attempts):
            try:
                return self._opened().size()
            except ObjectGone as error:
                raise OSError(str(error)) from error
            except Busy as error:
                if attempt + 1 == self._config.attempts:
                    raise OSError(f"{error} ({attempt + 1} attempts)") from error
                time.sleep(backoff_seconds(attempt, error.retry_after, self._config))
        raise AssertionError("config.attempts is at least 1")

    def _opened(self) -> RangeSource:
        if self._source is None:
            self._source = open_source(self._path, self._config)
        return self._source


def backoff_seconds(attempt: int, retry_after: float, config: FetchConfig) -> float:
    """Return the seconds to wait after a failed attempt (counted from 0).

    Any length up to twice the one before, so that many workers that failed together do not come back together (M.
    Brooker, "Exponential Backoff And Jitter", AWS 2015: "full jitter"). A server that names a time is given it, up to
    the same limit.
    """
    longest = min(config.max_wait_seconds, config.first_wait_seconds * 2**attempt)
    # Not seeded on purpose: workers must differ, and no result depends on it.
    return min(retry_after, config.max_wait_seconds) + random.uniform(0, longest)


def start_jitter(path: str, config: FetchConfig) -> float:
    """Return the seconds to wait before a task's first request of a path: any up to `config.start_jitter_seconds`, so
    that tasks which start together do not request together; 0 for a local file."""
    return random.uniform(0, config.start_jitter_seconds) if is_remote(path) else 0.0


def open_file(path: str, config: FetchConfig) -> BinaryIO:
    """Open a buffered, seekable stream of a file's bytes as stored; a remote one is read by ranges, with retries.

    Raises:
        OSError: it cannot be read; so may every read.
    """
    return open_ranges(path, config) if is_remote(path) else open_binary(path)


def open_ranges(path: str, config: FetchConfig, read_ahead: int = READ_AHEAD) -> BinaryIO:
    """Open a buffered, seekable stream of a file that is read by ranges of `read_ahead` bytes, each with retries.

    Raises:
        OSError: it cannot be read; so may every read.
    """
    ranges = RangeReader(path, config)

    def read(offset: int, length: int) -> bytes:
        data, detail = ranges.read(offset, length)
        if detail:
            raise OSError(detail)
        return data

    try:
        return range_stream(read, ranges.size(), ranges.close, read_ahead)
    except OSError:
        ranges.close()
        raise
