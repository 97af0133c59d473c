"""Headings: without the links to themselves, with the link of their card; texts that are only shown as one are none,
and blocks in the role of one are one."""

from itertools import islice
from typing import Any

from lxml import etree

from dbce_spark.html.elements import HEADING_TAGS
from dbce_spark.html.removal import holds_more, remove_elements
from dbce_spark.html.structure.addresses import Addresses
from dbce_spark.html.structure.kept_text import space_of, wrap_content

_MOST_WORDS = 60
"""Of a heading; what has more, and breaks in it, is a text in the size of one."""

_MOST_AROUND = 10
"""Headings that one may be in; those in more stay as they are, as what they hold was looked at as often."""

_MOST_PARTS = 50
"""Elements in a link without a word."""

_ROLES: Any = etree.XPath("descendant::*/@role", smart_strings=False)
_SECOND, _LAST = 2, 6
"""The level of a heading in WAI-ARIA that gives none, and the last of HTML."""


def mend_headings(root: Any, addresses: Addresses) -> None:
    """Make a heading of each block in the role of one, and a block of each heading that is a text; mend the links of
    the others."""
    if any(role.lower().startswith("heading") for role in _ROLES(root)):
        _mark_by_role(root)
    links: dict[Any, None] = {}
    cards: list[tuple[Any, Any]] = []
    for heading in [one for one in root.iter(*HEADING_TAGS) if not _is_deep(one)]:
        if _is_text(heading):
            heading.tag = "div"
            continue
        links.update(dict.fromkeys(heading.iter("a")))
        if (card := next(heading.iterancestors("a"), None)) is not None:
            links[card] = None
            cards.append((card, heading))
    gone: dict[Any, str] = {}
    for link in links:
        _drop_permalink(link, addresses, gone)
    remove_elements(gone)
    for card, heading in cards:
        if card.get("href") and card not in gone and any(map(str.strip, heading.itertext())):
            _move_link(card, heading)


def _mark_by_role(root: Any) -> None:
    """Make headings of the blocks that WAI-ARIA calls so, in none and around none; in a line it would tear the text."""
    for block in [*root.iter("div", "p")]:
        role = (block.get("role") or "").lower().split()
        if role[:1] != ["heading"]:
            continue
        if next(block.iterdescendants(*HEADING_TAGS), next(block.iterancestors(*HEADING_TAGS), None)) is None:
            block.tag = f"h{_level(block)}"


def _level(heading: Any) -> int:
    level = (heading.get("aria-level") or "").strip()
    is_level = level.isascii() and level.isdecimal() and len(level) < 3 and int(level) > 0
    return min(int(level), _LAST) if is_level else _SECOND


def _is_deep(heading: Any) -> bool:
    return next(islice(heading.iterancestors(*HEADING_TAGS), _MOST_AROUND, None), None) is not None


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
    is_shown = holds_more(link, _MOST_PARTS) or next(link.iter("img"), None) is not None
    if is_shown or any(character.isalnum() for character in "".join(link.itertext())):
        del link.attrib["href"]
    else:
        gone[link] = space_of(link)


def _move_link(card: Any, heading: Any) -> None:
    """Move the link of a card, which is around a heading and more, to its heading: in Markdown each of its texts would
    be a link of its own."""
    wrap_content(heading, etree.Element("a", {"href": card.attrib.pop("href")}))
