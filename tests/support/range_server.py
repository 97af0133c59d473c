"""A web server of files by ranges, over loopback, that misbehaves on request."""

import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """A server's files, the faults of its next answers (one word each), and the ranges that it was asked for."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    asked: list[tuple[str, int, int]] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: in two, the second waits for the first to be acknowledged
    site: Site

    def log_message(self, format: str, *args: object) -> None:
        """Keep stderr empty."""

    def do_GET(self) -> None:
        held = self.site.files.get(self.path)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(asked[1]), int(asked[2])) if asked else (0, len(held or b""))
        self.site.asked.append((self.path, first, last))
        trouble = self.site.troubles.pop(0) if self.site.troubles else ""
        if trouble.startswith("status"):
            _, status, *retry_after = trouble.split(" ", 2)
            self._answer(int(status), b"", {"Retry-After": retry_after[0]} if retry_after else {})
        elif trouble == "reset":
            self._reset()
        elif held is None:
            self._answer(404, b"")
        elif trouble == "whole":
            self._answer(200, held)
        elif first >= len(held):
            self._answer(416, b"", {"Content-Range": f"bytes */{len(held)}"})
        else:
            shift = 1 if trouble == "shifted" else 0
            part = held[first + shift : last + 1 + shift]
            part = part[: len(part) // 2] if trouble == "subset" else part
            headers = {"Content-Range": f"bytes {first + shift}-{first + shift + len(part) - 1}/{len(held)}"}
            sent = part[: len(part) // 2] if trouble in ("short", "broken") else part
            self._answer(206, sent, headers, len(part))
            if trouble == "broken":
                self._reset()
            elif trouble == "short":
                self.close_connection = True

    def _answer(
        self, status: int, body: bytes, headers: dict[str, str] | None = None, length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RD)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that has enough closes the connection; any other fault shows in its test."""


@contextmanager
def served(**files: bytes) -> Iterator[Site]:
    """A server of these files, by their names with "__" for "."; it ends with the block."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    site.files = {f"/{name.replace('__', '.')}": data for name, data in files.items()}
    server.RequestHandlerClass = type("_Here", (_Handler,), {"site": site})
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
