"""The type of a resource: its header, its first bytes, and which of them counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.mime import PAGES, MediaType, computed_type, declared_type, opens_as_page

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1"
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
RDF = b'<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'


@pytest.mark.parametrize(
    ("header", "essence", "charset"),
    [
        ("text/html", "text/html", ""),
        ("Text/HTML; Charset=UTF-8", "text/html", "utf-8"),
        ('text/html;charset="koi8-r"', "text/html", "koi8-r"),
        ("text/html; charset='utf-8'", "text/html", "utf-8"),
        ("text/html; charset= iso-8859-15", "text/html", "iso-8859-15"),
        ("text/html; charset: UTF-8; charset=utf-8", "text/html", "utf-8"),
        ("text/html charset=utf-8", "text/html", "utf-8"),
        ("text/html Last-modified: Sat,10 Aug 1996 22:33:11 GMT", "text/html", ""),
        ("'text/html'; charset=UTF-8", "text/html", "utf-8"),
        ("text/html, text/html; charset=utf-8", "text/html", "utf-8"),
        ("text/html; charset=utf-8, text/html", "text/html", "utf-8"),
        ("text/html; charset=utf-8, text/plain", "text/plain", ""),
        ("text/html, */*", "text/html", ""),
        ("", "", ""),
        ("html", "", ""),
        ("imag\ufffdm)", "", ""),
        ("; charset=utf-8", "", ""),
    ],
)
def test_content_type(header: str, essence: str, charset: str) -> None:
    """A header is read as servers meant it."""
    assert MediaType(essence, charset) == declared_type(header)


@pytest.mark.parametrize("essence", ["", "unknown/unknown", "application/unknown", "*/*"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<!DOCTYPE html><p>", "text/html"),
        (b"\n\t <HTML>", "text/html"),
        (b"<html\nlang=en>", "text/html"),
        (b"<p>x", "text/html"),
        (b"<pre>x", "text/plain"),
        (b"<!-- made by hand --><html>", "text/html"),
        (b"\xef\xbb\xbf<html>", "text/html"),
        (b"\xff\xfe" + "<html><p>да".encode("utf-16-le"), "text/html"),
        ("<html><p>да".encode("utf-16-be"), "text/html"),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "application/xhtml+xml"),
        (b'<?xml version="1.0"?><!DOCTYPE html><!-- x > y --><html>', "application/xhtml+xml"),
        (b'<?xml version="1.0"?><rss version="2.0">', "application/rss+xml"),
        (b'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">', "application/atom+xml"),
        (b'<?xml version="1.0"?>' + RDF, "application/rss+xml"),
        (b'<?xml version="1.0"?><svg>', "text/xml"),
        (b"\xef\xbb\xbfwords", "text/plain"),
        (b"words", "text/plain"),
        (b"", "text/plain"),
        (b"words\0\1\2", "application/octet-stream"),
        (PDF, "application/pdf"),
        (PNG, "image/png"),
        (JPEG, "image/jpeg"),
        (b"GIF89a\1\0\1\0", "image/gif"),
        (b"PK\x03\x04\x14\0", "application/zip"),
        (b"\x1f\x8b\x08\0\0", "application/x-gzip"),
    ],
)
def test_unknown_type_is_sniffed(essence: str, body: bytes, expected: str) -> None:
    """The first bytes decide the type where none is declared (WHATWG 7.1)."""
    assert expected == computed_type(essence, body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<p>x", "text/html"),
        (b"words only", "text/html"),
        (b"", "text/html"),
        (b"\xff\xfe<\0p\0>\0", "text/html"),
        ("<p>да".encode("utf-16-le"), "text/html"),
        (b"words\0 and a <p>paragraph", "text/html"),
        (b"BMW sells cars", "text/html"),
        (b"ID3 is a tag", "text/html"),
        (b'<?xml version="1.0"?><rss version="2.0">', "application/rss+xml"),
        (b"<!-- x --><feed>", "application/atom+xml"),
        (RDF, "application/rss+xml"),
        (b"<rdf:RDF>", "text/html"),
        (JPEG, "image/jpeg"),
        (PNG, "image/png"),
        (PDF, "application/pdf"),
        (b"PK\x03\x04\x14\0", "application/zip"),
        (b"BM\x36\0\0\0", "image/bmp"),
        (b"MZ\x90\0\3\0\0\0", "application/octet-stream"),
        (b"CWS\x06\x1f<a\x9c\x02</\x03<!\x04<Z=\x05<?\x06", "application/octet-stream"),
        (b"\x02<img\nsrc=a>", "text/html"),
        (b"\x1b$B$3\x1b(B", "text/html"),
    ],
)
def test_page_that_is_none(body: bytes, expected: str) -> None:
    """Under text/html may come a feed or what is no text; stray control characters make no page a film, and stray
    signs of tags make no film a page."""
    assert expected == computed_type("text/html", body)


@pytest.mark.parametrize(
    ("essence", "body", "expected"),
    [
        ("text/xml", b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html>', "application/xhtml+xml"),
        ("application/xml", b"<html>", "application/xhtml+xml"),
        ("text/xml", b"<h:html xmlns:h='x'>", "application/xhtml+xml"),
        ("text/xml", b"<rss>", "application/rss+xml"),
        ("text/xml", b"<note>", "text/xml"),
        ("application/atom+xml", b"<entry>", "application/atom+xml"),
        ("application/xhtml+xml", b"<html>", "application/xhtml+xml"),
        ("text/plain", b"<html>", "text/plain"),
        ("image/png", b"<html>", "image/png"),
        ("application/octet-stream", b"<html>", "application/octet-stream"),
    ],
)
def test_known_type(essence: str, body: bytes, expected: str) -> None:
    """XML types are distinguished by their root; a document that declares another type is no page."""
    assert expected == computed_type(essence, body)


@pytest.mark.parametrize("body", [b"\xef\xbb\xbf\n<p>", b"\0<\0p\0>", b"\xff\xfe<\0b\0>\0", b"<?xml ", b" <BODY\n"])
def test_markup_opens_a_page(body: bytes) -> None:
    """White space, a byte order mark or zeros may stand in front."""
    assert opens_as_page(body)


@pytest.mark.parametrize("body", [b"", b"p>", b"<", b"<3", b"<pre>", b"<<p>", b"\0\0\0\0"])
def test_anything_else_opens_none(body: bytes) -> None:
    """A tag that the standard does not name may be the first of anything."""
    assert not opens_as_page(body)


@given(st.text(), st.binary(max_size=3000))
def test_any_header_over_any_bytes(header: str, body: bytes) -> None:
    """Whatever the bytes, the type has two parts, and only a page or an untyped one becomes a page."""
    declared = declared_type(header).essence
    actual = computed_type(declared, body)

    assert actual.count("/") == 1
    assert (
        actual not in PAGES
        or declared in PAGES
        or "xml" in declared
        or declared in ("", "unknown/unknown", "application/unknown")
    )
