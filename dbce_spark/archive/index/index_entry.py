"""One line of an index: a capture, and the place of its record."""

import hashlib
import re
from base64 import b32encode, b64decode
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dbce_spark.files import timestamps

_DIGITS = re.compile(r"[0-9]{4,20}")
_FIRST_MOMENT = "00000101000000000000"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d+(?:/|$))", re.IGNORECASE)
REVISIT_MIME = "warc/revisit"
"""The word of an index in place of a media type where the record is a revisit."""
_NO_MIME = ("-", "unk", REVISIT_MIME, "")
"""The word of an index where it has no media type of the payload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """One capture as an index lists it.

    A record that is read without an index makes one of its header too, so that the same filters hold for both. Filters
    pass what is unknown, and are applied again when it is read.
    """

    urlkey: str = ""  # as the index writes it: SURT, or something older; "" if it names none
    timestamp: int  # microseconds since 1970-01-01 UTC
    url: str
    mime: str = ""  # as the server declared it, as `known_mime` writes it; "" unknown
    mime_detected: str = ""  # by the payload, where the index says so; else ""
    status: int = 0  # HTTP; 0 unknown
    digest: str  # of the payload, as `normal_digest` writes it; "" unknown
    languages: tuple[str, ...] = ()  # ISO 639-3; () unknown, as always without an index: no header gives it
    offset: int = -1  # bytes, in the file as stored
    length: int = -1  # bytes, in the file as stored; -1 unknown
    filename: str = ""  # as the index writes it
    path: str = ""  # where that lies: what to open
    is_revisit: bool = False


class NoEntry(ValueError):
    """The fields of a line make no entry; the message says which and why."""


def entry_of(fields: dict[str, Any]) -> IndexEntry:
    """Build an entry from a line's fields, by the names of CDXJ; "-", "" and None all mean "unknown".

    `path` is left as the file name: the reader of the index has the folder.

    Raises:
        NoEntry: no date, no URL and no key, or no place.
    """
    given = {name: str(value).strip() for name, value in fields.items() if value not in (None, "-", "")}
    urlkey = given.get("urlkey", "")
    url = _with_scheme(given.get("url", "")) or url_of(urlkey)
    if not url:
        raise NoEntry("no URL")
    filename = given.get("filename", "")
    if not filename:
        raise NoEntry("no file name")
    return IndexEntry(
        urlkey=urlkey,
        timestamp=moment(given.get("timestamp", "")),
        url=url,
        mime=known_mime(given.get("mime", "")),
        mime_detected=known_mime(given.get("mime-detected", "")),
        status=_whole(given["status"], "status") if given.get("status", "").isdigit() else 0,
        digest=normal_digest(given.get("digest", "")),
        languages=tuple(filter(None, given.get("languages", "").lower().split(","))),
        offset=_whole(given.get("offset", ""), "offset"),
        length=_whole(given["length"], "length") if "length" in given else -1,
        filename=filename,
        path=filename,
        is_revisit=_media_type(given.get("mime", "")) == REVISIT_MIME,
    )


def moment(digits: str) -> int:
    """Convert 4 to 20 digits to microseconds since 1970: a year, a second, or down to the microsecond; the rest is the
    first.

    Raises:
        NoEntry: not digits, or no such day.
    """
    if not _DIGITS.fullmatch(digits) or len(digits) in (5, 7, 9, 11, 13):
        raise NoEntry(f"no date: {digits[:40]!r}")
    full = digits + _FIRST_MOMENT[len(digits) :]
    try:
        parts = [int(full[at : at + 2]) for at in range(4, 14, 2)]  # strptime takes four times as long
        year, micro = int(full[:4]), int(full[14:])
        month, day, hour, minute, sec = parts
        when = datetime(year, month, day, hour, minute, sec, micro, tzinfo=UTC)
    except ValueError as error:
        raise NoEntry(f"no date: {digits!r}") from error
    return timestamps.from_datetime(when)


def payload_digest(payload: bytes) -> str:
    """Compute the digest of a payload, as most crawlers write it: "sha1:BASE32"."""
    return f"sha1:{b32encode(hashlib.sha1(payload, usedforsecurity=False).digest()).decode()}"


def normal_digest(digest: str) -> str:
    """Normalise a digest to "sha1:BASE32", "sha256:hex", ...: indexes leave the algorithm out, hyphenate it, or write
    hex or base64."""
    name, colon, value = digest.strip().rpartition(":")
    if not value:
        return ""
    algorithm = name.lower().replace("-", "") if colon else _algorithm(value)
    if algorithm == "sha1":
        return f"sha1:{_base32(value)}"
    if re.fullmatch(r"[0-9a-fA-F]+", value):
        value = value.lower()
    return f"{algorithm}:{value}" if algorithm else value


def _algorithm(value: str) -> str:
    if len(value) == 32 and re.fullmatch(r"[A-Z2-7]+", value):
        return "sha1"
    if re.fullmatch(r"[0-9a-fA-F]+", value):
        return {32: "md5", 40: "sha1", 64: "sha256"}.get(len(value), "")
    return "sha1" if re.fullmatch(r"[a-zA-Z2-7]{32}|[0-9a-zA-Z+/]{27}=", value) else ""


def _base32(sha1: str) -> str:
    if re.fullmatch(r"[0-9a-fA-F]{40}", sha1):
        return b32encode(bytes.fromhex(sha1)).decode()
    if re.fullmatch(r"[0-9a-zA-Z+/]{27}=?", sha1):
        return b32encode(b64decode(f"{sha1[:27]}=")).decode()
    return sha1.upper()


def url_of(urlkey: str) -> str:
    """Build a URL with this key, for an index that keeps no URLs: "org,example)/a" -> "http://example.org/a"."""
    if not urlkey or _SCHEME.match(urlkey):
        return urlkey
    authority, bracket, path = urlkey.partition(")")
    if not bracket:
        return f"http://{urlkey}"
    host, colon, port = authority.partition(":")
    return f"http://{'.'.join(reversed(host.split(',')))}{colon}{port}{path}"


def _with_scheme(url: str) -> str:
    """Add the "http://" that CDX of the nineties leave out."""
    return url if not url or _SCHEME.match(url) else f"http://{url}"


def known_mime(written: str) -> str:
    """Return a media type without parameters, in lower case; "" where an index writes that it has none."""
    media_type = _media_type(written)
    return "" if media_type in _NO_MIME else media_type


def _media_type(written: str) -> str:
    return written.partition(";")[0].strip().lower()


def _whole(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise NoEntry(f"{name} is no number: {text[:40]!r}")
    return int(text)
