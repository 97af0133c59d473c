"""Read ranges of a file's bytes from any kind of storage: local, HTTP, any that fsspec supports, a member of a WACZ."""

import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from dbce_spark.archive.index import wacz_index
from dbce_spark.archive.index.range_fault import Busy, ObjectGone
from dbce_spark.archive.range_stream import range_stream
from dbce_spark.config import FetchConfig
from dbce_spark.files.sources import MEMBER, file_system, is_remote, is_web_url

_ZIP_AHEAD = 1 << 18
"""Bytes read at once of a zip file: its directory lies at its end, 100 bytes a file."""
_LASTING = (
    *(FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError),
    *(ImportError, ValueError, NotImplementedError, zipfile.BadZipFile, struct.error),
)
"""Errors that come again when the same is tried again."""


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
    if is_web_url(path):
        from dbce_spark.archive.index.http_ranges import HttpRanges  # only here: urllib3 takes 30 ms

        return HttpRanges(path, config)
    return _Remote(path) if is_remote(path) else _Stream(path, lambda: _file(path))


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
    except _LASTING as error:
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
            filesystem, inner = file_system(self._path)
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
            filesystem, inner = file_system(self._path)
            return int(filesystem.info(inner)["size"])

    def close(self) -> None: ...
