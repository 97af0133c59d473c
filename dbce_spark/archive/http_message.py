"""Parse HTTP messages: cut head from body, and undo the body's encodings.

Headers lie, so the bytes have the last word. What is left of a damaged body is kept, and the damage is named.
"""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import brotli
import zstandard

from dbce_spark.archive import mime, zstd_frame

GZIP_MAGIC = b"\x1f\x8b\x08"
MOST_CODINGS = 5
"""Encodings that are undone, one over the other. Real stacks are of two; a gzip file can hold itself for ever."""
ALWAYS_ALLOWED = 1 << 20
"""Bytes that come out whatever the ratio: small pages of white space shrink a thousandfold without harm."""

NOT_MODIFIED = 304
"""The status of an answer without a body: what was fetched before still holds."""

_PASSING = (408, 425, 429)
"""HTTP statuses under 500 that mean "not now" (RFC 9110, 6585, 8470)."""
_COMPRESS_MAGIC = b"\x1f\x9d"
_STATUS_LINE = re.compile(rb"[ \t\r\n]{0,256}(?:HTTP(?:/\d(?:\.\d{0,2})?)?|ICY)[ \t]+(\d{3})(?!\d)", re.IGNORECASE)
_HEAD_END = re.compile(rb"\r*\n\r*\n|\r\r(?!\n)")
# A head without status line is recognised by a header that every server sends.
_COMMON_HEADER = re.compile(
    rb"(?:^|[\r\n])(?:content-(?:type|length|encoding)|date|server|last-modified|connection|transfer-encoding|"
    rb"cache-control|set-cookie|expires|etag|accept-ranges|x-powered-by|via)[ \t]*:",
    re.IGNORECASE,
)
_MOST_ANSWERS = 8
_LONGEST_HEAD = 1 << 16
"""Bytes in which a head ends (servers allow 8 to 64 KiB)."""
_FOLDS = ("", " ", "\t")
_LISTS = ("content-encoding", "transfer-encoding")  # headers whose repetitions add up
_CHUNK_SIZE = re.compile(rb"[ \t]*0{0,16}([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CUT_SIZE = re.compile(rb"[ \t]*+[0-9a-fA-F]{0,8}+(?:[ \t]*+;[^\r\n]*+)?+\r?\Z")
_STRICT_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8}) *\r\n")
_TRAILER = re.compile(rb"(?:[!#-'*+\-.^-z|~\w]+:[^\r\n]*\r?\n)*(?:\r?\n)?")
_LENGTH = re.compile(r"\d{1,18}(?![^\s,])")
_GZIP_BITS = zlib.MAX_WBITS | 16
_PIECE = 1 << 16
_MOST_MEMBERS = 10_000
_MOST_BLOCKS = 100_000
_MOST_CHUNKS = 1_000_000
_SNIFFED_BYTES = 512
_ZSTD_WINDOW = 1 << 23
"""Bytes of history that a zstd stream may ask for (RFC 9659: 8 MiB for the content coding)."""


def is_passing(status: int) -> bool:
    """Return whether the same request may have another answer later."""
    return status >= 500 or status in _PASSING


class BodyError(ValueError):
    """The body's encoding cannot be undone."""


class BodyTooLarge(BodyError):
    """The decoded body has more bytes than allowed."""


class Defect(StrEnum):
    """A defect of a message that could be read all the same."""

    NO_STATUS = "no_status_line"  # headers alone, or nothing before the page
    OPEN_HEAD = "head_without_end"  # the page begins, or the record ends, where headers were
    CHUNKS_LIE = "chunks_lie"  # announced and not there, or there and not announced
    CHUNKS_BROKEN = "chunks_broken"  # the sizes lead astray: what follows is kept as stored
    CODING_LIES = "coding_lies"  # a content coding announced and not there, or there and not announced
    SHORT = "body_short"  # ends before its length, its last chunk or its compressed stream does
    DAMAGED = "body_damaged"  # a compressed stream breaks: what comes before is kept
    LONG = "body_long"  # bytes behind the end of the last chunk or of the compressed stream: passed over


