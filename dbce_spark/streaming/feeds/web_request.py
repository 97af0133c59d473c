"""Send one request to a web server and read its answer, with a limit on both time and size."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from urllib.parse import urlsplit

import urllib3

from dbce_spark.config import AcquireConfig
from dbce_spark.streaming.feeds.guarded_connection import PRIVATE_POOLS, PUBLIC_POOLS, deadline
from dbce_spark.streaming.feeds.web_exchange import WebExchange

_CHUNK = 1 << 16
_ORIGINAL = "X-Archive-Orig-"
"""Prefix of headers that do not hold for the body as it is kept, as in replays of archives."""


class Unreachable(Exception):
    """There was no answer, or none that is HTTP."""


class Web:
    """Sends requests, each over a connection of its own: between two to a host lie seconds. Threads may share it."""

    def __init__(self, config: AcquireConfig):
        self._config = config

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
        sent = {**self._headers(url), **headers}
        began = datetime.now(UTC)
        with deadline(self._config.answer_seconds) as ends, self._pool() as pool:
            with closing(self._send(pool, url, sent)) as answer:
                if ends.is_over:  # to the library the end of the connection is the end of the head
                    raise Unreachable(f"{url}: no whole head in {self._config.answer_seconds:g} s")
                is_wanted = 200 <= answer.status < 300 and wants(answer.headers.get("Content-Type", ""))
                body, cut = _body(answer, max_bytes) if is_wanted else (b"", "")
            cut = "time" if ends.is_over else cut
        return WebExchange(
            url=url,
            request_headers=tuple(sent.items()),
            began=began,
            status=answer.status,
            reason=answer.reason or "",
            headers=_kept(answer.headers.items(), len(body)),
            body=body,
            cut=cut,
        )

    def _headers(self, url: str) -> dict[str, str]:
        return {
            "Host": urlsplit(url).netloc.rpartition("@")[2],
            "User-Agent": self._config.user_agent,
            "Accept": "text/html,application/xhtml+xml,application/rss+xml,application/atom+xml,*/*;q=0.5",
            "Accept-Encoding": "gzip",
            "Connection": "close",
        }

    def _pool(self) -> urllib3.PoolManager:
        """Make the pool of one request. Another must not take its connection over, which a server may be about to close
        and no other deadline can end."""
        pool = urllib3.PoolManager(num_pools=1, retries=False)
        pool.pool_classes_by_scheme = PRIVATE_POOLS if self._config.private_addresses else PUBLIC_POOLS
        return pool

    def _send(self, pool: urllib3.PoolManager, url: str, headers: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        """Send a GET request; return the answer before its body is read."""
        try:
            return pool.request(
                "GET",
                url,
                headers=headers,
                preload_content=False,
                redirect=False,
                timeout=self._config.timeout_seconds,
            )
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise Unreachable(f"{url}: {type(error).__name__}: {error}"[:500]) from error


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
