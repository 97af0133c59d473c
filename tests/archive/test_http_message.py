"""HTTP bodies: encodings undone, and what comes of those that lie."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest
import zstandard
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import example, given
from hypothesis import strategies as st

from dbce_spark.archive.content_coding import BodyError, BodyTooLarge
from dbce_spark.archive.http_message import (
    ALWAYS_ALLOWED,
    MOST_CODINGS,
    Defect,
    HttpContent,
    Response,
    decode_body,
    parse,
    split,
)

HTML = (
    b"<html><body>"
    + b"".join(b"<p>Paragraph %d has its own words.</p>" % nth for nth in range(400))
    + b"</body></html>"
)
LIMIT = 1 << 20


def raw_deflate(body: bytes) -> bytes:
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
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


def out(body: bytes, limit: int = LIMIT, **headers: str) -> bytes:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return decode_body(Response(200, fields, body), max_bytes=limit, max_ratio=limit).html


def made(body: bytes, **headers: str) -> HttpContent:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return decode_body(Response(200, fields, body), max_bytes=LIMIT, max_ratio=LIMIT)


def defects(found: Response | HttpContent | None) -> set[Defect]:
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
ONCE = ["gzip", "deflate", "br", "zstd"]


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
        (b"HTTP/1.1 200 OK\r\nA: b", Response(200, {"a": "b"}, b"", frozenset({Defect.OPEN_HEAD}))),
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
    """In "deflate, gzip" gzip was put on last and comes off first."""
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


def test_spaces_behind_a_broken_chunk() -> None:
    """However many: time by their square would be hours here."""
    body = b"2\r\n<p>\r\n" + b" " * 3_000_000 + b"x"

    assert body[3:5] + body[5:] == out(body, limit=len(body), transfer_encoding="chunked")


@pytest.mark.parametrize("coding", ENCODERS)
def test_truncated_body_gives_what_is_there(coding: str) -> None:
    """The text in front of the cut is kept, and nothing else comes out."""
    html = b"<p>" + b" ".join(b"%d" % (nth * 7919 % 1_000_003) for nth in range(60_000))
    whole = ENCODERS[coding](html)
    actual = out(whole[: len(whole) * 2 // 3], content_encoding=coding)

    assert html.startswith(actual)
    assert len(actual) > len(html) // 3


def test_gzip_with_damage_gives_what_is_before() -> None:
    """The bytes before the place where a stream breaks off are kept."""
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


@pytest.mark.parametrize("coding", ENCODERS)
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


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"http/1.1 200 ok\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.1 200\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/2 200\nA: b\n\nbody", {"a": "b"}),
        (b"HTTP 200 OK\nA: b\n\nbody", {"a": "b"}),
        (b"ICY 200 OK\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\rA: b\r\rbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\r\nA: b\r\r\n\r\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\nA: b\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\nA: b\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\nA: b\r\n c\r\n\td\r\n\r\nbody", {"a": "b c d"}),
        (b"HTTP/1.0 200 OK\r\n folded\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\nA\0: b\0\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\nA: b\r\nA:\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\n: nameless\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\nA: b\x0bc\xc2\x85d\r\n\r\nbody", {"a": "b\x0bc\x85d"}),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\ncontent-encoding: gzip\r\n\r\nbody",
            {"content-encoding": "deflate,gzip"},
        ),
    ],
    ids=[
        "lower case",
        "no status text",
        "http 2",
        "no version",
        "icy",
        "empty line before status line",
        "carriage returns alone",
        "doubled carriage returns",
        "line ends mixed",
        "line ends mixed otherwise",
        "folded",
        "nothing to fold",
        "nul bytes",
        "repeated and empty",
        "nameless",
        "other line ends in a value",
        "repeated codings",
    ],
)
def test_head_of_another_make(block: bytes, expected: dict[str, str]) -> None:
    """Heads that servers send in place of the standard's are read as they were meant."""
    assert Response(200, expected, b"body") == split(block)


@pytest.mark.parametrize(
    ("block", "status", "body"),
    [
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 None\r\nA: b\r\n\r\nbody", 404, b"body"),
        (b"HTTP/1.0 200 Connection established\r\n\r\nHTTP/1.1 404 None\r\n\r\nbody", 404, b"body"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nHTTP/1.1 404 None", 200, b"HTTP/1.1 404 None"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", 100, b""),
    ],
    ids=["continue", "proxy", "a text about it", "nothing behind"],
)
def test_answer_before_the_answer(block: bytes, status: int, body: bytes) -> None:
    """An interim response is passed over for the one behind it."""
    found = split(block)

    assert found is not None
    assert (status, body) == (found.status, found.body)


