"""Headings: without the links to themselves, with the link of their card; texts that are only shown as one are none."""

from typing import Any

from lxml import etree

from dbce_spark.html.structure.addresses import Addresses
from dbce_spark.html.structure.kept_text import remove

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
    for heading in [*root.iter(*_HEADINGS)]:
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
                remove(link)


def link_headings(root: Any) -> None:
    """Move the link of a card, which is around a heading and more, to its heading: in Markdown each of its texts would
    be a link of its own."""
    for heading in [*root.iter(*_HEADINGS)]:
        card = next(heading.iterancestors("a"), None)
        if card is None or not card.get("href") or not "".join(heading.itertext()).strip():
            continue
        link = etree.Element("a", {"href": card.attrib.pop("href")})
        link.text, heading.text = heading.text, None
        link.extend([*heading])
        heading.append(link)
