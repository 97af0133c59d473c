"""One request to a web server, and the bytes of its answer: with a limit on both time and size."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import urllib3

from dbce_spark.archive import http_message as http
from dbce_spark.archive.index.range_storage import retry_seconds
from dbce_spark.config import AcquireConfig

_CHUNK = 1 << 16
_REDIRECTS = (301, 302, 303, 307, 308)
_PASSING = (408, 425, 429)
"""HTTP statuses under 500 that say "not now" (RFC 9110, 6585, 8470)."""
_SAFE = "!#$%&'()*+,/:;=?@[]~"
_ORIGINAL = "X-Archive-Orig-"
"""Stands before the names of headers that do not hold of the body as it is kept, as in replays of archives."""


class Unreachable(Exception):
    """There was no answer, or none that is HTTP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebExchange:
    """A request and its answer. Headers are pairs in the order as sent; `body` is without its chunks, as encoded.

    `cut`: why the body is not whole, in the words of WARC-Truncated ("length", "time", "disconnect"); "" if it is.
    """

    url: str
    asked: tuple[tuple[str, str], ...]
    began: datetime
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    cut: str

    def header(self, name: str) -> str:
        """The first of its name; "" if there is none."""
        return next((value for one, value in self.headers if one.lower() == name), "")

    @property
    def redirect(self) -> str:
        """Where it sends to; "" if nowhere."""
        target = self.header("location").strip()
        if self.status not in _REDIRECTS or not target:
            return ""
        try:
            return encoded(urljoin(self.url, target))
        except ValueError:  # a bracket without its pair
            return ""

    @property
    def is_busy(self) -> bool:
        """Whether the same request may have another answer later."""
        return self.status >= 500 or self.status in _PASSING

    @property
    def retry_seconds(self) -> float:
        """What the server asks to be left alone for, from now on; 0.0 where it does not."""
        return retry_seconds(self.header("retry-after"))


def encoded(url: str) -> str:
    """A URL as it can be asked for, without fragment, white space and letters beyond ASCII as escapes; else ""."""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").encode("idna").decode() if not (parts.hostname or "").isascii() else ""
        place = parts.netloc.replace(parts.hostname or "", host) if host else parts.netloc
        parts.port  # noqa: B018  # raises where it is no number
    except (ValueError, UnicodeError):
        return ""
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return ""
    return urlunsplit((parts.scheme.lower(), place, quote(parts.path, _SAFE) or "/", quote(parts.query, _SAFE), ""))


def plain(exchange: WebExchange, max_bytes: int) -> bytes:
    """The body of an answer without its content encoding; nothing, if that cannot be undone, or is longer."""
    headers = {name.lower(): value for name, value in exchange.headers}
    try:
        return http.decode_body(
            http.Response(exchange.status, headers, exchange.body), max_bytes=max_bytes, max_ratio=max_bytes
        ).html
    except http.BodyError:
        return b""


class Web:
    """Asks servers, each time over a connection of its own: between two to a host lie seconds. Threads may share it."""

    def __init__(self, config: AcquireConfig):
        self._config = config
        self._pool = urllib3.PoolManager(num_pools=config.hosts_together, retries=False)

    def ask(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        max_bytes: int,
        wants: Callable[[str], bool],
    ) -> WebExchange:
        """One request; redirects are not followed. The body is read if it is `wants` of its media type, or what
        Content-Type says.

        Raises:
            Unreachable: no answer came.
        """
        config = self._config
        asked = {
            "Host": urlsplit(url).netloc.rpartition("@")[2],
            "User-Agent": config.user_agent,
            "Accept": "text/html,application/xhtml+xml,application/rss+xml,application/atom+xml,*/*;q=0.5",
            "Accept-Encoding": "gzip",
            "Connection": "close",
            **headers,
        }
        began = datetime.now(UTC)
        try:
            answer = self._pool.request(
                "GET",
                url,
                headers=asked,
                preload_content=False,
                redirect=False,
                timeout=urllib3.Timeout(connect=config.timeout_seconds, read=config.timeout_seconds),
            )
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise Unreachable(f"{url}: {type(error).__name__}: {error}"[:500]) from error
        try:
            is_wanted = 200 <= answer.status < 300 and wants(answer.headers.get("Content-Type", ""))
            body, cut = _body(answer, max_bytes, config.answer_seconds) if is_wanted else (b"", "")
        finally:
            answer.close()
        return WebExchange(
            url=url,
            asked=tuple(asked.items()),
            began=began,
            status=answer.status,
            reason=answer.reason or "",
            headers=_kept(answer.headers.items(), len(body)),
            body=body,
            cut=cut,
        )


def _body(answer: urllib3.BaseHTTPResponse, max_bytes: int, seconds: float) -> tuple[bytes, str]:
    deadline = time.monotonic() + seconds
    buffer = bytearray()
    try:
        while len(buffer) <= max_bytes:
            if time.monotonic() > deadline:
                return bytes(buffer), "time"
            # What has come, and not a whole chunk: a server that sends a byte a second would never fill one.
            some = answer.read1(_CHUNK, decode_content=False)
            if not some:
                return bytes(buffer), ""
            buffer += some
    except (urllib3.exceptions.HTTPError, OSError):
        return bytes(buffer), "disconnect"
    return bytes(buffer[:max_bytes]), "length"


def _kept(headers: Iterable[tuple[str, str]], length: int) -> tuple[tuple[str, str], ...]:
    """The headers of an answer whose body is kept without its chunks."""
    kept = []
    for name, value in headers:
        is_of_wire = name.lower() in ("transfer-encoding", "content-length")
        kept.append((f"{_ORIGINAL}{name}" if is_of_wire else name, value))
    return (*kept, ("Content-Length", str(length)))
