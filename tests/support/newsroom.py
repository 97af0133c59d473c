"""A web server over loopback whose feeds and pages change while it is read."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic, sleep

RSS = "application/rss+xml"


@dataclass
class Newsroom:
    """A server, its content by path: a body with its media type, or a status with headers. `asked` are the requests,
    with the headers that matter and the time."""

    url: str
    pages: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    answers: dict[str, list[tuple[int, Mapping[str, str]]]] = field(default_factory=dict)
    asked: list[tuple[str, Mapping[str, str], float]] = field(default_factory=list)
    more: dict[str, str] = field(default_factory=dict)
    """Headers that pages have besides."""
    broken: set[str] = field(default_factory=set)
    """The paths whose answers break off in the middle of the body."""
    pause: float = 0.0
    """Seconds that each answer takes."""
    at_once: int = 0
    most_at_once: int = 0
    """Requests that waited for their answers at the same time, at most."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self) -> None:
        """Take the time that an answer takes, and count who waits. A reader that has its answer may ask again before
        this thread goes on, so the count ends before the answer begins."""
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        sleep(self.pause)
        with self.lock:
            self.at_once -= 1

    def publish(self, path: str, *items: str, ttl: str = "") -> str:
        """A feed of these items, in RSS 2.0; returns its URL."""
        head = f"<title>Feed</title>{ttl and f'<ttl>{ttl}</ttl>'}"
        text = f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{"".join(items)}</channel></rss>'
        self.pages[path] = (text.encode(), RSS)
        return self.url + path

    def article(self, path: str, text: str) -> None:
        self.pages[path] = (f"<html><title>{text}</title><p>{text}</p></html>".encode(), "text/html; charset=utf-8")

    def paths(self) -> list[str]:
        """List the requested paths, in order."""
        return [path for path, _, _ in self.asked]


def item(link: str, title: str, date: str = "Mon, 24 Oct 2011 08:00:00 GMT", description: str = "Of it") -> str:
    """An item of RSS."""
    head = f"<title>{title}</title><link>{link}</link><description>{description}</description>"
    return f"<item>{head}<pubDate>{date}</pubDate></item>"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    room: Newsroom

    def log_message(self, format: str, *args: object) -> None:
        """Keep stderr empty."""

    def do_GET(self) -> None:
        self.room.wait()
        with suppress(ConnectionError):  # a reader that was killed hangs up
            self._reply()

    def _reply(self) -> None:
        self.room.asked.append((self.path, dict(self.headers.items()), monotonic()))
        waiting = self.room.answers.get(self.path)
        if waiting:
            status, headers = waiting.pop(0)
            self._answer(status, b"", headers)
        elif self.path not in self.room.pages:
            self._answer(404, b"none", {})
        else:
            body, kind = self.room.pages[self.path]
            tag = f'"{sha1(body).hexdigest()}"'
            if self.headers.get("If-None-Match") == tag:
                self._answer(304, b"", {"ETag": tag})
            else:
                self._answer(200, body, {"ETag": tag, "Content-Type": kind, **self.room.more})

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.path in self.room.broken else body)


@contextmanager
def newsroom(address: str = "127.0.0.1", port: int = 0) -> Iterator[Newsroom]:
    """One that is open, and empty, at any port that is free if none is given."""
    handler = type("Handler", (_Handler,), {})
    with ThreadingHTTPServer((address, port), handler) as server:
        handler.room = Newsroom(f"http://{address}:{server.server_address[1]}")  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield handler.room  # type: ignore[attr-defined]
        finally:
            server.shutdown()
            thread.join()
