"""A page as its web server has it now, fetched by one request like a browser's."""

from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError

from dbce_spark.archive import http_message, mime

_REDIRECTS = 10
_HEADERS = {
    "User-Agent": "dbce-spark",
    "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
    "Accept-Encoding": "gzip",
}


@dataclass(frozen=True, slots=True)
class WebPage:
    """The bytes of a page without HTTP's encodings, the URL that redirects led to, and the charset of its header, "" if
    that has none."""

    url: str
    body: bytes
    charset: str


def fetch(url: str, *, max_bytes: int, max_ratio: int, timeout_seconds: float) -> WebPage:
    """Fetch a page of at most so many bytes, and so many times as many as were sent.

    Raises:
        OSError: there is no answer, or it is no page, or a larger one; the message tells why, in one line.
    """
    retries = urllib3.Retry(connect=0, read=0, status=0, other=0, redirect=_REDIRECTS)
    try:
        with (
            _connections(url, timeout_seconds) as web,
            closing(web.request("GET", url, retries=retries, preload_content=False)) as answer,
        ):
            if answer.status >= 400:
                raise OSError(f"the server answers {answer.status} {answer.reason or ''}".rstrip())
            headers = {name.lower(): value for name, value in answer.headers.items()}
            headers.pop("transfer-encoding", None)  # which is undone
            sent = http_message.Response(answer.status, headers, answer.read(max_bytes + 1, decode_content=False))
            body = http_message.decode_body(sent, max_bytes=max_bytes, max_ratio=max_ratio).html
            charset = mime.declared_type(headers.get("content-type", "")).charset
            return WebPage(_found_at(url, answer), body, charset)
    except (HTTPError, ValueError) as error:  # a ValueError: it is no URL, or no body that can be read
        raise OSError(_cause(error)) from error


def _connections(url: str, timeout_seconds: float) -> urllib3.PoolManager:
    """Go through the proxy that the environment names for such URLs (http_proxy, https_proxy, no_proxy), if any."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme.lower())
    if proxy and not proxy_bypass(parts.netloc):
        return urllib3.ProxyManager(proxy, headers=_HEADERS, timeout=timeout_seconds)
    return urllib3.PoolManager(headers=_HEADERS, timeout=timeout_seconds)


def _found_at(url: str, answer: urllib3.BaseHTTPResponse) -> str:
    """Follow the redirects that led to an answer."""
    for step in answer.retries.history if answer.retries else ():
        url = urljoin(url, step.redirect_location or "")
    return url


def _cause(error: Exception) -> str:
    """Name why there was no answer, without the object of urllib3's that it arose in."""
    text = " ".join(str(getattr(error, "reason", None) or error).split())
    return text.partition(": ")[2] if text.startswith(("<", "HTTP")) else text