LOSSES = frozenset({Defect.CHUNKS_BROKEN, Defect.SHORT, Defect.DAMAGED})
"""The defects by which a page may lack some of its text, or hold what is none: such a capture is truncated."""


_NONE: frozenset[Defect] = frozenset()
_OPEN_HEAD = frozenset({Defect.OPEN_HEAD})


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response as stored.

    `status` is 0 where there is none. Header names are in lower case; of a repeated header the last counts, and of
    the two that list codings all, in their order.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    defects: frozenset[Defect] = _NONE


@dataclass(frozen=True, slots=True)
class HttpContent:
    """A body without its encodings, and what was wrong with it and its head."""

    html: bytes
    defects: frozenset[Defect]

    @property
    def truncated(self) -> bool:
        return not self.defects.isdisjoint(LOSSES)


def split(block: bytes) -> Response | None:
    """Cut an HTTP response into head and body; return None if it does not begin with a status line."""
    status = _STATUS_LINE.match(block)
    if status is None:
        return None
    response = _cut(block, status.end(), int(status[1]))
    for _ in range(_MOST_ANSWERS):
        # An interim answer (RFC 9110 15.2), or a proxy's "connection established", goes before the response itself.
        if response.status >= 200 and "content-type" in response.headers:
            break
        status = _STATUS_LINE.match(response.body[:64])
        if status is None:
            break
        response = _cut(response.body, status.end(), int(status[1]))
    return response


def parse(block: bytes) -> Response | None:
    """Parse a response with or without status line or head (status 0 then); return None if it is neither headers nor a
    page."""
    response = split(block)
    if response is not None:
        return response
    end = _HEAD_END.search(block, 0, _LONGEST_HEAD)
    if end and _COMMON_HEADER.search(block, 0, end.start() + 1) and not mime.opens_as_page(block[:_SNIFFED_BYTES]):
        response = _cut(block, 0, 0)
        return replace(response, defects=response.defects | {Defect.NO_STATUS})
    if mime.opens_as_page(block[: mime.HEADER_BYTES]):
        return Response(0, {}, block, frozenset({Defect.NO_STATUS}))
    return None


def decode_body(response: Response, *, max_bytes: int, max_ratio: int) -> HttpContent:
    """Undo the transfer and content encodings of a body, announced or not.

    No step puts out more than `max_bytes`, nor more than `max_ratio` times what is stored (ALWAYS_ALLOWED apart).

    Raises:
        BodyTooLarge: more would come out.
        BodyError: an encoding that is unknown, or bytes that are not in it.
    """
    most = min(max_bytes, max(ALWAYS_ALLOWED, max_ratio * len(response.body)))
    defects = set(response.defects)
    codings = _applied_codings(response, defects)
    body = response.body
    for coding in reversed(codings):
        body = _undo(body, coding, most, defects)
    body = _strip_unannounced(body, most, defects)
    if len(body) > max_bytes:
        raise BodyTooLarge(f"{len(body)} bytes, at most {max_bytes} allowed")
    if codings in ([], ["chunked"]) and Defect.CODING_LIES not in defects and not mime.is_text(body[:_SNIFFED_BYTES]):
        body = _guess_coding(body, most, defects)
    return HttpContent(body, frozenset(defects))


def _cut(block: bytes, start: int, status: int) -> Response:
    """Cut a message whose headers begin at `start`, or on the line behind it, into head and body."""
    head_end, body_start = _head_end(block, start)
    head = block[start:head_end]
    if b"\n<" in head or b"\r<" in head:  # no header begins so: here the body does
        before = min(at for at in (head.find(b"\n<"), head.find(b"\r<")) if at >= 0)
        return Response(status, _headers(head[:before]), block[start + before + 1 :], _OPEN_HEAD)
    return Response(status, _headers(head), block[body_start:], _NONE if body_start > head_end else _OPEN_HEAD)


def _head_end(block: bytes, start: int) -> tuple[int, int]:
    """Return where the head ends and where the body starts: the same place if no empty line is between them."""
    end = block.find(b"\r\n\r\n", start, start + _LONGEST_HEAD)
    if end >= 0 and block.find(b"\n\n", start, end) < 0 and block.find(b"\r\r", start, end) < 0:
        return end, end + 4
    empty_line = _HEAD_END.search(block, start, start + _LONGEST_HEAD)
    if empty_line:
        return empty_line.span()
    end = min(len(block), start + _LONGEST_HEAD)
    return end, end


