"""Send one request, to servers that behave and to those that do not."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.http_ranges import retry_seconds
from dbce_spark.streaming.feeds.web_request import Unreachable, Web, WebExchange, decode_body, encode_url
from tests.support.builders import config

CONFIG = config("acquire.timeout_seconds=5", "acquire.answer_seconds=1", "acquire.private_addresses=true").acquire


@contextmanager
def answering(*parts: bytes, pause: float = 0.0) -> Iterator[str]:
    """Start a server that sends these bytes, one part after the other, to its first client; yield its URL."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                for part in parts:
                    try:
                        connection.sendall(part)
                    except OSError:
                        return
                    ended.wait(pause)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        ended.set()
        thread.join(10)


def ask(url: str, max_bytes: int = 1000) -> WebExchange:
    return Web(CONFIG).fetch(url, headers={}, max_bytes=max_bytes, wants=lambda _: True)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def test_chunks_are_undone_and_said() -> None:
    """The body is the content of the chunks, and the header that declared them is kept under another name."""
    with answering(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\n", b"0\r\n\r\n") as url:
        found = ask(url)

    assert (b"hello", "") == (found.body, found.cut)
    assert "chunked" == found.header("x-archive-orig-transfer-encoding")
    assert ("", "5") == (found.header("transfer-encoding"), found.header("content-length"))


@pytest.mark.parametrize(
    ("body", "expected", "cut"),
    [(b"Content-Length: 9\r\n\r\nhello", b"hello", "disconnect"), (b"\r\n" + b"x" * 2000, b"x" * 1000, "length")],
)
def test_a_body_that_is_not_whole_says_why(body: bytes, expected: bytes, cut: str) -> None:
    """The reason is a word of WARC-Truncated: the server broke off, or the limit came first."""
    with answering(HEAD + body) as url:
        found = ask(url)

    assert (expected, cut) == (found.body, found.cut)


def test_a_server_that_drips_is_left() -> None:
    """A server that sends a byte now and then is read for as long as an answer may take, and no longer."""
    with answering(HEAD + b"Content-Length: 100\r\n\r\n", *[b"x"] * 100, pause=0.2) as url:
        found = ask(url)

    assert "time" == found.cut
    assert 0 < len(found.body) < 100


@pytest.mark.parametrize("answer", [b"", b"no HTTP at all\r\n\r\n"])
def test_what_is_no_answer_is_told(answer: bytes) -> None:
    """A server that hangs up, or sends something else than HTTP, raises Unreachable."""
    with answering(answer) as url, pytest.raises(Unreachable):
        ask(url)


def test_a_body_that_is_not_wanted_is_not_read() -> None:
    """A body of another type than the wanted one is not read."""
    with answering(HEAD + b"Content-Length: 5\r\n\r\nhello") as url:
        found = Web(CONFIG).fetch(url, headers={}, max_bytes=10, wants=lambda kind: kind != "text/html")

    assert (200, b"") == (found.status, found.body)


def test_a_coding_that_lies_gives_nothing() -> None:
    """A body that is declared as gzip and is none has no plain body."""
    with answering(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08x") as url:
        assert b"" == decode_body(ask(url), 1000)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.org", "http://example.org/"),
        (" HTTP://example.org/a b?c=d e#f ", "http://example.org/a%20b?c=d%20e"),
        ("http://bücher.example/ä?ö", "http://xn--bcher-kva.example/%C3%A4?%C3%B6"),
        ("http://example.org/%20?a=%3D", "http://example.org/%20?a=%3D"),
        ("ftp://example.org/", ""),
        ("http://example.org:port/", ""),
        ("http://[::1", ""),
        ("mailto:a@example.org", ""),
        ("", ""),
    ],
)
def test_a_url_as_it_can_be_asked_for(url: str, expected: str) -> None:
    """Existing escapes stay; a URL that cannot be requested becomes ""."""
    assert expected == encode_url(url)


@given(st.text(max_size=30))
def test_any_link_of_a_feed_can_be_tried(text: str) -> None:
    """Nothing is raised; the result is ASCII in one line, and stays as it is when it is encoded again."""
    found = encode_url(f"http://example.org/{text}")

    assert found.isascii()
    assert not any(letter.isspace() for letter in found)
    assert found == encode_url(found)


def test_a_head_that_never_ends_is_given_up() -> None:
    """One deadline holds for the whole exchange: a byte now and then keeps no request alive."""
    drops = [HEAD, *[b"X: y\r\n"] * 30, b"Content-Length: 0\r\n\r\n"]
    with answering(*drops, pause=0.2) as url, pytest.raises(Unreachable):
        ask(url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/", "http://127.1/", "http://localhost/", "http://[::1]/", "http://0.0.0.0/"),
        *("http://10.0.0.1/", "http://192.168.1.1/", "http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/"),
        *("http://[::ffff:127.0.0.1]/", "http://[2002:7f00:1::]/", "http://100.64.0.1/", "http://224.0.0.1/"),
        "https://127.0.0.1/",
    ],
)
def test_an_address_that_is_not_public_is_refused(url: str) -> None:
    """Whatever it is written as: a feed must not make this machine ask for what only it can reach."""
    web = Web(config("acquire.timeout_seconds=1").acquire)

    with pytest.raises(Unreachable, match=r"is no public address|no address"):
        web.fetch(url, headers={}, max_bytes=1000, wants=lambda _: True)


def test_an_address_that_is_not_public_gets_no_connection() -> None:
    """It is refused before it is connected to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        with pytest.raises(Unreachable):
            Web(config().acquire).fetch(
                f"http://127.0.0.1:{server.getsockname()[1]}/", headers={}, max_bytes=1, wants=lambda _: True
            )
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize(
    "header", ["9" * 400, "Fri, 31 Dec 9999 23:59:59 -2359", "Mon, 01 Jan 0000 00:00:00 GMT", "\xb2", ""]
)
def test_a_retry_after_that_no_clock_can_wait_for(header: str) -> None:
    """It is a number of seconds that can be added to a time."""
    assert 0.0 <= retry_seconds(header) <= 366 * 86_400
