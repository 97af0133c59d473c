"""An archive's bytes as stored, read by their place."""

from io import BytesIO
from typing import BinaryIO, Self

WINDOW = 1 << 20
"""Bytes read at once."""


class BufferedFile:
    """A seekable stream, read through a window that follows the requested place."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream
        self.size = stream.seek(0, 2)
        self._start = 0
        self._window = memoryview(b"")

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        return cls(BytesIO(content))

    def ahead(self, at: int, least: int) -> memoryview:
        """Return the bytes from `at` on that are at hand: `least` or more, fewer only where the file ends.

        Raises:
            OSError: the file is shorter than it was.
        """
        inside = at - self._start
        if 0 <= inside <= len(self._window) - least:
            return self._window[inside:]
        wanted = min(max(least, WINDOW), self.size - at)
        if wanted <= 0:
            return memoryview(b"")
        # What is left of the window is kept, so that a stream is read on, not sought back in.
        left = bytes(self._window[inside:]) if 0 <= inside < len(self._window) else b""
        parts = [left]
        missing = wanted - len(left)
        if missing > 0:
            self._stream.seek(at + len(left))
        while missing > 0:
            part = self._stream.read(missing)
            if not part:
                raise OSError(f"the file ended at byte {at + wanted - missing} of {self.size} while it was read")
            parts.append(part)
            missing -= len(part)
        self._start, self._window = at, memoryview(b"".join(parts))
        return self._window

    def read(self, at: int, size: int) -> bytes:
        """Return the bytes from `at` on, `size` of them or as many as there are."""
        return bytes(self.ahead(at, size)[:size])


class CutFile(BufferedFile):
    """The bytes of a file in front of a place, as if it ended there."""

    def __init__(self, whole: BufferedFile, size: int):  # it has no window of its own
        self._whole = whole
        self.size = size

    def ahead(self, at: int, least: int) -> memoryview:
        left = max(0, self.size - at)
        return self._whole.ahead(at, min(least, left))[:left]
