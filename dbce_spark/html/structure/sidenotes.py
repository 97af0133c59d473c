"""Sidenotes: notes in the middle of a sentence, which a style sheet shows beside it. They become footnotes: read on,
they would be part of the sentence."""

import re
from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from typing import Any

from lxml import etree

from dbce_spark.html.elements import BLOCK_TAGS
from dbce_spark.html.removal import holds_more, is_within, remove_element
from dbce_spark.html.structure.note_blocks import LOOK_BACK
from dbce_spark.html.structure.note_marks import MOST_PARTS, begin_note, number_of, reference

_NOTE_TAGS = ("span", "small")
_MARK_TAGS = ("sup", "a", "label", "note")
_LEAST_WORDS = 3
"""Of a note: what is shorter may be the name of a switch."""
_MOST = 2_000
"""Notes of a page that are moved."""

Sidenote = tuple[Any, Any]
"""The mark in the text, and the note right behind it."""


def boxed_notes(root: Any) -> list[Sidenote]:
    """List the notes that are shown by ticking a box, where the screen is too narrow to show them beside the text: a
    <label> without a letter, the <input> that it is for, and a <span> with the note."""
    found: list[Sidenote] = []
    for label in root.iter("label"):
        box = _behind(label)
        if box is None or box.tag != "input" or box.get("id") != label.get("for"):
            continue
        note = _behind(box)
        if note is None or note.tag not in _NOTE_TAGS or (box.get("type") or "").lower() != "checkbox":
            continue
        if not (holds_more(label, MOST_PARTS) or any(map(str.isalpha, chain.from_iterable(label.itertext())))):
            found.append((label, note))
    return found[:_MOST]


def move_sidenotes(root: Any, boxed: list[Sidenote]) -> None:
    """Move sidenotes behind the text, as footnotes: those with a box, and those that begin with the number right before
    them. One that repeats a footnote goes. `root` is a page of which all footnotes are marked."""
    found = [*_numbered(root), *boxed][:_MOST]
    if not found:
        return
    footnotes = {note.get("number"): note for note in root.iter("note") if note.get("is") == "note"}
    numbers = {*footnotes}
    moved: set[Any] = set()
    body = root.find("body")
    for mark, note in found:
        if not is_within(note, root) or not _is_in_line(mark if is_within(mark, root) else note):
            continue
        if not moved.isdisjoint(note.iterancestors()):
            continue  # a note in a note is a part of it
        number = mark.get("number") if mark.tag == "note" else number_of(mark)
        if len([*islice(_words(note, number), _LEAST_WORDS)]) < _LEAST_WORDS:
            continue
        if mark.tag == "note":
            pairs = zip_longest(_words(note, number), _words(footnotes[number].getparent(), ""))
            if all(word == other for word, other in pairs):
                remove_element(note)
            continue
        number = (
            number
            if number and number not in numbers
            else str(max(map(int, filter(str.isdecimal, numbers)), default=0) + 1)
        )
        numbers.add(number)
        moved.add(_moved(mark, note, number, root if body is None else body))


def _behind(element: Any) -> Any:
    """Find the element right behind another, with no text between."""
    return None if element.tail and not element.tail.isspace() else element.getnext()


def _numbered(root: Any) -> Iterator[Sidenote]:
    for mark in root.iter(*_MARK_TAGS):
        note = _behind(mark)
        if note is None or note.tag not in _NOTE_TAGS or (mark.tag == "a" and "#" not in (mark.get("href") or "")):
            continue
        is_reference = mark.tag == "note" and mark.get("is") == "reference"
        number = mark.get("number") if is_reference else number_of(mark)
        if number and _is_number(next(_words(note, ""), ""), number):
            yield mark, note


def _words(note: Any, number: str) -> Iterator[str]:
    """Iterate over the words of a note, without its number."""
    words = chain.from_iterable(map(str.split, note.itertext()))
    first = next(words, None)
    if first is not None and not (number and _is_number(first, number)):
        yield first
    yield from words


def _is_number(word: str, number: str) -> bool:
    return word.strip("[(.:)]") == number


def _is_in_line(mark: Any) -> bool:
    """Test for text before a mark, in its block."""
    while True:
        for before in islice(mark.itersiblings(preceding=True), LOOK_BACK):
            if before.tag in BLOCK_TAGS:
                return False
            if (before.tail or "").strip() or any(map(str.strip, before.itertext())):
                return True
        above = mark.getparent()
        if above is None or (above.text or "").strip():
            return above is not None
        if above.tag in BLOCK_TAGS:
            return False
        mark = above


def _moved(mark: Any, note: Any, number: str, body: Any) -> Any:
    """Put a note last in a page, and its number in its place; return its block."""
    note.addprevious(reference(number))
    block = etree.SubElement(body, "p")
    block.text = note.text
    block.extend([*note])
    remove_element(note)
    if is_within(mark, body):
        remove_element(mark)
    _drop_number(block, number_of(mark))
    begin_note(block, number)
    return block


def _drop_number(note: Any, number: str) -> None:
    """Take the number off a note that begins with it, once more where a second one is alone in its element."""
    own = re.compile(rf"\s*[\[(]?{number}(?!\w)[\])]?[.:]?\s*")
    for element in note.iter():
        if (text := element.text or "").strip():
            found = own.match(text) if number else None
            if found is None:
                return
            element.text = text[found.end() :]
            if element.text.strip():
                return
        if not len(element) and (element.tail or "").strip():
            return