def _headers(head: bytes) -> dict[str, str]:
    """Parse the lines of a head to headers by lower-case name."""
    headers: dict[str, str] = {}
    last = ""
    for line in head.decode("utf-8", "replace").replace("\0", "").split("\n" if b"\n" in head else "\r"):
        name, colon, value = line.partition(":")
        if line[:1] in _FOLDS:
            if last and line:  # folded (RFC 9112 5.2)
                headers[last] = f"{headers[last]} {line.strip()}".strip()
            continue
        last = name.strip().lower() if colon else ""
        if last not in headers:
            headers[last] = value.strip()
        elif last in _LISTS:
            headers[last] += "," + value.strip()
        else:
            headers[last] = value.strip() or headers[last]
    headers.pop("", None)
    return headers


def _codings(headers: dict[str, str]) -> list[str]:
    """List the codings in the order in which they were applied."""
    listed = ",".join(headers[name] for name in _LISTS if name in headers).lower()
    codings = (coding.partition(";")[0].strip(" \t\"'") for coding in listed.split(","))
    return [coding for coding in codings if coding and coding != "identity"]


def _applied_codings(response: Response, defects: set[Defect]) -> list[str]:
    """List the codings that the headers name, and "chunked" where the body is chunked without being announced."""
    codings = _codings(response.headers)
    if "chunked" not in codings:
        if _is_chunked(response.body):
            codings.append("chunked")
            defects.add(Defect.CHUNKS_LIE)
        elif not codings and _is_short(response.headers, len(response.body)):
            defects.add(Defect.SHORT)
    if len(codings) > MOST_CODINGS:
        raise BodyError(f"{len(codings)} codings, at most {MOST_CODINGS} are undone")
    return codings


def _strip_unannounced(body: bytes, most: int, defects: set[Defect]) -> bytes:
    """Undo the codings that no header names but the body's first bytes show."""
    for _ in range(MOST_CODINGS):
        coding = _shown_coding(body)
        if not coding:
            return body
        defects.add(Defect.CODING_LIES)
        body = _undo(body, coding, most, defects)
    raise BodyError(f"more than {MOST_CODINGS} codings that no header names")


def _is_short(headers: dict[str, str], length: int) -> bool:
    """Return whether the stored body ends before its Content-Length.

    Asked of bodies without content coding only: crawlers undo the coding and keep the header.
    """
    declared = _LENGTH.match(headers.get("content-length", ""))
    return declared is not None and int(declared[0]) > length


class _End(StrEnum):
    """The ways in which a compressed stream ends."""

    WHOLE = "whole"
    MORE = "more"  # whole, with bytes behind it
    CUT = "cut"
    BROKEN = "broken"


_DEFECT_OF = {_End.MORE: Defect.LONG, _End.CUT: Defect.SHORT, _End.BROKEN: Defect.DAMAGED}


@dataclass(frozen=True, slots=True)
class _Stream:
    """The output of a compressed stream, and how the stream ends."""

    out: bytes
    end: _End


def _undo(body: bytes, coding: str, most: int, defects: set[Defect]) -> bytes:
    """Undo one coding of a body; return the body as it is where it is not in that coding."""
    if not body:
        return body
    if coding == "chunked":
        return _join_chunks(body, defects)
    if coding in ("compress", "x-compress") and body.startswith(_COMPRESS_MAGIC):
        raise BodyError(f"{coding}: LZW is not undone")
    undo = _DECODERS.get(coding)
    if undo is None:
        return body  # "utf-8", "none": names that servers send for no coding at all
    stream = undo(body, most)
    if stream is None:
        return _decode_misnamed(body, coding, most, defects)
    if not stream.out and stream.end in (_End.CUT, _End.BROKEN):
        raise BodyError(f"{coding}: {stream.end} before its first byte")
    if stream.end in _DEFECT_OF:
        defects.add(_DEFECT_OF[stream.end])
    return stream.out


