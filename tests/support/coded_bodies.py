"""Bodies of HTTP messages in any coding, and what the archive makes of them."""

import gzip
import zlib
from collections.abc import Callable

import brotli
import zstandard
from hypothesis import strategies as st

from dbce_spark.archive.http_message import (
    Defect,
    HttpContent,
    Response,
    decode_body,
)

HTML = (
    b"<html><body>"
    + b"".join(b"<p>Paragraph %d has its own words.</p>" % nth for nth in range(400))
    + b"</body></html>"
)
"""A page, whose coded form is shorter than itself."""
LIMIT = 1 << 20
"""Bytes that a body may have."""


def raw_deflate(body: bytes) -> bytes:
    """Compress without the two bytes that zlib puts before, as some servers do under "deflate"."""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()


def br(body: bytes) -> bytes:
    compressed: bytes = brotli.compress(body, quality=5)  # a hundred times faster than the default
    return compressed


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


def zstd_without_size(body: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compress(body)


def chunked(body: bytes, size: int = 1000) -> bytes:
    """Send a body in chunks, as HTTP/1.1 does."""
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def decoded(body: bytes, limit: int = LIMIT, **headers: str) -> bytes:
    """Decode a body under some headers, written with underscores; return the HTML."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return decode_body(Response(200, fields, body), max_bytes=limit, max_ratio=limit).html


def content_of(body: bytes, **headers: str) -> HttpContent:
    """Decode a body as `decoded` does; return its defects too."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return decode_body(Response(200, fields, body), max_bytes=LIMIT, max_ratio=LIMIT)


def defects(found: Response | HttpContent | None) -> set[Defect]:
    """Return the defects of a message or body that was read at all."""
    assert found is not None
    return set(found.defects)


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "br": br,
    "zstd": zstd,
    "Zstd": zstd_without_size,
}
"""Codings by the name that a header announces; a capital marks a second form of one."""
CODINGS = st.sampled_from(sorted(ENCODERS))
