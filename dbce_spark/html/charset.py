"""Conversion of HTML to UTF-8 that lxml can take: proof in the bytes first, then declarations, then a detector.

Order, labels and the search for a declaration are those of WHATWG HTML 13.2.3.2 and of the WHATWG Encoding Standard. A
browser believes what is declared; here the bytes may refute it, and what was decoded with loss is marked.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from dbce_spark.html.charset_detector import FALLBACK, FIRST_HIGH, detect
from dbce_spark.html.charset_labels import charset_of
from dbce_spark.html.charset_refutation import FEW, counts, is_refuted
from dbce_spark.html.decoders import decode_by
from dbce_spark.html.invisible_characters import INVISIBLE, drop_invisible

# Longest first: UTF-32LE begins as UTF-16LE does.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32le"),
    (codecs.BOM_UTF32_BE, "utf-32be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_SEVEN_BIT = frozenset({"iso-2022-jp", "iso-2022-kr", "hz-gb-2312"})
_SHIFT = re.compile(rb"\x1b[$(]|~\{")
_JAPANESE_ESCAPE = re.compile(rb"\x1b\$[@B]")

_TAG = re.compile("</?[a-z]", re.IGNORECASE)
_PRESCAN = 4096
"""Bytes in which a declaration is searched. The standard asks for 1,024, and that a parser which meets one later begins
anew (13.2.3.4); old pages have long comments in front of it."""
_META = re.compile(rb"<!(?=--).*?(?:-->|\Z)|(?P<meta><meta[\s/])", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(rb"[\s/]*(=?[^\s/>=]+|=)(?:\s*=\s*(?:\"([^\"]*)\"?|'([^']*)'?|([^\s>]*)))?")
_CONTENT_CHARSET = re.compile(rb"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,256}?encoding\s*=\s*[\"']([A-Za-z0-9_:.\-]+)", re.IGNORECASE)

_ZEROS = 8
"""NUL bytes under which they are chance."""
_NEAR = 1 << 13
"""Bytes from the first outside ASCII on that decide whether a page is UTF-8 but for a few."""

_CLEAN = bytes(0x20 if byte < 0x20 and byte not in b"\t\n\r" else byte for byte in range(256))
"""Of each byte of UTF-8 what is kept: control characters of ASCII become spaces."""
_C1 = re.compile(rb"\xc2([\x80-\x9f])")
_OF_C1 = [bytes([byte]).decode("cp1252", "ignore").encode() or b" " for byte in range(0x80, 0xA0)]
"""Of each control character from U+0080 on what is kept: the character that windows-1252 has there, which HTML reads
in references to it (13.2.5.80); where that has none, a space."""
_NONCHARACTERS = re.compile(rb"\xef\xbf[\xbe\xbf]")
_REFERENCE = re.compile(
    rb"&(?:(shy(?=;)|#0*173(?![0-9])|#[xX]0*[aA][dD](?![0-9a-fA-F]))"
    rb"|(#0*8203(?![0-9])|#[xX]0*200[bB](?![0-9a-fA-F]))|(#0*65279(?![0-9])|#[xX]0*[fF][eE][fF]{2}(?![0-9a-fA-F]))"
    rb"|#0*(?:[0-8]|1[124-9]|2[0-9]|3[01]|129|14[134]|157|6553[45])(?![0-9])"
    rb"|#[xX]0*(?:[0-8bBcCeEfF]|1[0-9a-fA-F]|8[1dDfF]|9[0dD]|[fF]{3}[eEfF])(?![0-9a-fA-F]));?"
)
"""A character reference to an invisible character, or to what the page may not hold as itself; libxml2 makes U+FFFD of
surrogates by itself."""
_MEANT = (b" ", *INVISIBLE)
"""Bytes that are put for a reference, by its group; the first for one in none."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """HTML as UTF-8; `source` is bom, utf8, http, meta, detected or fallback; `lossy` if bytes had to be replaced."""

    html: bytes
    charset: str
    source: str
    lossy: bool


def decode(html: bytes, declared: str) -> Decoded:
    """Decode a page and encode it as UTF-8. `declared` is the charset of the HTTP header, "" if none.

    Valid UTF-8 is UTF-8 whatever is declared: text of another charset passes for it by chance only if it is ASCII. The
    one exception are charsets of seven bits, which are ASCII with escapes: declared, or Japanese by their escapes.
    """
    for bom, name in _BOMS:
        if html.startswith(bom):
            return _made(decode_by(html[len(bom) :], name), name, "bom")
    if b"\0" in html[:_PRESCAN] and (wide := _wide(html, declared)):
        return _made(decode_by(html, wide), wide, "detected")
    if (b"\x1b" in html or _declares_hz(html, declared)) and (found := _seven_bit(html, declared)):
        return found
    whole = _whole_utf8(html)
    if whole is html or (whole and not whole.isascii()):
        return Decoded(cleaned(whole), "utf-8", "utf8", lossy=whole is not html)
    return _by_claims(html, declared)


def _by_claims(html: bytes, declared: str) -> Decoded:
    """Decode a page that is not UTF-8 by the charset it declares, unless its bytes refute that."""
    is_near = _is_near_utf8(html)
    claims = [*_claims(html, declared)]
    if not is_near and _is_for_meta(html, *(name for _, name in claims)):
        claims.reverse()
    for source, name in claims:
        if not name or (is_near and name != "utf-8"):
            continue
        text = decode_by(html, name)
        if not is_refuted(html, text, name):
            return _made(text, name, source)
    if is_near:
        return _made(decode_by(html, "utf-8"), "utf-8", "utf8")
    name = detect(html)
    return _made(decode_by(html, name), name, "fallback" if name == FALLBACK else "detected")


def _claims(html: bytes, declared: str) -> Iterator[tuple[str, str]]:
    """Iterate over where a charset is declared, and which: "" for none, and in the header for UTF-16, which would have
    been seen by its zeros."""
    name = charset_of(declared)
    yield "http", "" if name.startswith("utf-16") else name
    yield "meta", _meta(html)


def _is_for_meta(html: bytes, http: str, meta: str) -> bool:
    """Test whether the detector reads a page as it declares itself, where the header declares another charset."""
    if http in ("", "utf-8", meta) or meta in ("", "utf-8", FALLBACK):  # FALLBACK is found for want of letters, too
        return False
    name = detect(html)
    return name != http and decode_by(html, name) == decode_by(html, meta)


def _meta(html: bytes) -> str:
    """Find the charset that the page declares in its first bytes (13.2.3.2, "prescan"), "" if none."""
    start = html[:_PRESCAN]
    name = _prescan(start)
    if not name and (xml := _XML.match(start)):
        name = charset_of(xml[1].decode("ascii"))
    if name.startswith("utf-16"):
        return "utf-8"  # a declaration that could be read as ASCII
    return FALLBACK if name == "x-user-defined" else name


def _prescan(start: bytes) -> str:
    position = 0
    while found := _META.search(start, position):
        position = found.end()
        attributes: dict[bytes, bytes] = {}
        while found["meta"] and (attribute := _ATTRIBUTE.match(start, position)):
            position = attribute.end()
            attributes.setdefault(attribute[1].lower(), attribute[2] or attribute[3] or attribute[4] or b"")
        if name := _meta_charset(attributes):
            return name
    return ""


def _meta_charset(attributes: dict[bytes, bytes]) -> str:
    label = attributes.get(b"charset", b"")
    if not label and attributes.get(b"http-equiv", b"").strip().lower() == b"content-type":
        match = _CONTENT_CHARSET.search(attributes.get(b"content", b""))
        label = (match[1] or match[2] or match[3] or b"") if match else b""
    return charset_of(label.decode("ascii", "replace"))


def _declares_hz(html: bytes, declared: str) -> bool:
    """Test whether HZ is declared: its escapes are printable characters, and only the name makes them escapes."""
    return declared.lower().startswith("hz") or b"hz-gb" in html[:_PRESCAN].lower()


def _seven_bit(html: bytes, declared: str) -> Decoded | None:
    """Decode a page whose ASCII bytes are another charset's, by escapes; None if it is none."""
    if not _SHIFT.search(html):
        return None
    for source, name in _claims(html, declared):
        if name in _SEVEN_BIT:  # a name before it is some server's default, which escapes refute
            return _made(decode_by(html, name), name, source)
    if _JAPANESE_ESCAPE.search(html) and html.isascii():
        return _made(decode_by(html, "iso-2022-jp"), "iso-2022-jp", "detected")
    return None