def _decode_misnamed(body: bytes, coding: str, most: int, defects: set[Defect]) -> bytes:
    """Return a body that is not in the coding its header names: as it is if it is plain or in another coding that its
    first bytes show, else decoded by trial."""
    defects.add(Defect.CODING_LIES)
    if _shown_coding(body) or _is_plain(body):
        return body
    decoded = _guess_coding(body, most, defects)
    if decoded is body:
        raise BodyError(f"{coding}: neither this nor a page, begins with {body[:16]!r}")
    return decoded


def _is_plain(body: bytes) -> bool:
    """Return whether a body is text, whatever its charset. In 512 bytes of a compressed stream there is always a byte
    that no text holds; a single byte may be all that is left of one."""
    start = body[:_SNIFFED_BYTES]
    if mime.opens_as_page(start):
        return True
    if len(start) == 1 or not mime.is_text(start):
        return False
    return len(start) == _SNIFFED_BYTES or start.isascii() or mime.holds_markup(start)


def _shown_coding(body: bytes) -> str:
    """Return the coding that a body's first bytes show; "" for none."""
    if body.startswith(GZIP_MAGIC):
        return "gzip"
    return "zstd" if body.startswith(zstd_frame.MAGIC) else ""


def _guess_coding(body: bytes, most: int, defects: set[Defect]) -> bytes:
    """Undo the coding of binary data that is a whole stream of zlib, deflate or Brotli and holds a page; else return
    it.

    These codings have no signature (zlib's is two bytes), so only the output can confirm them: a stream that ends where
    the body ends, and markup.
    """
    if mime.opens_as_page(body[:_SNIFFED_BYTES]):
        return body
    for undo in (_zlib, _raw, _brotli):
        try:
            stream = undo(body, most)
        except BodyTooLarge:
            continue  # random bytes may swell, too
        if stream is not None and stream.end is _End.WHOLE and mime.opens_as_page(stream.out[:_SNIFFED_BYTES]):
            defects.add(Defect.CODING_LIES)
            return stream.out
    return body


def _is_chunked(body: bytes) -> bool:
    """Return whether a body begins with a line of hexadecimal digits, as many bytes as it says, and another such
    line."""
    size = _STRICT_CHUNK.match(body[:12])
    if size is None:
        return False
    end = size.end() + int(size[1], 16)
    return end > size.end() and body[end : end + 2] == b"\r\n" and _STRICT_CHUNK.match(body, end + 2) is not None


def _join_chunks(body: bytes, defects: set[Defect]) -> bytes:
    """Join the chunks of a body.

    A body that is not (or no longer) chunked is returned as it is; behind a broken chunk the rest is kept as stored.
    """
    parts: list[bytes] = []
    position = 0
    while len(parts) < _MOST_CHUNKS and (size := _CHUNK_SIZE.match(body, position)):
        length, start = int(size[1], 16), size.end()
        if length == 0:
            trailer = _TRAILER.match(body, start)
            end = trailer.end() if trailer else start
            if not parts and end < len(body):
                break  # text that begins with a line of zeros
            if body[end:].strip(b"\r\n\0 "):
                defects.add(Defect.LONG)
            return b"".join(parts)
        parts.append(body[start : start + length])
        position = start + length
        if position > len(body):
            break
        position += 2 if body.startswith(b"\r\n", position) else body.startswith(b"\n", position)
    if position >= len(body) or _CUT_SIZE.match(body, position):
        defects.add(Defect.SHORT)
        return b"".join(parts)
    defects.add(Defect.CHUNKS_BROKEN if parts else Defect.CHUNKS_LIE)
    return b"".join([*parts, body[position:]])


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
) -> tuple[list[bytes], int, _End]:
    """Decompress one stream; return its output, where it ends, and how. A damaged piece, which begins at `damage`, is
    fed again byte by byte, so that all output before the damage is kept."""
    decoder, parts, length, position = make(), list[bytes](), 0, start
    while position < len(body) and length <= most:
        piece = body[position : position + (_PIECE if damage is None or position < damage else 1)]
        try:
            parts.append(decoder.feed(piece, most + 1 - length))
        except _Broken:
            return _decompress(body, start, make, most, position) if damage is None else (parts, position, _End.BROKEN)
        length += len(parts[-1])
        position += len(piece)
        if decoder.ended and length <= most:
            return parts, position - decoder.behind, _End.WHOLE
    return parts, position, _End.CUT if damage is None else _End.BROKEN


