"""A seekable stream over a reader of ranges."""

import io
from collections.abc import Callable
from typing import BinaryIO, cast

Read = Callable[[int, int], bytes]
"""(offset, length) -> bytes; fewer only where the file ends. Raises where they cannot be read."""


class RangeStream(io.RawIOBase):
    """A stream of `size` bytes that keeps the range that it has read last; closing it calls `close`."""

    def __init__(self, read: Read, size: int, close: Callable[[], None] = lambda: None):
        super().__init__()
        self._read, self._size, self._close = read, size, close
        self._at = 0
        self._last, self._last_at = b"", 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        length = min(len(buffer), self._size - self._at)
        if length <= 0:
            return 0
        # A buffer in front forgets what it holds at each seek, and readers of zips seek back and forth.
        if not 0 <= self._at - self._last_at < len(self._last):
            self._last, self._last_at = self._read(self._at, length), self._at
        data = memoryview(self._last)[self._at - self._last_at :][:length]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()


def range_stream(read: Read, size: int, close: Callable[[], None], read_ahead: int) -> BinaryIO:
    """Open a buffered `RangeStream`, which reads `read_ahead` bytes at once."""
    return cast(BinaryIO, io.BufferedReader(RangeStream(read, size, close), read_ahead))
