"""Read (W)ARC files to captures: each record comes out once, as a capture with its body, as a reject, or as skipped."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import SEEK_END
from typing import BinaryIO
from uuid import NAMESPACE_URL, uuid5

from dbce_spark.archive import http_message as http
from dbce_spark.archive import mime, record_digest
from dbce_spark.archive.content_coding import BodyError, BodyTooLarge
from dbce_spark.archive.http_message import NOT_MODIFIED
from dbce_spark.archive.index import index_file
from dbce_spark.archive.index.fetch import Fetched
from dbce_spark.archive.index.index_entry import IndexEntry, known_mime, normal_digest, payload_digest
from dbce_spark.archive.index.urls import domain_of, host_of, url_key
from dbce_spark.archive.record_date import DateSource, parse_record_date, replayed_date
from dbce_spark.archive.records import Cause, Damage, Flaw, Limits, Record, records
from dbce_spark.archive.segmented_records import Segment, join_segments
from dbce_spark.config import InputConfig
from dbce_spark.files.sources import MEMBER, open_binary
from dbce_spark.files.timestamps import EARLIEST, parse_date
from dbce_spark.log import counted
from dbce_spark.model import Capture, Reject, RejectReason, RejectStage, Revisit, Skip

Refusal = Callable[[IndexEntry], str | None]
"""Return the first filter that a record fails by the fields read so far; None if it passes them all."""

ITEM_TITLE, ITEM_LINK = "Feed-Item-Title", "Feed-Item-Link"
"""Headers of a response record by which `dbce acquire` keeps what the feed has of the page: its title, and its
address before redirects."""
SEGMENT = Skip("segment")
"""A continuation: what it holds is in the record that it continues."""
WET = Skip("conversion:text")
"""A text that was made of a page: it has no structure, so it cannot be labelled."""

_PASSED_OVER = ("warcinfo", "arc_header", "request", "metadata")
_WEB = ("http://", "https://")
# A resource is what the crawler had without requesting it of a web server; a conversion is made of one of the others.
_SCHEMES = {
    "response": _WEB,
    "revisit": _WEB,
    "resource": (*_WEB, "ftp://", "ftps://", "file://"),
    "conversion": (*_WEB, "ftp://", "ftps://", "file://"),
}
_FILE_HEADS = ("warcinfo", "arc_header")


@dataclass(frozen=True, slots=True)
class Fetch:
    """A capture and its HTML, its transfer and content encodings undone; `defects` lists what was wrong with it."""

    capture: Capture
    html: bytes
    defects: frozenset[http.Defect | DateSource | Flaw] = frozenset()


RecordOutcome = Fetch | Revisit | Reject | Skip
"""The outcome of a record."""


def read(
    path: str,
    config: InputConfig,
    max_html_bytes: int,
    refusal: Refusal | None = None,
    opened: Callable[[str], BinaryIO] = open_binary,
) -> Iterator[RecordOutcome]:
    """Read every record of one file, in its order; records that a selection refuses are skipped.

    `opened` raises OSError where storage does not give the file, and so may every read.
    """
    try:
        with opened(path) as stream:
            yield from read_stream(stream, path, config, max_html_bytes, refusal)
    except OSError as error:
        yield Reject(warc_file=path, stage=RejectStage.READ, reason=RejectReason.FILE_UNREADABLE, detail=str(error))


def read_stream(
    stream: BinaryIO, path: str, config: InputConfig, max_html_bytes: int, refusal: Refusal | None = None
) -> Iterator[RecordOutcome]:
    """Read every record of an open file, as `read`; `path` is its name in rows.

    Raises:
        OSError: the stream cannot be read.
    """
    reading = _Reading(path, config, max_html_bytes, refusal)
    size = stream.seek(0, SEEK_END)
    for part in _read_parts(stream, config):
        file = f"{path}{MEMBER}{part.within}" if part.within else path
        if file != reading.file:
            reading = _Reading(file, config, max_html_bytes, refusal)
        if isinstance(part, Record):
            if part.kind in _FILE_HEADS:
                reading.begun = parse_record_date(part.date)
            yield reading.outcome(part, size)
        elif isinstance(part, Segment):
            yield reading.segment_outcome(part)
        elif part.cause.is_loss:
            is_foreign = part.cause is Cause.FOREIGN and not part.within
            yield _damage_reject(file, replace(part, detail=_with_remedy(stream, part.detail)) if is_foreign else part)


def read_at(fetched: Fetched, config: InputConfig, max_html_bytes: int, refusal: Refusal) -> Iterator[RecordOutcome]:
    """Read the record that an index named from its bytes alone; more than one where its place holds more.

    The index is right about the first record: the selection checks again only fields that the index leaves out.
    """
    entry, before = fetched.entry, len(fetched.dictionary)

    def first_refusal(of_record: IndexEntry) -> str | None:
        return refusal(_completed(entry, of_record))

    reading = _Reading(entry.path, config, max_html_bytes, first_refusal, entry.timestamp)
    nothing = True
    for part in _read_parts(fetched.stream(), config):
        if part.offset < before:
            continue  # the dictionary is part of every record's bytes, and of none
        moved = part.offset - before + entry.offset
        if isinstance(part, Record):
            record = replace(part, offset=moved, member=part.member - before + entry.offset)
            yield reading.outcome(record, entry.offset + len(fetched.data))
        elif isinstance(part, Segment):
            yield reading.segment_outcome(replace(part, record=replace(part.record, offset=moved)))
        elif part.cause.is_loss:
            yield _damage_reject(entry.path, replace(part, offset=moved, cause=Cause.BROKEN))
        else:
            continue
        nothing, reading = False, _Reading(entry.path, config, max_html_bytes, refusal)
    if nothing:
        yield Reject(
            warc_file=entry.path,
            warc_offset=entry.offset,
            stage=RejectStage.READ,
            reason=RejectReason.BROKEN_RECORD,
            detail="no record where the index says that one is",
        )


def _read_parts(stream: BinaryIO, config: InputConfig) -> Iterator[Record | Damage | Segment]:
    return join_segments(records(stream, Limits.from_config(config)), config.max_record_bytes)


def _completed(entry: IndexEntry, other: IndexEntry) -> IndexEntry:
    return replace(
        entry, mime=entry.mime or other.mime, status=entry.status or other.status, digest=entry.digest or other.digest
    )


def _with_remedy(stream: BinaryIO, detail: str) -> str:
    """Write why a file is no archive, and what to do with it if it is an index. Leaves the stream where it is."""
    at = stream.tell()
    stream.seek(0)
    found = "; ".join(filter(None, (detail, index_file.remedy(stream))))
    stream.seek(at)
    return found


def _damage_reject(path: str, damage: Damage) -> Reject:
    if damage.cause is Cause.FOREIGN:
        return Reject(
            warc_file=path,
            stage=RejectStage.READ,
            reason=RejectReason.NOT_AN_ARCHIVE,
            detail=damage.detail,
            lost_bytes=damage.length,
        )
    lost = f"{damage.length} bytes: " if damage.length else ""  # none, if a check fails at the end of a record
    return Reject(
        warc_file=path,
        warc_offset=damage.offset,
        record_id=damage.record_id,
        url=damage.url,
        stage=RejectStage.READ,
        reason=RejectReason.BROKEN_RECORD,
        detail=lost + damage.detail,
        lost_bytes=damage.length,
    )


@dataclass(slots=True)
class _Reading:
    """One file while it is read: the limits and the selection of its records, and when it was begun."""

    file: str
    config: InputConfig
    max_html_bytes: int
    refusal: Refusal | None
    begun: int | None = None  # microseconds since 1970

    def outcome(self, record: Record, size: int) -> RecordOutcome:
        """Decide a record's outcome, in a file of this size.

        One that is cut is not passed over: nothing else would show that it is, where a page has a flag.
        """
        decided = self._decide(record)
        lack = self._lack(record, size) if isinstance(decided, Skip) else ""
        return self._reject(record, RejectReason.BROKEN_RECORD, lack) if lack else decided

    def _decide(self, record: Record) -> RecordOutcome:
        """Decide a record's outcome, by the filters in the order in which they cost least, then by its payload."""
        kind = record.kind
        if kind not in _SCHEMES:
            if kind == "unknown" and not record.headers.get("warc-type"):
                detail = "it has no WARC-Type, and its Content-Type is not that of a request or a response"
                return self._reject(record, RejectReason.BROKEN_RECORD, detail)
            return Skip(f"type:{kind if kind in _PASSED_OVER else 'unknown'}")
        if kind == "conversion" and mime.declared_type(record.headers.get("content-type")).essence == mime.PLAIN:
            return WET
        if not record.url:
            cut = ", which ends too early" if record.declared_length < 0 else ""
            return self._reject(record, RejectReason.NO_URL, f"no URL in its head{cut}")
        if not record.url.lower().startswith(_SCHEMES[kind]):
            return Skip("scheme")
        if self.refusal and (refused := self._refused(record)):
            return refused
        return self._revisit_outcome(record) if kind == "revisit" else self._response_outcome(record)

    def _lack(self, record: Record, size: int) -> str:
        """Return what a record lacks in which its compressed member or the file, of this size, ends; "" for none."""
        missing = 0 if record.block is None else record.declared_length - len(record.block)
        if missing > 0 and not record.within and record.offset + record.length >= size:
            return f"{missing} bytes of this record lie behind the end of the file"
        if record.flaw is not Flaw.CUT:
            return ""
        lack = f"{missing} bytes" if missing > 0 else "bytes"
        return f"{lack} of this record are missing: its compressed member is cut"

    def segment_outcome(self, segment: Segment) -> RecordOutcome:
        return self._reject(segment.record, RejectReason.SEGMENT_MISSING, segment.lack) if segment.lack else SEGMENT

    def _response_outcome(self, record: Record) -> RecordOutcome:
        """Decide the outcome of a response, resource or conversion: by its HTTP head, then by its body."""
        response = message(record.headers, record.kind, record.beginning if record.block is None else record.block)
        if record.block is None:
            essence = mime.declared_type(response.headers.get("content-type", "")).essence if response else ""
            passed = self._passed_by_head(record, response.status if response else 0, essence)
            return passed or self._reject(record, RejectReason.TOO_LARGE, _too_large(record, self.config))
        if response is None:
            return self._reject(record, RejectReason.BAD_HTTP, f"begins with {record.block[:24]!r}")
        declared = mime.declared_type(response.headers.get("content-type", ""))
        if passed := self._passed_by_head(record, response.status, declared.essence):
            return passed
        dated = self._dated(record)
        if dated is None:
            return self._undated(record)
        try:
            content = http.decode_body(response, max_bytes=self.max_html_bytes, max_ratio=self.config.max_ratio)
        except BodyTooLarge as error:
            limits = "page.max_html_bytes and input.max_ratio set the limit"
            return self._reject(record, RejectReason.TOO_LARGE, f"{error}; {limits}")
        except BodyError as error:
            return self._reject(record, RejectReason.BAD_ENCODING, str(error))
        essence = mime.computed_type(declared.essence, content.html)
        is_cut = content.truncated or record.says_truncated or record.is_short
        if passed := self._passed_by_content(record, declared.essence, essence, content.html):
            return _with_loss(passed, record, is_cut)
        timestamp, by = dated
        capture = self._capture(record, response, replace(declared, essence=essence), timestamp, is_cut)
        digest = capture.payload_digest
        if self.refusal and (refused := self._refused(record, declared.essence or essence, response.status, digest)):
            return refused
        defects: set[http.Defect | DateSource | Flaw] = {*content.defects, *_flaws(record, capture, response, content)}
        return Fetch(capture, content.html, frozenset(defects | {by} if by else defects))

    def _revisit_outcome(self, record: Record) -> RecordOutcome:
        """Decide the outcome of a revisit. The HTTP head that most have is filtered as that of a response is.

        There is no content that could refute a type of XML, such as a drawing's. Its date is its own or none: a revisit
        only says when a page was seen again.
        """
        head = http.split(record.block or b"")
        status = head.status if head else 0
        essence = mime.declared_type(head.headers.get("content-type", "")).essence if head else ""
        if passed := self._passed_by_head(record, 0 if status == NOT_MODIFIED else status, essence):
            return passed
        if essence.endswith("+xml") and essence not in mime.PAGES:
            return Skip("feed" if essence in mime.FEEDS else "mime")
        timestamp = parse_record_date(record.date)
        if timestamp is None:
            return self._undated(record)
        return _revisit(record, self, status, timestamp)

    def _passed_by_head(self, record: Record, status: int, essence: str) -> Skip | Reject | None:
        """Return the outcome of a record that its HTTP head excludes; status 0 and essence "" pass."""
        if status and status not in self.config.statuses:
            return Skip(f"status:{status}")
        if self.refusal and (refused := self._refused(record, essence, status)):
            return refused
        return None if essence in self.config.mimes or mime.is_sniffed(essence) else Skip("mime")

    def _passed_by_content(self, record: Record, declared: str, essence: str, html: bytes) -> Skip | Reject | None:
        """Return the outcome of a record that its body excludes, whatever type was declared."""
        if essence in mime.FEEDS:
            return Skip("feed")
        if essence not in self.config.mimes:
            if declared in self.config.mimes:
                return self._reject(record, RejectReason.NOT_HTML, f"says {declared}, is {essence}")
            return Skip("mime")
        if html.strip():
            return None
        lack = f"{counted(len(html), 'byte')} of white space" if html else "no byte in its body"
        return self._reject(record, RejectReason.EMPTY_PAYLOAD, lack)

    def _refused(self, record: Record, essence: str = "", status: int = 0, digest: str = "") -> Skip | Reject | None:
        """Return the outcome of a record that the selection excludes by the fields read until now; unread fields
        pass."""
        dated = self._dated(record)
        if dated is None:
            return self._undated(record)
        entry = IndexEntry(
            url=record.url,
            timestamp=dated[0],
            digest=normal_digest(record.headers.get("warc-payload-digest") or digest),
            mime=known_mime(essence),
            status=status,
            is_revisit=record.kind == "revisit",
        )
        filter_name = self.refusal(entry) if self.refusal else None
        return None if filter_name is None else Skip(filter_name)

    def _capture(
        self, record: Record, response: http.Response, media_type: mime.MediaType, timestamp: int, is_cut: bool
    ) -> Capture:
        own_digest = payload_digest(response.body)
        declared_digest = normal_digest(record.headers.get("warc-payload-digest"))
        return Capture(
            url=record.url,
            url_key=url_key(record.url),
            site=site_of(record.url, self.config.site),
            timestamp=timestamp,
            warc_file=self.file,
            warc_offset=record.offset,
            warc_length=record.length,
            record_id=arc_id(record.url, record.date, own_digest) if record.is_arc else record.record_id,
            payload_digest=own_digest,
            http_status=response.status,
            mime=media_type.essence,
            declared_charset=media_type.charset,
            truncated=is_cut,
            record_type=record.kind,
            declared_digest="" if declared_digest == own_digest else declared_digest,
            item_title=record.headers.get(ITEM_TITLE.lower()),
            item_link=record.headers.get(ITEM_LINK.lower()),
        )

    def _dated(self, record: Record) -> tuple[int, DateSource | None] | None:
        """Return a capture's time, and its source if that is not its record; None where there is no date."""
        own = parse_record_date(record.date)
        if own is not None:
            return own, None
        if record.kind == "revisit":
            return None
        if (by_url := replayed_date(record.url)) is not None:
            return by_url, DateSource.URL
        response = http.split(record.block or b"")
        sent = parse_date(response.headers.get("date", "")) if response else None
        if sent is not None and sent >= EARLIEST:
            return sent, DateSource.HTTP
        return None if self.begun is None else (self.begun, DateSource.FILE)

    def _undated(self, record: Record) -> Reject:
        named = f"its date is {record.date!r}, and nothing else dates it" if record.date else ""
        detail = named or "no date in its head, and nothing else that dates it"
        return self._reject(record, RejectReason.BAD_TIMESTAMP, detail)

    def _reject(self, record: Record, reason: RejectReason, detail: str) -> Reject:
        return Reject(
            warc_file=self.file,
            warc_offset=record.offset,
            record_id=record.record_id,
            url=record.url,
            stage=RejectStage.READ,
            reason=reason,
            detail=detail,
        )