def _decompress_all(body: bytes, make: Callable[[], _Decoder], most: int, magic: bytes = b"") -> _Stream:
    """Decompress the stream at the body's start, and the streams behind it that begin with `magic`.

    Raises:
        BodyTooLarge: more than `most`.
    """
    out: list[bytes] = []
    length = position = 0
    end = _End.WHOLE
    for _ in range(_MOST_MEMBERS):
        parts, position, end = _decompress(body, position, make, most - length)
        out += parts
        length += sum(map(len, parts))
        if length > most:
            raise BodyTooLarge(f"more than {most} bytes come out of {len(body)}")
        if end is not _End.WHOLE or not magic or not body.startswith(magic, position):
            break
    if end is _End.WHOLE and body[position : position + _PIECE].strip(b"\0\r\n "):
        end = _End.MORE
    return _Stream(b"".join(out), end)


def _gzip(body: bytes, most: int) -> _Stream | None:
    return (
        _decompress_all(body, lambda: _Inflater(_GZIP_BITS), most, GZIP_MAGIC) if body.startswith(GZIP_MAGIC) else None
    )


def _zlib(body: bytes, most: int) -> _Stream | None:
    """Decompress RFC 1950 data: method 8 and a window up to 32 KiB in the first byte; both bytes together a multiple of
    31."""
    if body[0] & 0x8F != 8 or int.from_bytes(body[:2], "big") % 31:
        return None
    return _unless_plain(body, _decompress_all(body, lambda: _Inflater(zlib.MAX_WBITS), most))


def _raw(body: bytes, most: int) -> _Stream | None:
    return _unless_plain(body, _decompress_all(body, lambda: _Inflater(-zlib.MAX_WBITS), most))


def _deflate(body: bytes, most: int) -> _Stream | None:
    """Decompress "deflate", which means zlib, but many servers send the raw stream, and some send plain text."""
    return _zlib(body, most) or _raw(body, most)


def _brotli(body: bytes, most: int) -> _Stream | None:
    return _unless_plain(body, _decompress_all(body, _Unbrotler, most))


def _unless_plain(body: bytes, stream: _Stream) -> _Stream | None:
    """Return a stream of a coding without signature unless its input may be plain text, which may begin as a stream but
    seldom ends as one."""
    if stream.end is _End.WHOLE or (stream.out and not _is_plain(body)):
        return stream
    return None


def _zstd(body: bytes, most: int) -> _Stream | None:
    if zstd_frame.MAGIC.startswith(body):
        return _Stream(b"", _End.CUT)
    if not body.startswith(zstd_frame.MAGIC) and not zstd_frame.is_skippable(body, 0):
        return None
    position, end = _zstd_end(body)
    window = max(_ZSTD_WINDOW, 1 << most.bit_length())
    decompressor = zstandard.ZstdDecompressor(max_window_size=window)
    frames = body[:position]
    out, is_broken = _zstd_read(decompressor, frames, 0, _PIECE, most)
    if is_broken:
        out, _ = _zstd_read(decompressor, frames, len(out), 1, most)
        end = _End.BROKEN
    return _Stream(out, end)


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


def _zstd_end(body: bytes) -> tuple[int, _End]:
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
                return len(body), _End.CUT
            is_last = False
            while not is_last:
                is_last, _, _, stored = zstd_frame.block(body[at : at + zstd_frame.HEAD])
                at += stored
                blocks += 1
                if at > len(body):
                    return len(body), _End.CUT
                if blocks > _MOST_BLOCKS:
                    raise BodyError(f"zstd: more than {_MOST_BLOCKS} blocks")
            position = at + (4 if body[position + 4] & 4 else 0)
        if position > len(body):
            return len(body), _End.CUT
    return position, _End.MORE if body[position : position + _PIECE].strip(b"\0\r\n ") else _End.WHOLE


_DECODERS: dict[str, Callable[[bytes, int], _Stream | None]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
    "compress": lambda body, most: None,
    "x-compress": lambda body, most: None,
}
