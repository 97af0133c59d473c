"""Write fetched pages as WARC files, which other programs see when they are whole."""

import os
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, urlsplit
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
from dbce_spark.streaming.feeds.web_exchange import WebExchange

_VERSION = "WARC/1.1"
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_BUILDER = RecordBuilder(warc_version=_VERSION)


class FeedArchive:
    """One open WARC file in `folder`; closed ones go to `output`, a folder or a URL.

    A file in `folder` counts up to the size that the caller has noted; bytes behind that are of a page not noted.
    """

    def __init__(self, folder: Path, output: str, user_agent: str):
        """Raise OutputError if the folder cannot be there."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be written: {error}; {storage.remedy(error)}") from error
        self._folder = folder
        self._output = output.rstrip("/")
        self._user_agent = user_agent
        self._file: BinaryIO | None = None
        self._info = ""
        self.name = ""
        """Name of the open file; "" if there is none."""
        self.began: datetime | None = None
        """Time at which the open file was begun; None if there is none."""

    def write(self, item: Item, exchanges: list[WebExchange]) -> int:
        """Write the exchanges that led to the page of an item, redirects first; return the size of the open file
        then.

        Raises:
            OutputError: they cannot be written.
        """
        try:
            return self._append(item, exchanges)
        except OSError as error:
            self._give_up()
            raise OutputError(f"{self._folder}: cannot be written: {error}; make room, and go on") from error

    def _append(self, item: Item, exchanges: list[WebExchange]) -> int:
        """Append the records of some exchanges to the open file, or none of them."""
        file = self._opened()
        begun = file.tell()
        try:
            self._write_records(file, item, exchanges)
            file.flush()
        except BaseException:
            file.seek(begun)
            file.truncate()
            raise
        os.fsync(file.fileno())
        return file.tell()

    def _give_up(self) -> None:
        """Close the open file as it is; what is not noted of it does not count."""
        if self._file is not None:
            with suppress(OSError):  # what waits to be written still cannot be
                self._file.close()
            self._file = None

    def _write_records(self, file: BinaryIO, item: Item, exchanges: list[WebExchange]) -> None:
        writer = WARCWriter(file, gzip=True, warc_version=_VERSION)
        for exchange in exchanges:
            is_page = exchange is exchanges[-1]
            reply = _new_id()
            writer.write_record(self._request(exchange, reply))
            writer.write_record(self._response(exchange, reply, item if is_page else None))
            if is_page:
                writer.write_record(self._metadata(exchange, reply, item))

    def close(self) -> str:
        """Close the open file; return its name."""
        if self._file is not None:
            self._file.close()
        name, self._file, self.name, self.began = self.name, None, "", None
        return name

    def hand_over(self, name: str, size: int) -> None:
        """Copy the first `size` bytes of a closed file to the output. The caller notes that, and removes it by `clear`.

        Raises:
            OutputError: the output cannot be written, or the file lacks bytes that are noted.
        """
        path = self._folder / name
        held = path.stat().st_size if path.exists() else 0
        if held < size:
            raise OutputError(
                f"{path}: holds {held:,} of {size:,} bytes, and pages that are noted as fetched are in the others; put"
                " back the whole file, or give another --state and another --output, to fetch all pages again"
            )
        if held > size:
            os.truncate(path, size)
        try:
            with path.open("rb") as whole, storage.atomic_file(f"{self._output}/{name}") as target:
                shutil.copyfileobj(whole, target, 1 << 20)
        except Exception as error:  # each store has exceptions of its own
            again = (
                storage.remedy(error) if isinstance(error, OSError) else "give the same command again when it can be"
            )
            raise OutputError(f"{self._output}: cannot be written: {type(error).__name__}: {error}; {again}") from error

    def clear(self) -> None:
        """Remove the files in the folder, while none is open and all that is noted was handed over."""
        for path in self._folder.glob("*.warc.gz"):
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
        fields = {
            "software": f"dbce-spark/{dbce_spark.__version__}",
            "format": "WARC File Format 1.1",
            "robots": "obey",
            "http-header-user-agent": self._user_agent,
        }
        headers = {"WARC-Record-ID": self._info, "WARC-Date": timestamps.warc_date(began), "WARC-Filename": self.name}
        return _record("warcinfo", "", _fields(fields), headers)

    def _request(self, exchange: WebExchange, reply: str) -> ArcWarcRecord:
        target = urlsplit(exchange.url)
        place = target.path + (f"?{target.query}" if target.query else "")
        head = StatusAndHeaders(f"GET {place} HTTP/1.1", [*exchange.request_headers], is_http_request=True)
        headers = self._headers(exchange, _new_id()) | {"WARC-Concurrent-To": reply}
        return _record("request", exchange.url, b"", headers, head)

    def _response(self, exchange: WebExchange, reply: str, item: Item | None) -> ArcWarcRecord:
        # The library escapes what is not ASCII in some headers, and fails on others and on a server's French phrase.
        reason = exchange.reason.encode("ascii", "replace").decode()
        fields = [(_ascii(name), _ascii(value)) for name, value in exchange.headers]
        head = StatusAndHeaders(f"{exchange.status} {reason}".strip(), fields, "HTTP/1.1")
        headers = self._headers(exchange, reply)
        if exchange.cut:
            headers["WARC-Truncated"] = exchange.cut
        if item is not None:
            own = {ITEM_TITLE: _line(item.title), ITEM_LINK: _line(item.link)}
            headers |= {name: value for name, value in own.items() if value}
        return _record("response", exchange.url, exchange.body, headers, head)

    def _metadata(self, exchange: WebExchange, reply: str, item: Item) -> ArcWarcRecord:
        fields = {"via": item.feed or item.page, "hopsFromSeed": "E" if item.page else ""}
        fields |= {"link": item.link, "title": item.title, "date": item.date, "description": item.description}
        headers = self._headers(exchange, _new_id()) | {"WARC-Concurrent-To": reply}
        return _record("metadata", exchange.url, _fields(fields), headers)

    def _headers(self, exchange: WebExchange, record_id: str) -> dict[str, str]:
        return {
            "WARC-Record-ID": record_id,
            "WARC-Date": timestamps.warc_date(exchange.began),
            "WARC-Warcinfo-ID": self._info,
        }


def _record(
    kind: str, url: str, body: bytes, headers: dict[str, str], head: StatusAndHeaders | None = None
) -> ArcWarcRecord:
    return _BUILDER.create_warc_record(
        url,
        kind,
        payload=BytesIO(body),
        length=len(body),
        warc_content_type=f"application/http; msgtype={kind}" if head else "application/warc-fields",
        warc_headers_dict=headers,
        http_headers=head,
    )


def _fields(values: dict[str, str]) -> bytes:
    return "".join(f"{name}: {_line(value)}\r\n" for name, value in values.items() if value).encode()


def _line(text: str) -> str:
    """Fold a text into one line, as the value of a header."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _ascii(text: str) -> str:
    """Write letters beyond ASCII as the escapes of their bytes, which servers send as UTF-8 or Latin-1."""
    return text if text.isascii() else quote(text.encode("latin-1", "replace"), safe=_PRINTABLE)


def _new_id() -> str:
    return f"<{uuid4().urn}>"
