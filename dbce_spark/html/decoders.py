"""Decoders of charsets as the WHATWG Encoding Standard has them, made of Python's codecs; `charset` tells which one."""

import codecs
import re
from functools import cache

import webencodings

_WIDE = {
    "utf-16le": ("utf-16-le", 2),
    "utf-16be": ("utf-16-be", 2),
    "utf-32le": ("utf-32-le", 4),
    "utf-32be": ("utf-32-be", 4),
}
# Python's codecs that have what the standard's decoders have: the vendors' characters beside those of the norm.
_MULTIBYTE = {
    "utf-8": "utf-8",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "hz-gb-2312": "hz",
    "iso-2022-kr": "iso2022_kr",
    "johab": "johab",
}
_OF_DOS = (437, 720, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 865, 869, 1125)
_ONE_BYTE = {
    **{f"ibm{page}": f"cp{page}" for page in _OF_DOS},
    "x-mac-ce": "mac_latin2",
    "x-mac-croatian": "mac_croatian",
    "x-mac-greek": "mac_greek",
    "x-mac-icelandic": "mac_iceland",
    "x-mac-romanian": "mac_romanian",
    "x-mac-turkish": "mac_turkish",
}
OLDER = frozenset({*_ONE_BYTE, "johab"})
"""Charsets that the standard leaves out, and that pages declare all the same: of PCs under DOS, of Macs, and a Korean
one. ASCII is the same in all of them."""
_TRIED = 5000
"""Characters that are looked up one by one; a text with more that no norm has is not in this charset."""
_VENDORS = "dbce_spark.euc_jp_vendors"
_ESCAPES = re.compile(rb"\x1b(\([BJI]|\$[@B]|\$\(D)")
_MOST_ESCAPES = 100_000
"""Escapes at which a text is cut; one with more is left to Python's decoder."""
_UP = bytes(byte | 0x80 if 0x21 <= byte <= 0x7E else byte for byte in range(256))


def decode_by(html: bytes, name: str) -> str:
    """Decode by an encoding of the standard, HZ, ISO-2022-KR or one of OLDER; U+FFFD for what is none of it."""
    if name in _WIDE:
        codec, width = _WIDE[name]
        return html[: len(html) // width * width].decode(codec, "replace")
    if name in _MULTIBYTE:
        return html.decode(_MULTIBYTE[name], "replace")
    if name == "euc-jp":
        return _euc_jp(html)
    if name == "iso-2022-jp":
        return _iso_2022_jp(html)
    return codecs.charmap_decode(html, "replace", _table(name))[0]


@cache
def _table(name: str) -> str:
    """Build a table of a character for each of the 256 bytes.

    Between 0x80 and 0x9F the standard has a control character where Python has none; elsewhere it has none, either.
    """
    decode_one = codecs.lookup(_ONE_BYTE[name]).decode if name in OLDER else webencodings.lookup(name).codec_info.decode
    chars = []
    for byte in range(256):
        char = decode_one(bytes([byte]), "replace")[0]
        if char == "\ufffd":
            char = chr(byte) if 0x80 <= byte < 0xA0 else "\ufffe"  # that is how charmap_decode calls "undefined"
        chars.append(char)
    return "".join(chars)


def _euc_jp(html: bytes) -> str:
    """Decode EUC-JP with the vendors' rows 13 and 89 to 92, as the standard's JIS X 0208 index has them."""
    text = html.decode("euc_jp", "replace")
    return html.decode("euc_jp", _VENDORS) if 0 < text.count("\ufffd") <= _TRIED else text


def _vendor_character(error: UnicodeError) -> tuple[str, int]:
    """Return the character of two bytes that Python's EUC-JP lacks: that of the same row and cell in Shift_JIS."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and all(0xA1 <= byte <= 0xFE for byte in pair):
        row, cell = pair[0] - 0xA1, pair[1] - 0xA1
        lead = row // 2 + (0x81 if row < 62 else 0xC1)
        first_trail = 0x9F if row % 2 else 0x40
        trail = first_trail + cell + (row % 2 == 0 and cell >= 63)  # 0x7F, the character to delete, is left out
        return bytes((lead, trail)).decode("cp932", "replace")[:1], error.start + 2
    return "\ufffd", error.end


def _iso_2022_jp(html: bytes) -> str:
    """Decode ISO-2022-JP as EUC-JP: what stands behind an escape to two bytes has the high bit set."""
    if html.count(b"\x1b") > _MOST_ESCAPES:
        return html.decode("iso2022_jp_ext", "replace")
    parts, position, charset = [], 0, b"(B"
    for found in _ESCAPES.finditer(html):
        parts.append(_in_euc(html[position : found.start()], charset))
        position, charset = found.end(), found[1]
    parts.append(_in_euc(html[position:], charset))
    return _euc_jp(b"".join(parts))


def _in_euc(run: bytes, charset: bytes) -> bytes:
    if charset in (b"(B", b"(J"):
        return run
    up = run.translate(_UP)
    if charset == b"(I":
        return re.sub(rb"([\xa1-\xdf])", b"\x8e\\1", up)
    return re.sub(rb"([\xa1-\xfe]{2})", b"\x8f\\1", up) if charset == b"$(D" else up


codecs.register_error(_VENDORS, _vendor_character)