def _too_large(record: Record, config: InputConfig) -> str:
    return f"{record.declared_length} bytes in one record; input.max_record_bytes is {config.max_record_bytes}"


def _with_loss(outcome: Skip | Reject, record: Record, is_cut: bool) -> Skip | Reject:
    """Return the outcome of a record by its body; the detail of a reject also says whether that is cut or damaged."""
    loss = "the record, or its body, is cut" if is_cut else "the record fails its check"
    if isinstance(outcome, Skip) or not (is_cut or record.flaw is Flaw.DAMAGED):
        return outcome
    return replace(outcome, detail=f"{outcome.detail}; {loss}")


def _flaws(record: Record, capture: Capture, response: http.Response, content: http.HttpContent) -> Iterator[Flaw]:
    """Iterate over the flags of a record whose bytes may be others than were written, beside that of a cut one."""
    if record.flaw is Flaw.DAMAGED:
        yield Flaw.DAMAGED
    is_proven = capture.payload_digest == normal_digest(record.headers.get("warc-payload-digest"))
    if not is_proven and not capture.truncated and record_digest.differs(record, response.body, content.html):
        yield Flaw.DIFFERS


def message(headers: Mapping[str, str], kind: str, block: bytes) -> http.Response | None:
    """Parse the response in a record of this head and kind; return None if there is none. A resource or conversion is a
    body, whose type the record's head declares."""
    content_type = headers.get("content-type", "")
    if kind == "response" or mime.declared_type(content_type).essence == "application/http":
        return http.parse(block)
    return http.Response(0, {"content-type": content_type}, block)


