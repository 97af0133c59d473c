"""Parse feeds: RSS, Atom and RDF in any version, broken XML among them."""

import io
import re
from dataclasses import dataclass
from typing import Any

from dbce_spark.errors import PlatformError
from dbce_spark.streaming.feeds.feed_item import Item

_MINUTE = 60
_REFERENCE = re.compile(rb"&#([0-9]{5,9}|[xX][0-9a-fA-F]{4,9});")


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
    # As a stream: the library takes a string for a URL or the name of a file.
    stream, library = io.BytesIO(_REFERENCE.sub(_whole, body)), _library()
    try:
        found = library.parse(stream, response_headers=headers, resolve_relative_uris=False, sanitize_html=False)
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
        raise PlatformError("feeds are read with feedparser: pip install 'dbce-spark[acquire]'") from error
    return feedparser
