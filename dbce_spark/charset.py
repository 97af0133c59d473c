"""Bytes of HTML to UTF-8 that lxml can take: strict UTF-8 first, then what is declared, then the WHATWG fallback."""

import codecs
import re
from dataclasses import dataclass

import webencodings

FALLBACK = "windows-1252"
"""What browsers assume of a page that declares nothing (WHATWG HTML 13.2.3.2, Western locales)."""

_META = re.compile(rb"<meta[^>]{0,512}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,256}?encoding\s*=\s*[\"']([A-Za-z0-9_:.\-]+)", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_PRESCAN = 4096


@dataclass(frozen=True, slots=True)
class Decoded:
    """HTML as UTF-8; `source` is bom, utf8, http, meta or fallback; `lossy` if bytes had to be replaced."""

    html: bytes
    charset: str
    source: str
    lossy: bool


def decode(html: bytes, declared: str) -> Decoded:
    """UTF-8 of a page. `declared` is the charset of the HTTP header, "" if none.

    Valid UTF-8 is UTF-8 whatever is declared: text of another charset passes for it by chance only if it is ASCII. The
    one exception are the ISO-2022 charsets, which are ASCII with escapes and must be declared.
    """
    for bom, name in _BOMS:
        if html.startswith(bom):
            return _as(html[len(bom) :], name, name, "bom")
    if b"\x1b" not in html and _is_utf8(html):
        return Decoded(_without_nul(html), "utf-8", "utf8", lossy=False)
    meta = _META.search(html, 0, _PRESCAN) or _XML.search(html[:_PRESCAN])
    claims = [("http", declared), ("meta", meta[1].decode("ascii") if meta else "")]
    for source, label in claims:
        encoding = webencodings.lookup(label) if label else None
        if encoding is not None and not encoding.name.startswith("utf-16"):  # a page read this far is no UTF-16
            return _as(html, encoding.name, encoding.codec_info.name, source)
    return _as(html, FALLBACK, "cp1252", "fallback")


def _is_utf8(html: bytes) -> bool:
    """Valid up to the last character, which the end of a truncated record may have cut."""
    try:
        _, consumed = codecs.utf_8_decode(html, "strict", False)
    except UnicodeDecodeError:
        return False
    return len(html) - consumed < 4


def _as(html: bytes, charset: str, codec: str, source: str) -> Decoded:
    text = html.decode(codec, "replace")
    lossy = "\ufffd" in text
    return Decoded(_without_nul(text.encode("utf-8", "replace")), charset, source, lossy)


def _without_nul(html: bytes) -> bytes:
    """libxml2 takes NUL for the end of the page."""
    return html.replace(b"\0", b"") if b"\0" in html else html
