"""Read ranges of a file's bytes from any kind of storage: local, HTTP, any that fsspec supports, a member of a WACZ."""

import re
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import BinaryIO, Protocol

import urllib3
from fsspec.core import url_to_fs

from dbce_spark.archive.index import wacz_index
from dbce_spark.archive.index.range_stream import range_stream
from dbce_spark.config import FetchConfig
from dbce_spark.files.sources import MEMBER

_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")
_CHUNK = 1 << 16
_ZIP_AHEAD = 1 << 18
"""Bytes read at once of a zip file: its directory lies at its end, 100 bytes a file."""
_SLOWEST = 1 << 14
"""Bytes a second that a server must reach: one that sends a byte a minute would hold a task for ever."""
_PASSING = (408, 425, 429)
"""HTTP statuses under 500 that say "not now" (RFC 9110, 6585, 8470)."""


class ObjectGone(Exception):
    """The bytes cannot be read, and trying again will not help."""


class Busy(Exception):
    """The bytes cannot be read now. `retry_after` is in seconds, 0 where the server names no time."""

    def __init__(self, detail: str, retry_after: float = 0.0):
        super().__init__(detail)
        self.retry_after = retry_after


class RangeSource(Protocol):
    """One file, read by ranges of bytes."""

    def into(self, buffer: bytearray, offset: int, length: int) -> None:
        """Append the bytes of a range to the buffer, fewer only where the file ends.

        Raises:
            ObjectGone, Busy: it cannot; bytes that came until then are in the buffer.
        """

    def size(self) -> int:
        """Return the bytes of the file. Raises as `into` does."""

    def close(self) -> None: ...


def open_source(path: str, config: FetchConfig) -> RangeSource:
    """Open a path for reading ranges.

    Raises:
        ObjectGone, Busy: it lies in a WACZ that cannot be read.
    """
    if MEMBER in path:
        return _member(path, config)
    if path.startswith(("http://", "https://")):
        return _Http(path, config)
    return _Remote(path) if "://" in path else _Stream(path, lambda: _file(path))


def _file(path: str) -> BinaryIO:
    # A pipe would be waited for without end.
    if Path(path).exists() and not Path(path).is_file():
        raise ObjectGone(f"{path} is no file")
    return Path(path).open("rb")


def _member(path: str, config: FetchConfig) -> RangeSource:
    def opened(outer: str) -> BinaryIO:
        return _stream(open_source(outer, config))

    with _sorted_errors():
        place = wacz_index.find_stored(path, opened)
    if place is None:
        return _Stream(path, lambda: wacz_index.open_member(path, opened))
    return _Part(open_source(place.path, config), place.offset, place.size)


def _stream(ranges: RangeSource) -> BinaryIO:
    """Open a stream of a source, without retries: a reader of ranges through it tries the range again."""

    def read(offset: int, length: int) -> bytes:
        buffer = bytearray()
        ranges.into(buffer, offset, length)
        return bytes(buffer)

    return range_stream(read, ranges.size(), ranges.close, _ZIP_AHEAD)