def test_answers_before_the_answer_without_end() -> None:
    """Ten thousand interim responses are no reason to break down, nor to cut the message as often."""
    found = split(b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000 + b"HTTP/1.1 200 OK\r\n\r\nbody")

    assert found is not None


@pytest.mark.parametrize("line_end", [b"\r\n", b"\n", b"\r"])
def test_page_begins_in_the_head(line_end: bytes) -> None:
    """The first line of markup ends a head without an empty line."""
    block = line_end.join([b"HTTP/1.0 200 OK", b"A: b", b"<html>", b"", b"c: d</html>"])

    assert Response(200, {"a": "b"}, block[block.index(b"<") :], frozenset({Defect.OPEN_HEAD})) == split(block)


def test_head_without_end() -> None:
    """A head ends after 64 KiB, and the body begins there."""
    block = b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n c\r\n" * 10_000
    found = split(block)

    assert found is not None
    assert len(block) - len(found.body) == len(b"HTTP/1.1 200") + (1 << 16)
    assert {Defect.OPEN_HEAD} == defects(found)


def test_link_in_a_folded_header_is_no_page() -> None:
    """A folded line may begin with the same sign as markup."""
    found = split(b"HTTP/1.1 200 OK\r\nLink:\r\n <http://a.example/>; rel=next\r\n\r\nbody")

    assert Response(200, {"link": "<http://a.example/>; rel=next"}, b"body") == found


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"<html><p>x", (0, b"<html><p>x", {Defect.NO_STATUS})),
        (b"\n\n<!DOCTYPE html>\n\n<p>", (0, b"\n\n<!DOCTYPE html>\n\n<p>", {Defect.NO_STATUS})),
        (b"Content-Type: text/html\nServer: x\n\nwords", (0, b"words", {Defect.NO_STATUS})),
        (b"HTTPX/1.1 200 OK\r\nDate: now\r\n\r\nwords", (0, b"words", {Defect.NO_STATUS})),
        (b"HTTP/1.1 200 OK\r\n\r\nwords", (200, b"words", set())),
    ],
    ids=["page", "page behind white space", "head", "head behind a broken status line", "response"],
)
def test_message_without_status_line(block: bytes, expected: tuple[int, bytes, set[Defect]]) -> None:
    """Headers alone, or a page alone, are a response without a status."""
    found = parse(block)

    assert found is not None
    assert expected == (found.status, found.body, defects(found))


@pytest.mark.parametrize(
    "block", [b"", b"SSH-2.0-OpenSSH_5.3p1\r\n", b"words\n\nwords", b"Note: words\n\nwords", b"\0" * 99]
)
def test_message_that_is_none(block: bytes) -> None:
    """Bytes with neither a status line, nor a common header, nor markup, are no response."""
    assert parse(block) is None


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        (b"<p>x", {}, set()),
        (b"<p>x", {"content-length": "4"}, set()),
        (b"<p>x", {"content-length": "5"}, {Defect.SHORT}),
        (b"<p>x", {"content-length": "3"}, set()),
        (b"<p>x", {"content-length": "-3"}, set()),
        (b"<p>x", {"content-length": "9" * 5000}, set()),
        (b"<p>x", {"content-length": "many"}, set()),
        (b"<p>x", {"content-length": "9, 9"}, {Defect.SHORT}),
        (b"<p>x", {"content-length": "9", "content-encoding": "gzip"}, {Defect.CODING_LIES}),
        (b"4\r\n<p>x\r\n0\r\n\r\n", {"content-length": "99", "transfer-encoding": "chunked"}, set()),
        (b"4\r\n<p>x\r\n0\r\n\r\n", {}, {Defect.CHUNKS_LIE}),
        (b"<p>x", {"transfer-encoding": "chunked"}, {Defect.CHUNKS_LIE}),
        (b"4\r\n<p>x\r\n", {"transfer-encoding": "chunked"}, {Defect.SHORT}),
        (b"9\r\n<p>x", {"transfer-encoding": "chunked"}, {Defect.SHORT}),
        (b"3\r\n<p>x\r\n0\r\n\r\n", {"transfer-encoding": "chunked"}, {Defect.CHUNKS_BROKEN}),
        (b"4\r\n<p>x\r\n0\r\nA: b\r\n\r\nrest", {"transfer-encoding": "chunked"}, {Defect.LONG}),
        (gzip.compress(b"<p>x", mtime=0), {}, {Defect.CODING_LIES}),
        (gzip.compress(b"<p>x", mtime=0) + b"rest", {"content-encoding": "gzip"}, {Defect.LONG}),
        (gzip.compress(b"<p>x", mtime=0) + b"\0\0", {"content-encoding": "gzip"}, set()),
        (gzip.compress(b"<p>x", mtime=0) + gzip.compress(b"y", mtime=0), {"content-encoding": "gzip"}, set()),
        (gzip.compress(b"<p>x", mtime=0)[:-5], {"content-encoding": "gzip"}, {Defect.SHORT}),
        (gzip.compress(b"<p>x", mtime=0)[:-8] + b"\0" * 8, {"content-encoding": "gzip"}, {Defect.DAMAGED}),
        (zstd(b"<p>x") + zstd(b"y"), {"content-encoding": "zstd"}, set()),
        (zstd(b"<p>x") + b"rest", {"content-encoding": "zstd"}, {Defect.LONG}),
        (b"\x50\x2a\x4d\x18\1\0\0\0!" + zstd(b"<p>x"), {"content-encoding": "zstd"}, set()),
        (brotli.compress(b"<p>x") + b"rest", {"content-encoding": "br"}, {Defect.LONG}),
        (brotli.compress(HTML)[:-9], {"content-encoding": "br"}, {Defect.SHORT}),
    ],
)
def test_defects_of_a_body(body: bytes, headers: dict[str, str], expected: set[Defect]) -> None:
    """Every defect is named, and nothing else is."""
    assert expected == defects(decode_body(Response(200, headers, body), max_bytes=LIMIT, max_ratio=LIMIT))


