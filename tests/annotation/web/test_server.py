"""The workbench as it is served: a process on two ports."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.request import urlopen

import pytest
from flask import Flask

from dbce_spark.annotation.web import workbench_server
from tests.support.annotation_stores import SETTINGS


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    """Serve a page of one word."""
    app = Flask("one")
    app.add_url_rule("/login", view_func=lambda: "login")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = workbench_server._server(app, SETTINGS, listening)
        threading.Thread(target=server.run, daemon=True).start()
        yield listening.getsockname()
        server.close()


def test_half_open_connections_do_not_keep_people_out(address: tuple[str, int]) -> None:
    """Three hundred that never end their request, and the login page is there."""
    host, port = address
    with ExitStack() as opened:
        for _ in range(300):
            half = opened.enter_context(socket.create_connection(address))
            half.sendall(b"GET /login HTTP/1.1\r\nHost: a\r\n")
        with urlopen(f"http://{host}:{port}/login", timeout=10) as answer:
            assert b"login" == answer.read()