@contextmanager
def _sorted_errors() -> Iterator[None]:
    """Sort errors of storage into those that may pass and those that will not."""
    try:
        yield
    except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError) as error:
        raise ObjectGone(f"{type(error).__name__}: {error}"[:500]) from error
    except (ImportError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise ObjectGone(f"{type(error).__name__}: {error}"[:500]) from error
    except (ObjectGone, Busy):
        raise
    except Exception as error:  # drivers of fsspec raise what their libraries do; none of it may end a job
        raise Busy(f"{type(error).__name__}: {error}"[:500]) from error


class _Stream:
    """A local file, or a compressed member of a WACZ, which is read from its start to where a range lies."""

    def __init__(self, path: str, opened: Callable[[], BinaryIO]):
        self._path, self._opened = path, opened
        self._open: BinaryIO | None = None

    def _stream(self) -> BinaryIO:
        if self._open is None:
            self._open = self._opened()
        return self._open

    def into(self, buffer: bytearray, offset: int, length: int) -> None:
        with _sorted_errors():
            try:
                stream = self._stream()
                if stream.seek(offset) == offset:  # a member of a zip stops at its end
                    buffer += stream.read(length)
            except Exception:
                self.close()
                raise

    def size(self) -> int:
        with _sorted_errors():
            return self._stream().seek(0, 2)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


class _Part:
    """A range of another file as a file."""

    def __init__(self, whole: RangeSource, offset: int, size: int):
        self._whole, self._offset, self._size = whole, offset, size

    def into(self, buffer: bytearray, offset: int, length: int) -> None:
        length = min(length, self._size - offset)
        if length > 0:
            self._whole.into(buffer, self._offset + offset, length)

    def size(self) -> int:
        return self._size

    def close(self) -> None:
        self._whole.close()


class _Remote:
    """An object in a store that fsspec has a driver for."""

    def __init__(self, path: str):
        self._path = path

    def into(self, buffer: bytearray, offset: int, length: int) -> None:
        with _sorted_errors():
            filesystem, inner = url_to_fs(self._path)
            try:
                buffer += filesystem.cat_file(inner, start=offset, end=offset + length)
            except FileNotFoundError:
                raise
            except Exception:
                # Stores answer a range that begins behind the end with an error of their own making.
                if offset < int(filesystem.info(inner).get("size") or 0):
                    raise

    def size(self) -> int:
        with _sorted_errors():
            filesystem, inner = url_to_fs(self._path)
            return int(filesystem.info(inner)["size"])

    def close(self) -> None: ...


class _Http:
    """A file on a web server, over one connection that is kept."""

    def __init__(self, url: str, config: FetchConfig):
        self._url, self._config = url, config
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(config.timeout_seconds),
            # Who retries is fetch.py: it knows what has come already.
            retries=urllib3.Retry(
                connect=0,
                read=0,
                status=0,
                other=0,
                redirect=5,
                respect_retry_after_header=False,
                raise_on_status=False,
            ),
        )

    def into(self, buffer: bytearray, offset: int, length: int) -> None:
        if length <= 0:
            return
        with self._request(offset, length) as answer:
            if answer.status == 416:
                return
            skipped = 0 if answer.status == 206 else offset
            self._take(answer, buffer, skipped, length)

    def size(self) -> int:
        with self._request(0, 1) as answer:
            found = _CONTENT_RANGE.match(answer.headers.get("Content-Range", ""))
            total = found[3] if found else answer.headers.get("Content-Length", "*")
            if not total.isdigit():
                raise ObjectGone(f"{self._url}: the server does not say how long the file is")
            return int(total)

    def close(self) -> None:
        self._pool.clear()

    @contextmanager
    def _request(self, offset: int, length: int) -> Iterator[urllib3.BaseHTTPResponse]:
        """Request a range, and yield the response: 206 with that range, 200 with all, or 416 behind the end."""
        headers = {"Range": f"bytes={offset}-{offset + length - 1}", "Accept-Encoding": "identity"}
        try:
            answer = self._pool.request("GET", self._url, headers=headers, preload_content=False)
        except urllib3.exceptions.LocationParseError as error:
            raise ObjectGone(f"{self._url}: {error}") from error
        except urllib3.exceptions.HTTPError as error:
            raise Busy(f"{type(error).__name__}: {error}"[:500]) from error
        try:
            self._check(answer, offset)
            yield answer
        except urllib3.exceptions.HTTPError as error:
            raise Busy(f"{type(error).__name__}: {error}"[:500]) from error
        finally:
            if answer.length_remaining == 0:
                answer.release_conn()
            else:
                answer.close()

    def _check(self, answer: urllib3.BaseHTTPResponse, offset: int) -> None:
        status = answer.status
        if status >= 500 or status in _PASSING:
            raise Busy(f"{self._url}: HTTP {status}", retry_seconds(answer.headers.get("Retry-After", "")))
        if status not in (200, 206, 416):
            raise ObjectGone(f"{self._url}: HTTP {status}")
        if status == 200 and offset > self._config.span_bytes:
            raise ObjectGone(f"{self._url}: the server sends whole files only; copy the file and read it from there")
        found = _CONTENT_RANGE.match(answer.headers.get("Content-Range", ""))
        if status == 206 and (found is None or found[1] != str(offset)):
            raise ObjectGone(
                f"{self._url}: asked for bytes from {offset}, sent {answer.headers.get('Content-Range')!r}"
            )

    def _take(self, answer: urllib3.BaseHTTPResponse, buffer: bytearray, skipped: int, length: int) -> None:
        deadline = time.monotonic() + self._config.timeout_seconds + (skipped + length) / _SLOWEST
        missing = length
        for chunk in answer.stream(_CHUNK, decode_content=False):
            passed, skipped = min(skipped, len(chunk)), max(0, skipped - len(chunk))
            taken = chunk[passed : passed + missing]
            buffer += taken
            missing -= len(taken)
            if missing == 0:
                return
            if time.monotonic() > deadline:
                raise Busy(f"{self._url}: fewer than {_SLOWEST} bytes a second")


_LONGEST_RETRY = 366 * 86_400.0
"""Seconds: servers also write numbers that no clock can wait for."""


def retry_seconds(retry_after: str) -> float:
    """Parse a Retry-After header, which holds seconds or a date (RFC 9110, 10.2.3), to seconds from now."""
    if retry_after.isascii() and retry_after.strip().isdigit():
        return min(float(retry_after), _LONGEST_RETRY)
    try:
        when = parsedate_to_datetime(retry_after)
        seconds = (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return min(max(0.0, seconds), _LONGEST_RETRY)
