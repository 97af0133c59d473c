"""Marks of footnotes: what a page shows where it refers to a note, and the `<note>` that stands for it."""

import re
from collections.abc import Mapping
from typing import Any

from lxml import etree

from dbce_spark.html.removal import holds_more

MOST_PARTS = 50
"""Elements in a mark, or in the sign that stands for one."""
MOST_CHARS = 7
"""Of a number with the signs around it."""
_NUMBER = re.compile(r"[\[(]?\s*(?:\^|fn)?\s*(\d{1,3})\s*[\])]?\.?")
_MOST_LETTERED_CHARS = 12
_LETTERED = re.compile(r"\[\s*([^\W\d_]{1,5}\.?\s?\d{0,3})\s*\]|([*†‡§¶]{1,3})")
_LETTER = re.compile(r"\s*([a-z])\s*")
_NAME = re.compile(r"[\w-]+")
"""All that every reader of Markdown takes for the name of a footnote."""


def number_of(element: Any) -> str:
    """Read the number that an element holds alone, with signs around it; "" of any other."""
    return _number_in(_short_text(element, MOST_CHARS))


def _number_in(text: str) -> str:
    match = _NUMBER.fullmatch(text)
    return match[1] if match else ""


def mark_of(element: Any) -> str:
    """Read a number, or what may stand for one: a letter in brackets, one that is raised, a word with a number in
    brackets, or signs such as daggers."""
    may_be_long = (element.text or "").lstrip()[:1] in ("", "[")
    text = _short_text(element, _MOST_LETTERED_CHARS if may_be_long else MOST_CHARS)
    if not text:
        return ""
    if len(text) <= MOST_CHARS and (number := _number_in(text)):
        return number
    if match := _LETTERED.fullmatch(text):
        return match[1] or match[2]
    above = element.getparent()
    is_raised = element.tag == "sup" or (above is not None and above.tag == "sup")
    return match[1] if is_raised and (match := _LETTER.fullmatch(text)) else ""


def _short_text(element: Any, most: int) -> str:
    """Read the text of an element; "" of a longer one."""
    begin = element.text or ""
    if (len(begin) > most and len(" ".join(begin.split())) > most) or holds_more(element, MOST_PARTS):
        return ""  # the first as of most links, whatever else is in them
    text = " ".join("".join(element.itertext()).split())
    return text if len(text) <= most else ""


def names(marks: Mapping[Any, str]) -> dict[Any, str]:
    """Give each note a name of its own: its mark, or the next free number where another has that, or if it is a
    sign."""
    last = max((int(mark) for mark in marks.values() if mark.isdecimal()), default=0)
    given: dict[str, Any] = {}
    for note, mark in marks.items():
        name = mark.replace(" ", "-")
        if name in given or not _NAME.fullmatch(name):
            last += 1
            name = str(last)
        given[name] = note
    return {note: name for name, note in given.items()}


def reference(name: str, shown: str = "") -> Any:
    """Make the mark of a footnote in the text. `shown` is what the page shows there, if that is not its name."""
    return etree.Element("note", {"number": name, "shown": shown or name, "is": "reference"})


def begin_note(block: Any, name: str, shown: str = "") -> None:
    """Put the mark of a footnote before the text of its block."""
    mark = etree.Element("note", {"number": name, "shown": shown or name, "is": "note"})
    mark.tail, block.text = (block.text or "").lstrip(), None
    block.insert(0, mark)