@pytest.mark.parametrize(
    ("defect", "is_truncated"),
    [
        (Defect.SHORT, True),
        (Defect.DAMAGED, True),
        (Defect.CHUNKS_BROKEN, True),
        (Defect.CODING_LIES, False),
        (Defect.NO_STATUS, False),
        (Defect.LONG, False),
    ],
)
def test_losses_make_a_capture_truncated(defect: Defect, is_truncated: bool) -> None:
    """A lie that is seen through costs no text."""
    assert HttpContent(b"", frozenset({defect})).truncated is is_truncated


def test_two_members_of_gzip_are_one_body() -> None:
    """Members of a gzip stream are joined (RFC 1952 2.2)."""
    assert made(gzip.compress(b"one ") + gzip.compress(b"two"), content_encoding="gzip").html == b"one two"


def test_members_of_gzip_without_end() -> None:
    """Empty members cost time and give nothing; after ten thousand the rest is passed over, with a defect."""
    found = made(gzip.compress(b"") * 20_000 + gzip.compress(b"x"), content_encoding="gzip")

    assert (b"", {Defect.LONG}) == (found.html, defects(found))


@pytest.mark.parametrize("announced", ["gzip", "deflate", "br", "zstd", "compress"])
@pytest.mark.parametrize("true", ENCODERS)
def test_one_coding_under_the_name_of_another(announced: str, true: str) -> None:
    """The bytes say what they are, or, where they cannot, what comes out of them does."""
    found = made(ENCODERS[true](HTML), content_encoding=announced)
    is_true = true.lower().removeprefix("x-") == announced

    assert (HTML, set() if is_true else {Defect.CODING_LIES}) == (found.html, defects(found))


@pytest.mark.parametrize("true", ENCODERS)
@pytest.mark.parametrize("how", ["as it is", "in chunks", "in chunks unannounced"])
def test_coding_that_no_header_names(true: str, how: str) -> None:
    """So they do where nothing is announced."""
    body = ENCODERS[true](HTML)
    headers = {"transfer_encoding": "chunked"} if how == "in chunks" else {}
    found = made(chunked(body, 100) if how.startswith("in") else body, **headers)

    assert found.html == HTML
    assert Defect.CODING_LIES in found.defects


@pytest.mark.parametrize(
    "body", [b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(range(256)) * 4, b"<p>\0\1\2 words", "<p>да".encode("utf-16-le")]
)
def test_binary_data_in_no_coding_is_left_alone(body: bytes) -> None:
    """A body that is no whole stream of any coding, or opens as a page, is returned as it is."""
    assert HttpContent(body, frozenset()) == made(body)


