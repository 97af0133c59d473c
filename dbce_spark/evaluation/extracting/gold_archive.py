"""Gold pages as a web archive with its index, so that what reads archives can be measured on them.

Nothing in it is random: ids are digests, dates are the pages', and the same pages give the same bytes.
"""

import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from warcio.recordbuilder import RecordBuilder
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.files import storage, timestamps
from dbce_spark.model import Capture, digest

INDEX = "index.cdxj"

PAGES_A_FILE = 128
"""The job reads a file by one task: a set of some hundred pages then has work for all cores of a laptop."""

_VERSION = "WARC/1.1"
_BUILDER = RecordBuilder(warc_version=_VERSION)


def write(pages: Sequence[GoldPage], folder: Path) -> list[Path]:
    """Write the pages as `gold-*.warc.gz`, a gzip member a record, with `index.cdxj`; return the archive's files.

    Each page is a response at its `address`, at its time (1970-01-01 where that is unknown), in UTF-8. The index
    has the `dataset` and `page_id` of each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    index: list[str] = []
    for at, start in enumerate(range(0, len(pages), PAGES_A_FILE)):
        files.append(folder / f"gold-{at:05d}.warc.gz")
        with storage.atomic_file(str(files[-1])) as stream:
            index += _write_file(stream, files[-1].name, pages[start : start + PAGES_A_FILE])
    storage.write(str(folder / INDEX), "".join(sorted(index)).encode())
    return files


def record_id(page: GoldPage) -> str:
    """Return the WARC-Record-ID of a page's response."""
    return _urn("response", page.dataset, page.page_id)


def _write_file(stream: BinaryIO, name: str, pages: Sequence[GoldPage]) -> Iterator[str]:
    """Write one file; iterate over the lines of its index."""
    writer = WARCWriter(stream, gzip=True, warc_version=_VERSION)
    info = _urn("warcinfo", name, *(page.page_id for page in pages))
    writer.write_record(_warcinfo(name, info, pages[0].timestamp))
    for page in pages:
        offset = stream.tell()
        capture = page.fetch(offset).capture
        writer.write_record(_response(page, capture, info))
        yield _index_line(page, capture, name, stream.tell() - offset)


def _warcinfo(name: str, urn: str, timestamp: int) -> ArcWarcRecord:
    text = b"software: dbce evaluate\r\nformat: WARC File Format 1.1\r\ndescription: pages with known main text\r\n"
    headers = {
        "WARC-Record-ID": urn,
        "WARC-Date": timestamps.warc_date(timestamps.to_datetime(timestamp)),
        "WARC-Filename": name,
    }
    return _BUILDER.create_warc_record(
        "", "warcinfo", payload=BytesIO(text), length=len(text), warc_headers_dict=headers
    )


def _response(page: GoldPage, capture: Capture, info: str) -> ArcWarcRecord:
    headers = {
        "WARC-Record-ID": record_id(page),
        "WARC-Date": timestamps.warc_date(timestamps.to_datetime(capture.timestamp)),
        "WARC-Warcinfo-ID": info,
        "WARC-Payload-Digest": capture.payload_digest,
    }
    body = page.body
    fields = [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(body)))]
    return _BUILDER.create_warc_record(
        capture.url,
        "response",
        payload=BytesIO(body),
        length=len(body),
        http_headers=StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1"),
        warc_headers_dict=headers,
    )


def _index_line(page: GoldPage, capture: Capture, file: str, length: int) -> str:
    """Write the line of a page, whose record has so many bytes of a file."""
    fields = {
        "url": capture.url,
        "mime": capture.mime,
        "status": str(capture.http_status),
        "digest": capture.payload_digest,
        "length": str(length),
        "offset": str(capture.warc_offset),
        "filename": file,
        "dataset": page.dataset,
        "page_id": page.page_id,
    }
    return f"{capture.url_key} {timestamps.digits(capture.timestamp)} {json.dumps(fields)}\n"


def _urn(*parts: str) -> str:
    return f"<urn:uuid:{UUID(hex=digest(*parts))}>"
