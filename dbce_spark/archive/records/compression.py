"""Compressed members as stored: recognised by their first bytes, inflated piece by piece, their end found exactly."""

import bz2
import lzma
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

import lz4.frame
import zstandard

try:
    from isal import isal_zlib as fast_zlib  # inflates at twice the speed of zlib
except ImportError:  # pragma: no cover  # there are no wheels for rarer processors
    import zlib as fast_zlib  # type: ignore[no-redef]
import zlib

from dbce_spark.archive import zstd_frame
from dbce_spark.archive.records.buffered_file import BufferedFile

GZIP_MAGIC = b"\x1f\x8b\x08"
WITH_GZIP_HEAD = zlib.MAX_WBITS | 16
"""The window of zlib for data with a head of gzip."""
_STEP = 16_384
"""Stored bytes a decoder is fed at a time."""
MOST_AT_ONCE = 1 << 20
"""Bytes that come out of a decoder at a time, at most."""
_ZSTD_WINDOW = 1 << 27
"""Bytes a zstd frame may want as window: what the zstd program itself grants (--long=27)."""
_MOST_DICTIONARY = 1 << 26
"""Bytes of a dictionary."""
_ZSTD_BLOCK = 1 << 17
"""Bytes of a block at most (RFC 8878, 3.1.1.2)."""

CODED = re.compile(
    # gzip: flags, time, extra flags, and the operating system, of which macOS writes one that RFC 1952 does not name.
    rb"\x1f\x8b\x08[\0-\x1f][\s\S]{5}[\0-\x0d\x13\xff]"
    rb"|\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"  # zstd, and its skippable frames
    rb"|\x04\x22\x4d\x18|BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)|\xfd7zXZ\0"
)
"""The first bytes of a compressed member, as they are searched behind a damage."""
LONGEST_MAGIC = 10
"""Bytes that CODED looks at, at most."""

Pieces = Iterator[tuple[bytes, int, int]]
"""A piece that comes out, and the stored bytes (start, end) it came from. Side by side they are the member."""


class MemberBroken(Exception):
    """A member cannot be inflated from stored byte `at` on."""

    def __init__(self, at: int, detail: str):
        super().__init__(at, detail)
        self.at = at
        self.detail = detail


class Dictionary:
    """The zstd dictionary of a file: what the skippable frame at its start holds, if there is one; behind it that of
    the file which was joined to it."""

    def __init__(self) -> None:
        self._data: zstandard.ZstdCompressionDict | None = None

    def learn(self, raw: bytes, *, is_first: bool) -> None:
        """Take the frame's content, itself compressed or not; later in a file only if it begins as dictionaries do.

        Raises:
            zstandard.ZstdError: it cannot be inflated.
        """
        if raw.startswith(zstd_frame.MAGIC):
            with zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).stream_reader(raw) as reader:
                raw = reader.read(_MOST_DICTIONARY)
        if is_first or raw.startswith(zstd_frame.DICTIONARY):
            self._data = zstandard.ZstdCompressionDict(raw)

    def decompressor(self) -> Any:
        return zstandard.ZstdDecompressor(dict_data=self._data, max_window_size=_ZSTD_WINDOW).decompressobj()


def is_coded(first: bytes) -> bool:
    """Return whether a compressed member of a supported kind begins with these bytes."""
    return first[:3] == GZIP_MAGIC or CODED.match(first) is not None


def pieces(file: BufferedFile, at: int, dictionary: Dictionary) -> Pieces:
    """Inflate the member at `at` piece by piece.

    Raises:
        MemberBroken: it cannot be inflated further, or the file ends in it.
    """
    first = file.read(at, LONGEST_MAGIC)
    if first[:3] == GZIP_MAGIC:
        return _gzip(file, at)
    if first[:4] == zstd_frame.MAGIC:
        return _zstd(file, at, dictionary)
    if first[1:4] == b"\x2a\x4d\x18":
        return _skippable(file, at, dictionary)
    if first[:3] == b"BZh":
        return _by_library(file, at, bz2.BZ2Decompressor)
    if first[:2] == b"\xfd7":
        return _by_library(file, at, lambda: lzma.LZMADecompressor(memlimit=_ZSTD_WINDOW))
    return _by_library(file, at, lz4.frame.LZ4FrameDecompressor)


def inflater() -> Any:
    """Return a decompressor of one gzip member."""
    return fast_zlib.decompressobj(WITH_GZIP_HEAD)


