"""The workbench as it is served: a process on two ports."""

import os
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from flask import Flask

from dbce_spark.annotation.web import workbench_server
from dbce_spark.errors import PlatformError
from tests.support.annotation_stores import SETTINGS, with_people
from tests.support.workbenches import served


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """Serve a page of one word, and wait for nobody longer than for three seconds."""
    monkeypatch.setattr(workbench_server, "_IDLE_SECONDS", 3)
    app = Flask("one")
    app.add_url_rule("/login", view_func=lambda: "login")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = workbench_server._server(app, SETTINGS, listening)
        threading.Thread(target=server.run, daemon=True).start()
        yield listening.getsockname()
        server.close()


def test_people_and_archived_pages_have_a_port_each(tmp_path: Path) -> None:
    """Neither answers for the other, and none says what it is."""
    with served(with_people(tmp_path, "ada")) as one:
        answers = {}
        for port in (one.port, one.replay_port):
            for path in ("login", "frame.js"):
                with suppress(HTTPError), urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
                    answers[port, path] = answer.headers.get("Server")

    assert {(one.port, "login"): None, (one.replay_port, "frame.js"): None} == answers


def test_who_says_nothing_is_closed(address: tuple[str, int]) -> None:
    """A connection that is opened and left is not held for minutes."""
    with socket.create_connection(address, timeout=10) as silent:
        silent.sendall(b"GET /login HTTP/1.1\r\n")

        assert b"" == silent.recv(1)


@pytest.mark.parametrize(("host", "kind"), [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)])
def test_a_port_is_one_servers(host: str, kind: socket.AddressFamily) -> None:
    """Of an address of either kind; who comes second is told to take another."""
    try:
        socket.create_server((host, 0), family=kind).close()
    except OSError as error:
        pytest.skip(f"{host}: {error}")
    with workbench_server._socket(host, 0) as taken:
        port = taken.getsockname()[1]
        assert host == taken.getsockname()[0]
        with pytest.raises(PlatformError, match=f"^{host}:{port} cannot be listened on: .*; choose another port$"):
            workbench_server._socket(host, port)


@pytest.fixture
def many_files() -> Iterator[None]:
    """Hold more files open than select knows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        pytest.skip("this process may not have 2,048 files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1024)]
    yield
    for one in held:
        os.close(one)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_connection_beyond_a_thousand_files_is_answered(many_files: None, address: tuple[str, int]) -> None:
    """The server waits for as many as the system allows."""
    with urlopen(f"http://{address[0]}:{address[1]}/login", timeout=10) as answer:
        assert b"login" == answer.read()


def test_half_open_connections_do_not_keep_people_out(address: tuple[str, int]) -> None:
    """Three hundred that never end their request, and the login page is there."""
    host, port = address
    with ExitStack() as opened:
        for _ in range(300):
            half = opened.enter_context(socket.create_connection(address))
            half.sendall(b"GET /login HTTP/1.1\r\nHost: a\r\n")
        with urlopen(f"http://{host}:{port}/login", timeout=10) as answer:
            assert b"login" == answer.read()
