"""HTTP messages: head and body cut apart, encodings undone in their order, and every defect named."""

import gzip
import tracemalloc
import zlib
from pathlib import Path

import brotli
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given
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
from tests.support.coded_bodies import (
    CODINGS,
    ENCODERS,
    HTML,
    LIMIT,
    chunked,
    content_of,
    decoded,
    defects,
    zstd,
)


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
    assert decoded(HTML) == HTML


def test_stacked_encodings_are_undone_from_the_last() -> None:
    """In "deflate, gzip" gzip was put on last and comes off first."""
    actual = decoded(gzip.compress(zlib.compress(HTML)), content_encoding="deflate, gzip")

    assert HTML == actual


def test_chunks_are_joined_before_content_is_decoded() -> None:
    """Transfer encoding is undone first: the chunks cut through the gzip stream."""
    actual = decoded(chunked(gzip.compress(HTML), 17), transfer_encoding="chunked", content_encoding="gzip")

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
    actual = decoded(body, transfer_encoding="chunked")

    assert expected == actual


def test_spaces_behind_a_broken_chunk() -> None:
    """However many: time by their square would be hours here."""
    body = b"2\r\n<p>\r\n" + b" " * 3_000_000 + b"x"

    assert body[3:5] + body[5:] == decoded(body, limit=len(body), transfer_encoding="chunked")


def test_plain_body_over_the_limit_is_refused() -> None:
    """The limit holds for plain bodies, and to the byte."""
    assert decoded(b"x" * 10, limit=10) == b"x" * 10
    with pytest.raises(BodyTooLarge):
        decoded(b"x" * 11, limit=10)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"http/1.1 200 ok\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.1 200\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/2 200\nA: b\n\nbody", {"a": "b"}),
        (b"HTTP 200 OK\nA: b\n\nbody", {"a": "b"}),
        (b"ICY 200 OK\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.123 200 OK\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTPS/ 200 OK\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"\xef\xbb\xbfHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.1 200  \r\nA : b\r\n \t\r\nbody", {"a": "b"}),
        (b"\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\rA: b\r\rbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\r\nA: b\r\r\n\r\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\r\r\nA: b\r\r\r\n\r\r\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\nA: b\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\nA: b\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\nA: b\r\n c\r\n\td\r\n\r\nbody", {"a": "b c d"}),
        (b"HTTP/1.0 200 OK\r\n folded\r\nA: b\r\n\r\nbody", {"a": "b"}),
        (b"HTTP/1.0 200 OK\r\nA: b\r\nA:\r\n c\r\n\r\nbody", {"a": "c"}),
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
        "another version",
        "another protocol",
        "byte order mark",
        "spaces in front of a colon, and on the empty line",
        "empty line before status line",
        "carriage returns alone",
        "doubled carriage returns",
        "carriage returns by three",
        "line ends mixed",
        "line ends mixed otherwise",
        "folded",
        "nothing to fold",
        "repeated and folded",
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


@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"])
def test_head_of_any_length_that_is_one_to_its_end(line_end: bytes) -> None:
    """A head over 64 KiB goes to its empty line if each line before that is a header."""
    long = b"X-Debug: " + b"secret " * 10_000
    block = line_end.join([b"HTTP/1.1 200 OK", long, b" folded", b"A: b", b"", b"<p>x"])
    found = split(block)

    assert found is not None
    assert ("b", b"<p>x", set()) == (found.headers.get("a"), found.body, defects(found))


def test_text_behind_a_head_without_end_is_no_head() -> None:
    """Lines that are no headers do not belong to a head over 64 KiB, whatever empty line comes behind them."""
    block = b"HTTP/1.1 200 OK\r\nA: b\r\n" + b"words and words\r\n" * 5_000 + b"\r\nwords"
    found = split(block)

    assert found is not None
    assert len(block) - len(found.body) == len(b"HTTP/1.1 200") + (1 << 16)


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
        (b"X-Own: 1\r\n\r\n<html><p>x", (0, b"<html><p>x", {Defect.NO_STATUS})),
        (b"HTTPX/1.1 200 OK\r\nDate: now\r\n\r\nwords", (0, b"words", {Defect.NO_STATUS})),
        (b"HTTP/1.1 200 OK\r\n\r\nwords", (200, b"words", set())),
    ],
    ids=["page", "page behind white space", "head", "head of its own", "head behind a broken status line", "response"],
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


