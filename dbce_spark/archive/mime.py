"""The type of a resource, by its declared type and its first bytes: the WHATWG MIME Sniffing Standard, where it serves.

Section numbers are of mimesniff.spec.whatwg.org. A browser sniffs as little as it can, so that no text runs as a
script; here nothing runs, so `X-Content-Type-Options: nosniff` is ignored, and deviations are noted where they are.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

HEADER_BYTES = 1445
"""Bytes of a resource that are looked at (section 5.2, resource header)."""

HTML = "text/html"
XHTML = "application/xhtml+xml"
XML = "text/xml"
RSS = "application/rss+xml"
ATOM = "application/atom+xml"
PLAIN = "text/plain"
BINARY = "application/octet-stream"
PAGES = frozenset({HTML, XHTML})
"""The types that hold a page."""
FEEDS = frozenset({RSS, ATOM})

_UNKNOWN = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})  # 7, step 2
# 3: control characters that no text holds. ESC and the line and page breaks are not among them.
_BINARY_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_WHITESPACE = b"\t\n\x0c\r "
_BOMS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
# 7.1, "matches an HTML tag"; beside it, tags whose attributes begin on a new line, and tags that pages of the nineties
# and of today begin with.
_HTML_START = re.compile(
    rb"<(?:(?:html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link|center|frameset|span|img|"
    rb"form|h[2-6]|ul|section|article|header|main|nav)[\s/>]|!doctype\s+html\b|!--)",
    re.IGNORECASE,
)
_MARKUP = re.compile(rb"<[a-z!?/]", re.IGNORECASE)
_WHOLE_NAME = re.compile(rb"</?[a-z][a-z\d:-]*[\s/>]|<!(?:--|doctype)|<\?xml", re.IGNORECASE)
"""Begins a tag, comment or declaration, also among bytes that no text has: in random bytes, a `<` before a letter is
found in two of three resource headers, and this in one of thirty."""
# 6.1, 6.2, 6.3, 6.4 and 7.1. MP4, WebM and MP3 without a tag (6.2.1 to 6.2.3) show as binary bytes alone.
_SIGNATURES = (
    (re.compile(rb"%PDF-"), "application/pdf"),
    (re.compile(rb"%!PS-Adobe-"), "application/postscript"),
    (re.compile(rb"\x00\x00[\x01\x02]\x00"), "image/x-icon"),
    (re.compile(rb"BM"), "image/bmp"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBPVP", re.DOTALL), "image/webp"),
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"FORM.{4}AIFF", re.DOTALL), "audio/aiff"),
    (re.compile(rb"ID3"), "audio/mpeg"),
    (re.compile(rb"OggS\x00"), "application/ogg"),
    (re.compile(rb"MThd\x00\x00\x00\x06"), "audio/midi"),
    (re.compile(rb"RIFF.{4}AVI ", re.DOTALL), "video/avi"),
    (re.compile(rb"RIFF.{4}WAVE", re.DOTALL), "audio/wave"),
    (re.compile(rb".{34}LP", re.DOTALL), "application/vnd.ms-fontobject"),
    (re.compile(rb"\x00\x01\x00\x00"), "font/ttf"),
    (re.compile(rb"OTTO"), "font/otf"),
    (re.compile(rb"ttcf"), "font/collection"),
    (re.compile(rb"wOFF"), "font/woff"),
    (re.compile(rb"wOF2"), "font/woff2"),
    (re.compile(rb"\x1f\x8b\x08"), "application/x-gzip"),
    (re.compile(rb"PK\x03\x04"), "application/zip"),
    (re.compile(rb"Rar \x1a\x07\x00|Rar!\x1a\x07"), "application/x-rar-compressed"),
)
_SURE = ("application/pdf", "application/postscript")  # their signatures are words that open no page of text
_TOKEN = re.compile(r"[!#$%&*+\-.^_`|~0-9A-Za-z]+/[!#$%&*+\-.^_`|~0-9A-Za-z]+")
_CHARSET = re.compile(r"\bcharset\s*=\s*(?:\"([^\"]*)\"?|'([^']*)'?|([^\s;,\"']+))", re.IGNORECASE)
# 7.3 passes over comments, declarations and processing instructions in front of the root.
_PROLOGUE = re.compile(rb"[\s\0]*(?:<!--(?:(?!-->).)*-->|<![^>]*>|<\?(?:(?!\?>).)*\?>)", re.DOTALL)
_RDF_RSS = (b"http://purl.org/rss/1.0/", b"http://www.w3.org/1999/02/22-rdf-syntax-ns#")


@dataclass(frozen=True, slots=True)
class MediaType:
    """The media type of a Content-Type header, in lower case; "" for a part that is missing or unreadable."""

    essence: str
    charset: str


def declared_type(header: str) -> MediaType:
    """Parse the media type of a Content-Type header.

    Of several in one (RFC 9110 5.3), the last that is one; an earlier one's charset holds where the last has none and
    is of the same type (WHATWG Fetch, "extract a MIME type"). Quotes around it, and words behind it, are passed over.
    """
    last = MediaType("", "")
    for value in header.split(",") if "," in header else (header,):
        essence = _TOKEN.match(value.strip(" \t\r\n\0\"'"))
        if essence is None or essence[0] == "*/*":
            continue
        written = _CHARSET.search(value)
        charset = (written[1] or written[2] or written[3] or "").strip().lower() if written else ""
        name = essence[0].lower()
        last = MediaType(name, charset or (last.charset if name == last.essence else ""))
    return last


def may_be_page(essence: str, accepted: Collection[str]) -> bool:
    """Return whether a record of a declared type may hold a page of an accepted type: its first bytes must tell; "" and
    words that are no type may."""
    return essence in accepted or "/" not in essence or is_sniffed(essence)


def is_sniffed(essence: str) -> bool:
    """Return whether the content helps to decide the type of a resource of this declared type."""
    return essence in PAGES or essence in _UNKNOWN or essence.endswith("+xml") or essence in (XML, "application/xml")


def computed_type(essence: str, body: bytes) -> str:
    """Compute the type of a resource from its declared type and its content, all encodings undone (section 7).

    - Unknown types are sniffed (7.1), here also behind a byte order mark, since crawls hold such pages by the thousand.
    - XML types are distinguished by their root: a page (XHTML), a feed, or else the type they declare.
    - text/html may be a feed (7.3). Beside the standard, it may also be what is no text at all: a browser would show a
      JPEG under that name as garbage.
    - Everything else is of its declared type: text/plain is never a page (7.2).
    """
    if essence in PAGES:
        return _html_or_not(essence, body[:HEADER_BYTES])
    if essence in _UNKNOWN:
        return _unknown(body[:HEADER_BYTES])
    if essence.endswith("+xml") or essence in (XML, "application/xml"):
        return _xml(body[:HEADER_BYTES]) or essence
    return essence


def foreign_type(body: bytes) -> str:
    """Return the type of what is given as a page and is none, "" for a page: for bytes that come without a declared
    type. Text without a tag is a page, as under the name of one in an archive."""
    essence = computed_type(HTML, body)
    return "" if essence in PAGES else essence


def is_text(start: bytes) -> bool:
    """Return whether no byte is a binary data byte (section 3)."""
    return len(start.translate(None, _BINARY_BYTES)) == len(start)


def holds_markup(start: bytes) -> bool:
    """Return whether something that may be a tag begins anywhere in the bytes."""
    return _MARKUP.search(start) is not None


def opens_as_page(start: bytes) -> bool:
    """Return whether a tag, doctype or comment of HTML (7.1), or an XML declaration, comes first behind white space and
    a byte order mark."""
    start = _plain_start(start)
    return start.startswith(b"<?xml") or _HTML_START.match(start) is not None


def _plain_start(start: bytes) -> bytes:
    """Strip byte order mark, white space and, in UTF-16 or UTF-32, the zeros from the first bytes."""
    for bom in _BOMS:
        start = start.removeprefix(bom)
    if b"\0" in start[:8] and _MARKUP.match(start.replace(b"\0", b"").lstrip(_WHITESPACE)):
        start = start.replace(b"\0", b"")
    return start.lstrip(_WHITESPACE)


def _unknown(start: bytes) -> str:
    text = _plain_start(start)
    if _HTML_START.match(text):
        return HTML
    if text.startswith(b"<?xml"):
        return _xml(start) or XML
    if start.startswith(_BOMS):
        return PLAIN
    if found := _signature(start):
        return found
    return PLAIN if is_text(start) else BINARY


def _html_or_not(essence: str, start: bytes) -> str:
    text = _plain_start(start)
    if text[:1] == b"<":
        root = _root(text)
        return _feed(root, start) or essence if root[:4] in (b"<rss", b"<fee", b"<rdf", b"<RDF") else essence
    if found := _signature(start):
        return found
    if not is_text(start) and not start.startswith(_BOMS) and not _WHOLE_NAME.search(start.replace(b"\0", b"")):
        return BINARY
    return essence


def _xml(start: bytes) -> str:
    """Return the type of an XML document by its root: XHTML, a feed, or "" for neither."""
    root = _root(_plain_start(start))
    return XHTML if re.match(rb"<(?:\w+:)?html[\s>]", root) else _feed(root, start)


def _feed(root: bytes, start: bytes) -> str:
    """Return the type of the feed that a root element makes (7.3), "" for none."""
    if root.startswith(b"<rss"):
        return RSS
    if root.startswith(b"<feed"):
        return ATOM
    if root.lower().startswith(b"<rdf:rdf") and all(name in start for name in _RDF_RSS):
        return RSS
    return ""


def _root(text: bytes) -> bytes:
    """Return the text from the root element on."""
    position = 0
    while found := _PROLOGUE.match(text, position):
        position = found.end()
    return text[position:].lstrip(_WHITESPACE)


def _signature(start: bytes) -> str:
    """Return the type that the first bytes name, "" for none; a signature that might be letters counts only before
    binary data bytes."""
    for pattern, name in _SIGNATURES:
        if pattern.match(start) and (name in _SURE or not is_text(start)):
            return name
    return ""
