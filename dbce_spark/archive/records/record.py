"""The outcomes of reading an archive: records and damages, each with the stored bytes it covers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from dbce_spark.config import InputConfig

_HTTP = re.compile(r"application/http[ \t]*;[^,]*?msgtype[ \t]*=[ \t\"]*(request|response)", re.IGNORECASE)
_FOLDED = re.compile(r"\r{0,3}\n[ \t]+")
_FIELD_BYTES = 200
"""Bytes that a field of a head takes in memory beside its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits on every input. Each ends in a Record without its block or in a Damage, never in an error."""

    record_bytes: int
    """Bytes of a block that are brought into memory. A longer one is passed over, and its record has no block."""
    head_bytes: int
    """Bytes of a record's head."""
    inflated_bytes: int
    """Bytes that may come out of a file whatever its size,"""
    inflated_ratio: int
    """... and beside them as many for each stored byte."""
    unpacked_bytes: int
    """Bytes of one deflated file of a WACZ, which goes to a temporary file."""
    zip_files: int
    """Files in one WACZ."""
    zip_depth: int
    """WACZ within WACZ."""

    @classmethod
    def from_config(cls, config: InputConfig) -> Self:
        """Take the limits of a run; conf/dbce.toml gives the reason for each."""
        return cls(
            record_bytes=config.max_record_bytes,
            head_bytes=config.max_head_bytes,
            inflated_bytes=config.max_inflated_bytes,
            inflated_ratio=config.max_inflated_ratio,
            unpacked_bytes=config.max_unpacked_bytes,
            zip_files=config.max_zip_files,
            zip_depth=config.max_zip_depth,
        )


class Headers(Mapping[str, str]):
    """The fields of a record's head, parsed when the first is read. Names are in lower case, values as stored.

    Of a field that stands there twice the first counts. An ARC record has those of its version block: url, ip-address,
    archive-date, content-type, archive-length; in version 2 also result-code, checksum, location, offset, filename.
    """

    __slots__ = ("_fields", "_raw")

    def __init__(self, raw: bytes, fields: dict[str, str] | None = None):
        self._raw = raw
        self._fields = fields

    def _parsed(self) -> dict[str, str]:
        if self._fields is None:
            self._fields = fields_of(self._raw)
        return self._fields

    @property
    def held_bytes(self) -> int:
        """Return about how many bytes of memory the head takes."""
        return 2 * len(self._raw) + _FIELD_BYTES * len(self._parsed())

    def __getitem__(self, name: str) -> str:
        return self._parsed()[name]

    def get(self, name: str, default: str = "") -> str:  # type: ignore[override]  # a missing field is an empty one
        return self._parsed().get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parsed())

    def __len__(self) -> int:
        return len(self._parsed())

    def __repr__(self) -> str:
        return f"Headers({self._parsed()!r})"


def fields_of(raw: bytes) -> dict[str, str]:
    """Parse the fields of a WARC head, its first line apart. UTF-8 as the standard says, Latin-1 where it is not."""
    text = text_of(raw)
    if "\n " in text or "\n\t" in text:
        text = _FOLDED.sub(" ", text)
    fields: dict[str, str] = {}
    for line in text.split("\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip().lower(), value.strip())
    return fields


def text_of(raw: bytes) -> str:
    """Decode UTF-8, or Latin-1 where it is not."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


class Flaw(StrEnum):
    """The reasons why a block may be another one than was written."""

    DAMAGED = "damaged"  # what it is compressed in fails its check: any byte may be wrong
    CUT = "cut"  # what it is compressed in ends before it does
    UNDERSTATED = "understated"  # its length is too small: more follows than a record's end
    DIFFERS = "digest_differs"  # its bytes are not those that its digest is of; the reader of records does not ask


@dataclass(frozen=True, slots=True)
class Record:
    """One record of either format.

    `offset` and `length` are stored bytes: the records and damages of a file lie side by side from its first byte to
    its last. A record that fills compressed members of its own can be read again from these alone. Where one member
    holds many, they are its share: exact in sum, by proportion between the steps of a decoder, which does not say which
    byte came from where (a share may be 0). To read such a record again, inflate from `member` and pass over `inner`
    bytes.
    """

    headers: Headers
    is_arc: bool
    offset: int
    length: int
    block: bytes | None
    """None where it is larger than allowed; shorter than `declared_length` where bytes are missing."""
    declared_length: int
    """Content-Length (WARC) or the last field (ARC); -1 where that is no length."""
    member: int
    """The offset of the compressed member that it is in; `offset` if it has its own or is not compressed."""
    inner: int
    """Bytes of the member's content in front of it."""
    within: str = ""
    """The file of a WACZ that it is in ("archive/data.warc.gz"); offsets are then of that file. "" in any other."""
    flaw: Flaw | None = None
    beginning: bytes = b""
    """The first bytes of a block that is larger than allowed, with its HTTP head."""

    @property
    def kind(self) -> str:
        """Return WARC-Type in lower case; where there is none, "request" or "response" if the Content-Type says so,
        else "unknown"; in ARC "arc_header" and "response"."""
        if self.is_arc:
            return "arc_header" if self.headers.get("url").startswith("filedesc:") else "response"
        return self.headers.get("warc-type").lower() or self._kind_of_message

    @property
    def _kind_of_message(self) -> str:
        found = _HTTP.match(self.headers.get("content-type"))
        return found[1].lower() if found else "unknown"

    @property
    def url(self) -> str:
        return self.headers.get("url" if self.is_arc else "warc-target-uri").strip("<> ").lstrip(": ")

    @property
    def date(self) -> str:
        return self.headers.get("archive-date" if self.is_arc else "warc-date")

    @property
    def record_id(self) -> str:
        return self.headers.get("warc-record-id")

    @property
    def says_truncated(self) -> bool:
        return "warc-truncated" in self.headers

    @property
    def is_short(self) -> bool:
        """Return whether bytes of its block are missing."""
        is_short = self.block is not None and len(self.block) < self.declared_length
        return is_short or self.flaw in (Flaw.CUT, Flaw.UNDERSTATED)


class Cause(StrEnum):
    """The reasons why bytes belong to no record."""

    BROKEN = "broken"  # they could not be read as one
    SWOLLEN = "swollen"  # they inflate beyond the limits
    FOREIGN = "foreign"  # the whole file: there is no record in it
    BLANK = "blank"  # line ends, zeros, members with nothing in them: nothing was lost
    BESIDE = "beside"  # a file of a WACZ that is no archive (its index, its list of pages), or the zip's own frame

    @property
    def is_loss(self) -> bool:
        return self not in (Cause.BLANK, Cause.BESIDE)


@dataclass(frozen=True, slots=True)
class Damage:
    """Stored bytes, `length` of them from `offset`, that belong to no record.

    `content` counts them inflated where they lie in a compressed member, 0 elsewhere: `length` is then their share of
    the member, and can be 0.
    """

    offset: int
    length: int
    cause: Cause
    detail: str
    content: int = 0
    within: str = ""
    url: str = ""
    """The URL of the record in front, if that has a flaw: what is damaged is a part of it, or began in it."""
    record_id: str = ""
