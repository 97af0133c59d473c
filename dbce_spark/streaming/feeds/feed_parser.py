"""Parse feeds: RSS, Atom and RDF in any version, broken XML among them."""

import io
from dataclasses import dataclass
from typing import Any

from dbce_spark.errors import PlatformError
from dbce_spark.streaming.feeds.feed_item import Item

_MINUTE = 60


class NotAFeed(ValueError):
    """The bytes are no feed."""


@dataclass(frozen=True, slots=True)
class Feed:
    """The items of a feed that link to a page of the web, in its order, and `ttl_seconds`: how long the feed is not to
    be polled again, 0 where it has no such figure."""

    items: tuple[Item, ...]
    ttl_seconds: float


def parse(body: bytes, content_type: str, url: str) -> Feed:
    """Parse a feed from its bytes; relative links are of `url`.

    Raises:
        NotAFeed: they are none.
        PlatformError: feedparser is not installed.
    """
    headers = {"content-type": content_type, "content-location": url}
    # As a stream: the library takes a string for a URL or the name of a file.
    stream, library = io.BytesIO(body), _library()
    try:
        found = library.parse(stream, response_headers=headers, resolve_relative_uris=False, sanitize_html=False)
    except Exception as error:  # whatever its parsers do on hostile bytes
        raise NotAFeed(f"{url}: {type(error).__name__}: {error}"[:300]) from error
    if not found.get("version"):
        raise NotAFeed(f"{url}: is neither RSS nor Atom nor RDF")
    items = (_item(entry, url) for entry in found.entries)
    ttl = str(found.feed.get("ttl", "")).strip()
    return Feed(
        tuple(one for one in items if one.link.lower().startswith(("http://", "https://"))),
        _MINUTE * float(ttl) if ttl.isascii() and ttl.isdigit() else 0.0,
    )


def _item(entry: Any, feed: str) -> Item:
    return Item(
        feed=feed,
        link=_folded(entry.get("link", "")),
        title=_folded(entry.get("title", "")),
        description=_folded(entry.get("summary", "")),
        date=_folded(entry.get("published" if "published" in entry else "updated", "")),
    )


def _folded(text: str) -> str:
    return " ".join(text.split())


def _library() -> Any:
    try:
        import feedparser
    except ImportError as error:
        raise PlatformError("feeds are read with feedparser: pip install 'dbce-spark[acquire]'") from error
    return feedparser
