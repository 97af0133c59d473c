"""An HTTP message's head and body: cut apart, and the body's encodings undone.

Headers lie, so the bytes have the last word.
"""

import re
import zlib
from dataclasses import dataclass

import brotli
import zstandard

GZIP_MAGIC = b"\x1f\x8b\x08"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})")
_HEAD_END = re.compile(rb"\r?\n\r?\n")


class BodyError(ValueError):
    """The body's encoding cannot be undone."""


class BodyTooLarge(BodyError):
    """The decoded body has more bytes than allowed."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response as stored. Header names are in lower case; of a repeated header the last counts."""

    status: int
    headers: dict[str, str]
    body: bytes


def split(block: bytes) -> Response | None:
    """An HTTP response cut into head and body; None if it does not begin with a status line."""
    status = _STATUS_LINE.match(block)
    if status is None:
        return None
    end = _HEAD_END.search(block)
    head, body = (block[: end.start()], block[end.end() :]) if end else (block, b"")
    headers = {}
    for line in head.decode("utf-8", "replace").splitlines()[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return Response(int(status[1]), headers, body)


def decoded(response: Response, max_bytes: int) -> bytes:
    """The body without its transfer and content encodings.

    Raises:
        BodyTooLarge: more than `max_bytes` come out.
        BodyError: an encoding that is unknown, or bytes that are not in it.
    """
    body = response.body
    if "chunked" in response.headers.get("transfer-encoding", "").lower():
        body = _dechunked(body)
    codings = [name.strip() for name in response.headers.get("content-encoding", "").lower().split(",")]
    for coding in reversed([name for name in codings if name]):
        body = _undone(body, coding, max_bytes)
    if body.startswith(GZIP_MAGIC):
        body = _inflated(body, zlib.MAX_WBITS | 16, max_bytes)
    if len(body) > max_bytes:
        raise BodyTooLarge(f"{len(body)} bytes, at most {max_bytes} allowed")
    return body


def _dechunked(body: bytes) -> bytes:
    """Chunks joined.

    A body that is not (or no longer) chunked is given back; behind a broken chunk the rest is kept as it is.
    """
    parts: list[bytes] = []
    position = 0
    while size := _CHUNK_SIZE.match(body, position):
        length, start = int(size[1], 16), size.end()
        if length == 0:
            return b"".join(parts)
        parts.append(body[start : start + length])
        position = start + length
        position += 2 if body.startswith(b"\r\n", position) else body.startswith(b"\n", position)
    parts.append(body[position:])
    return b"".join(parts)


def _undone(body: bytes, coding: str, max_bytes: int) -> bytes:
    if coding in ("gzip", "x-gzip"):
        return _inflated(body, zlib.MAX_WBITS | 16, max_bytes) if body.startswith(GZIP_MAGIC) else body
    if coding == "deflate":
        return _deflated(body, max_bytes)
    if coding == "br":
        return _unbrotlied(body, max_bytes)
    if coding == "zstd":
        return _unzstded(body, max_bytes) if body.startswith(ZSTD_MAGIC) else body
    return body  # "identity", "utf-8", "none": names that servers send for no coding at all


def _inflated(body: bytes, window_bits: int, max_bytes: int) -> bytes:
    """What can be inflated, though the end be missing.

    Raises:
        BodyError: nothing can.
        BodyTooLarge: more than `max_bytes` come out.
    """
    decompressor = zlib.decompressobj(window_bits)
    try:
        out = decompressor.decompress(body, max_bytes + 1)
    except zlib.error as error:
        out = _inflated_prefix(body, window_bits, max_bytes)
        if not out:
            raise BodyError(str(error)) from error
    if len(out) > max_bytes:
        raise BodyTooLarge(f"more than {max_bytes} bytes come out of {len(body)}")
    return out


def _inflated_prefix(body: bytes, window_bits: int, max_bytes: int) -> bytes:
    """The bytes in front of a damage: fed in small pieces, so that what came before the error is not lost with it."""
    decompressor, parts, length = zlib.decompressobj(window_bits), [], 0
    for start in range(0, len(body), 1024):
        try:
            part = decompressor.decompress(body[start : start + 1024], max_bytes + 1 - length)
        except zlib.error:
            break
        parts.append(part)
        length += len(part)
    return b"".join(parts)


def _deflated(body: bytes, max_bytes: int) -> bytes:
    """ "deflate" means zlib, but many servers send the raw stream, and some send plain text."""
    for window_bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        try:
            return _inflated(body, window_bits, max_bytes)
        except BodyTooLarge:
            raise
        except BodyError:
            continue
    return body


def _unbrotlied(body: bytes, max_bytes: int) -> bytes:
    decompressor = brotli.Decompressor()
    try:
        # Of a stream that is cut short, a call gives no more than one window, and the next call the next.
        part: bytes = decompressor.process(body, output_buffer_limit=max_bytes + 1)
        parts = [part]
        while part and sum(map(len, parts)) <= max_bytes and not decompressor.is_finished():
            part = decompressor.process(b"", output_buffer_limit=max_bytes + 1)
            parts.append(part)
        out = b"".join(parts)
    except brotli.error as error:
        if body.lstrip()[:1] == b"<":
            return body  # the header lies: plain HTML
        raise BodyError(f"brotli: {error}") from error
    if len(out) > max_bytes:
        raise BodyTooLarge(f"more than {max_bytes} bytes come out of {len(body)}")
    return out


def _unzstded(body: bytes, max_bytes: int) -> bytes:
    reader = zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True)
    try:
        out: bytes = reader.read(max_bytes + 1)
    except zstandard.ZstdError as error:
        raise BodyError(f"zstd: {error}") from error
    if len(out) > max_bytes:
        raise BodyTooLarge(f"more than {max_bytes} bytes come out of {len(body)}")
    return out
