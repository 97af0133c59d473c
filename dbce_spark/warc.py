"""(W)ARC files to captures: each record comes out once, as a capture with its body, as a reject, or as skipped."""

import hashlib
import re
from base64 import b32encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import BinaryIO
from uuid import NAMESPACE_URL, uuid5

from dbce_spark import body as http
from dbce_spark import mime
from dbce_spark.config import InputConfig
from dbce_spark.model import Capture, Revisit
from dbce_spark.records import Cause, Damage, Limits, Record, records
from dbce_spark.rejects import Reason, Reject, Skip, Stage
from dbce_spark.segments import Segment, joined
from dbce_spark.selection.entry import Entry, entry_of_record, normal_digest
from dbce_spark.selection.fetch import Fetched
from dbce_spark.selection.place import shown
from dbce_spark.selection.urls import domain_of, host_of
from dbce_spark.selection.urls import url_key as url_key
from dbce_spark.sources import open_binary

Refusal = Callable[[Entry], str | None]
"""What a selection says of a record, by what is known of it: the filter that it does not fit, None if it may go on."""

SEGMENT = Skip("segment")
"""A continuation: what it holds is in the record that it continues."""
WET = Skip("conversion:text")
"""A text that was made of a page: it has no structure, so nothing here can be said of it."""

_KINDS = ("warcinfo", "arc_header", "request", "metadata", "revisit", "continuation")
_WEB = ("http://", "https://")
# A resource is what the crawler had without asking a web server for it; a conversion is made of one of the others.
_SCHEMES = {
    "response": _WEB,
    "revisit": _WEB,
    "resource": (*_WEB, "ftp://", "ftps://", "file://"),
    "conversion": (*_WEB, "ftp://", "ftps://", "file://"),
}
_NOT_MODIFIED = 304
# ClueWeb09 writes the day of the year behind the month: 2008-10-294T05:21:46-0700, 2009-03-67T15:35:40-0700.
_DAY_OF_YEAR = re.compile(r"\d{4}-\d\d-(?:\d{3}|3[2-9]|[4-9]\d|\d)T")


@dataclass(frozen=True, slots=True)
class Fetch:
    """A capture and its HTML, its transfer and content encodings undone; `defects` says what was wrong with it."""

    capture: Capture
    html: bytes
    defects: frozenset[http.Defect] = frozenset()


def read(
    path: str, config: InputConfig, max_html_bytes: int, refusal: Refusal | None = None
) -> Iterator[Fetch | Revisit | Reject | Skip]:
    """Every record of one file, in its order; those that a selection refuses as skipped."""
    try:
        with open_binary(path) as stream:
            for found in _found(stream, config):
                file = f"{path}#{found.within}" if found.within else path
                if isinstance(found, Record):
                    yield _sorted(found, file, config, max_html_bytes, refusal)
                elif isinstance(found, Segment):
                    yield _segment(found, file)
                elif found.cause.is_loss:
                    yield _damage_reject(file, found)
    except OSError as error:
        yield _file_reject(path, -1, Reason.FILE_UNREADABLE, str(error))


def read_at(
    found: Fetched, config: InputConfig, max_html_bytes: int, refusal: Refusal
) -> Iterator[Fetch | Revisit | Reject | Skip]:
    """The record that an index named, from its bytes alone; more than one where its place holds more.

    What the index has said of the first holds: the selection is asked again only about what the index did not say.
    """
    entry, before = found.entry, len(found.dictionary)
    file = shown(entry.path)
    asked: Refusal = lambda told: refusal(_completed(entry, told))  # noqa: E731  # its closure is its point
    nothing = True
    for one in _found(found.stream(), config):
        if one.offset < before:
            continue  # the dictionary is part of every record's bytes, and of none
        moved = one.offset - before + entry.offset
        if isinstance(one, Record):
            placed = replace(one, offset=moved, member=one.member - before + entry.offset)
            yield _sorted(placed, file, config, max_html_bytes, asked)
        elif isinstance(one, Segment):
            yield _segment(replace(one, record=replace(one.record, offset=moved)), file)
        elif one.cause.is_loss:
            yield _damage_reject(file, replace(one, offset=moved, cause=Cause.BROKEN))
        else:
            continue
        nothing, asked = False, refusal
    if nothing:
        yield _file_reject(file, entry.offset, Reason.BROKEN_RECORD, "no record where the index says that one is")


def _found(stream: BinaryIO, config: InputConfig) -> Iterator[Record | Damage | Segment]:
    most = config.max_record_bytes
    return joined(records(stream, Limits(record_bytes=most)), most)


