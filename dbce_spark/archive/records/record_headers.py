"""The head of a record: how it begins, where it ends, how long it says its block is."""

import re
from dataclasses import dataclass

from dbce_spark.archive.records.record import Headers, text_of

LONGEST_START = 5000
"""Bytes that show whether a record starts, at most: an ARC's line with a long URL."""

# A program that writes each LF as CR LF makes CR CR LF of CR LF.
_LINE_END = rb"\r{0,3}\n"
WARC_START = rb"WARC/\d{1,3}\.\d{1,3}[ \t]*" + _LINE_END + rb"[A-Za-z-]{2,60}[ \t]*:"
_ADDRESS = rb"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F:]{3,45}|-|0|None)"
# The limits on each part keep the search linear: no line is tried in more ways than it has bytes, times a constant.
ARC_START = (
    rb"(?:https?|ftp|dns|filedesc|warcinfo|metadata):[^\n]{1,4000}?"
    rb" " + _ADDRESS + rb" (?:19|20)\d{6,16}[^\n ]{0,8} [^\n]{0,300}?\d" + _LINE_END
)
_IN_TEXT = {
    False: re.compile(rb"(?<=\n)" + WARC_START),
    True: re.compile(rb"(?<=\n)" + ARC_START),
    None: re.compile(rb"(?<=\n)(?:" + WARC_START + rb"|" + ARC_START + rb")"),
}
"""The beginning of a record in a text, by whether it is one of ARC; None: either."""
_START = re.compile(rb"(?:" + WARC_START + rb"|" + ARC_START + rb")")
_HEAD_END = re.compile(rb"\n" + _LINE_END)
_LENGTH = re.compile(rb"\nContent-Length[ \t]*:[ \t]*(\d{1,30})[ \t]*" + _LINE_END, re.IGNORECASE)
_FIELD = re.compile(rb"\n[^\s:][^\n:]{0,60}:")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]{0,20}:")
_DATE = rb"((?:19|20)\d{6,16}[^\s]{0,8})"
_ARC_LINE = re.compile(rb"(.{1,8000}?) (" + _ADDRESS + rb") " + _DATE + rb" (.*)", re.DOTALL)
_ARC_TRANSPOSED = re.compile(rb"(.{1,8000}?) " + _DATE + rb" (" + _ADDRESS + rb") (.*)", re.DOTALL)
_ARC_ANY = re.compile(rb"(\S{1,8000}) (\S{1,45}) (\S{1,45}) (.*)", re.DOTALL)
_ARC_2 = re.compile(rb"(.*?) ?(\d{3}|-) (\S+) (\S+) (-?\d+) (\S+)", re.DOTALL)
_INTEGER = re.compile(rb"-?\d{1,30}")
_LONGEST_ARC_LINE = 16_384
"""Bytes in which the line of an ARC record ends."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a record. `size` is its bytes, `declared` those it says its block has (-1 if it does not)."""

    headers: Headers
    is_arc: bool
    size: int
    declared: int


def starts_record(content: bytes) -> bool:
    """Return whether these bytes begin as a record does, beyond doubt."""
    return _START.match(content) is not None


def could_start(content: bytes, in_arc: bool) -> bool:
    """Return whether a record may begin here, where one is expected."""
    return content[:5].upper() == b"WARC/" or arc_head(content, in_arc) is not None


def first_start(content: bytes, is_arc: bool | None) -> int | None:
    """Find the first line that begins a record (of that format, if one is given)."""
    found = _IN_TEXT[is_arc].search(content)
    return found.start() if found else None


def head_end(content: bytes) -> int | None:
    """Return the place behind the blank line that ends a WARC head."""
    found = _HEAD_END.search(content)
    return found.end() if found else None


def warc_head(raw: bytes) -> Head | None:
    """Parse a WARC record's head; return None if it has no field, or begins with none."""
    if _FIELD.search(raw) is None:
        return None
    headers = Headers(raw)
    found = _LENGTH.search(raw)
    if found is not None:
        return Head(headers, False, len(raw), int(found[1]))
    written = headers.get("content-length")  # folded, or no number
    is_length = written.isascii() and written.isdigit() and len(written) < 30
    return Head(headers, False, len(raw), int(written) if is_length else -1)


def arc_head(content: bytes, in_arc: bool) -> Head | None:
    """Parse an ARC record's line; return None if it is none. Inside an ARC (`in_arc`) less is required than at the
    start of one.

    Crawlers wrote dates of 8 to 18 digits, swapped date and address, left fields out and spaces in.
    """
    if _SCHEME.match(content) is None:
        return None
    end = content.find(b"\n", 0, _LONGEST_ARC_LINE)
    if end < 0:
        return None
    line = content[:end].rstrip(b"\r")
    is_sure = in_arc or line.startswith(b"filedesc:")  # that it is of an ARC: so less is required
    if found := _ARC_LINE.fullmatch(line):
        url, address, date, rest = found.groups()
    elif found := _ARC_TRANSPOSED.fullmatch(line):
        url, date, address, rest = found.groups()
    elif is_sure and (found := _ARC_ANY.fullmatch(line)):
        url, address, date, rest = found.groups()
    else:
        return None
    mime, _, length = rest.rpartition(b" ")
    has_length = _INTEGER.fullmatch(length) is not None
    if not has_length and not is_sure:
        return None
    if not has_length:
        mime, length = rest, b""
    fields = {"url": url, "ip-address": address, "archive-date": date, "content-type": mime, "archive-length": length}
    if version_2 := _ARC_2.fullmatch(mime):
        names = ("content-type", "result-code", "checksum", "location", "offset", "filename")
        fields |= dict(zip(names, version_2.groups(), strict=True))
    headers = Headers(b"", {name: text_of(value).strip() for name, value in fields.items()})
    return Head(headers, True, end + 1, max(-1, int(length)) if has_length else -1)
