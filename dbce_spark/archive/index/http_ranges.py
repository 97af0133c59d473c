"""Read ranges of a file on a web server."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import urllib3

from dbce_spark.archive import http_message
from dbce_spark.archive.index.range_fault import Busy, ObjectGone
from dbce_spark.config import FetchConfig

_CONTENT_RANGE = re.compile(r"bytes (?:(\d{1,18})-(\d{1,18})|\*)/(\d{1,18}|\*)")
_CHUNK = 1 << 16
_SLOWEST = 1 << 14
"""Bytes a second that a server must reach: one that sends a byte a minute would hold a task for ever."""


class HttpRanges:
    """A file on a web server, over one connection that is kept."""

    def __init__(self, url: str, config: FetchConfig):
        self._url, self._config = url, config
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(config.timeout_seconds),
            # Who retries is range_reader.py: it knows what has come already.
            retries=urllib3.Retry(
                connect=0,
                read=0,
                status=0,
                other=0,
                redirect=5,
                respect_retry_after_header=False,
                raise_on_status=False,
            ),
        )

    def into(self, buffer: bytearray, offset: int, length: int) -> None:
        if length <= 0:
            return
        with self._request(offset, length) as answer:
            if answer.status == 416:
                return
            skipped = 0 if answer.status == 206 else offset
            self._take(answer, buffer, skipped, length)

    def size(self) -> int:
        with self._request(0, 1) as answer:
            found = _CONTENT_RANGE.match(answer.headers.get("Content-Range", ""))
            total = found[3] if found else answer.headers.get("Content-Length", "*")
            if not total.isdigit():
                raise ObjectGone(f"{self._url}: the server does not say how long the file is")
            return int(total)

    def close(self) -> None:
        self._pool.clear()

    @contextmanager
    def _request(self, offset: int, length: int) -> Iterator[urllib3.BaseHTTPResponse]:
        """Request a range, and yield the response: 206 with that range, 200 with all, or 416 behind the end."""
        headers = {"Range": f"bytes={offset}-{offset + length - 1}", "Accept-Encoding": "identity"}
        try:
            answer = self._pool.request("GET", self._url, headers=headers, preload_content=False)
        except urllib3.exceptions.LocationParseError as error:
            raise ObjectGone(f"{self._url}: {error}") from error
        except urllib3.exceptions.HTTPError as error:
            raise Busy(f"{type(error).__name__}: {error}"[:500]) from error
        try:
            self._check(answer, offset)
            yield answer
        except urllib3.exceptions.HTTPError as error:
            raise Busy(f"{type(error).__name__}: {error}"[:500]) from error
        finally:
            if answer.length_remaining == 0:
                answer.release_conn()
            else:
                answer.close()

    def _check(self, answer: urllib3.BaseHTTPResponse, offset: int) -> None:
        status = answer.status
        if http_message.is_passing(status):
            raise Busy(f"{self._url}: HTTP {status}", retry_seconds(answer.headers.get("Retry-After", "")))
        if status not in (200, 206, 416):
            raise ObjectGone(f"{self._url}: HTTP {status}")
        if status == 200 and offset > self._config.span_bytes:
            raise ObjectGone(f"{self._url}: the server sends whole files only; copy the file and read it from there")
        found = _CONTENT_RANGE.match(answer.headers.get("Content-Range", ""))
        if status == 206 and (found is None or found[1] != str(offset)):
            raise ObjectGone(
                f"{self._url}: asked for bytes from {offset}, sent {answer.headers.get('Content-Range')!r}"
            )

    def _take(self, answer: urllib3.BaseHTTPResponse, buffer: bytearray, skipped: int, length: int) -> None:
        deadline = time.monotonic() + self._config.timeout_seconds + (skipped + length) / _SLOWEST
        missing = length
        for chunk in answer.stream(_CHUNK, decode_content=False):
            passed, skipped = min(skipped, len(chunk)), max(0, skipped - len(chunk))
            taken = chunk[passed : passed + missing]
            buffer += taken
            missing -= len(taken)
            if missing == 0:
                return
            if time.monotonic() > deadline:
                raise Busy(f"{self._url}: fewer than {_SLOWEST} bytes a second")
        if _goes_on(answer):
            raise Busy(f"{self._url}: {length - missing} of {length} bytes sent")


def _goes_on(answer: urllib3.BaseHTTPResponse) -> bool:
    """Return whether a file has bytes behind this part of it: a server may send less than requested (RFC 9110,
    15.3.7)."""
    found = _CONTENT_RANGE.match(answer.headers.get("Content-Range", ""))
    return found is not None and found[2] is not None and str(int(found[2]) + 1) != found[3]


_LONGEST_RETRY = 366 * 86_400.0
"""Seconds: servers also write numbers that no clock can wait for."""


def retry_seconds(retry_after: str) -> float:
    """Parse a Retry-After header, which holds seconds or a date (RFC 9110, 10.2.3), to seconds from now."""
    if retry_after.isascii() and retry_after.strip().isdigit():
        return min(float(retry_after), _LONGEST_RETRY)
    try:
        when = parsedate_to_datetime(retry_after)
        seconds = (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return min(max(0.0, seconds), _LONGEST_RETRY)
