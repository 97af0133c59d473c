"""Undo content codings (RFC 9110 8.4.1): gzip, deflate, br and zstd.

What comes before damage is kept, and how a stream ends is named.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import brotli
import zstandard

from dbce_spark.archive import mime, zstd_frame
from dbce_spark.archive.records.compression import GZIP_MAGIC, WITH_GZIP_HEAD

SNIFFED_BYTES = 512
"""Bytes of a body that are looked at to tell what it is."""
_PIECE = 1 << 16
"""Bytes that a decompressor is fed at a time."""
_MOST_MEMBERS, _MOST_BLOCKS = 10_000, 100_000
"""Members of a body in gzip, and blocks of one in zstd: each costs a call, also where nothing comes out."""
_ZSTD_WINDOW = 1 << 23
"""Bytes of history that a zstd stream may ask for (RFC 9659: 8 MiB for the content coding)."""


class BodyError(ValueError):
    """The body's encoding cannot be undone."""


class BodyTooLarge(BodyError):
    """The decoded body has more bytes than allowed."""


class StreamEnd(StrEnum):
    """The ways in which a compressed stream ends."""

    WHOLE = "whole"
    MORE = "more"  # whole, with bytes behind it
    CUT = "cut"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class CodedStream:
    """The output of a compressed stream, and how the stream ends."""

    out: bytes
    end: StreamEnd


def undo(body: bytes, coding: str, most: int) -> CodedStream | None:
    """Undo one of CODINGS; return None where the body is not in it.

    Raises:
        BodyTooLarge: more than `most` bytes come out.
        BodyError: it has too many parts.
    """
    return _DECODERS[coding](body, most)


def is_plain(body: bytes) -> bool:
    """Return whether a body is text, whatever its charset. In 512 bytes of a compressed stream there is always a byte
    that no text holds; a single byte may be all that is left of one."""
    start = body[:SNIFFED_BYTES]
    if mime.opens_as_page(start):
        return True
    if len(start) == 1 or not mime.is_text(start):
        return False
    return len(start) == SNIFFED_BYTES or start.isascii() or mime.holds_markup(start)


def shown_coding(body: bytes) -> str:
    """Return the coding that a body's first bytes show; "" for none."""
    if body.startswith(GZIP_MAGIC):
        return "gzip"
    return "zstd" if body.startswith(zstd_frame.MAGIC) else ""


def undo_unnamed(body: bytes, most: int) -> bytes | None:
    """Undo the coding of binary data that is a whole stream of zlib, deflate or Brotli and holds a page; None for other
    data.

    These codings have no signature (zlib's is two bytes), so only the output can confirm them: a stream that ends where
    the body ends, and markup.
    """
    if mime.opens_as_page(body[:SNIFFED_BYTES]):
        return None
    for decompress in (_zlib, _raw, _brotli):
        try:
            stream = decompress(body, most)
        except BodyTooLarge:
            continue  # random bytes may swell, too
        if stream is not None and stream.end is StreamEnd.WHOLE and mime.opens_as_page(stream.out[:SNIFFED_BYTES]):
            return stream.out
    return None


class _Decoder(Protocol):
    """A decompressor that takes its input piece by piece."""

    @property
    def ended(self) -> bool: ...

    @property
    def behind(self) -> int:
        """Return how many bytes of the last piece lie behind the end of the stream."""

    def feed(self, piece: bytes, most: int) -> bytes:
        """Decompress a piece to about `most` bytes at most. Raises _Broken."""


class _Broken(Exception):
    """The bytes are not in the encoding."""


class _Inflater:
    """A decompressor of zlib data, with or without one of its two heads."""

    def __init__(self, window_bits: int) -> None:
        self._zlib = zlib.decompressobj(window_bits)

    @property
    def ended(self) -> bool:
        return self._zlib.eof

    @property
    def behind(self) -> int:
        return len(self._zlib.unused_data)

    def feed(self, piece: bytes, most: int) -> bytes:
        try:
            return self._zlib.decompress(piece, most)
        except zlib.error as error:
            raise _Broken from error


class _Unbrotler:
    """A decompressor of Brotli, which takes bytes behind the end of a stream for damage."""

    behind = 0

    def __init__(self) -> None:
        self._brotli = brotli.Decompressor()

    @property
    def ended(self) -> bool:
        return bool(self._brotli.is_finished())

    def feed(self, piece: bytes, most: int) -> bytes:
        try:
            part: bytes = self._brotli.process(piece, output_buffer_limit=most)
            parts, length = [part], len(part)
            while part and length < most and not self.ended:  # a call gives one window at most
                part = self._brotli.process(b"", output_buffer_limit=most - length)
                parts.append(part)
                length += len(part)
        except brotli.error as error:
            raise _Broken from error
        return b"".join(parts)


def _decompress(
    body: bytes, start: int, make: Callable[[], _Decoder], most: int, damage: int | None = None
) -> tuple[list[bytes], int, StreamEnd]:
    """Decompress one stream; return its output, where it ends, and how. A damaged piece, which begins at `damage`, is
    fed again byte by byte, so that all output before the damage is kept."""
    decoder, parts, length, position = make(), list[bytes](), 0, start
    while position < len(body) and length <= most:
        piece = body[position : position + (_PIECE if damage is None or position < damage else 1)]
        try:
            parts.append(decoder.feed(piece, most + 1 - length))
        except _Broken:
            if damage is None:
                return _decompress(body, start, make, most, position)
            return parts, position, StreamEnd.BROKEN
        length += len(parts[-1])
        position += len(piece)
        if decoder.ended and length <= most:
            return parts, position - decoder.behind, StreamEnd.WHOLE
    return parts, position, StreamEnd.CUT if damage is None else StreamEnd.BROKEN


