"""Headings: without the links to themselves, with the link of their card; texts that are only shown as one are none."""

from typing import Any

from lxml import etree

from dbce_spark.html.elements import HEADING_TAGS
from dbce_spark.html.removal import remove_elements
from dbce_spark.html.structure.addresses import Addresses
from dbce_spark.html.structure.kept_text import space_of, wrap_content

_MOST_WORDS = 60
"""Of a heading; what has more, and breaks in it, is a text in the size of one."""


def mend_headings(root: Any, addresses: Addresses) -> None:
    """Make a block of each heading that is a text; mend the links of the others."""
    gone: dict[Any, str] = {}
    cards: list[tuple[Any, Any]] = []
    for heading in [*root.iter(*HEADING_TAGS)]:
        if _is_text(heading):
            heading.tag = "div"
            continue
        card = next(heading.iterancestors("a"), None)
        for link in [*heading.iter("a"), *([] if card is None else [card])]:
            _drop_permalink(link, addresses, gone)
        if card is not None and card not in gone:
            cards.append((card, heading))
    remove_elements(gone)
    for card, heading in cards:
        if card.get("href") and "".join(heading.itertext()).strip():
            _move_link(card, heading)


def _is_text(heading: Any) -> bool:
    """Test for a long text in several paragraphs."""
    breaks = sum(1 for _ in heading.iter("br", "p"))
    return breaks > 1 and len(" ".join(heading.itertext()).split()) > _MOST_WORDS


def _drop_permalink(link: Any, addresses: Addresses, gone: dict[Any, str]) -> None:
    """Note a link to the page itself that shows no word, such as # and ¶, with what stands for it; take its address off
    another."""
    reference = (link.get("href") or "").strip()
    if not (reference.startswith("#") or addresses.is_own(reference)):
        return
    if any(character.isalnum() for character in "".join(link.itertext())) or next(link.iter("img"), None) is not None:
        del link.attrib["href"]
    else:
        gone[link] = space_of(link)


def _move_link(card: Any, heading: Any) -> None:
    """Move the link of a card, which is around a heading and more, to its heading: in Markdown each of its texts would
    be a link of its own."""
    wrap_content(heading, etree.Element("a", {"href": card.attrib.pop("href")}))