def _completed(entry: Entry, told: Entry) -> Entry:
    return replace(
        entry, mime=entry.mime or told.mime, status=entry.status or told.status, digest=entry.digest or told.digest
    )


def _damage_reject(path: str, damage: Damage) -> Reject:
    if damage.cause is Cause.FOREIGN:
        return _file_reject(path, -1, Reason.NOT_AN_ARCHIVE, damage.detail, damage.length)
    detail = f"{damage.length} bytes: {damage.detail}"
    return _file_reject(path, damage.offset, Reason.BROKEN_RECORD, detail, damage.length)


def _file_reject(path: str, offset: int, reason: Reason, detail: str, lost_bytes: int = 0) -> Reject:
    return Reject(
        warc_file=path,
        warc_offset=offset,
        record_id="",
        url="",
        stage=Stage.READ,
        reason=reason,
        detail=detail,
        lost_bytes=lost_bytes,
    )


def _sorted(
    record: Record, path: str, config: InputConfig, max_html_bytes: int, refusal: Refusal | None
) -> Fetch | Revisit | Reject | Skip:
    """A record's fate: the filters in the order in which they cost least, then the payload."""
    kind = record.kind
    if kind not in _SCHEMES:
        return Skip(f"type:{kind if kind in _KINDS else 'unknown'}")
    if kind == "conversion" and mime.declared(record.headers.get("content-type")).essence == mime.PLAIN:
        return WET
    if not record.url:
        return _reject(record, path, Reason.NO_URL, "")
    if not record.url.lower().startswith(_SCHEMES[kind]):
        return Skip("scheme")
    if refusal and (refused := _refused(record, path, refusal)):
        return refused
    if kind == "revisit":
        return _revisit(record, path, config, refusal)
    if record.block is None:
        return _reject(record, path, Reason.TOO_LARGE, f"{record.declared_length} bytes in one record")
    response = _message(record, record.block)
    if response is None:
        return _reject(record, path, Reason.BAD_HTTP, f"begins with {record.block[:24]!r}")
    if response.status and response.status not in config.statuses:
        return Skip(f"status:{response.status}")
    said = mime.declared(response.headers.get("content-type", ""))
    if refusal and (refused := _refused(record, path, refusal, said.essence, response.status)):
        return refused
    if said.essence not in config.mimes and not mime.is_sniffed(said.essence):
        return Skip("mime")
    timestamp = microseconds(record.date)
    if timestamp is None:
        return _reject(record, path, Reason.BAD_TIMESTAMP, record.date)
    try:
        content = http.content(response, max_bytes=max_html_bytes, max_ratio=config.max_ratio)
    except http.BodyTooLarge as error:
        return _reject(record, path, Reason.TOO_LARGE, str(error))
    except http.BodyError as error:
        return _reject(record, path, Reason.BAD_ENCODING, str(error))
    found = mime.computed(said.essence, content.html)
    if found in mime.FEEDS:
        return Skip("feed")
    if found not in config.mimes:
        if said.essence in config.mimes:
            return _reject(record, path, Reason.NOT_HTML, f"says {said.essence}, is {found}")
        return Skip("mime")
    if not content.html.strip():
        return _reject(record, path, Reason.EMPTY_PAYLOAD, "")
    capture = _capture(record, path, response, found, said.charset, timestamp, config, content.truncated)
    if refusal and (
        refused := _refused(record, path, refusal, said.essence or found, response.status, capture.payload_digest)
    ):
        return refused
    return Fetch(capture, content.html, content.defects)


def _message(record: Record, block: bytes) -> http.Response | None:
    """What a record holds. A resource or conversion is a body, and the record's head says of which type."""
    said = record.headers.get("content-type")
    if record.kind == "response" or mime.declared(said).essence == "application/http":
        return http.message(block)
    return http.Response(0, {"content-type": said}, block)


