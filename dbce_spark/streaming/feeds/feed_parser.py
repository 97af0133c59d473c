"""Parse feeds: RSS, Atom and RDF in any version, broken XML among them."""

import io
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from dbce_spark.errors import PlatformError, installs
from dbce_spark.streaming.feeds.feed_item import Item

_MINUTE = 60
_REFERENCE = re.compile(rb"&#([0-9]{5,9}|[xX][0-9a-fA-F]{4,9});")
_ELEMENT = re.compile(rb"<\w")
_ENTITY = re.compile(rb'<!ENTITY\s+(\w+)\s+"([^"]*)"')
_USE = re.compile(rb"&(\w+)")
_MOST_HEAD = 1 << 14
"""Bytes before the first element: the library's time grows with their square, and nothing else runs meanwhile."""
_MOST_GROWTH = 1 << 22
"""Bytes that entities of its own may add to a feed: some KB, named often enough, take all memory."""


class NotAFeed(ValueError):
    """The bytes are no feed."""


@dataclass(frozen=True, slots=True)
class Feed:
    """The items of a feed that link to a page of the web, in its order, and `ttl_seconds`: how long the feed is not to
    be polled again, 0 where it has no such figure."""

    items: tuple[Item, ...]
    ttl_seconds: float


def parse(body: bytes, content_type: str, url: str, *, most_items: int) -> Feed:
    """Parse a feed from its bytes, and its first items; relative links are of `url`.

    Raises:
        NotAFeed: they are none.
        PlatformError: feedparser is not installed.
    """
    headers = {"content-type": content_type, "content-location": url}
    library, body = _library(), _REFERENCE.sub(_whole, body)
    try:
        _refuse_growth(library.encodings.convert_to_utf8(headers, body, {}), url)
        # As a stream: the library takes a string for a URL or the name of a file.
        found = library.parse(
            io.BytesIO(body), response_headers=headers, resolve_relative_uris=False, sanitize_html=False
        )
    except NotAFeed:
        raise
    except Exception as error:  # whatever its parsers do on hostile bytes
        raise NotAFeed(f"{url}: {type(error).__name__}: {error}"[:300]) from error
    if not found.get("version"):
        raise NotAFeed(f"{url}: is neither RSS nor Atom nor RDF")
    items = (_item(entry, url) for entry in found.entries[:most_items])
    ttl = str(found.feed.get("ttl", "")).strip()
    return Feed(
        tuple(item for item in items if item.link.lower().startswith(("http://", "https://"))),
        _MINUTE * float(ttl) if ttl.isascii() and ttl.isdigit() else 0.0,
    )


def _refuse_growth(utf8: bytes, url: str) -> None:
    """Raise NotAFeed if a feed would keep the library busy without end, or take all memory."""
    first = _ELEMENT.search(utf8)
    head = utf8[: first.start()] if first else b""
    if len(head) > _MOST_HEAD:
        raise NotAFeed(f"{url}: has {len(head)} bytes before its first element")
    uses = Counter(_USE.findall(utf8))
    if sum(len(value) * uses[name] for name, value in _ENTITY.findall(head)) > _MOST_GROWTH:
        raise NotAFeed(f"{url}: grows by its entities to more than {_MOST_GROWTH} bytes")


def _whole(reference: re.Match[bytes]) -> bytes:
    """Return a reference as it stands; one to half a character, which the library fails on, is to U+FFFD."""
    digits = reference[1].lower()
    number = int(digits[1:], 16) if digits.startswith(b"x") else int(digits)
    return b"&#65533;" if 0xD800 <= number <= 0xDFFF else reference[0]


def _item(entry: Any, feed: str) -> Item:
    return Item(
        feed=feed,
        link=_folded(entry.get("link", "")),
        title=_folded(entry.get("title", "")),
        description=_folded(entry.get("summary", "")),
        date=_folded(entry.get("published" if "published" in entry else "updated", "")),
    )


def _folded(text: str) -> str:
    """Fold white space; a half of a character, which a reference can name, becomes a question mark."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _library() -> Any:
    try:
        import feedparser
    except ImportError as error:
        raise PlatformError(f"feeds are read with feedparser: {installs('acquire')}") from error
    return feedparser