@pytest.mark.parametrize("name", ["aws-chunked", "utf-8", "none", "text/html"])
def test_unknown_coding_is_none(name: str) -> None:
    """A name that is no coding's changes nothing."""
    assert HttpContent(HTML, frozenset()) == content_of(HTML, content_encoding=name)


def test_chunked_in_the_wrong_header() -> None:
    """Chunks announced as a content coding are chunks."""
    assert HttpContent(HTML, frozenset()) == content_of(chunked(HTML), content_encoding="chunked")


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (chunked(chunked(HTML)), {"transfer_encoding": "chunked"}),
        (chunked(chunked(HTML)), {}),
        (gzip.compress(chunked(HTML)), {"content_encoding": "gzip", "transfer_encoding": "chunked"}),
        (gzip.compress(chunked(HTML)), {"content_encoding": "gzip"}),
        (gzip.compress(chunked(gzip.compress(HTML))), {}),
    ],
    ids=["twice", "twice, not announced", "in gzip", "in gzip, not announced", "in gzip around gzip"],
)
def test_chunks_below_another_coding(body: bytes, headers: dict[str, str]) -> None:
    """Chunks that show once other codings are undone are joined, and said not to be where the header has them."""
    found = content_of(body, **headers)

    assert HTML == found.html
    assert Defect.CHUNKS_LIE in found.defects
    assert not found.truncated


def test_transfer_coding_of_gzip() -> None:
    """A transfer coding is undone as a content coding is."""
    assert HttpContent(HTML, frozenset()) == content_of(chunked(gzip.compress(HTML)), transfer_encoding="gzip, chunked")


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
        content_of(body)
    with pytest.raises(BodyError):
        content_of(body, content_encoding=",".join(["gzip"] * (MOST_CODINGS + 1)))


@pytest.mark.parametrize("coding", ENCODERS)
def test_ratio_is_bounded(coding: str) -> None:
    """A body that swells more than allowed is refused, however far from the limit of bytes; small ones may."""
    few, many = (ENCODERS[coding](b" " * length) for length in (ALWAYS_ALLOWED, ALWAYS_ALLOWED + 1))
    headers = {"content-encoding": coding}

    assert len(decode_body(Response(200, headers, few), max_bytes=1 << 30, max_ratio=10).html) == ALWAYS_ALLOWED
    with pytest.raises(BodyTooLarge):
        decode_body(Response(200, headers, many), max_bytes=1 << 30, max_ratio=10)


PAGES = st.one_of(
    st.binary(max_size=300).map(lambda some: b"<html>" + some),
    st.text(max_size=300).map(lambda some: b"<p>" + some.encode("utf-8", "replace")),
    st.just(HTML),
)


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


def test_trailers_without_number_take_no_memory() -> None:
    """Nothing but headers may follow the last chunk."""
    response = Response(200, {"transfer-encoding": "chunked"}, b"1\r\nx\r\n0\r\n" + b"a:\n" * 300_000)
    tracemalloc.start()
    found = decode_body(response, max_bytes=LIMIT, max_ratio=200)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert b"x" == found.html
    assert held < 1 << 20


@pytest.mark.data
def test_pages_stored_without_a_head(shared_data: Path) -> None:
    """Each response of a real crawl that stored bare pages is reached."""
    path = shared_data / "torture" / "chatnoir-copycat" / "snapshot-wayback-topic-02.warc.gz"
    with path.open("rb") as stream:
        blocks = [found.reader.read() for found in ArchiveIterator(stream, WarcRecordType.response, parse_http=False)]
    found = [parse(block) for block in blocks]

    assert (len(blocks), len(blocks)) == (128, sum(Defect.NO_STATUS in defects(one) for one in found if one))
