"""Words that touch in the markup are parted in a page's tree where they are words apart in the page's text."""

from bisect import bisect_right
from collections.abc import Collection
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
from lxml import etree

from dbce_spark.html.elements import CODE_TAGS, DROPPED_TAGS, LINE_END_TAGS, is_line_of_code
from dbce_spark.html.structure.kept_media import Counts, Kept, counts_before
from dbce_spark.html.structure.kept_text import TextNode, is_visible, visible_before

_Node = tuple[TextNode, bool]
"""A text node, and whether it begins a line."""


def part_words(root: Any, page_text: str, is_kept: Kept) -> None:
    """Put white space between two text nodes of a line where the page's text has some and they have none.

    root: a page that is cut down to what is kept of its text.
    """
    nodes = _nodes(root)
    before = counts_before(is_visible("".join(text for (_, _, text), _ in nodes)))
    ends = np.cumsum([len(text) for (_, _, text), _ in nodes], dtype=np.intp)
    starts = [0, *before[ends].tolist()]
    in_page = _after_space(visible_before(page_text))
    is_missing = np.zeros(max(before[-1], len(is_kept)) + 1, np.bool_)
    is_missing[counts_before(is_kept)[in_page[np.append(is_kept, False)[in_page]]]] = True
    is_missing[_after_space(before)] = False
    for at, found in groupby(
        np.flatnonzero(is_missing[: before[-1]]).tolist(), lambda place: bisect_right(starts, place) - 1
    ):
        (element, is_tail, text), begins_line = nodes[at]
        places = {place - starts[at] for place in found}
        if places != {0}:
            setattr(element, "tail" if is_tail else "text", _parted(text, places - {0}))
        if 0 in places and not begins_line:
            _part(element, is_tail)


def _nodes(root: Any) -> list[_Node]:
    """List the text nodes of a page, those of white space too."""
    nodes: list[_Node] = []
    in_pre, begins_line = 0, True
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag, is_tail = element.tag, event == "end"
        if tag in LINE_END_TAGS:
            begins_line = True
            if tag in CODE_TAGS:
                in_pre += -1 if is_tail else 1
        elif not is_tail and tag in DROPPED_TAGS:
            walker.skip_subtree()
            continue
        elif in_pre and is_line_of_code(element):
            begins_line = True
        if text := element.tail if is_tail else element.text:
            nodes.append(((element, is_tail, text), begins_line))
            begins_line = False
    return nodes


def _after_space(before: Counts) -> npt.NDArray[np.intp]:
    """Find the characters that white space stands before, and the first, by how many stand before each of a text that
    are no white space."""
    return np.append(0, before[np.flatnonzero(before[1:] == before[:-1])])


def _parted(text: str, places: Collection[int]) -> str:
    """Put spaces in a text node where an element between two words is gone, such as a script."""
    parts: list[str] = []
    position = 0
    for character in text:
        if not character.isspace():
            if position in places:
                parts.append(" ")
            position += 1
        parts.append(character)
    return "".join(parts)


def _part(element: Any, is_tail: bool) -> None:
    """Put a space before the text of an element, or its tail, but within no element that begins or ends there."""
    if is_tail:
        element.tail = f" {element.tail}"
        return
    while (before := element.getprevious()) is None and not element.getparent().text:
        element = element.getparent()
    if before is None:
        element.getparent().text += " "
    else:
        before.tail = f"{before.tail or ''} "