def _revisit(record: Record, reading: _Reading, status: int, timestamp: int) -> Revisit:
    header = record.headers.get
    own_key, target = url_key(record.url), header("warc-refers-to-target-uri").strip("<> ")
    return Revisit(
        url=record.url,
        url_key=own_key,
        site=site_of(record.url, reading.config.site),
        timestamp=timestamp,
        warc_file=reading.file,
        warc_offset=record.offset,
        warc_length=record.length,
        record_id=record.record_id,
        http_status=status,
        is_unmodified=status == NOT_MODIFIED or "not-modified" in header("warc-profile").lower(),
        digest=normal_digest(header("warc-payload-digest")),
        refers_to_id=header("warc-refers-to"),
        refers_to_key=url_key(target) if target else own_key,
        refers_to_time=parse_record_date(header("warc-refers-to-date")),
    )


def arc_id(url: str, date: str, payload_digest: str) -> str:
    """Make an id for a record of ARC, which has none: the same wherever the record lies.

    A UUID of version 5 (RFC 9562 5.5) of "URL DATE DIGEST", the date as the record has it, in the name space of URLs.
    """
    return f"<{uuid5(NAMESPACE_URL, f'{url} {date} {payload_digest}').urn}>"


def site_of(url: str, kind: str) -> str:
    """Return the site of a URL by `input.site`: registered domain, host, or "" (all captures are one site)."""
    if kind == "none":
        return ""
    host = host_of(url)
    return domain_of(host) if kind == "domain" else host
