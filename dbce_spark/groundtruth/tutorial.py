"""Eleven pages of our own to learn on, from easy to hard, each with the tags that it should have.

The files say in `data-gold` what an element holds, and all below it that says nothing else. Before a page is shown
these attributes are taken out.
"""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages
from dbce_spark.groundtruth import corpus, store
from dbce_spark.groundtruth import pages as stored
from dbce_spark.groundtruth.pages import StoredPage
from dbce_spark.labels import Label
from dbce_spark.model import Capture, Page, digest
from dbce_spark.page import parse_tree
from dbce_spark.selection.urls import url_key
from dbce_spark.warc import Fetch

PAGES = 11
_GOLD = "data-gold"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
_WORDS = {label.word: label for label in Label}


def add(opened: store.Connection, config: DbceConfig) -> None:
    """Puts the pages of the tutorial into a store that does not have them yet."""
    if len(stored.ids(opened, stored.TUTORIAL)) == PAGES:
        return
    with store.transaction(opened):
        for page in made(config):
            stored.add(opened, page, added=store.now())


def made(config: DbceConfig) -> Iterator[StoredPage]:
    """The pages of the tutorial, with their references."""
    found = sorted((files("dbce_spark.groundtruth") / "data").iterdir(), key=lambda file: file.name)
    for position, file in enumerate((one for one in found if one.name.endswith(".html")), start=1):
        yield page_of(file.read_bytes(), file.name, position, config)


def page_of(html: bytes, name: str, position: int, config: DbceConfig) -> StoredPage:
    """One page with its reference. The HTML has `data-gold`."""
    root = parse_tree(html)
    clean = _without_gold(html)
    page = _page(clean, name, config)
    (judged,) = local.extractions([page], config)
    made = corpus.stored_page(judged, "{}", _HEAD + clean, clean, config)
    reference = tuple(_WORDS[_gold(root, unit.xpath)] for unit in made.units)
    fields = {name: getattr(made, name) for name in StoredPage.__dataclass_fields__}
    return StoredPage(**fields | {"kind": stored.TUTORIAL, "position": position, "reference": reference})


def _gold(root: Any, xpath: str) -> str:
    """What is said of the nearest element, itself or around it, that says anything."""
    (element,) = root.xpath(xpath)
    return str(next(one.get(_GOLD) for one in (element, *element.iterancestors()) if one.get(_GOLD)))


def _without_gold(html: bytes) -> bytes:
    text = html.decode()
    for word in _WORDS:
        text = text.replace(f' {_GOLD}="{word}"', "")
    return text.encode()


def _page(html: bytes, name: str, config: DbceConfig) -> Page:
    url = f"http://tutorial.example/{name}"
    capture: dict[str, Any] = {
        "url": url,
        "url_key": url_key(url),
        "site": "tutorial.example",
        "timestamp": 0,
        "warc_file": name,
        "warc_offset": 0,
        "warc_length": len(html),
        "record_id": name,
        "payload_digest": digest(html.decode()),
        "http_status": 200,
        "mime": "text/html",
        "declared_charset": "utf-8",
        "truncated": False,
    }
    page = pages.page_of(Fetch(Capture(**capture), html), config)
    assert isinstance(page, Page)
    return page
