"""Words of two elements in a line that touch are parted, as the walk of a page parts them."""

from typing import Any

from lxml import etree

from dbce_spark.html.page import BLOCK_TAGS, DROPPED_TAGS
from dbce_spark.html.tokens import begins_word

_RAISED = frozenset(("sub", "sup"))
_NO_BEGIN = _RAISED | {"br"}


def part_words(root: Any) -> None:
    """Put a space behind each element whose last word the next element's first word would run into."""
    ended = gap = (
        None  # the element before, if no text stands behind it; and where the text to come begins, if behind it
    )
    before, pre = "", 0
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        is_start = event == "start"
        if is_start and tag in DROPPED_TAGS:
            walker.skip_subtree()
            continue
        if tag in BLOCK_TAGS:
            ended, gap, before = None, None, ""
            pre += (tag == "pre") * (1 if is_start else -1)
        elif is_start:
            if ended is not None and tag not in _NO_BEGIN:
                gap = ended
        elif tag in _NO_BEGIN:
            before = ""
        text = element.text if is_start else element.tail
        if text and (before or not text.isspace()):
            if gap is not None and not pre and begins_word(before, text):
                gap.tail = " "
            before, ended, gap = text, None, None
        elif not is_start:
            ended = element
