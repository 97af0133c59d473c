"""Make the tutorial: eleven pages of our own, from easy to hard, each with the tags that it should have.

In the files, `data-gold` is the tag of an element and of all below it without one. Before a page is shown these
attributes are removed.
"""

import dataclasses
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from dbce_spark.annotation.markup.submission import LABELS
from dbce_spark.annotation.store import single_page, stored_pages, workbench_store
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.config import DbceConfig
from dbce_spark.html.dom import parse_tree

PAGES = 11
_GOLD = "data-gold"


def add(opened: workbench_store.Connection, config: DbceConfig) -> None:
    """Add the pages of the tutorial to a store that does not have them yet."""
    if len(stored_pages.ids(opened, stored_pages.TUTORIAL)) == PAGES:
        return
    with workbench_store.transaction(opened):
        for page in make_pages(config):
            stored_pages.add(opened, page, added=workbench_store.now())


def make_pages(config: DbceConfig) -> Iterator[StoredPage]:
    """Yield the pages of the tutorial, with their references."""
    found = sorted((files("dbce_spark.annotation") / "data").iterdir(), key=lambda file: file.name)
    for position, file in enumerate((one for one in found if one.name.endswith(".html")), start=1):
        yield make_page(file.read_bytes(), file.name, position, config)


def make_page(html: bytes, name: str, position: int, config: DbceConfig) -> StoredPage:
    """Make one page with its reference. The HTML has `data-gold`."""
    root = parse_tree(html)
    made = single_page.make_from_html(_without_gold(html), f"http://tutorial.example/{name}", name, config)
    reference = tuple(LABELS[_gold(root, unit.xpath)] for unit in made.units)
    return dataclasses.replace(made, kind=stored_pages.TUTORIAL, position=position, reference=reference)


def _gold(root: Any, xpath: str) -> str:
    """Return the gold word of the nearest element, itself or around it, that has one."""
    (element,) = root.xpath(xpath)
    return str(next(one.get(_GOLD) for one in (element, *element.iterancestors()) if one.get(_GOLD)))


def _without_gold(html: bytes) -> bytes:
    """Remove the gold words from a page."""
    text = html.decode()
    for word in LABELS:
        text = text.replace(f' {_GOLD}="{word}"', "")
    return text.encode()