def _revisit(record: Record, path: str, config: InputConfig, refusal: Refusal | None) -> Revisit | Reject | Skip:
    """What a revisit says of itself. The HTTP head that most have is filtered by as that of a response is."""
    head = http.split(record.block or b"")
    status = head.status if head else 0
    essence = mime.declared(head.headers.get("content-type", "")).essence if head else ""
    if status not in (0, _NOT_MODIFIED, *config.statuses):
        return Skip(f"status:{status}")
    if refusal and (refused := _refused(record, path, refusal, essence, 0 if status == _NOT_MODIFIED else status)):
        return refused
    if essence not in config.mimes and not mime.is_sniffed(essence):
        return Skip("mime")
    timestamp = microseconds(record.date)
    if timestamp is None:
        return _reject(record, path, Reason.BAD_TIMESTAMP, record.date)
    said = record.headers.get
    own_key, target = url_key(record.url), said("warc-refers-to-target-uri").strip("<> ")
    return Revisit(
        url=record.url,
        url_key=own_key,
        site=site_of(record.url, config.site),
        timestamp=timestamp,
        warc_file=path,
        warc_offset=record.offset,
        warc_length=record.length,
        record_id=record.record_id,
        http_status=status,
        is_unmodified=status == _NOT_MODIFIED or "not-modified" in said("warc-profile").lower(),
        digest=normal_digest(said("warc-payload-digest")),
        refers_to_id=said("warc-refers-to"),
        refers_to_key=url_key(target) if target else own_key,
        refers_to_time=microseconds(said("warc-refers-to-date")),
    )


def _segment(found: Segment, path: str) -> Reject | Skip:
    return _reject(found.record, path, Reason.SEGMENT_MISSING, found.lack) if found.lack else SEGMENT


def _refused(
    record: Record, path: str, refusal: Refusal, essence: str = "", status: int = 0, digest: str = ""
) -> Skip | Reject | None:
    """What a selection says of a record by what is known of it until now; what is not known yet passes."""
    timestamp = microseconds(record.date)
    if timestamp is None:
        return _reject(record, path, Reason.BAD_TIMESTAMP, record.date)
    told = entry_of_record(
        url=record.url,
        timestamp=timestamp,
        digest=record.headers.get("warc-payload-digest") or digest,
        mime=essence,
        status=status,
        is_revisit=record.kind == "revisit",
    )
    filter_name = refusal(told)
    return None if filter_name is None else Skip(filter_name)


def _reject(record: Record, path: str, reason: Reason, detail: str) -> Reject:
    return Reject(
        warc_file=path,
        warc_offset=record.offset,
        record_id=record.record_id,
        url=record.url,
        stage=Stage.READ,
        reason=reason,
        detail=detail,
    )


def _capture(
    record: Record,
    path: str,
    response: http.Response,
    mime: str,
    charset: str,
    timestamp: int,
    config: InputConfig,
    is_cut: bool,
) -> Capture:
    block_length = 0 if record.block is None else len(record.block)
    payload_digest = "sha1:" + b32encode(hashlib.sha1(response.body, usedforsecurity=False).digest()).decode()
    declared_digest = normal_digest(record.headers.get("warc-payload-digest"))
    return Capture(
        url=record.url,
        url_key=url_key(record.url),
        site=site_of(record.url, config.site),
        timestamp=timestamp,
        warc_file=path,
        warc_offset=record.offset,
        warc_length=record.length,
        record_id=arc_id(record.url, record.date, payload_digest) if record.is_arc else record.record_id,
        payload_digest=payload_digest,
        http_status=response.status,
        mime=mime,
        declared_charset=charset,
        truncated=is_cut or record.says_truncated or block_length < record.declared_length,
        record_type=record.kind,
        declared_digest="" if declared_digest == payload_digest else declared_digest,
    )


def arc_id(url: str, date: str, payload_digest: str) -> str:
    """An id for a record of ARC, which has none: the same wherever the record lies.

    A UUID of version 5 (RFC 9562 5.5) of "URL DATE DIGEST", the date as the record has it, in the name space of URLs.
    """
    return f"<{uuid5(NAMESPACE_URL, f'{url} {date} {payload_digest}').urn}>"


@lru_cache(maxsize=1024)  # a selection asks for a record's up to four times
def microseconds(date: str) -> int | None:
    """Microseconds since 1970 of a WARC date (ISO 8601, any precision) or an ARC date (8 to 14 digits)."""
    try:
        if date.isdigit():
            moment = datetime.strptime(date.ljust(14, "0")[:14], "%Y%m%d%H%M%S")
        elif _DAY_OF_YEAR.match(date):
            moment = datetime.strptime(date[:5] + date[8:], "%Y-%jT%H:%M:%S%z")
        else:
            moment = datetime.fromisoformat(date)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def site_of(url: str, kind: str) -> str:
    """The site of a URL by `input.site`: registered domain, host, or "" (all captures are one site)."""
    if kind == "none":
        return ""
    host = host_of(url)
    return domain_of(host) if kind == "domain" else host