def _gzip(file: BufferedFile, at: int) -> Pieces:
    decompressor, start = inflater(), at
    while not decompressor.eof:
        fed = file.ahead(at, _STEP)[:_STEP]
        if not fed:
            raise MemberBroken(at, "the file ends in a gzip member")
        left: bytes | memoryview = fed
        while left and not decompressor.eof:
            try:
                out = decompressor.decompress(left, MOST_AT_ONCE)
            except Exception as error:  # isal raises its own, zlib zlib.error
                if len(left) < len(fed):
                    raise MemberBroken(at, f"gzip: {error}") from error
                yield from _gzip_prefix(file, start, at, len(fed))
                raise MemberBroken(at + len(fed), f"gzip: {error}") from error
            left = decompressor.unused_data if decompressor.eof else decompressor.unconsumed_tail
            end = at + len(fed) - len(left)
            yield out, at, end
            at, fed = end, fed[len(fed) - len(left) :]


def _gzip_prefix(file: BufferedFile, start: int, failing: int, size: int) -> Pieces:
    """Inflate a damaged member up to the damage in the `size` bytes from `failing` on: they are fed one by one, so that
    little is lost with the byte that fails.

    Raises:
        MemberBroken: always, with the place of the damage.
    """
    decompressor, at = zlib.decompressobj(WITH_GZIP_HEAD), start
    try:
        while at < failing:
            fed = file.read(at, min(_STEP, failing - at))
            at += len(fed)
            decompressor.decompress(fed)
        for byte in file.read(failing, size):
            out = decompressor.decompress(bytes((byte,)))
            yield out, at, at + 1
            at += 1
    except zlib.error as error:
        raise MemberBroken(at, f"gzip: {error}") from error


def _by_library(file: BufferedFile, at: int, make: Callable[[], Any]) -> Pieces:
    decompressor = make()
    while not decompressor.eof:
        fed = bytes(file.ahead(at, _STEP)[:_STEP]) if decompressor.needs_input else b""
        if not fed and decompressor.needs_input:
            raise MemberBroken(at, "the file ends in a compressed member")
        try:
            out = decompressor.decompress(fed, MOST_AT_ONCE)
        except (OSError, EOFError, RuntimeError, lzma.LZMAError) as error:
            raise MemberBroken(at, f"{type(error).__name__}: {error}") from error
        end = at + len(fed) - len(decompressor.unused_data or b"")
        yield out, at, end
        at = end


def _zstd(file: BufferedFile, at: int, dictionary: Dictionary) -> Pieces:
    """Inflate a frame block by block (RFC 8878, 3.1.1): one gives at most 128 KB, whatever size it declares."""
    descriptor = file.read(at + 4, 1)
    if not descriptor:
        raise MemberBroken(at, "the file ends in a zstd frame")
    flags = descriptor[0]
    is_single, has_checksum = bool(flags & 0x20), bool(flags & 0x04)
    size = 5 + (not is_single) + (0, 1, 2, 4)[flags & 3] + (int(is_single), 2, 4, 8)[flags >> 6]
    decompressor = dictionary.decompressor()

    def fed(size: int) -> bytes:
        raw = file.read(at, size)
        if len(raw) < size:
            raise MemberBroken(at, "the file ends in a zstd frame")
        try:
            out: bytes = decompressor.decompress(raw)
        except zstandard.ZstdError as error:
            raise MemberBroken(at, f"zstd: {error}") from error
        return out

    yield fed(size), at, at + size
    at += size
    is_last = False
    while not is_last:
        raw = file.read(at, zstd_frame.HEAD)
        if len(raw) < zstd_frame.HEAD:
            raise MemberBroken(at, "the file ends in a zstd frame")
        is_last, is_reserved, declared, size = zstd_frame.block(raw)
        if is_reserved or declared > _ZSTD_BLOCK:
            raise MemberBroken(at, "zstd: no block of a frame begins here")
        size += 4 * (is_last and has_checksum)
        yield fed(size), at, at + size
        at += size


def _skippable(file: BufferedFile, at: int, dictionary: Dictionary) -> Pieces:
    """Pass over a frame without content; the first of a file may hold the dictionary of all others (IIPC,
    WARC-Zstandard), and so may the first of each file of which it was joined."""
    head = file.read(at, 8)
    end = at + 8 + struct.unpack("<I", head[4:])[0] if len(head) == 8 else file.size + 1
    if end > file.size:
        raise MemberBroken(at, "a skippable frame is longer than the file")
    is_first = at == 0
    if head[0] == 0x5D and (is_first or end - at <= _MOST_DICTIONARY):
        if end - at > _MOST_DICTIONARY:
            raise MemberBroken(at, f"a dictionary of {end - at} bytes")
        try:
            dictionary.learn(file.read(at + 8, end - at - 8), is_first=is_first)
        except (zstandard.ZstdError, ValueError) as error:
            if is_first:
                raise MemberBroken(at, f"zstd dictionary: {error}") from error
    yield b"", at, end
