"""A page as its web server has it now, fetched by one request like a browser's."""

from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urljoin

import urllib3
from urllib3.exceptions import HTTPError, LocationValueError

from dbce_spark.archive import mime

_REDIRECTS = 10
_HEADERS = {
    "User-Agent": "dbce-spark",
    "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
    "Accept-Encoding": "gzip",
}


@dataclass(frozen=True, slots=True)
class WebPage:
    """The bytes of a page, the URL that redirects led to, and the charset of its header, "" if that has none."""

    url: str
    body: bytes
    charset: str


def fetch(url: str, max_bytes: int, timeout_seconds: float) -> WebPage:
    """Fetch a page. Of a larger one, the first `max_bytes` bytes and one more.

    Raises:
        OSError: there is no answer, or it says that there is no page; the message tells why, in one line.
    """
    retries = urllib3.Retry(connect=0, read=0, status=0, other=0, redirect=_REDIRECTS)
    try:
        with (
            urllib3.PoolManager(headers=_HEADERS, retries=retries, timeout=timeout_seconds) as web,
            closing(web.request("GET", url, preload_content=False)) as answer,
        ):
            if answer.status >= 400:
                raise OSError(f"the server answers {answer.status} {answer.reason or ''}".rstrip())
            declared = mime.declared_type(answer.headers.get("Content-Type", ""))
            return WebPage(_found_at(url, answer), answer.read(max_bytes + 1), declared.charset)
    except (HTTPError, LocationValueError) as error:
        raise OSError(_cause(error)) from error


def _found_at(url: str, answer: urllib3.BaseHTTPResponse) -> str:
    """Follow the redirects that led to an answer."""
    for step in answer.retries.history if answer.retries else ():
        url = urljoin(url, step.redirect_location or "")
    return url


def _cause(error: Exception) -> str:
    """Name why there was no answer, without the object of urllib3's that it arose in."""
    text = " ".join(str(getattr(error, "reason", None) or error).split())
    return text.partition(": ")[2] if text.startswith(("<", "HTTP")) else text
