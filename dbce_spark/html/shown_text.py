"""Texts of elements as a page shows them: nothing of scripts and drawings, and words apart that a style sheet parts."""

import re
from collections.abc import Iterator, Set
from itertools import islice
from typing import Any

from lxml import etree

from dbce_spark.html.elements import DROPPED_TAGS, JOINED_TAGS, LINE_END_TAGS
from dbce_spark.html.tokens import begins_word, turns_upper

_MOST_CHARS, _MOST_STEPS = 2_000, 100
"""Of an element: characters that are read, and starts and ends of elements that are passed."""
_NO_NAMES = DROPPED_TAGS | {"time"}
_NUMBER = re.compile(r"(?:^|\s)\d")


def shown_text(element: Any) -> str:
    """Read the start of an element's text, in one line."""
    return " ".join("".join(gap + text for gap, text in _parts(element, DROPPED_TAGS)).split())


def heading_text(element: Any) -> str:
    """Read the start of a heading's text, in one line, without buttons and what is hidden in it, such as "Copy link".

    Where there is nothing else, these count.
    """
    text = "".join(gap + text for gap, text in _parts(element, DROPPED_TAGS | {"button"}, with_hidden=False))
    return " ".join(text.split()) or shown_text(element)


def shown_lines(element: Any) -> str:
    """Read the start of an element's text, for a name in it: without `<time>`, and in lines.

    A line ends where a block or a `<br>` does, where elements touch, and around text with a number, which may be a day.
    """
    parts = []
    for gap, text in _parts(element, _NO_NAMES):
        end = "\n" if _NUMBER.search(text) else ""
        parts += ["\n" if gap else end, text.replace("\n", " "), end]
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(filter(None, lines))


def _parts(element: Any, dropped: Set[str], *, with_hidden: bool = True) -> Iterator[tuple[str, str]]:
    """Iterate over the text nodes of an element, each with the white space before it that only a style sheet gives."""
    before, gap = "", ""
    has_ended = False  # an element, with no text behind it
    left = _MOST_CHARS
    walker = etree.iterwalk(element, events=("start", "end"))
    for event, one in islice(walker, _MOST_STEPS):
        is_end = event == "end"
        if not left or (is_end and one is element):
            return
        is_hidden = not with_hidden and one.get("hidden") is not None
        if (one.tag in dropped or is_hidden) and not is_end:
            walker.skip_subtree()
            continue
        if one.tag in LINE_END_TAGS:
            before, gap = "", "\n"
        elif one.tag in JOINED_TAGS:
            before = ""
        if text := ((one.tail if is_end else one.text) or "")[:left]:
            if turns_upper(before, text) or (has_ended and not is_end and begins_word(before, text)):
                gap = " "
            yield gap, text
            before, gap, has_ended = text, "", False
            left -= len(text)
        else:
            has_ended |= is_end
