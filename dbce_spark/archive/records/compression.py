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
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_STEP = 16_384
"""Stored bytes a decoder is fed at a time."""
_FINE_STEPS = 2 * _STEP
"""Stored bytes that a decoder is fed one by one where it failed before: an interval that the failing step lies in."""
_FINE_OUT = 64
"""Bytes that come out of a decoder at a time there, behind all that it gave before: what it gives together with an
error is lost."""
_UNREAD = {"incorrect data check": 4, "incorrect length check": 0}
"""Bytes of a gzip member behind the byte at which zlib says that a check fails, by its words."""
MOST_AT_ONCE = 1 << 20
"""Bytes that come out of a decoder at a time, at most."""
_ZSTD_WINDOW = 1 << 27
"""Bytes a zstd frame may want as window: what the zstd program itself grants (--long=27)."""
_MOST_DICTIONARY = 1 << 26
"""Bytes of a dictionary."""
_ZSTD_BLOCK = 1 << 17
"""Bytes of a block at most (RFC 8878, 3.1.1.2)."""
_BZ2_BLOCK = 110_000
"""Stored bytes of a block at most, for each of the 1 to 9 that the head of a stream gives."""
_FIRST_BYTES = 8192
"""Stored bytes behind the head of a member until its first content shows, and those of its first block at least."""

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
    """A member cannot be inflated from stored byte `at` on. `is_cut`: nothing in it is wrong, but it wants more bytes
    than there are. `given`: bytes that came out before, of a decoder that is fed by steps."""

    def __init__(self, at: int, detail: str, *, is_cut: bool = False, given: int = 0):
        super().__init__(at, detail)
        self.at = at
        self.detail = detail
        self.is_cut = is_cut
        self.given = given


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


def pieces(file: BufferedFile, at: int, dictionary: Dictionary, before: MemberBroken | None = None) -> Pieces:
    """Inflate the member at `at` piece by piece.

    `before` is how that failed before. There a decoder is fed byte by byte, so that little is lost with the byte that
    fails.

    Raises:
        MemberBroken: it cannot be inflated further, or the file ends in it.
    """
    first = file.read(at, LONGEST_MAGIC)
    if first[:3] == GZIP_MAGIC:
        return _gzip(file, at, before)
    if first[:4] == zstd_frame.MAGIC:
        return _zstd(file, at, dictionary)
    if first[1:4] == b"\x2a\x4d\x18":
        return _skippable(file, at, dictionary)
    if first[:3] == b"BZh":
        return _by_library(file, at, bz2.BZ2Decompressor, before)
    if first[:2] == b"\xfd7":
        return _by_library(file, at, lambda: lzma.LZMADecompressor(memlimit=_ZSTD_WINDOW), before)
    return _by_library(file, at, lz4.frame.LZ4FrameDecompressor, before)


def first_bytes(head: bytes) -> int:
    """Return how many stored bytes of a member with this head show a record that it begins with. Zstd, lz4 and bz2 give
    nothing of a block until they have all of it."""
    if head[:4] == zstd_frame.MAGIC:
        return _FIRST_BYTES + _ZSTD_BLOCK
    if head[:3] == b"BZh":
        return _FIRST_BYTES + _BZ2_BLOCK * (head[3] - ord("0"))
    if head[:4] == _LZ4_MAGIC and len(head) > 5:
        return _FIRST_BYTES + (1 << 8 + 2 * (head[5] >> 4 & 7))
    return _FIRST_BYTES


def inflater() -> Any:
    """Return a decompressor of one gzip member."""
    return fast_zlib.decompressobj(WITH_GZIP_HEAD)


def _gzip(file: BufferedFile, at: int, before: MemberBroken | None) -> Pieces:
    # Only zlib says which check failed.
    decompressor = inflater() if before is None else zlib.decompressobj(WITH_GZIP_HEAD)
    while not decompressor.eof:
        fed = file.ahead(at, step := _step(at, before))[:step]
        if not fed:
            raise MemberBroken(at, "the file ends in a gzip member", is_cut=True)
        left: bytes | memoryview = fed
        while left and not decompressor.eof:
            try:
                out = decompressor.decompress(left, MOST_AT_ONCE)
            except Exception as error:  # isal raises its own, zlib zlib.error
                words = str(error).rpartition(": ")[2]  # behind "Error -3 while decompressing data"
                detail, unread = f"gzip: {words}", _UNREAD.get(words)
                if unread is None or step > 1:
                    raise MemberBroken(at, detail) from error
                end = min(file.size, at + 1 + unread)
                yield b"", at, end
                raise MemberBroken(end, detail) from error
            left = decompressor.unused_data if decompressor.eof else decompressor.unconsumed_tail
            end = at + len(fed) - len(left)
            yield out, at, end
            at, fed = end, fed[len(fed) - len(left) :]


def _step(at: int, before: MemberBroken | None) -> int:
    """Return how many bytes a decoder is fed at stored byte `at`."""
    if before is None or at >= before.at + _FINE_STEPS:
        return _STEP
    return min(_STEP, before.at - at) if at < before.at else 1


def _by_library(file: BufferedFile, at: int, make: Callable[[], Any], before: MemberBroken | None) -> Pieces:
    decompressor, fed_end, given = make(), at, 0
    while not decompressor.eof:
        step = _step(fed_end, before)
        fed = bytes(file.ahead(fed_end, step)[:step]) if decompressor.needs_input else b""
        if not fed and decompressor.needs_input:
            raise MemberBroken(at, "the file ends in a compressed member", is_cut=True)
        fed_end += len(fed)
        most = max(_FINE_OUT, min(before.given - given, MOST_AT_ONCE)) if before and step == 1 else MOST_AT_ONCE
        try:
            out = decompressor.decompress(fed, most)
        except (OSError, EOFError, RuntimeError, lzma.LZMAError) as error:
            raise MemberBroken(at, f"{type(error).__name__}: {error}", given=given) from error
        given += len(out)
        if decompressor.eof:
            end = fed_end - len(decompressor.unused_data or b"")
        else:  # it holds bytes that may be of the next member
            end = fed_end if decompressor.needs_input else at
        yield out, at, end
        at = end


def _zstd(file: BufferedFile, at: int, dictionary: Dictionary) -> Pieces:
    """Inflate a frame block by block (RFC 8878, 3.1.1): one gives at most 128 KB, whatever size it declares."""
    ends = "the file ends in a zstd frame"
    descriptor = file.read(at + len(zstd_frame.MAGIC), 1)
    if not descriptor:
        raise MemberBroken(at, ends, is_cut=True)
    size, has_checksum = zstd_frame.frame(descriptor[0])
    decompressor = dictionary.decompressor()

    def fed(size: int) -> bytes:
        raw = file.read(at, size)
        if len(raw) < size:
            raise MemberBroken(at, ends, is_cut=True)
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
            raise MemberBroken(at, ends, is_cut=True)
        is_last, is_reserved, declared, size = zstd_frame.block(raw)
        if is_reserved or declared > _ZSTD_BLOCK:
            raise MemberBroken(at, "zstd: no block of a frame begins here")
        yield fed(size), at, at + size
        at += size
    if has_checksum:  # by itself: with the last block it would cost what that holds
        try:
            fed(4)
        except MemberBroken as broken:
            if not broken.is_cut:
                yield b"", at, at + 4
                raise MemberBroken(at + 4, broken.detail) from broken
            raise
        yield b"", at, at + 4


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
