"""Values of the columns: of a record, each computed when it is first read; of bytes that are none."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dbce_spark.archive import http_message as http
from dbce_spark.archive.content_coding import BodyError, BodyTooLarge
from dbce_spark.archive.index.fetch import Unfetched
from dbce_spark.archive.index.index_fault import BadLine
from dbce_spark.archive.index.urls import host_of
from dbce_spark.archive.mime import MediaType, computed_type, declared_type
from dbce_spark.archive.record_date import parse_record_date
from dbce_spark.archive.records import Cause, Damage, Flaw, Record
from dbce_spark.files.sources import MEMBER
from dbce_spark.html.charset import Decoded, decode
from dbce_spark.model import RejectReason

_TEXT = re.compile(r"text/.*|application/(?:xml|json|javascript|ecmascript|warc-fields)|.*\+(?:xml|json)")
_TRUNCATED, _SHORT, _DAMAGED = "record_truncated", "record_short", "record_damaged"


@dataclass(frozen=True, slots=True)
class RowFault:
    """Why something cannot be read: a `RejectReason`, and a sentence."""

    reason: str
    detail: str


class RecordRow:
    """A record as the columns see it. An attribute is a column; what is None has no value.

    `fault` is what stood in the way of the columns that were read until now.
    """

    def __init__(self, record: Record, file: str, offset: int, max_payload_bytes: int):
        self._record = record
        self._max_payload_bytes = max_payload_bytes
        self.file = file
        self.offset = offset
        self.length = record.length
        self.kind = record.kind
        self.url = record.url or None
        self.fault: RowFault | None = None

    def value(self, name: str) -> Any:
        return getattr(self, name)

    @property
    def host(self) -> str | None:
        return host_of(self.url or "") or None

    @cached_property
    def date(self) -> int | None:
        """Microseconds since 1970."""
        return parse_record_date(self._record.date)

    @property
    def record_id(self) -> str | None:
        return self._record.record_id or None

    @property
    def headers(self) -> list[tuple[str, str]]:
        return list(self._record.headers.items())

    @property
    def digest(self) -> str:
        """No column: it is in the headers."""
        return self._record.headers.get("warc-payload-digest")

    @cached_property
    def block(self) -> bytes | None:
        if self._record.block is None:
            self.fault = RowFault(RejectReason.TOO_LARGE, f"{self._record.declared_length} bytes in one record")
        return self._record.block

    @cached_property
    def response(self) -> http.Response | None:
        """The HTTP response that is in the block."""
        if self.kind not in ("response", "revisit") or not (self.url or "").lower().startswith(("http://", "https://")):
            return None
        block = self.block
        if block is None or (self.kind == "revisit" and not block):
            return None
        written = "" if self._record.is_arc else declared_type(self._record.headers.get("content-type")).essence
        is_http = written in ("", "application/http")
        message = http.parse(block) if is_http else http.split(block)
        if message is None and is_http:
            self.fault = RowFault(RejectReason.BAD_HTTP, f"begins with {block[:24]!r}")
        return message

    @property
    def http_status(self) -> int | None:
        return (self.response.status or None) if self.response else None

    @property
    def http_headers(self) -> list[tuple[str, str]] | None:
        return list(self.response.headers.items()) if self.response else None

    @cached_property
    def _declared(self) -> MediaType:
        """The media type of the HTTP header; the record's own where it holds no HTTP response.

        A revisit has none of its own: its header says what its block is, and the payload is not in it.
        """
        if self.response and (of_response := self.response.headers.get("content-type")):
            return declared_type(of_response)
        is_of_record = self._record.is_arc or (self.response is None and self.kind != "revisit")
        return declared_type(self._record.headers.get("content-type") if is_of_record else "")

    @property
    def mime(self) -> str | None:
        return self._declared.essence or None

    @cached_property
    def _content(self) -> http.HttpContent | None:
        """Return the body, its encodings undone; the whole block where it holds no HTTP response."""
        if self.kind == "revisit":
            return None
        if self.response is None:
            return None if self.block is None or self.fault else http.HttpContent(self.block, frozenset())
        most = self._max_payload_bytes
        try:
            return http.decode_body(self.response, max_bytes=most, max_ratio=most)
        except BodyTooLarge as error:
            self.fault = RowFault(RejectReason.TOO_LARGE, str(error))
        except BodyError as error:
            self.fault = RowFault(RejectReason.BAD_ENCODING, str(error))
        return None

    @property
    def payload(self) -> bytes | None:
        return self._content.html if self._content else None

    @cached_property
    def mime_detected(self) -> str | None:
        return computed_type(self._declared.essence, self._content.html) if self._content else None

    @cached_property
    def _decoded(self) -> Decoded | None:
        if self._content is None or not _TEXT.fullmatch(self.mime_detected or ""):
            return None
        return decode(self._content.html, self._declared.charset)

    @property
    def charset(self) -> str | None:
        return self._decoded.charset if self._decoded else None

    @property
    def content(self) -> str | None:
        return self._decoded.html.decode() if self._decoded else None

    @property
    def defects(self) -> list[str]:
        defects = {str(defect) for defect in self._content.defects} if self._content else set()
        if self._record.says_truncated:
            defects.add(_TRUNCATED)
        if self.block is not None and self._record.is_short:
            defects.add(_SHORT)
        if self._record.flaw is Flaw.DAMAGED:
            defects.add(_DAMAGED)
        return sorted(defects)

    @property
    def damage(self) -> str | None:
        return str(self.fault.reason) if self.fault else None

    @property
    def damage_detail(self) -> str | None:
        return self.fault.detail if self.fault else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DamageRow:
    """Bytes that are no record, or that could not be fetched. Columns that are not here have no value."""

    file: str
    offset: int | None
    length: int | None
    fault: RowFault
    url: str | None = None
    date: int | None = None

    def value(self, name: str) -> Any:
        return getattr(self, name, None)

    @property
    def host(self) -> str | None:
        return host_of(self.url or "") or None

    @property
    def damage(self) -> str:
        return str(self.fault.reason)

    @property
    def damage_detail(self) -> str:
        # The name of a file that is not there need not be UTF-8.
        return self.fault.detail.encode("utf-8", "replace").decode()


def member(file: str, within: str) -> str:
    """Return the name of a file in a WACZ, as an index names it."""
    return f"{file}{MEMBER}{within}" if within else file


def of_damage(damage: Damage, file: str, offset: int) -> DamageRow:
    reason = {Cause.FOREIGN: RejectReason.NOT_AN_ARCHIVE, Cause.SWOLLEN: RejectReason.TOO_LARGE}.get(
        damage.cause, RejectReason.BROKEN_RECORD
    )
    fault = RowFault(reason, damage.detail)
    return DamageRow(file=file, offset=offset, length=damage.length, fault=fault, url=damage.url or None)


def of_unfetched(unfetched: Unfetched) -> DamageRow:
    entry = unfetched.entry
    return DamageRow(
        file=entry.path,
        offset=entry.offset,
        length=entry.length if entry.length >= 0 else None,
        fault=RowFault(unfetched.fault, unfetched.detail),
        url=entry.url,
        date=entry.timestamp,
    )


def of_bad_line(bad: BadLine) -> DamageRow:
    where = f"line {bad.line}: " if bad.line > 0 else ""
    return DamageRow(file=bad.path, offset=None, length=None, fault=RowFault(bad.fault, f"{where}{bad.detail}"))


def of_unreadable(file: str, error: OSError) -> DamageRow:
    return DamageRow(file=file, offset=None, length=None, fault=RowFault(RejectReason.FILE_UNREADABLE, str(error)))
