"""What was fetched, as WARC files that others see when they are whole."""

import os
import shutil
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit
from uuid import uuid4

from warcio.recordbuilder import RecordBuilder
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import dbce_spark
from dbce_spark.archive.warc import ITEM_LINK, ITEM_TITLE
from dbce_spark.errors import OutputError
from dbce_spark.files import storage, timestamps
from dbce_spark.streaming.feeds.feed_item import Item
from dbce_spark.streaming.feeds.web_request import WebExchange

_VERSION = "WARC/1.1"
_BUILDER = RecordBuilder(warc_version=_VERSION)


class FeedArchive:
    """One open WARC file in `folder`; those that are closed go to `output`, a folder or a URL.

    A file in `folder` holds as far as whoever writes has noted; what lies behind is of a page that was not noted.
    """

    def __init__(self, folder: Path, output: str, user_agent: str):
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._output = output.rstrip("/")
        self._user_agent = user_agent
        self._file: BinaryIO | None = None
        self._info = ""
        self.name = ""
        """Of the open file; "" if there is none."""
        self.began: datetime | None = None
        """When it was begun."""

    def write(self, item: Item, exchanges: list[WebExchange]) -> int:
        """Writes how the page of an item was come by, redirects first; returns how far the open file holds then."""
        file = self._opened()
        writer = WARCWriter(file, gzip=True, warc_version=_VERSION)
        for exchange in exchanges:
            is_page = exchange is exchanges[-1]
            reply = _new_id()
            writer.write_record(self._request(exchange, reply))
            writer.write_record(self._response(exchange, reply, item if is_page else None))
            if is_page:
                writer.write_record(self._metadata(exchange, reply, item))
        file.flush()
        os.fsync(file.fileno())
        return file.tell()

    def close(self) -> str:
        """Closes the open file; returns its name."""
        if self._file is not None:
            self._file.close()
        name, self._file, self.name, self.began = self.name, None, "", None
        return name

    def hand_over(self, name: str, size: int) -> None:
        """Gives a closed file, as far as it holds, to the output; nothing, if that was done before.

        Raises:
            OutputError: the output cannot be written.
        """
        path = self._folder / name
        if not path.exists():
            return
        if path.stat().st_size > size:
            os.truncate(path, size)
        try:
            with path.open("rb") as whole, storage.atomic_file(f"{self._output}/{name}") as target:
                shutil.copyfileobj(whole, target, 1 << 20)
        except Exception as error:  # each store has exceptions of its own
            raise OutputError(f"{self._output}: cannot be written: {type(error).__name__}: {error}") from error
        path.unlink()

    def clear(self, known: set[str]) -> None:
        """Removes files in the folder of which nothing was noted."""
        for path in self._folder.glob("*.warc.gz"):
            if path.name not in known:
                path.unlink()

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self.began = datetime.now(UTC)
            self.name = f"acquired-{self.began:%Y%m%dT%H%M%S%f}Z-{uuid4().hex[:8]}.warc.gz"
            self._file = (self._folder / self.name).open("wb")
            self._info = _new_id()
            WARCWriter(self._file, gzip=True, warc_version=_VERSION).write_record(self._warcinfo(self.began))
        return self._file

    def _warcinfo(self, began: datetime) -> ArcWarcRecord:
        told = {
            "software": f"dbce-spark/{dbce_spark.__version__}",
            "format": "WARC File Format 1.1",
            "robots": "obey",
            "http-header-user-agent": self._user_agent,
        }
        headers = {"WARC-Record-ID": self._info, "WARC-Date": timestamps.warc_date(began), "WARC-Filename": self.name}
        return _record("warcinfo", "", _fields(told), "application/warc-fields", headers)

    def _request(self, exchange: WebExchange, reply: str) -> ArcWarcRecord:
        target = urlsplit(exchange.url)
        place = target.path + (f"?{target.query}" if target.query else "")
        head = StatusAndHeaders(f"GET {place} HTTP/1.1", [*exchange.asked], is_http_request=True)
        headers = self._headers(exchange, _new_id()) | {"WARC-Concurrent-To": reply}
        return _record("request", exchange.url, b"", "application/http; msgtype=request", headers, head)

    def _response(self, exchange: WebExchange, reply: str, item: Item | None) -> ArcWarcRecord:
        # The library escapes what is not ASCII in headers, and fails on the phrase of a server that speaks French.
        reason = exchange.reason.encode("ascii", "replace").decode()
        head = StatusAndHeaders(f"{exchange.status} {reason}".strip(), [*exchange.headers], "HTTP/1.1")
        headers = self._headers(exchange, reply)
        if exchange.cut:
            headers["WARC-Truncated"] = exchange.cut
        if item is not None:
            said = {ITEM_TITLE: _line(item.title), ITEM_LINK: _line(item.link)}
            headers |= {name: value for name, value in said.items() if value}
        return _record("response", exchange.url, exchange.body, "application/http; msgtype=response", headers, head)

    def _metadata(self, exchange: WebExchange, reply: str, item: Item) -> ArcWarcRecord:
        told = {"via": item.feed, "link": item.link, "title": item.title, "date": item.date}
        told["description"] = item.description
        headers = self._headers(exchange, _new_id()) | {"WARC-Concurrent-To": reply}
        return _record("metadata", exchange.url, _fields(told), "application/warc-fields", headers)

    def _headers(self, exchange: WebExchange, record_id: str) -> dict[str, str]:
        return {
            "WARC-Record-ID": record_id,
            "WARC-Date": timestamps.warc_date(exchange.began),
            "WARC-Warcinfo-ID": self._info,
        }


def _record(
    kind: str, url: str, body: bytes, content_type: str, headers: dict[str, str], head: StatusAndHeaders = None
) -> ArcWarcRecord:
    return _BUILDER.create_warc_record(
        url,
        kind,
        payload=BytesIO(body),
        length=len(body),
        warc_content_type=content_type,
        warc_headers_dict=headers,
        http_headers=head,
    )


def _fields(told: dict[str, str]) -> bytes:
    return "".join(f"{name}: {_line(value)}\r\n" for name, value in told.items() if value).encode()


def _line(text: str) -> str:
    """A text as the value of a header, which ends with its line."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _new_id() -> str:
    return f"<{uuid4().urn}>"
