"""Content codings: undone by what the bytes are, whatever is announced, and within bounds."""

import gzip
import tracemalloc

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from dbce_spark.archive.content_coding import BodyError, BodyTooLarge
from dbce_spark.archive.http_message import (
    Defect,
    HttpContent,
    Response,
    decode_body,
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
    zstd_without_size,
)

ONCE = ["gzip", "deflate", "br", "zstd"]


@pytest.mark.parametrize("coding", ENCODERS)
def test_content_encoding_is_undone(coding: str) -> None:
    """Each known content encoding gives the page back."""
    actual = decoded(ENCODERS[coding](HTML), content_encoding=coding)

    assert HTML == actual


@pytest.mark.parametrize("coding", [*ENCODERS, "identity", "utf-8", "none"])
def test_content_encoding_lies(coding: str) -> None:
    """A plain page stays what it is, whatever encoding its header claims."""
    actual = decoded(HTML, content_encoding=coding)

    assert HTML == actual


def test_undeclared_gzip_is_undone() -> None:
    """A body that begins as gzip is gzip, though no header says so."""
    assert decoded(gzip.compress(HTML)) == HTML


def test_doubly_gzipped_body() -> None:
    """A page that was zipped twice and declared once still comes out."""
    actual = decoded(gzip.compress(gzip.compress(HTML)), content_encoding="gzip")

    assert HTML == actual