def _wide(html: bytes, declared: str) -> str:
    """Detect UTF-16 or UTF-32 without a mark, by the places of the zeros of its markup; "" for neither.

    Chinese has few of them in UTF-16, and U+4E00 has its in the other places: if it is declared, a tag is enough.
    """
    start = html[: min(len(html), _PRESCAN) // 4 * 4]
    zeros = [start[nth::4].count(0) for nth in range(4)]
    quarter = len(start) // 4
    if sum(zeros) < _ZEROS:
        return ""
    if min(zeros[2:]) == quarter and zeros[0] * 8 < quarter:
        return "utf-32le"
    if min(zeros[:2]) == quarter and zeros[3] * 8 < quarter:
        return "utf-32be"
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if charset_of(declared).startswith("utf-16"):
        for name in ("utf-16le", "utf-16be"):
            if _TAG.search(decode_by(start, name)):
                return name
    if odd * 5 >= quarter and odd > 16 * even:
        return "utf-16le"
    if even * 5 >= quarter and even > 16 * odd:
        return "utf-16be"
    return ""


def _whole_utf8(html: bytes) -> bytes:
    """Return UTF-8 without a last character that the end of a record has cut; b"" if it is not UTF-8.

    The result is the same object if nothing was cut.
    """
    try:
        _, consumed = codecs.utf_8_decode(html, "strict", False)
    except UnicodeDecodeError:
        return b""
    return html if consumed == len(html) else html[:consumed]


def _is_near_utf8(html: bytes) -> bool:
    """Test for UTF-8 of which a few bytes broke, whatever a server's default charset is."""
    first = FIRST_HIGH.search(html)
    start = first.start() if first else 0
    text, _ = codecs.utf_8_decode(html[start : start + _NEAR], "replace", False)
    good, bad = counts(text)
    return good >= FEW and good >= 20 * bad


def _made(text: str, charset: str, source: str) -> Decoded:
    return Decoded(cleaned(text.encode("utf-8", "replace")), charset, source, "\ufffd" in text)


def cleaned(html: bytes) -> bytes:
    """Put a space for each character that XML 1.0 (2.2) cannot hold, written as itself or as a reference to it; remove
    NUL, which libxml2 takes for the end of the page, and the invisible characters of texts.

    The former are control characters but tab, line feed and carriage return, and U+FFFE and U+FFFF. Tables and exports
    could hold some of them, lxml writes none, and terminals obey some, as they do those from U+0080 to U+009F.
    """
    html = html.translate(_CLEAN, b"\0")
    if b"\xc2" in html:
        html = _C1.sub(lambda found: _OF_C1[found[1][0] - 0x80], html)
    if b"\xef" in html:
        html = _NONCHARACTERS.sub(b" ", html)
    html = _REFERENCE.sub(_meant, html)
    visible = drop_invisible(html)
    return html if visible is html else _REFERENCE.sub(_meant, visible)  # what is dropped may join two to a third


def _meant(found: re.Match[bytes]) -> bytes:
    return _MEANT[found.lastindex or 0]
