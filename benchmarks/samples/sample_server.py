"""The answers of a site's server to its URLs during one crawl: pages, and the files, redirects and errors around them."""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import format_datetime
from functools import lru_cache
from random import Random

from benchmarks.samples.drawn_page import DrawnPage
from benchmarks.samples.sample_site import Moment, Site
from benchmarks.samples.weight import weighed

ITEMS_PER_PHOTO = 10
ITEMS_PER_REDIRECT = 20
CHUNK = 4096
"""Bytes in a chunk of a chunked body."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response."""

    path: str
    status: str
    headers: list[tuple[str, str]]
    body: bytes  # as sent: compressed, chunked
    since: int = 0  # the first crawl that was answered with the same body
    drawn: DrawnPage | None = None  # of an HTML page with main content
    kind: str = ""


def urls(site: Site) -> int:
    """Count the URLs of a site, pages and others."""
    return site.pages + len(_fixed(site)) + _photos(site) + site.items // ITEMS_PER_REDIRECT


def answer(site: Site, number: int, crawl: int) -> Answer | None:
    """Answer the site's URL with this number; None if it did not exist by then."""
    if number < site.pages:
        return _page(site, number, crawl)
    number -= site.pages
    fixed = _fixed(site)
    if number < len(fixed):
        return fixed[number]
    number -= len(fixed)
    if number < _photos(site):
        return _picture(site, f"/images/{number}.png", site.dice("photo", number))
    return _redirect(site, number - _photos(site), crawl)


def dated(found: Answer, when: datetime) -> list[tuple[str, str]]:
    """Add the server's clock to the answer's headers."""
    return [("Date", format_datetime(when, usegmt=True)), *found.headers]


def _page(site: Site, page: int, crawl: int) -> Answer | None:
    path = site.path(page)
    moment = Moment(crawl, 0) if page < site.lists else _moment(site, page - site.lists, crawl)
    if moment is None:
        return None
    if moment.crawl < 0:
        return _missing(site, path)
    drawn = weighed(site.draw(page, moment), site)
    body = drawn.html.encode(site.charset, "xmlcharrefreplace")
    kind = site.kind if page >= site.lists else "listing"
    return _sent(site, Answer(path, "200 OK", _typed(site.content_type), body, moment.crawl, drawn, kind))


def _moment(site: Site, number: int, crawl: int) -> Moment | None:
    """Return the state of an item at a crawl: None before it is born, crawl -1 when it is gone."""
    born, calendar = site.born(number), site.calendar
    if crawl < born:
        return None
    dice = site.dice("fate", number)
    others = range(1, len(calendar.days))  # nothing goes before the first crawl, which may be the only one
    gone = dice.choice(others) if dice.random() < calendar.gone and others else crawl + 1
    if born < gone <= crawl:
        return Moment(-1, 0)
    moment = Moment(born, 0)
    for later in range(born + 1, crawl + 1):
        edited, cached = dice.random() < calendar.edited, dice.random() < calendar.cached
        if edited or not cached or later == site.redesigned:
            moment = Moment(later, moment.edits + edited)
    return moment


def _photos(site: Site) -> int:
    return -(-site.items // ITEMS_PER_PHOTO)


@lru_cache(maxsize=256)
def _fixed(site: Site) -> list[Answer]:
    """List the URLs that every site has besides its pages."""
    robots = f"User-agent: *\nDisallow: /search\nSitemap: http://{site.host}/sitemap.xml\n".encode()
    return [
        _sent(site, Answer("/robots.txt", "200 OK", _typed("text/plain"), robots)),
        _sent(site, Answer("/assets/site.css", "200 OK", _typed("text/css"), site.css.encode())),
        _picture(site, "/assets/logo.png", site.dice("logo")),
        _missing(site, "/favicon.ico"),
        _missing(site, "/old/welcome.html"),
        _moved(site, "/index.html", "/"),
    ]


def _redirect(site: Site, number: int, crawl: int) -> Answer | None:
    item = number * ITEMS_PER_REDIRECT
    return _moved(site, f"/s/{item}", site.item_path(item)) if site.born(item) <= crawl else None


def _missing(site: Site, path: str) -> Answer:
    body = f"<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1><hr>{site.server}</body></html>\n".encode()
    return _sent(site, Answer(path, "404 Not Found", _typed("text/html"), body))


def _moved(site: Site, path: str, target: str) -> Answer:
    headers = [*_typed("text/html"), ("Location", f"http://{site.host}{target}")]
    body = b"<html><head><title>301 Moved Permanently</title></head><body><h1>Moved Permanently</h1></body></html>\n"
    return _sent(site, Answer(path, "301 Moved Permanently", headers, body))


def _typed(content_type: str) -> list[tuple[str, str]]:
    return [("Content-Type", content_type)]


def _sent(site: Site, answer: Answer) -> Answer:
    """Send an answer as the site's server does: with its headers, and pages compressed and in chunks."""
    headers, body = [("Server", site.server), *answer.headers], answer.body
    if site.gzipped and answer.drawn is not None:
        headers.append(("Content-Encoding", "gzip"))
        body = gzip.compress(body, 6, mtime=0)
    if site.chunked and answer.drawn is not None:
        headers.append(("Transfer-Encoding", "chunked"))
        body = b"".join(_chunks(body))
    else:
        headers.append(("Content-Length", str(len(body))))
    return replace(answer, headers=[*headers, ("Connection", "close")], body=body)


def _chunks(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), CHUNK):
        chunk = body[start : start + CHUNK]
        yield b"%x\r\n%s\r\n" % (len(chunk), chunk)
    yield b"0\r\n\r\n"


def _picture(site: Site, path: str, dice: Random) -> Answer:
    """Send a small PNG in one random colour a row."""
    width, height = 48, 32
    rows = b"".join(b"\0" + bytes(dice.randrange(256) for _ in range(3)) * width for _ in range(height))
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    body = b"\x89PNG\r\n\x1a\n" + b"".join(
        len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big") for name, data in parts
    )
    return _sent(site, Answer(path, "200 OK", _typed("image/png"), body))
