"""Binary search in a sorted text file, without loading it."""

from typing import BinaryIO

from dbce_spark.archive.index.index_lines import LONGEST_LINE

_BACKWARDS = 1 << 12
"""Bytes read at once in search of a line's start."""


def first_not_before(stream: BinaryIO, size: int, key: bytes) -> int:
    """Find the offset of the first line that does not sort before `key` (byte by byte); `size` where all do."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        start = _line_start(stream, middle)
        line = stream.readline(LONGEST_LINE)
        if not line or line.rstrip(b"\r\n") >= key:
            high = middle
        else:
            low = start + len(line)
    return _line_start(stream, low) if low < size else size


def _line_start(stream: BinaryIO, offset: int) -> int:
    """Find the first line start at or behind an offset; the stream is left there."""
    if offset:
        stream.seek(offset - 1)
        stream.readline(LONGEST_LINE)
    else:
        stream.seek(0)
    return stream.tell()


def line_before(stream: BinaryIO, offset: int) -> int:
    """Find the offset of the line before the one at `offset`; 0 where there is none."""
    end = offset - 1  # the line's own newline stands there
    while end > 0:
        start = max(0, end - _BACKWARDS)
        stream.seek(start)
        newline = stream.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def behind(prefix: str) -> str:
    """Return the first text that sorts behind all that begin with this one, by code points and so by bytes of UTF-8."""
    kept = prefix.rstrip(chr(0x10FFFF))
    last = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if last == 0xD800 else last)  # no code point is between these two