@pytest.mark.parametrize("coding", ENCODERS)
def test_truncated_body_gives_what_is_there(coding: str) -> None:
    """The text in front of the cut is kept, and nothing else comes out."""
    html = b"<p>" + b" ".join(b"%d" % (nth * 7919 % 1_000_003) for nth in range(60_000))
    whole = ENCODERS[coding](html)
    actual = decoded(whole[: len(whole) * 2 // 3], content_encoding=coding)

    assert html.startswith(actual)
    assert len(actual) > len(html) // 3


def test_gzip_with_damage_gives_what_is_before() -> None:
    """The bytes before the place where a stream breaks off are kept."""
    whole = bytearray(gzip.compress(b"".join(b"%x " % (nth * 7919) for nth in range(20_000)), 1))
    whole[len(whole) // 2 : len(whole) // 2 + 40] = b"\xff" * 40
    actual = decoded(bytes(whole), content_encoding="gzip")

    assert actual.startswith(b"0 1eef 3dde ")


def test_gzip_of_nothing_readable_is_an_error() -> None:
    """If not one byte can be inflated, the encoding cannot be undone."""
    with pytest.raises(BodyError):
        decoded(b"\x1f\x8b\x08\x00" + b"\xff" * 30, content_encoding="gzip")


@pytest.mark.parametrize(
    ("body", "coding"), [(b"\xff\xfe no brotli", "br"), (b"\x28\xb5\x2f\xfd" + b"\xff" * 20, "zstd")]
)
def test_broken_body_is_an_error(body: bytes, coding: str) -> None:
    """Bytes that are neither the declared encoding nor HTML are refused."""
    with pytest.raises(BodyError):
        decoded(body, content_encoding=coding)


@pytest.mark.parametrize("coding", ENCODERS)
def test_bomb_is_refused(coding: str) -> None:
    """A body that swells beyond the limit is refused."""
    with pytest.raises(BodyTooLarge):
        decoded(ENCODERS[coding](b"\0" * 5_000_000), limit=100_000, content_encoding=coding)


def test_undeclared_gzip_bomb_is_refused() -> None:
    """So is one that no header announced."""
    with pytest.raises(BodyTooLarge):
        decoded(gzip.compress(b"\0" * 5_000_000), limit=100_000)


def test_two_members_of_gzip_are_one_body() -> None:
    """Members of a gzip stream are joined (RFC 1952 2.2)."""
    assert content_of(gzip.compress(b"one ") + gzip.compress(b"two"), content_encoding="gzip").html == b"one two"


def test_members_of_gzip_without_end() -> None:
    """Empty members cost time and give nothing; after ten thousand the rest is passed over, with a defect."""
    found = content_of(gzip.compress(b"") * 20_000 + gzip.compress(b"x"), content_encoding="gzip")

    assert (b"", {Defect.LONG}) == (found.html, defects(found))


@pytest.mark.parametrize("announced", ["gzip", "deflate", "br", "zstd", "compress"])
@pytest.mark.parametrize("true", ENCODERS)
def test_one_coding_under_the_name_of_another(announced: str, true: str) -> None:
    """The bytes say what they are, or, where they cannot, what comes out of them does."""
    found = content_of(ENCODERS[true](HTML), content_encoding=announced)
    is_true = true.lower().removeprefix("x-") == announced

    assert (HTML, set() if is_true else {Defect.CODING_LIES}) == (found.html, defects(found))


@pytest.mark.parametrize("true", ENCODERS)
@pytest.mark.parametrize("how", ["as it is", "in chunks", "in chunks unannounced"])
def test_coding_that_no_header_names(true: str, how: str) -> None:
    """So they do where nothing is announced."""
    body = ENCODERS[true](HTML)
    headers = {"transfer_encoding": "chunked"} if how == "in chunks" else {}
    found = content_of(chunked(body, 100) if how.startswith("in") else body, **headers)

    assert found.html == HTML
    assert Defect.CODING_LIES in found.defects


@pytest.mark.parametrize(
    "body", [b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(range(256)) * 4, b"<p>\0\1\2 words", "<p>да".encode("utf-16-le")]
)
def test_binary_data_in_no_coding_is_left_alone(body: bytes) -> None:
    """A body that is no whole stream of any coding, or opens as a page, is returned as it is."""
    assert HttpContent(body, frozenset()) == content_of(body)


@pytest.mark.parametrize("text", [b"\n<p>x", b"Kein HTML", b"+49 30 1234", b"caf\xe9 <b>", b"KOM", b"x^2 + y^2"])
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "compress", "x-gzip"])
def test_plain_text_is_in_no_coding(text: bytes, coding: str) -> None:
    """Text that a decoder could begin to read is text all the same."""
    found = content_of(text, content_encoding=coding)

    assert (text, {Defect.CODING_LIES}) == (found.html, defects(found))


def test_compress_is_refused_by_name() -> None:
    """LZW is not undone, and the error names it."""
    with pytest.raises(BodyError, match="LZW"):
        content_of(b"\x1f\x9d\x90\x3c\xe0", content_encoding="compress")


@pytest.mark.parametrize("first", ONCE)
@pytest.mark.parametrize("second", ONCE)
def test_bomb_in_a_bomb_is_refused(first: str, second: str) -> None:
    """No layer of a stack puts out more than allowed."""
    body = ENCODERS[second](ENCODERS[first](b"\0" * 8_000_000))
    with pytest.raises(BodyTooLarge):
        decoded(body, limit=1_000_000, content_encoding=f"{first}, {second}")


@pytest.mark.parametrize("coding", ENCODERS)
def test_bomb_takes_no_memory(coding: str) -> None:
    """Refusing a bomb of 40 MB takes a few times the limit, not the bomb."""
    body = ENCODERS[coding](b"\0" * 40_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(BodyTooLarge):
            decoded(body, limit=1_000_000, content_encoding=coding)
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
        content_of(stored, content_encoding="zstd")


def test_zstd_of_empty_blocks_ends() -> None:
    """A frame of blocks that hold nothing is not walked to its end."""
    head = zstd_without_size(HTML)[:6]
    with pytest.raises(BodyError, match="blocks"):
        content_of(head + b"\0\0\0" * 200_000, content_encoding="zstd")


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
        found = content_of(bytes(body), content_encoding=coding)
    except BodyError:
        return

    assert len(found.html) <= LIMIT
