"""Send one request to a web server and read its answer, with a limit on both time and size."""

import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Event, Timer, get_ident
from typing import Any
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError
from urllib3.util.connection import create_connection

from dbce_spark.archive import http_message as http
from dbce_spark.archive.content_coding import BodyError
from dbce_spark.archive.index.http_ranges import retry_seconds
from dbce_spark.config import AcquireConfig

_CHUNK = 1 << 16
_REDIRECTS = (301, 302, 303, 307, 308)
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
        return http.is_passing(self.status)

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
    except ValueError:
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
    except BodyError:
        return b""


class Web:
    """Sends requests, each over a connection of its own: between two to a host lie seconds. Threads may share it."""

    def __init__(self, config: AcquireConfig):
        self._config = config
        self._pool = urllib3.PoolManager(num_pools=config.hosts_together, retries=False)
        self._pool.pool_classes_by_scheme = _PRIVATE_POOLS if config.private_addresses else _PUBLIC_POOLS

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
        with _deadline(config.answer_seconds) as is_over:
            answer = self._send(url, request_headers)
            if is_over():  # to the library the end of the connection is the end of the head
                answer.close()
                raise Unreachable(f"{url}: no whole head in {config.answer_seconds:g} s")
            try:
                is_wanted = 200 <= answer.status < 300 and wants(answer.headers.get("Content-Type", ""))
                body, cut = _body(answer, max_bytes) if is_wanted else (b"", "")
            finally:
                answer.close()
            cut = "time" if is_over() else cut
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


@contextmanager
def _deadline(seconds: float) -> Iterator[Callable[[], bool]]:
    """Shut the connection that this thread opens within the block down after so many seconds, whatever it waits for;
    yield what tells whether that has happened."""
    over = Event()
    opened: list[socket.socket] = []

    def end() -> None:
        over.set()
        for one in opened:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    timer = Timer(seconds, end)
    timer.daemon = True
    _guards[get_ident()] = opened
    timer.start()
    try:
        yield over.is_set
    finally:
        timer.cancel()
        del _guards[get_ident()]
        for one in opened:
            one.close()


_guards: dict[int, list[socket.socket]] = {}
"""A second handle of the connection that a thread has opened, by thread: TLS takes the first one over."""


class _Guarded(HTTPConnection):
    """A connection that a deadline can end, also while its head is read or keys are exchanged."""

    is_private_allowed = True

    def _new_conn(self) -> socket.socket:
        sock = self._connected()
        if get_ident() in _guards:
            _guards[get_ident()].append(sock.dup())
        return sock

    def _connected(self) -> socket.socket:
        """Connect to the first of the host's addresses that can be reached. All are looked at before one is asked, so
        that no name leads to another address behind the check.

        Raises:
            NewConnectionError: there is none, or one is not of the public network.
        """
        try:
            found = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise NewConnectionError(self, f"no address: {error}") from error
        addresses = [*dict.fromkeys(one[4][0] for one in found)]
        if not self.is_private_allowed and (private := [one for one in addresses if not _is_public(str(one))]):
            raise NewConnectionError(self, f"{private[0]} is no public address; acquire.private_addresses allows it")
        failure: OSError | None = None
        for address in addresses:
            try:
                return create_connection((str(address), self.port), self.timeout, socket_options=self.socket_options)
            except OSError as error:
                failure = error
        raise NewConnectionError(self, f"cannot be reached: {failure}") from failure


_NAT64 = IPv6Network("64:ff9b::/96")
"""Addresses that a gateway translates to those of IPv4 that they end with (RFC 6052)."""
_LOCAL = tuple(map(IPv6Network, ("::/96", "64:ff9b:1::/48", "fec0::/10")))
"""Networks that some versions of Python take for public: of an IPv4 address that IPv6 once had in itself (RFC 4291),
of gateways of one's own (RFC 8215), and of sites (RFC 3879)."""


def _is_public(address: str) -> bool:
    """Return whether an address is of the public network, also where it holds another one, as IPv6 can."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (IPv4Address(found.packed[-4:]) if found in _NAT64 else None)
        if inner is not None and not _is_public(str(inner)):
            return False
    return found.is_global and not found.is_multicast and not any(found in one for one in _LOCAL)


class _GuardedTls(_Guarded, HTTPSConnection):
    """The same with TLS."""


class _Public(_Guarded):
    """A connection to the public network only."""

    is_private_allowed = False


class _PublicTls(_GuardedTls):
    """The same with TLS."""

    is_private_allowed = False


def _pools(plain: type[HTTPConnection], tls: type[HTTPSConnection]) -> dict[str, type[Any]]:
    return {
        "http": type("_Pool", (HTTPConnectionPool,), {"ConnectionCls": plain}),
        "https": type("_TlsPool", (HTTPSConnectionPool,), {"ConnectionCls": tls}),
    }


_PRIVATE_POOLS, _PUBLIC_POOLS = _pools(_Guarded, _GuardedTls), _pools(_Public, _PublicTls)


def _body(answer: urllib3.BaseHTTPResponse, max_bytes: int) -> tuple[bytes, str]:
    """Read a body up to a size; return it with the reason why it is cut, "" if it is whole."""
    buffer = bytearray()
    try:
        while len(buffer) <= max_bytes:
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
