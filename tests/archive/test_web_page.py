"""A page of the web, fetched from a server over loopback."""

import gzip
import socket
from collections.abc import Iterator

import pytest

from dbce_spark.archive import web_page
from dbce_spark.archive.web_page import WebPage
from tests.support.newsroom import Newsroom, newsroom

HTML = "<title>Pier</title><p>Der Hafen wurde geöffnet.</p>".encode("latin-1")


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Newsroom]:
    monkeypatch.setenv("no_proxy", "*")
    with newsroom() as room:
        room.pages["/old/page"] = (HTML, "text/html; charset=ISO-8859-1")
        yield room


def fetched(url: str) -> WebPage:
    return web_page.fetch(url, max_bytes=10_000, max_ratio=1_000, timeout_seconds=5.0)


def test_a_page_has_its_bytes_and_the_charset_of_its_header(web: Newsroom) -> None:
    """Nothing is decoded yet; a request says what it can read."""
    assert WebPage(f"{web.url}/old/page", HTML, "iso-8859-1") == fetched(f"{web.url}/old/page")
    assert "dbce-spark" == web.asked[0][1]["User-Agent"]


def test_its_url_is_where_redirects_lead(web: Newsroom) -> None:
    """Each of them relative to the one before."""
    web.answers["/start"] = [(302, {"Location": "/old/start?x=1"})]
    web.answers["/old/start?x=1"] = [(301, {"Location": "page"})]

    assert f"{web.url}/old/page" == fetched(f"{web.url}/start").url


def test_the_proxy_of_the_environment_is_asked(web: Newsroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """But not for hosts that it is not for."""
    web.pages["http://archive.invalid/page"] = (HTML, "text/html")
    monkeypatch.setenv("http_proxy", web.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    assert HTML == fetched("http://archive.invalid/page").body
    assert HTML == fetched(f"{web.url}/old/page").body
    assert ["http://archive.invalid/page", "/old/page"] == web.paths()


def test_redirects_in_a_circle_end(web: Newsroom) -> None:
    web.answers["/a"] = [(302, {"Location": "/a"})] * 100
    with pytest.raises(OSError, match="too many redirects"):
        fetched(f"{web.url}/a")


def test_a_page_may_be_packed(web: Newsroom) -> None:
    """By any coding that HTTP has."""
    web.pages["/packed"] = (gzip.compress(HTML), "text/html")
    web.more["Content-Encoding"] = "gzip"

    assert HTML == fetched(f"{web.url}/packed").body


@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_a_page_that_is_too_large_is_refused(web: Newsroom, coding: str) -> None:
    """However small it was packed."""
    body = b"word " * 1_000_000
    web.pages["/large"] = (gzip.compress(body) if coding == "gzip" else body, "text/html")
    web.more["Content-Encoding"] = coding
    with pytest.raises(OSError, match=r"10,?000"):
        fetched(f"{web.url}/large")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("{web}/gone", "the server answers 404"),
        ("http://localhost:{closed}/", "Connection refused"),
        ("http://no.such.invalid/", "Failed to resolve 'no.such.invalid'"),
        ("https://localhost:{port}/old/page", "SSL"),
        ("http:///page", "No host"),
        ("http://[::1/", "Invalid IPv6 URL"),
    ],
)
def test_where_there_is_no_page_the_reason_is_one_line(web: Newsroom, url: str, message: str) -> None:
    """Without the objects of a library in it."""
    with socket.socket() as unused:
        unused.bind(("localhost", 0))
        closed = unused.getsockname()[1]
    with pytest.raises(OSError, match=message) as caught:
        fetched(url.format(web=web.url, closed=closed, port=web.url.rsplit(":", 1)[1]))

    assert "object at" not in str(caught.value)
    assert "\n" not in str(caught.value)
