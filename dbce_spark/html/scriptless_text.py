"""The text that a page shows only to readers without scripts, in <noscript>, or that its elements have in shadow roots:
of some pages it is all of the text."""

from collections.abc import Collection, Iterator
from itertools import accumulate
from typing import Any

from lxml import etree

from dbce_spark.html.elements import DROPPED_TAGS

_LEAST = 400
"""Characters. The longest <noscript> that asks its reader to allow scripts, of 537 with text in gold pages, has 254. A
page of frames has no other text, however little."""


def take_in_scriptless(root: Any) -> None:
    """Make a <div> of each <noscript> and shadow root of the body where these hold more text than all else.

    Such a page is built by its scripts, as those of some forums are; or a <noscript> holds the begin of a <div> alone,
    and the parser has all up to its end in there. A shadow root is a <template shadowrootmode=open> in an element that
    shows what it holds: of most pages with some, only menus and buttons.
    """
    body = root.find("body")
    if body is None:
        return
    outer: list[Any] = []
    inner: set[Any] = set()
    for one in filter(_is_shown, body.iter("noscript", "template")):
        if one not in inner:
            outer.append(one)
            inner.update(filter(_is_shown, one.iterdescendants("noscript", "template")))
    least = _LEAST if root.find("frameset") is None else 1
    if sum(len(text) for one in outer for text in one.itertext()) < least:  # as in nearly all pages
        return
    shown = {*outer, *inner}
    length = sum(characters for one in outer for characters in _lengths(one, shown))
    if length < least or any(others >= length for others in accumulate(_lengths(body, ()))):
        return
    for one in shown:
        one.tag = "div"


def _is_shown(element: Any) -> bool:
    """Test for a <noscript>, or a <template> that browsers make a shadow root of."""
    return element.tag == "noscript" or "shadowrootmode" in element.attrib


def _lengths(element: Any, shown: Collection[Any]) -> Iterator[int]:
    """Iterate over the lengths of the texts in an element, white space aside; of dropped elements only those that are
    `shown` count."""
    walker = etree.iterwalk(element, events=("start", "end"))
    for event, one in walker:
        is_end = event == "end"
        if is_end and one is element:
            return
        if one.tag in DROPPED_TAGS and one not in shown and not is_end:
            walker.skip_subtree()
        elif text := one.tail if is_end else one.text:
            yield sum(map(len, text.split()))
