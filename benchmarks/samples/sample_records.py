"""WARC records of a fetch, and the files they go to. Nothing in them is random: ids are digests, dates are the crawl's."""

from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Self
from uuid import UUID

from warcio.recordbuilder import RecordBuilder
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.samples.sample_crawl import Fetch
from benchmarks.samples.sample_server import dated
from dbce_spark.files.timestamps import warc_date
from dbce_spark.model import digest

VERSION = "WARC/1.1"
BUILDER = RecordBuilder(warc_version=VERSION)

FILE_BYTES = 100_000_000
"""A new file begins after so many bytes of records' blocks, before compression."""


@dataclass(frozen=True, slots=True)
class Place:
    """The location of a record."""

    filename: str
    offset: int
    length: int


class WarcFiles:
    """The files of one crawl. As a context it closes the last of them."""

    def __init__(self, folder: Path, day: str) -> None:
        self._folder = folder
        self._day = day
        self._file: BinaryIO | None = None
        self._writer: WARCWriter | None = None
        self._name = ""
        self._info = ""
        self._plain_bytes = 0
        self.files = 0
        self.records = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def write(self, fetch: Fetch, digest_of_body: str) -> Place:
        """Write the request and the response (or revisit) of a fetch; return the location of the latter."""
        if self._file is None or self._plain_bytes > FILE_BYTES:
            self._begin(fetch.requested)
        reply = _record_id("response", fetch.url, warc_date(fetch.answered))
        request = {
            "WARC-Record-ID": _record_id("request", fetch.url, warc_date(fetch.requested)),
            "WARC-Date": warc_date(fetch.requested),
        }
        self._append(_request(fetch, request | {"WARC-Warcinfo-ID": self._info, "WARC-Concurrent-To": reply}))
        response = {"WARC-Record-ID": reply, "WARC-Date": warc_date(fetch.answered), "WARC-Warcinfo-ID": self._info}
        response["WARC-IP-Address"] = f"192.0.2.{sum(fetch.site.host.encode()) % 254 + 1}"
        make = _revisit if fetch.again else _response
        return self._append(make(fetch, digest_of_body, response))

    def close(self) -> None:
        """Close the file that is open, so that the next record begins another."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self, when: datetime) -> None:
        self.close()
        self._name = f"crawl-{self._day}-{self.files:05d}.warc.gz"
        self._file = (self._folder / self._name).open("wb")
        self._writer = WARCWriter(self._file, gzip=True, warc_version=VERSION)
        self.files += 1
        self._plain_bytes = 0
        self._info = _record_id("warcinfo", self._name, warc_date(when))
        self._append(
            _warcinfo({"WARC-Record-ID": self._info, "WARC-Date": warc_date(when), "WARC-Filename": self._name})
        )

    def _append(self, record: ArcWarcRecord) -> Place:
        assert self._file is not None
        assert self._writer is not None
        offset = self._file.tell()
        self._writer.write_record(record)
        self._plain_bytes += record.length
        self.records += 1
        return Place(self._name, offset, self._file.tell() - offset)


def _record_id(*parts: str) -> str:
    return f"<urn:uuid:{UUID(hex=digest(*parts))}>"


def _warcinfo(headers: dict[str, str]) -> ArcWarcRecord:
    text = b"software: dbce sample-archive\r\nformat: WARC File Format 1.1\r\ndescription: invented pages with known labels\r\n"
    return BUILDER.create_warc_record(
        "", "warcinfo", payload=BytesIO(text), length=len(text), warc_headers_dict=headers
    )


def _request(fetch: Fetch, headers: dict[str, str]) -> ArcWarcRecord:
    request_headers = [
        ("Host", fetch.site.host),
        ("User-Agent", "samplebot/1.0"),
        ("Accept", "*/*"),
        ("Accept-Encoding", "gzip"),
    ]
    http = StatusAndHeaders(f"GET {fetch.answer.path} HTTP/1.1", request_headers, is_http_request=True)
    return BUILDER.create_warc_record(fetch.url, "request", http_headers=http, warc_headers_dict=headers)


def _response(fetch: Fetch, digest_of_body: str, headers: dict[str, str]) -> ArcWarcRecord:
    headers["WARC-Payload-Digest"] = digest_of_body  # given here, warcio does not compute it again
    return response_record(fetch.url, _http(fetch), fetch.answer.body, headers)


def response_record(url: str, http: StatusAndHeaders, body: bytes, headers: dict[str, str]) -> ArcWarcRecord:
    """Make a record of an answer; `headers` are those of WARC."""
    return BUILDER.create_warc_record(
        url, "response", payload=BytesIO(body), length=len(body), http_headers=http, warc_headers_dict=headers
    )


def _revisit(fetch: Fetch, digest_of_body: str, headers: dict[str, str]) -> ArcWarcRecord:
    return BUILDER.create_revisit_record(
        fetch.url,
        digest_of_body,
        fetch.url,
        warc_date(fetch.first_answered),
        http_headers=_http(fetch),
        warc_headers_dict=headers,
    )


def _http(fetch: Fetch) -> StatusAndHeaders:
    return StatusAndHeaders(fetch.answer.status, dated(fetch.answer, fetch.answered), protocol="HTTP/1.1")
