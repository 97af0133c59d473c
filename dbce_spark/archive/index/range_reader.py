"""Read ranges of a file from storage that may fail for a while: each is tried again, after a wait."""

import random
import time
from functools import cache
from typing import BinaryIO

from dbce_spark.archive import zstd_frame
from dbce_spark.archive.index.range_fault import Busy, ObjectGone
from dbce_spark.archive.index.range_storage import RangeSource, open_source
from dbce_spark.archive.range_stream import range_stream
from dbce_spark.config import FetchConfig
from dbce_spark.files.sources import READ_AHEAD, is_remote, open_binary
from dbce_spark.log import counted

PROBE = 1 << 16
"""Bytes read at once where a sorted file is searched: hundreds of lines, and hardly longer under way than one."""


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
                detail = f"{error} ({counted(attempt + 1, 'attempt')})"
                if attempt + 1 < self._config.attempts:
                    time.sleep(backoff_seconds(attempt, error.retry_after, self._config))
        return bytes(buffer), detail

    def dictionary(self, max_bytes: int) -> tuple[bytes, str]:
        """Return the skippable frame at the start of a zstd file, b"" where there is none of this size, and why it
        cannot be read; it is read once."""
        if self._dictionary is None:
            frame, detail = self.read(0, 8)
            length = int.from_bytes(frame[4:], "little") if zstd_frame.is_skippable(frame, 0) else 0
            frame, detail = self.read(0, 8 + length) if 0 < length <= max_bytes else (b"", detail)
            if detail:
                return b"", detail
            self._dictionary = frame
        return self._dictionary, ""

    def size(self) -> int:
        """Return the bytes of the file. Raises OSError where that cannot be read."""
        for attempt in range(self._config.attempts):
            try:
                return self._opened().size()
            except ObjectGone as error:
                raise OSError(str(error)) from error
            except Busy as error:
                if attempt + 1 == self._config.attempts:
                    raise OSError(f"{error} ({counted(attempt + 1, 'attempt')})") from error
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


@cache
def wait_to_start(config: FetchConfig) -> None:
    """Wait before the first request of this process to a remote store, any time up to `config.start_jitter_seconds`, so
    that tasks which start together do not request together. Those behind them do not start together anyway."""
    time.sleep(random.uniform(0, config.start_jitter_seconds))


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