def _decompress_all(body: bytes, make: Callable[[], _Decoder], most: int, magic: bytes = b"") -> CodedStream:
    """Decompress the stream at the body's start, and the streams behind it that begin with `magic`.

    Raises:
        BodyTooLarge: more than `most`.
    """
    out: list[bytes] = []
    length = position = 0
    end = StreamEnd.WHOLE
    for _ in range(_MOST_MEMBERS):
        parts, position, end = _decompress(body, position, make, most - length)
        out += parts
        length += sum(map(len, parts))
        if length > most:
            raise BodyTooLarge(f"more than {most} bytes come out of {len(body)}")
        if end is not StreamEnd.WHOLE or not magic or not body.startswith(magic, position):
            break
    if end is StreamEnd.WHOLE and body[position : position + _PIECE].strip(b"\0\r\n "):
        end = StreamEnd.MORE
    return CodedStream(b"".join(out), end)


def _gzip(body: bytes, most: int) -> CodedStream | None:
    if not body.startswith(GZIP_MAGIC):
        return None
    return _decompress_all(body, lambda: _Inflater(WITH_GZIP_HEAD), most, GZIP_MAGIC)


def _zlib(body: bytes, most: int) -> CodedStream | None:
    """Decompress RFC 1950 data: method 8 and a window up to 32 KiB in the first byte; both bytes together a multiple of
    31."""
    if body[0] & 0x8F != 8 or int.from_bytes(body[:2], "big") % 31:
        return None
    return _unless_plain(body, _decompress_all(body, lambda: _Inflater(zlib.MAX_WBITS), most))


def _raw(body: bytes, most: int) -> CodedStream | None:
    return _unless_plain(body, _decompress_all(body, lambda: _Inflater(-zlib.MAX_WBITS), most))


def _deflate(body: bytes, most: int) -> CodedStream | None:
    """Decompress "deflate", which means zlib, but many servers send the raw stream, and some send plain text."""
    return _zlib(body, most) or _raw(body, most)


def _brotli(body: bytes, most: int) -> CodedStream | None:
    return _unless_plain(body, _decompress_all(body, _Unbrotler, most))


def _unless_plain(body: bytes, stream: CodedStream) -> CodedStream | None:
    """Return a stream of a coding without signature unless its input may be plain text, which may begin as a stream but
    seldom ends as one."""
    if stream.end is StreamEnd.WHOLE or (stream.out and not is_plain(body)):
        return stream
    return None


def _zstd(body: bytes, most: int) -> CodedStream | None:
    if zstd_frame.MAGIC.startswith(body):
        return CodedStream(b"", StreamEnd.CUT)
    if not body.startswith(zstd_frame.MAGIC) and not zstd_frame.is_skippable(body, 0):
        return None
    position, end = _zstd_end(body)
    window = max(_ZSTD_WINDOW, 1 << most.bit_length())
    decompressor = zstandard.ZstdDecompressor(max_window_size=window)
    frames = body[:position]
    out, is_broken = _zstd_read(decompressor, frames, 0, _PIECE, most)
    if is_broken:
        out, _ = _zstd_read(decompressor, frames, len(out), 1, most)
        end = StreamEnd.BROKEN
    return CodedStream(out, end)


def _zstd_read(
    decompressor: zstandard.ZstdDecompressor, frames: bytes, sure: int, piece: int, most: int
) -> tuple[bytes, bool]:
    """Decompress frames, the first `sure` bytes at once and the rest in pieces; return the output, and whether damage
    ended it."""
    reader = decompressor.stream_reader(frames, read_across_frames=True)
    parts: list[bytes] = []
    length = 0
    try:
        while part := reader.read(max(piece, sure - length)):
            parts.append(part)
            length += len(part)
            if length > most:
                raise BodyTooLarge(f"more than {most} bytes come out of {len(frames)}")
    except zstandard.ZstdError:
        return b"".join(parts), True
    return b"".join(parts), False


def _zstd_end(body: bytes) -> tuple[int, StreamEnd]:
    """Find where the frames end by their block headers (RFC 8878 3.1.1), and how the last one ends."""
    position = blocks = 0
    while body.startswith(zstd_frame.MAGIC, position) or zstd_frame.is_skippable(body, position):
        if zstd_frame.is_skippable(body, position):
            position += 8 + int.from_bytes(body[position + 4 : position + 8], "little")
            blocks += 1
        else:
            try:
                at = position + zstandard.frame_header_size(body[position : position + 18])
            except zstandard.ZstdError:
                return len(body), StreamEnd.CUT
            is_last = False
            while not is_last:
                is_last, _, _, stored = zstd_frame.block(body[at : at + zstd_frame.HEAD])
                at += stored
                blocks += 1
                if at > len(body):
                    return len(body), StreamEnd.CUT
                if blocks > _MOST_BLOCKS:
                    raise BodyError(f"zstd: more than {_MOST_BLOCKS} blocks")
            position = at + (4 if body[position + 4] & 4 else 0)
        if position > len(body):
            return len(body), StreamEnd.CUT
    return position, StreamEnd.MORE if body[position : position + _PIECE].strip(b"\0\r\n ") else StreamEnd.WHOLE


_DECODERS: dict[str, Callable[[bytes, int], CodedStream | None]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
    "compress": lambda body, most: None,
    "x-compress": lambda body, most: None,
}
CODINGS = frozenset(_DECODERS)
"""The codings that are undone, and LZW, which no body is decoded from."""