@pytest.mark.parametrize("text", [b"\n<p>x", b"Kein HTML", b"+49 30 1234", b"caf\xe9 <b>", b"KOM", b"x^2 + y^2"])
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "compress", "x-gzip"])
def test_plain_text_is_in_no_coding(text: bytes, coding: str) -> None:
    """Text that a decoder could begin to read is text all the same."""
    found = made(text, content_encoding=coding)

    assert (text, {Defect.CODING_LIES}) == (found.html, defects(found))


def test_compress_is_refused_by_name() -> None:
    """LZW is not undone, and the error names it."""
    with pytest.raises(BodyError, match="LZW"):
        made(b"\x1f\x9d\x90\x3c\xe0", content_encoding="compress")


@pytest.mark.parametrize("name", ["aws-chunked", "utf-8", "none", "text/html"])
def test_unknown_coding_is_none(name: str) -> None:
    """A name that is no coding's changes nothing."""
    assert HttpContent(HTML, frozenset()) == made(HTML, content_encoding=name)


def test_chunked_in_the_wrong_header() -> None:
    """Chunks announced as a content coding are chunks."""
    assert HttpContent(HTML, frozenset()) == made(chunked(HTML), content_encoding="chunked")


def test_transfer_coding_of_gzip() -> None:
    """A transfer coding is undone as a content coding is."""
    assert HttpContent(HTML, frozenset()) == made(chunked(gzip.compress(HTML)), transfer_encoding="gzip, chunked")


def test_repeated_coding_headers_add_up() -> None:
    """Two headers of one coding each are a stack."""
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Encoding: gzip\r\n\r\n"
    found = split(head + gzip.compress(brotli.compress(HTML)))

    assert found is not None
    assert HTML == decode_body(found, max_bytes=LIMIT, max_ratio=LIMIT).html


def test_too_many_codings_are_refused() -> None:
    """A stack higher than anybody builds is not climbed, announced or not."""
    body = HTML
    for _ in range(MOST_CODINGS + 1):
        body = gzip.compress(body)
    with pytest.raises(BodyError):
        made(body)
    with pytest.raises(BodyError):
        made(body, content_encoding=",".join(["gzip"] * (MOST_CODINGS + 1)))


@pytest.mark.parametrize("coding", ENCODERS)
def test_ratio_is_bounded(coding: str) -> None:
    """A body that swells more than allowed is refused, however far from the limit of bytes; small ones may."""
    few, many = (ENCODERS[coding](b" " * length) for length in (ALWAYS_ALLOWED, ALWAYS_ALLOWED + 1))
    headers = {"content-encoding": coding}

    assert len(decode_body(Response(200, headers, few), max_bytes=1 << 30, max_ratio=10).html) == ALWAYS_ALLOWED
    with pytest.raises(BodyTooLarge):
        decode_body(Response(200, headers, many), max_bytes=1 << 30, max_ratio=10)


@pytest.mark.parametrize("first", ONCE)
@pytest.mark.parametrize("second", ONCE)
def test_bomb_in_a_bomb_is_refused(first: str, second: str) -> None:
    """No layer of a stack puts out more than allowed."""
    body = ENCODERS[second](ENCODERS[first](b"\0" * 8_000_000))
    with pytest.raises(BodyTooLarge):
        out(body, limit=1_000_000, content_encoding=f"{first}, {second}")


@pytest.mark.parametrize("coding", ENCODERS)
def test_bomb_takes_no_memory(coding: str) -> None:
    """Refusing a bomb of 40 MB takes a few times the limit, not the bomb."""
    body = ENCODERS[coding](b"\0" * 40_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLarge):
            out(body, limit=1_000_000, content_encoding=coding)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 8_000_000


