"""Make the tutorial: eleven pages of our own, from easy to hard, each with the tags that it should have.

In the files, `data-gold` is the tag of an element and of all below it without one, and `data-whole` that by the
guidelines for whole pages, where it is another. Before a page is shown these attributes are removed.
"""

import dataclasses
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from dbce_spark.annotation.store import single_page, stored_pages, workbench_store
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.store.workbench_settings import KRDWRD, WHOLE
from dbce_spark.config import DbceConfig
from dbce_spark.html.dom import parse_tree
from dbce_spark.model import LABELS_BY_WORD

PAGES = 11
_GOLD = {WHOLE: ("data-whole", "data-gold"), KRDWRD: ("data-gold",)}
"""The attributes that have the tag of an element by each guidelines; the first that is there counts."""
_ATTRIBUTES = re.compile(r' data-(?:gold|whole)="[a-z]+"')


def add(opened: workbench_store.Connection, config: DbceConfig, guidelines: str) -> None:
    """Add the pages of the tutorial that a store does not have yet; all get their tags by the guidelines.

    A page that an earlier version has cut into other segments keeps the tags of these.
    """
    pages = [*make_pages(config, guidelines)]  # before the transaction, which others wait for
    with workbench_store.transaction(opened):
        for page in pages:
            if not stored_pages.add(opened, page, added=workbench_store.now()):
                stored_pages.set_reference(opened, page)


def make_pages(config: DbceConfig, guidelines: str) -> Iterator[StoredPage]:
    """Yield the pages of the tutorial, with their references."""
    found = sorted((files("dbce_spark.annotation") / "data").iterdir(), key=lambda file: file.name)
    for position, file in enumerate((one for one in found if one.name.endswith(".html")), start=1):
        yield _make_page(file.read_text("utf-8"), file.name, position, config, guidelines)


def _make_page(html: str, name: str, position: int, config: DbceConfig, guidelines: str) -> StoredPage:
    shown = _ATTRIBUTES.sub("", html).encode()
    made = single_page.make_from_html(shown, f"http://tutorial.example/{name}", name, config)
    root = parse_tree(html.encode())
    reference = tuple(LABELS_BY_WORD[_gold(root, unit.xpath, guidelines)] for unit in made.units)
    return dataclasses.replace(made, kind=stored_pages.TUTORIAL, position=position, reference=reference)


def _gold(root: Any, xpath: str, guidelines: str) -> str:
    """Return the gold word of the nearest element, itself or around it, that has one."""
    (element,) = root.xpath(xpath)
    words = (one.get(name) for one in (element, *element.iterancestors()) for name in _GOLD[guidelines])
    return str(next(filter(None, words)))
