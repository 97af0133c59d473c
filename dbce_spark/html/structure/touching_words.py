"""Words that touch without being one are parted in a page's tree, as the walk of a page parts them."""

from typing import Any

from lxml import etree

from dbce_spark.html.page import BLOCK_TAGS, DROPPED_TAGS, JOINED_TAGS
from dbce_spark.html.tokens import begins_word, turns_upper

_APART = BLOCK_TAGS | JOINED_TAGS | {"br"}


def part_words(root: Any) -> None:
    """Put a space between two elements, or an element and a text, where the second begins a word."""
    before, holder, was_tail = "", root, False  # the last text, and where it stands
    ended = gap = None  # the element before, if no text stands behind it; the one that another begins right behind
    pre = 0
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag, is_tail = element.tag, event == "end"
        if not is_tail and tag in DROPPED_TAGS:
            walker.skip_subtree()
            continue
        if tag in _APART:
            ended, gap, before = None, None, ""
            if tag == "pre":
                pre += -1 if is_tail else 1
        elif not is_tail and ended is not None:
            gap = ended
        text = element.tail if is_tail else element.text
        if text and (before or not text.isspace()):
            if not pre and (turns_upper(before, text) or (gap is not None and begins_word(before, text))):
                _part(element, is_tail, gap, holder, was_tail)
            before, holder, was_tail = text, element, is_tail
            ended = gap = None
        elif is_tail and tag not in _APART:
            ended = element


def _part(element: Any, is_tail: bool, gap: Any, holder: Any, was_tail: bool) -> None:
    """Put a space before a text: within the element around both, so that none that is code or a link begins with it."""
    if is_tail:
        element.tail = f" {element.tail}"
    elif gap is not None:
        gap.tail = " "
    elif was_tail:
        holder.tail += " "
    else:
        holder.text += " "
