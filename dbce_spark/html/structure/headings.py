"""Headings without the links to themselves; texts that a page only shows as a heading are none."""

from typing import Any

from dbce_spark.html.removal import remove_elements
from dbce_spark.html.structure.addresses import Addresses
from dbce_spark.html.structure.kept_text import space_of

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


_MOST_WORDS = 60
"""Of a heading; what has more, and breaks in it, is a text in the size of one."""


def unhead_texts(root: Any) -> None:
    """Make a block of each heading that holds a long text in several paragraphs."""
    for heading in [*root.iter(*_HEADINGS)]:
        breaks = sum(1 for _ in heading.iter("br", "p"))
        if breaks > 1 and len(" ".join(heading.itertext()).split()) > _MOST_WORDS:
            heading.tag = "div"


def drop_permalinks(root: Any, addresses: Addresses) -> None:
    """Take out links in headings that show no word, such as # and ¶; others to the page itself lose their address."""
    gone: dict[Any, str] = {}
    for heading in root.iter(*_HEADINGS):
        around = next(heading.iterancestors("a"), None)
        for link in [*heading.iter("a"), *([] if around is None else [around])]:
            reference = (link.get("href") or "").strip()
            if not (reference.startswith("#") or addresses.is_own(reference)):
                continue
            if (
                any(character.isalnum() for character in "".join(link.itertext()))
                or next(link.iter("img"), None) is not None
            ):
                del link.attrib["href"]
            else:
                gone[link] = space_of(link)
    remove_elements(gone)
