"""Words that touch in the markup are parted in a page's tree where they are words apart in the page's text."""

from typing import Any

import numpy as np
import numpy.typing as npt
from lxml import etree

from dbce_spark.html.elements import CODE_TAGS, DROPPED_TAGS, LINE_END_TAGS, is_line_of_code
from dbce_spark.html.structure.kept_media import Kept
from dbce_spark.html.structure.kept_text import is_visible


def part_words(root: Any, page_text: str, is_kept: Kept) -> None:
    """Put white space between two text nodes of a line where the page's text has some and they have none.

    root: a page that is cut down to what is kept of its text.
    """
    is_apart = _after_space(page_text)[is_kept].tobytes()
    position, in_pre, before = 0, 0, ""  # the last text of this line
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag, is_tail = element.tag, event == "end"
        if not is_tail and tag in DROPPED_TAGS:
            walker.skip_subtree()
            continue
        if tag in CODE_TAGS:
            in_pre += -1 if is_tail else 1
        if tag in LINE_END_TAGS or (in_pre and is_line_of_code(element)):
            before = ""
        text = element.tail if is_tail else element.text
        if text and (length := sum(map(len, words := text.split()))):
            if is_apart.count(1, position + 1, position + length) >= len(words):
                text = _parted(text, is_apart[position : position + length])
                setattr(element, "tail" if is_tail else "text", text)
            if is_apart[position] and before and not (text[0].isspace() or before[-1].isspace()):
                _part(element, is_tail)
            position += length
        before = text or before


def _parted(text: str, is_apart: bytes) -> str:
    """Put spaces in a text node where an element between two words is gone, such as a script."""
    parts: list[str] = []
    position = 0
    for character in text:
        if not character.isspace():
            if is_apart[position] and parts and not parts[-1].isspace():
                parts.append(" ")
            position += 1
        parts.append(character)
    return "".join(parts)


def _after_space(page_text: str) -> npt.NDArray[np.bool_]:
    """Mark of each character that is no white space whether white space stands before it."""
    visible = is_visible(page_text)
    marked: npt.NDArray[np.bool_] = np.append(True, ~visible[:-1])[visible]
    return marked


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
