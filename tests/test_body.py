"""HTTP bodies: encodings undone, and what comes of those that lie."""

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from dbce_spark.body import BodyError, BodyTooLarge, Response, decoded, split

HTML = (
    b"<html><body>"
    + b"".join(b"<p>Paragraph %d has its own words.</p>" % nth for nth in range(400))
    + b"</body></html>"
)
LIMIT = 1 << 20


def raw_deflate(body: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


def chunked(body: bytes, size: int = 1000) -> bytes:
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def out(body: bytes, limit: int = LIMIT, **headers: str) -> bytes:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return decoded(Response(200, fields, body), limit)


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "br": brotli.compress,
    "zstd": zstd,
}


def test_head_and_body_are_cut_apart() -> None:
    """Header names come in lower case, values stripped, and of a repeated header the last counts."""
    expected = Response(404, {"content-type": "text/html", "x-a": "2"}, b"body\r\n\r\nmore")
    actual = split(b"HTTP/1.1 404 Not Found\r\nContent-Type:  text/html \r\nX-A: 1\r\nx-a: 2\r\n\r\nbody\r\n\r\nmore")

    assert expected == actual


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"HTTP/1.0 200 OK\nA: b\n\nbody", Response(200, {"a": "b"}, b"body")),
        (b"HTTP/2 200\r\n\r\nbody", Response(200, {}, b"body")),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\nbody", Response(200, {}, b"body")),
        (b"HTTP/1.1 200 OK\r\nA: b", Response(200, {"a": "b"}, b"")),
        (b"<html>", None),
        (b"", None),
    ],
    ids=["bare LF", "no reason phrase", "line without colon", "no end of head", "no status line", "empty"],
)
def test_head_with_a_defect(block: bytes, expected: Response | None) -> None:
    """A head is read as far as it goes; what does not begin with a status line is no response."""
    actual = split(block)

    assert expected == actual


def test_plain_body_is_given_back() -> None:
    """Without any encoding the body is what was stored."""
    assert out(HTML) == HTML


@pytest.mark.parametrize("coding", ENCODERS)
def test_content_encoding_is_undone(coding: str) -> None:
    """Each known content encoding gives the page back."""
    actual = out(ENCODERS[coding](HTML), content_encoding=coding)

    assert HTML == actual


@pytest.mark.parametrize("coding", [*ENCODERS, "identity", "utf-8", "none"])
def test_content_encoding_lies(coding: str) -> None:
    """A plain page stays what it is, whatever encoding its header claims."""
    actual = out(HTML, content_encoding=coding)

    assert HTML == actual


def test_undeclared_gzip_is_undone() -> None:
    """A body that begins as gzip is gzip, though no header says so."""
    assert out(gzip.compress(HTML)) == HTML


def test_stacked_encodings_are_undone_from_the_last() -> None:
    """Of "deflate, gzip" gzip was put on last and comes off first."""
    actual = out(gzip.compress(zlib.compress(HTML)), content_encoding="deflate, gzip")

    assert HTML == actual


def test_doubly_gzipped_body() -> None:
    """A page that was zipped twice and declared once still comes out."""
    actual = out(gzip.compress(gzip.compress(HTML)), content_encoding="gzip")

    assert HTML == actual


def test_chunks_are_joined_before_content_is_decoded() -> None:
    """Transfer encoding is undone first: the chunks cut through the gzip stream."""
    actual = out(chunked(gzip.compress(HTML), 17), transfer_encoding="chunked", content_encoding="gzip")

    assert HTML == actual


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"4\r\nabcd\r\n3;name=value\r\nefg\r\n0\r\nTrailer: x\r\n\r\n", b"abcdefg"),
        (b"4\nabcd\n0\n\n", b"abcd"),
        (b"  4  \r\nabcd\r\n0\r\n\r\n", b"abcd"),
        (b"4\r\nabcd\r\n", b"abcd"),
        (b"<p>not chunked</p>", b"<p>not chunked</p>"),
        (b"4\r\nabcd\r\n<p>rest</p>", b"abcd<p>rest</p>"),
        (b"ff\r\nabcd", b"abcd"),
        (b"", b""),
    ],
    ids=["trailer", "bare LF", "padded size", "no last chunk", "lying", "breaks off", "size too large", "empty"],
)
def test_chunked_body(body: bytes, expected: bytes) -> None:
    """Chunks are joined as far as there are chunks; the rest is kept as it is."""
    actual = out(body, transfer_encoding="chunked")

    assert expected == actual


@pytest.mark.parametrize("coding", ["gzip", "deflate", "Deflate", "br", "zstd"])
def test_truncated_body_gives_what_is_there(coding: str) -> None:
    """The text in front of the cut is kept, and nothing else comes out."""
    html = b"<p>" + b" ".join(b"%d" % (nth * 7919 % 1_000_003) for nth in range(60_000))
    whole = ENCODERS[coding](html)
    actual = out(whole[: len(whole) * 2 // 3], content_encoding=coding)

    assert html.startswith(actual)
    assert len(actual) > len(html) // 3


def test_gzip_with_damage_gives_what_is_before() -> None:
    """Where the stream breaks off in the middle, the bytes before are kept."""
    whole = bytearray(gzip.compress(b"".join(b"%x " % (nth * 7919) for nth in range(20_000)), 1))
    whole[len(whole) // 2 : len(whole) // 2 + 40] = b"\xff" * 40
    actual = out(bytes(whole), content_encoding="gzip")

    assert actual.startswith(b"0 1eef 3dde ")


def test_gzip_of_nothing_readable_is_an_error() -> None:
    """If not one byte can be inflated, the encoding cannot be undone."""
    with pytest.raises(BodyError):
        out(b"\x1f\x8b\x08\x00" + b"\xff" * 30, content_encoding="gzip")


@pytest.mark.parametrize(
    ("body", "coding"), [(b"\xff\xfe no brotli", "br"), (b"\x28\xb5\x2f\xfd" + b"\xff" * 20, "zstd")]
)
def test_broken_body_is_an_error(body: bytes, coding: str) -> None:
    """Bytes that are neither the declared encoding nor HTML are refused."""
    with pytest.raises(BodyError):
        out(body, content_encoding=coding)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "Deflate", "br", "zstd"])
def test_bomb_is_refused(coding: str) -> None:
    """A body that swells beyond the limit is refused."""
    with pytest.raises(BodyTooLarge):
        out(ENCODERS[coding](b"\0" * 5_000_000), limit=100_000, content_encoding=coding)


def test_undeclared_gzip_bomb_is_refused() -> None:
    """So is one that no header announced."""
    with pytest.raises(BodyTooLarge):
        out(gzip.compress(b"\0" * 5_000_000), limit=100_000)


def test_plain_body_over_the_limit_is_refused() -> None:
    """The limit holds for plain bodies, and to the byte."""
    assert out(b"x" * 10, limit=10) == b"x" * 10
    with pytest.raises(BodyTooLarge):
        out(b"x" * 11, limit=10)
