"""(W)ARC files to captures: each record comes out once, as a capture with its body, as a reject, or as skipped."""

import hashlib
import re
from base64 import b32encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import urlsplit

import surt
import tldextract

from dbce_spark import body as http
from dbce_spark.config import InputConfig
from dbce_spark.model import Capture
from dbce_spark.records import Record, records
from dbce_spark.rejects import Reason, Reject, Skip, Stage
from dbce_spark.sources import open_binary

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s\"';,]+)", re.IGNORECASE)
_HTML_START = re.compile(
    rb"\s*<(?:!doctype\s+html|html|head|body|title|table|h1|div|p|font|a|script|style|br|b)[\s>]", re.I
)
_KINDS = ("warcinfo", "arc_header", "request", "metadata", "resource", "revisit", "conversion", "continuation")
# ClueWeb09 writes the day of the year behind the month: 2008-10-294T05:21:46-0700, 2009-03-67T15:35:40-0700.
_DAY_OF_YEAR = re.compile(r"\d{4}-\d\d-(?:\d{3}|3[2-9]|[4-9]\d|\d)T")

_registered = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


@dataclass(frozen=True, slots=True)
class Fetch:
    """A capture and its HTML, its transfer and content encodings undone."""

    capture: Capture
    html: bytes


def read(path: str, config: InputConfig, max_html_bytes: int) -> Iterator[Fetch | Reject | Skip]:
    """Every record of one file, in its order."""
    try:
        with open_binary(path) as stream:
            for found in records(stream, config.max_record_bytes):
                if isinstance(found, Record):
                    yield _sorted(found, path, config, max_html_bytes)
                else:
                    reason = Reason.NOT_AN_ARCHIVE if found.offset < 0 else Reason.BROKEN_RECORD
                    yield _file_reject(path, found.offset, reason, found.detail)
    except OSError as error:
        yield _file_reject(path, -1, Reason.FILE_UNREADABLE, str(error))


def _file_reject(path: str, offset: int, reason: Reason, detail: str) -> Reject:
    return Reject(
        warc_file=path, warc_offset=offset, record_id="", url="", stage=Stage.READ, reason=reason, detail=detail
    )


def _sorted(record: Record, path: str, config: InputConfig, max_html_bytes: int) -> Fetch | Reject | Skip:
    """A record's fate: the filters in the order in which they cost least, then the payload."""
    if record.kind != "response":
        return Skip(f"type:{record.kind if record.kind in _KINDS else 'unknown'}")
    if not record.url:
        return _reject(record, path, Reason.NO_URL, "")
    if not record.url.lower().startswith(("http://", "https://")):
        return Skip("scheme")
    if record.block is None:
        return _reject(record, path, Reason.TOO_LARGE, f"{record.declared_length} bytes in one record")
    response = http.split(record.block)
    if response is None:
        return _reject(record, path, Reason.BAD_HTTP, f"begins with {record.block[:24]!r}")
    if response.status not in config.statuses:
        return Skip(f"status:{response.status}")
    mime, charset = _content_type(response.headers.get("content-type", ""))
    if mime not in config.mimes and (mime or not _HTML_START.match(response.body[:512])):
        return Skip("mime")
    timestamp = _microseconds(record.date)
    if timestamp is None:
        return _reject(record, path, Reason.BAD_TIMESTAMP, record.date)
    try:
        html = http.decoded(response, max_html_bytes)
    except http.BodyTooLarge as error:
        return _reject(record, path, Reason.TOO_LARGE, str(error))
    except http.BodyError as error:
        return _reject(record, path, Reason.BAD_ENCODING, str(error))
    if not html.strip():
        return _reject(record, path, Reason.EMPTY_PAYLOAD, "")
    return Fetch(_capture(record, path, response, mime, charset, timestamp, config), html)


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
) -> Capture:
    block_length = 0 if record.block is None else len(record.block)
    return Capture(
        url=record.url,
        url_key=url_key(record.url),
        site=site_of(record.url, config.site),
        timestamp=timestamp,
        warc_file=path,
        warc_offset=record.offset,
        warc_length=record.length,
        record_id=record.record_id,
        payload_digest="sha1:" + b32encode(hashlib.sha1(response.body, usedforsecurity=False).digest()).decode(),
        http_status=response.status,
        mime=mime,
        declared_charset=charset,
        truncated=record.says_truncated or block_length < record.declared_length,
    )


def _content_type(header: str) -> tuple[str, str]:
    """("text/html", "utf-8") of "text/html; charset=utf-8"."""
    charset = _CHARSET.search(header)
    return header.partition(";")[0].strip().lower(), charset[1].lower() if charset else ""


def _microseconds(date: str) -> int | None:
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


def url_key(url: str) -> str:
    """The SURT key of a URL, by the Internet Archive's canonicalisation; the URL itself where that fails."""
    try:
        return str(surt.surt(url))
    except Exception:  # the library raises whatever urllib does on a broken URL; such a URL is its own key
        return url


def site_of(url: str, kind: str) -> str:
    """The site of a URL by `input.site`: registered domain, host, or "" (all captures are one site)."""
    if kind == "none":
        return ""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return _domain(host) if kind == "domain" else host


@lru_cache(maxsize=65_536)
def _domain(host: str) -> str:
    """The registered domain; under a top level that the Public Suffix List lacks, the last two labels (rule "*")."""
    found = _registered.extract_str(host)
    if found.top_domain_under_public_suffix or found.suffix or found.ipv4 or found.ipv6:
        return found.top_domain_under_public_suffix or host
    return ".".join(host.rsplit(".", 2)[-2:])
