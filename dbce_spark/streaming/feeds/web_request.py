"""Send one request to a web server and read its answer, with a limit on both time and size."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import urllib3

from dbce_spark.archive import http_message as http
from dbce_spark.archive.index.http_ranges import retry_seconds
from dbce_spark.config import AcquireConfig

_CHUNK = 1 << 16
_REDIRECTS = (301, 302, 303, 307, 308)
_PASSING = (408, 425, 429)
"""HTTP statuses under 500 that mean "not now" (RFC 9110, 6585, 8470)."""
_SAFE = "!#$%&'()*+,/:;=?@[]~"
_ORIGINAL = "X-Archive-Orig-"
"""Prefix of headers that do not hold for the body as it is kept, as in replays of archives."""


class Unreachable(Exception):
    """There was no answer, or none that is HTTP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebExchange:
    """A request and its answer. Headers are pairs in the order as sent; `body` is without its chunks, as encoded.

    `cut`: why the body is not whole, in the words of WARC-Truncated ("length", "time", "disconnect"); "" if it is.
    """

    url: str
    request_headers: tuple[tuple[str, str], ...]
    began: datetime
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    cut: str

    def header(self, name: str) -> str:
        """Return the first header of this name; "" if there is none."""
        return next((value for one, value in self.headers if one.lower() == name), "")

    @property
    def redirect(self) -> str:
        """Return the URL it redirects to; "" if it is no redirect."""
        target = self.header("location").strip()
        if self.status not in _REDIRECTS or not target:
            return ""
        try:
            return encode_url(urljoin(self.url, target))
        except ValueError:  # a bracket without its pair
            return ""

    @property
    def is_busy(self) -> bool:
        """Return whether the same request may have another answer later."""
        return self.status >= 500 or self.status in _PASSING

    @property
    def retry_seconds(self) -> float:
        """Return how many seconds from now the server wants no request; 0.0 where it has no such header."""
        return retry_seconds(self.header("retry-after"))


def encode_url(url: str) -> str:
    """Encode a URL for a request: no fragment, white space and letters beyond ASCII as escapes; "" if it is no such
    URL."""
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


def decode_body(exchange: WebExchange, max_bytes: int) -> bytes:
    """Decode the body of an answer from its content encoding; b"" if that cannot be undone, or is longer."""
    headers = {name.lower(): value for name, value in exchange.headers}
    try:
        return http.decode_body(
            http.Response(exchange.status, headers, exchange.body), max_bytes=max_bytes, max_ratio=max_bytes
        ).html
    except http.BodyError:
        return b""


class Web:
    """Sends requests, each over a connection of its own: between two to a host lie seconds. Threads may share it."""

    def __init__(self, config: AcquireConfig):
        self._config = config
        self._pool = urllib3.PoolManager(num_pools=config.hosts_together, retries=False)

    def fetch(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        max_bytes: int,
        wants: Callable[[str], bool],
    ) -> WebExchange:
        """Send one request; redirects are not followed. The body is read if `wants` accepts the Content-Type of the
        answer.

        Raises:
            Unreachable: no answer came.
        """
        config = self._config
        request_headers = {
            "Host": urlsplit(url).netloc.rpartition("@")[2],
            "User-Agent": config.user_agent,
            "Accept": "text/html,application/xhtml+xml,application/rss+xml,application/atom+xml,*/*;q=0.5",
            "Accept-Encoding": "gzip",
            "Connection": "close",
            **headers,
        }
        began = datetime.now(UTC)
        answer = self._send(url, request_headers)
        try:
            is_wanted = 200 <= answer.status < 300 and wants(answer.headers.get("Content-Type", ""))
            body, cut = _body(answer, max_bytes, config.answer_seconds) if is_wanted else (b"", "")
        finally:
            answer.close()
        return WebExchange(
            url=url,
            request_headers=tuple(request_headers.items()),
            began=began,
            status=answer.status,
            reason=answer.reason or "",
            headers=_kept(answer.headers.items(), len(body)),
            body=body,
            cut=cut,
        )

    def _send(self, url: str, headers: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        """Send a GET request; return the answer before its body is read."""
        seconds = self._config.timeout_seconds
        try:
            return self._pool.request(
                "GET",
                url,
                headers=headers,
                preload_content=False,
                redirect=False,
                timeout=urllib3.Timeout(connect=seconds, read=seconds),
            )
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise Unreachable(f"{url}: {type(error).__name__}: {error}"[:500]) from error


def _body(answer: urllib3.BaseHTTPResponse, max_bytes: int, seconds: float) -> tuple[bytes, str]:
    """Read a body up to a size and a time; return it with the reason why it is cut, "" if it is whole."""
    deadline = time.monotonic() + seconds
    buffer = bytearray()
    try:
        while len(buffer) <= max_bytes:
            if time.monotonic() > deadline:
                return bytes(buffer), "time"
            # Not a whole chunk: a server that sends a byte a second would never fill one.
            part = answer.read1(_CHUNK, decode_content=False)
            if not part:
                return bytes(buffer), ""
            buffer += part
    except (urllib3.exceptions.HTTPError, OSError):
        return bytes(buffer), "disconnect"
    return bytes(buffer[:max_bytes]), "length"


def _kept(headers: Iterable[tuple[str, str]], length: int) -> tuple[tuple[str, str], ...]:
    """Rename the headers that do not hold for a body that is kept without its chunks."""
    kept = []
    for name, value in headers:
        is_of_wire = name.lower() in ("transfer-encoding", "content-length")
        kept.append((f"{_ORIGINAL}{name}" if is_of_wire else name, value))
    return (*kept, ("Content-Length", str(length)))
