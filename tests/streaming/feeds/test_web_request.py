"""Send one request, to servers that behave and to those that do not."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.content_coding import BodyError
from dbce_spark.archive.index.http_ranges import retry_seconds
from dbce_spark.config import AcquireConfig
from dbce_spark.streaming.feeds import guarded_connection
from dbce_spark.streaming.feeds.guarded_connection import _is_public
from dbce_spark.streaming.feeds.web_exchange import WebExchange, decode_body, encode_url
from dbce_spark.streaming.feeds.web_request import Unreachable, Web
from tests.support.builders import config
from tests.support.newsroom import newsroom

CONFIG = config("acquire.timeout_seconds=60", "acquire.private_addresses=true").acquire
HURRIED = config("acquire.timeout_seconds=5", "acquire.answer_seconds=1", "acquire.private_addresses=true").acquire
"""For answers that take longer than they may: any other one could, on a machine that is busy for a second."""


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


def ask(url: str, made: AcquireConfig = CONFIG) -> WebExchange:
    return Web(made).fetch(url, headers={}, max_bytes=1000, wants=lambda _: True)


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
    [
        (b"Content-Length: 9\r\n\r\nhello", b"hello", "disconnect"),
        (b"\r\n" + b"x" * 2000, b"x" * 1000, "length"),
        (b"\r\n" + b"x" * 1001, b"x" * 1000, "length"),
        (b"\r\n" + b"x" * 1000, b"x" * 1000, ""),
    ],
)
def test_a_body_that_is_not_whole_says_why(body: bytes, expected: bytes, cut: str) -> None:
    """The reason is a word of WARC-Truncated: the server broke off, or the limit came first; a body of as many bytes as
    the limit is whole."""
    with answering(HEAD + body) as url:
        found = ask(url)

    assert (expected, cut) == (found.body, found.cut)


def test_a_server_that_drips_is_left() -> None:
    """A server that sends a byte now and then is read for as long as an answer may take, and no longer."""
    with answering(HEAD + b"Content-Length: 100\r\n\r\n", *[b"x"] * 100, pause=0.2) as url:
        found = ask(url, replace(CONFIG, answer_seconds=3.0))  # of which the head needs some on a busy machine

    assert "time" == found.cut
    assert 0 < len(found.body) < 100


@pytest.mark.parametrize("answer", [b"", b"no HTTP at all\r\n\r\n"])
def test_what_is_no_answer_is_named(answer: bytes) -> None:
    """A server that hangs up, or sends something else than HTTP, raises Unreachable."""
    with answering(answer) as url, pytest.raises(Unreachable):
        ask(url)


@contextmanager
def keeping() -> Iterator[tuple[str, list[int]]]:
    """Start a server that keeps each connection open behind its first answer, and closes it at the next request; yield
    its URL, and how many requests each connection has had."""
    requests: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as connections:

        def answer(connection: socket.socket, at: int) -> None:
            with suppress(OSError):  # the test has ended
                while connection.recv(65_536):
                    requests[at] += 1
                    if requests[at] > 1:
                        connection.shutdown(socket.SHUT_RDWR)
                    else:
                        connection.sendall(HEAD + b"Content-Length: 5\r\n\r\nhello")

        def serve() -> None:
            while True:
                try:
                    connection = connections.enter_context(server.accept()[0])
                except OSError:  # the test has ended
                    return
                requests.append(0)
                threading.Thread(target=answer, args=(connection, len(requests) - 1), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/", requests
        server.shutdown(socket.SHUT_RDWR)


def test_each_request_has_a_connection_of_its_own() -> None:
    """A server that keeps one open may close it just when the next request is sent, and no deadline holds for it."""
    web = Web(CONFIG)
    with keeping() as (url, requests):
        found = [web.fetch(url, headers={}, max_bytes=10, wants=lambda _: True) for _ in range(3)]

    assert [b"hello"] * 3 == [one.body for one in found]
    assert [1, 1, 1] == requests


def test_a_body_that_is_not_wanted_is_not_read() -> None:
    """A body of another type than the wanted one is not read."""
    with answering(HEAD + b"Content-Length: 5\r\n\r\nhello") as url:
        found = Web(CONFIG).fetch(url, headers={}, max_bytes=10, wants=lambda kind: kind != "text/html")

    assert (200, b"") == (found.status, found.body)


def test_a_coding_that_lies_gives_nothing() -> None:
    """A body that is declared as gzip and is none has no plain body."""
    with answering(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08x") as url:
        found = ask(url)

    with pytest.raises(BodyError):
        decode_body(found, 1000)


@pytest.mark.parametrize(("raw", "path"), [("/café".encode(), "/caf%C3%A9"), ("/café".encode("latin-1"), "/caf%C3%A9")])
def test_a_location_that_is_not_escaped_is_taken_for_utf_8(raw: bytes, path: str) -> None:
    """Bytes that are no UTF-8 are taken for Latin-1."""
    with answering(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + raw + b"\r\n\r\n") as url:
        assert f"{url.rstrip('/')}{path}" == ask(url).redirect


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.org", "http://example.org/"),
        (" HTTP://example.org/a b?c=d e#f ", "http://example.org/a%20b?c=d%20e"),
        ("http://bücher.example/ä?ö", "http://xn--bcher-kva.example/%C3%A4?%C3%B6"),
        ("http://me:b%C3%BC@Www.BÜCHER.example:8080/", "http://me:b%C3%BC@www.xn--bcher-kva.example:8080/"),
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


def test_a_request_names_its_host_and_its_sender_and_no_more() -> None:
    """A name and a password in the URL are not sent."""
    with newsroom() as room:
        room.article("/a", "Of a")
        url = f"{room.url.replace('//', '//me:secret@')}/a"
        found = Web(CONFIG).fetch(url, headers={"X-More": "1"}, max_bytes=1000, wants=lambda _: True)
    ((path, sent, _),) = room.asked

    assert "/a" == path
    assert dict(found.request_headers) == sent
    assert ["Host", "User-Agent", "Accept", "Accept-Encoding", "Connection", "X-More"] == [*sent]
    assert (room.url.removeprefix("http://"), CONFIG.user_agent, "gzip", "close", "1") == tuple(
        sent[name] for name in ("Host", "User-Agent", "Accept-Encoding", "Connection", "X-More")
    )
    assert (200, "OK", b"Of a") == (found.status, found.reason, found.body[13:17])


@pytest.mark.parametrize("status", [199, 300, 302, 404, 500])
def test_only_a_body_of_success_is_read(status: int) -> None:
    """A body of any other status is no page, and can be of any length."""
    with answering(b"HTTP/1.1 %d Any\r\nContent-Length: 5\r\n\r\nhello" % status) as url:
        found = ask(url)

    assert (status, "Any", b"") == (found.status, found.reason, found.body)


def test_a_server_that_says_nothing_is_left_before_the_whole_exchange_is_over() -> None:
    """After as many seconds as are configured for a byte."""
    began = time.monotonic()
    made = config("acquire.timeout_seconds=0.2", "acquire.answer_seconds=60", "acquire.private_addresses=true").acquire
    with answering(b"", pause=60) as url, pytest.raises(Unreachable, match="timed out"):
        ask(url, made)

    assert time.monotonic() - began < 10


def test_a_server_that_takes_no_connection_is_left() -> None:
    """After the same time: a connection that is never made waits for no deadline."""
    began = time.monotonic()
    made = config("acquire.timeout_seconds=0.2", "acquire.answer_seconds=60", "acquire.private_addresses=true").acquire
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as opened:
        for _ in range(4):  # more than wait for somebody who accepts none
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        with pytest.raises(Unreachable, match="cannot be reached"):
            ask(f"http://127.0.0.1:{server.getsockname()[1]}/", made)

    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("address", "is_public"),
    [
        *(("93.184.215.14", True), ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True)),
        *(("127.0.0.1", False), ("10.1.2.3", False), ("169.254.169.254", False), ("100.64.0.1", False)),
        *(("224.0.0.1", False), ("ff0e::1", False), ("::1", False), ("fe80::1%eth0", False), ("fd00::1", False)),
        *(("::ffff:10.0.0.1", False), ("::ffff:224.0.0.1", False), ("2002:a00:1::", False), ("fec0::1", False)),
        *(("64:ff9b::808:808", True), ("64:ff9b::a00:1", False), ("64:ff9b:1::808:808", False), ("::a00:1", False)),
        ("2001:0:a00:1::f5ff:fffe", False),
    ],
)
def test_an_address_of_the_public_network_is_known(address: str, is_public: bool) -> None:
    """Also one that is in another: mapped, translated, of 6to4 and of Teredo."""
    assert is_public == _is_public(address)


def name(monkeypatch: pytest.MonkeyPatch, host: str, *addresses: str) -> None:
    """Give a host a name with these addresses."""
    found, ask_all = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 80)) for one in addresses], socket.getaddrinfo

    def looked_up(asked: str, *of: Any, **more: Any) -> Any:
        return found if asked == host else ask_all(asked, *of, **more)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)


@pytest.mark.parametrize("addresses", [("127.0.0.1", "93.184.215.14"), ("93.184.215.14", "127.0.0.1")])
def test_a_name_with_one_address_that_is_not_public_is_refused(
    addresses: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All its addresses are looked at before one is connected to."""
    tried: list[object] = []
    name(monkeypatch, "two.example", *addresses)
    monkeypatch.setattr(guarded_connection, "create_connection", lambda *of, **__: tried.append(of))
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1 is no public address"):
        Web(config().acquire).fetch("http://two.example/", headers={}, max_bytes=1, wants=lambda _: True)

    assert [] == tried