def test_zstd_that_asks_for_much_memory_is_refused() -> None:
    """A frame may not ask for a window far larger than what is allowed to come out."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    body = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    stored = body.compress(HTML) + body.flush()
    with pytest.raises(BodyError):
        made(stored, content_encoding="zstd")


def test_zstd_of_empty_blocks_ends() -> None:
    """A frame of blocks that hold nothing is not walked to its end."""
    head = zstd_without_size(HTML)[:6]
    with pytest.raises(BodyError, match="blocks"):
        made(head + b"\0\0\0" * 200_000, content_encoding="zstd")


PAGES = st.one_of(
    st.binary(max_size=300).map(lambda some: b"<html>" + some),
    st.text(max_size=300).map(lambda some: b"<p>" + some.encode("utf-8", "replace")),
    st.just(HTML),
)
CODINGS = st.sampled_from(sorted(ENCODERS))


@given(PAGES, st.lists(CODINGS, max_size=MOST_CODINGS - 1), st.none() | st.integers(1, 999))
def test_what_was_encoded_is_decoded(page: bytes, codings: list[str], chunk: int | None) -> None:
    """Every stack of codings, in chunks or not, gives the page back without a word."""
    body = page
    for coding in codings:
        body = ENCODERS[coding](body)
    headers = {"content-encoding": ", ".join(codings)}
    if chunk is not None:
        body, headers["transfer-encoding"] = chunked(body, chunk), "chunked"
    found = decode_body(Response(200, headers, body), max_bytes=LIMIT, max_ratio=LIMIT)

    assert HttpContent(page, frozenset()) == found


@example("Zstd", 0.00390625, False)  # a byte of the signature, which is a bracket in ASCII
@example("br", 0.01171875, True)  # one byte, which is an escape in ASCII
@given(CODINGS, st.floats(0, 1, exclude_max=True), st.booleans())
def test_cut_anywhere(coding: str, where: float, is_chunked: bool) -> None:
    """A body that ends too early gives its beginning, marked as cut, or nothing."""
    whole = ENCODERS[coding](HTML)
    headers = {"content-encoding": coding}
    if is_chunked:
        whole, headers["transfer-encoding"] = chunked(whole, 777), "chunked"
    cut = whole[: int(len(whole) * where)]
    try:
        found = decode_body(Response(200, headers, cut), max_bytes=LIMIT, max_ratio=LIMIT)
    except BodyError:
        return

    assert HTML.startswith(found.html)
    assert found.html in (b"", HTML) or found.truncated


@given(CODINGS, st.integers(0, 10**6), st.binary(min_size=1, max_size=9))
def test_damaged_anywhere(coding: str, where: int, garbage: bytes) -> None:
    """Bytes overwritten end in an error, or in a page of bounded length."""
    body = bytearray(ENCODERS[coding](HTML))
    at = where % len(body)
    body[at : at + len(garbage)] = garbage
    try:
        found = made(bytes(body), content_encoding=coding)
    except BodyError:
        return

    assert len(found.html) <= LIMIT


STARTS = st.sampled_from(
    [
        b"",
        b"\x1f\x8b\x08",
        b"\x28\xb5\x2f\xfd",
        b"\x78\x9c",
        b"\x1f\x9d",
        b"\x50\x2a\x4d\x18",
        b"5\r\n",
        b"<html>",
        b"\x0b",
    ]
)
HEADERS = st.dictionaries(
    st.sampled_from(["content-encoding", "transfer-encoding", "content-length", "content-type"]),
    st.lists(st.sampled_from([*ENCODERS, "chunked", "compress", "identity", "7", "-1", ";", "x"]), max_size=3).map(
        ",".join
    )
    | st.text(max_size=20),
)


@given(STARTS, st.binary(max_size=500), HEADERS, st.integers(0, 300))
def test_any_bytes_under_any_headers(start: bytes, body: bytes, headers: dict[str, str], limit: int) -> None:
    """Whatever comes, the answer is a body within the limit, or a BodyError."""
    try:
        found = decode_body(Response(200, headers, start + body), max_bytes=limit, max_ratio=5)
    except BodyError:
        return

    assert len(found.html) <= limit


@given(
    st.sampled_from([b"", b"HTTP/1.1 200 OK", b"HTTP/1.1 100 ", b"Content-Type: text/html\n"]), st.binary(max_size=200)
)
def test_any_bytes_as_a_message(start: bytes, rest: bytes) -> None:
    """Head and body are of the message, and a status line is read by both functions alike."""
    found = parse(start + rest)

    assert found is None or (start + rest).endswith(found.body)
    assert found is None or found.status == 0 or found == split(start + rest)


@pytest.mark.data
def test_pages_stored_without_a_head(shared_data: Path) -> None:
    """Each response of a real crawl that stored bare pages is reached."""
    path = shared_data / "torture" / "chatnoir-copycat" / "snapshot-wayback-topic-02.warc.gz"
    with path.open("rb") as stream:
        blocks = [found.reader.read() for found in ArchiveIterator(stream, WarcRecordType.response, parse_http=False)]
    found = [parse(block) for block in blocks]

    assert (len(blocks), len(blocks)) == (128, sum(Defect.NO_STATUS in defects(one) for one in found if one))
