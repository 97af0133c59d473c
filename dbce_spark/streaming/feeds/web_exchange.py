"""A request to a web server and its answer, and the URL that can be requested."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from dbce_spark.archive import http_message as http
from dbce_spark.archive.index.http_ranges import retry_seconds

_REDIRECTS = (301, 302, 303, 307, 308)
_SAFE = "!#$%&'()*+,/:;=?@[]~"


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
            return encode_url(urljoin(self.url, _as_utf8(target)))
        except ValueError:  # a bracket without its pair
            return ""

    @property
    def is_busy(self) -> bool:
        """Return whether the same request may have another answer later."""
        return http.is_passing(self.status)

    @property
    def retry_seconds(self) -> float:
        """Return how many seconds from now the server wants no request; 0.0 where it has no such header."""
        return retry_seconds(self.header("retry-after"))


def _as_utf8(header: str) -> str:
    """Read a header as UTF-8, which browsers take a raw Location for; what is none stays Latin-1."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


def encode_url(url: str) -> str:
    """Encode a URL for a request: no fragment, white space and letters beyond ASCII as escapes; "" if it is no such
    URL."""
    try:
        parts = urlsplit(url.strip())
        user, at, host = parts.netloc.rpartition("@")
        if not host.isascii():
            name, colon, port = host.partition(":")
            host = f"{name.lower().encode('idna').decode()}{colon}{port}"
        parts.port  # noqa: B018  # raises where it is no number
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return ""
    path, query = quote(parts.path, _SAFE) or "/", quote(parts.query, _SAFE)
    return urlunsplit((parts.scheme.lower(), f"{user}{at}{host}", path, query, ""))


def decode_body(exchange: WebExchange, max_bytes: int) -> bytes:
    """Decode the body of an answer from its content encoding.

    Raises:
        BodyError: that cannot be undone, or more comes out.
    """
    headers = {name.lower(): value for name, value in exchange.headers}
    answer = http.Response(exchange.status, headers, exchange.body)
    return http.decode_body(answer, max_bytes=max_bytes, max_ratio=max_bytes).html