def test_a_host_is_reached_by_the_first_of_its_addresses_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that refuses costs nothing but its try."""
    name(monkeypatch, "two.example", "127.0.0.9", "127.0.0.1")
    with newsroom() as room:
        room.article("/a", "Of a")

        assert 200 == ask(f"http://two.example:{room.url.rpartition(':')[2]}/a").status


def test_a_host_that_is_reached_late_has_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose other addresses let a request wait gets no second deadline for its own answer, a byte now and
    then."""
    name(monkeypatch, "slow.example", "127.0.0.1")

    def connect(place: tuple[str, int], *of: Any, **more: Any) -> socket.socket:
        time.sleep(1.5)
        return socket.create_connection(place)

    monkeypatch.setattr(guarded_connection, "create_connection", connect)
    began = time.monotonic()
    with answering(*[b"H"] * 30, pause=0.5) as url, pytest.raises(Unreachable):
        ask(url.replace("127.0.0.1", "slow.example"), HURRIED)

    assert time.monotonic() - began < 5


def test_no_more_addresses_are_tried_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may have as many as its owner likes, of which none answers."""
    name(monkeypatch, "many.example", *(f"127.0.0.{last}" for last in range(1, 20)))
    tried: list[object] = []

    def connect(*of: Any, **more: Any) -> socket.socket:
        tried.append(of)
        time.sleep(0.6)
        raise TimeoutError

    monkeypatch.setattr(guarded_connection, "create_connection", connect)
    with pytest.raises(Unreachable, match="cannot be reached"):
        ask("http://many.example/", HURRIED)

    assert 0 < len(tried) < 3


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
        ask(url, HURRIED)


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
