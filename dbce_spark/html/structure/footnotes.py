"""Footnotes: the number in a text, and the note that it leads to; `<note>` marks them, `markdown` writes `[^1]`. All
that a note holds is in a `<footnote>`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import unquote

from lxml import etree

from dbce_spark.html.elements import BLOCK_TAGS
from dbce_spark.html.removal import is_within
from dbce_spark.html.structure.kept_text import remove, wrap_content
from dbce_spark.html.structure.note_blocks import NOTE_TAGS, NoteBlocks, text_before
from dbce_spark.html.structure.note_marks import MOST_CHARS, begin_note, mark_of, names, number_of, reference

_NUMBERED = re.compile(r"[\[(]\s*(\d{1,3})\s*[\])][.:]?\s*|(\d{1,3})[.:)]\s+")
_PLAIN = re.compile(r"(\d{1,3})\s+")
_PLAIN_OR_ALONE = re.compile(r"(\d{1,3})(?:\s+|$)")
_ENDS_IN_NUMBER = re.compile(r"(?:^|\D)(\d{1,3})$")
_ARROWS = "↩↑⤴⏎^←↵⬆\ufe0e\ufe0f"
_BACK = re.compile(rf"[\[(]?\s*[{_ARROWS}\d]+\s*[\])]?")
_ARROWS_ALONE = re.compile(rf"[{_ARROWS},\s]*")
_MOST_NOTES = 2_000
"""Of a page; one with more has none."""

_Reference = tuple[Any, Any]
"""A number in the text, and the note that it leads to."""


def mark_footnotes(root: Any) -> None:
    """Put a <note> in the place of each number that leads to a note, and one before each note that it leads to.

    A number leads to a note by a link, or as a superscript: the note is then a later paragraph that begins with it. So
    do letters and signs, by a link that the note leads back to.
    """
    blocks = NoteBlocks()
    notes, references = _by_link(root, blocks)
    if len(notes) > _MOST_NOTES:
        return
    if _is_count(notes):
        notes, references = _by_superscript(root, blocks)
        if _is_count(notes):
            return
    around = {above for note in notes for above in note.iterancestors()}
    notes = {note: number for note, number in notes.items() if note not in around}  # one around another is none
    references = [(link, note) for link, note in references if note in notes]
    back = _Back({id(link) for link, _ in references}, _places_around(link for link, _ in references))
    name_of = names(notes)
    for note, number in notes.items():
        _mark_note(note, number, name_of[note], back)
    for link, note in references:
        _mark_reference(link, notes[note], name_of[note])
    _drop_rule(next(mark for mark in root.iter("note") if mark.get("is") == "note"))
    _unlist(notes)


def _by_link(root: Any, blocks: NoteBlocks) -> tuple[dict[Any, str], list[_Reference]]:
    """Find the notes that numbers lead to by a link, each with its number, and the references to them; no more than one
    note more than _MOST_NOTES."""
    numbered = [(link, mark) for link in root.iter("a", "label") if _leads_within(link) and (mark := mark_of(link))]
    places = _places(root) if numbered else {}
    notes: dict[Any, str] = {}
    references: list[_Reference] = []
    for link, number in numbered:
        target = places.get(_target(link))
        note = None if target is None else blocks.begun_by(target)
        if note is None or is_within(link, note):
            continue
        is_note = note in notes or number.isdecimal() or _leads_back(note, link)
        if not is_note or notes.setdefault(note, number) != number:
            continue
        references.append((link, note))
        if len(notes) > _MOST_NOTES:
            break
    return notes, references


def _is_count(notes: Mapping[Any, str]) -> bool:
    """Test for no footnotes: a number other than 1 alone counts what it leads to, such as comments."""
    numbers = {*notes.values()}
    return len(numbers) < 2 and all(number.isdecimal() and number != "1" for number in numbers)


def _leads_back(note: Any, link: Any) -> bool:
    """Test for a note whose first link leads to the link that leads to it, or to what is around that in its line."""
    around = [link]
    while (above := around[-1].getparent()) is not None and above.tag not in BLOCK_TAGS:
        around.append(above)
    back = next(filter(_leads_within, note.iter("a")), None)
    return back is not None and any(_target(back) in (one.get("id"), one.get("name")) for one in around)


def _leads_within(link: Any) -> bool:
    return "#" in (link.get("href") or "") or link.get("for") is not None


def _target(link: Any) -> str:
    """Read the place that a link leads to, or a label: its box for a tick shows a note without scripts."""
    return link.get("for") or unquote((link.get("href") or "").partition("#")[2])


def _places(root: Any) -> dict[str, Any]:
    places: dict[str, Any] = {}
    for element in root.iter():
        if element.tag == "input":
            continue
        for name in ("id", "name"):
            if (place := element.get(name)) and (name == "id" or element.tag == "a"):
                places.setdefault(place, element)
    return places


def _by_superscript(root: Any, blocks: NoteBlocks) -> tuple[dict[Any, str], list[_Reference]]:
    """Find the notes that superscripts lead to, each with its number, and the references to them."""
    notes: dict[Any, str] = {}
    references: list[_Reference] = []
    if not any(map(number_of, root.iter("sup"))):
        return notes, references
    marks = [(mark, number) for mark in root.iter("sup", "strong", "b") if (number := number_of(mark))]
    starts: dict[str, _Reference] = {}
    for mark, number in marks:
        note = None if text_before(mark) else blocks.begun_by(mark)
        if note is not None and not _before_in(mark, note):
            starts[number] = (mark, note)
    items = _notes_with_ids(root, blocks) | _listed_notes(root)
    for mark, number in marks:
        begin, note = starts.get(number, (None, items.get(number)))
        if mark.tag != "sup" or mark is begin or note is None or (begin is None and is_within(mark, note)):
            continue
        notes[note] = number
        references.append((mark, note))
    return notes, references


def _listed_notes(root: Any) -> dict[str, Any]:
    """Find notes that are the items of a list, each with an id that ends in its number; none of several lists."""
    lists = []
    for one in root.iter("ol"):
        items = [item for item in one if item.tag == "li"]
        ids = (_ENDS_IN_NUMBER.search(item.get("id") or "") for item in items)
        numbers = [found.group(1) if found else "" for found in ids]
        if numbers and numbers == [str(at) for at in range(1, len(items) + 1)]:
            lists.append(dict(zip(numbers, items, strict=True)))
    return lists[0] if len(lists) == 1 else {}


def _notes_with_ids(root: Any, note_blocks: NoteBlocks) -> dict[str, Any]:
    """Find blocks that begin with the number that their id ends in; none of two with one number."""
    found: dict[str, list[Any]] = {}
    for block in root.iter(*NOTE_TAGS):
        if (end := _ENDS_IN_NUMBER.search(block.get("id") or "")) is None or note_blocks.is_no_note(block):
            continue
        words = " ".join(islice(filter(str.strip, block.itertext()), 2)).split(maxsplit=1)
        if len(words) == 2 and words[0].strip("[().:]") == end.group(1):
            found.setdefault(end.group(1), []).append(block)
    return {number: blocks[0] for number, blocks in found.items() if len(blocks) == 1}


def _before_in(mark: Any, note: Any) -> bool:
    """Test for text between the start of a block and a mark in it."""
    at = mark
    while at is not note:
        if text_before(at):
            return True
        at = at.getparent()
    return False


@dataclass(frozen=True, slots=True)
class _Back:
    """The links that refer to notes, which are no links back themselves, and the places where they stand."""

    references: set[int]
    places: set[str]

    def leads(self, link: Any) -> bool:
        """Test for a link in a note that leads back to the text, or shows nothing."""
        if id(link) in self.references:
            return False
        text = " ".join("".join(link.itertext()).split())
        if "#" not in (link.get("href") or ""):
            return not text and not len(link)
        return not text or bool(_BACK.fullmatch(text)) or (len(text) <= MOST_CHARS and _target(link) in self.places)


def _places_around(links: Iterable[Any]) -> set[str]:
    """List the names of some links, and of the two elements around each."""
    around = (element for link in links for element in (link, *islice(link.iterancestors(), 2)))
    return {place for element in around for name in ("id", "name") if (place := element.get(name))}


def _mark_note(note: Any, number: str, name: str, back: _Back) -> None:
    """Put the number first, in the place of what the page shows there, take out the links back, and mark the whole."""
    first = next((one for one in note.iter("sup", "span", "b", "strong", "a") if mark_of(one) == number), None)
    is_shown = note.tag == "li" and note.getparent().tag == "ol"
    if first is not None and not _before_in(first, note):
        is_shown = True
        first.tail = (first.tail or "").lstrip(".:)] ")
        remove(first)
    links = [*filter(back.leads, note.iter("a"))]
    for link in links:
        above = link.getparent()
        remove(link)
        if above is not note and not len(above) and _ARROWS_ALONE.fullmatch(above.text or ""):
            remove(above)
    holder = note
    while len(holder) and not (holder.text or "").strip() and holder[0].tag in BLOCK_TAGS:
        holder = holder[0]
    if links:
        _drop_arrow(holder)
    _drop_number(holder, number, is_shown=is_shown)
    begin_note(holder, name, number)
    wrap_content(note, etree.Element("footnote"))


def _drop_arrow(block: Any) -> None:
    """Take out the sign that stood before links back."""
    block.text = (block.text or "").lstrip(_ARROWS + " \n\t\r")
    sign = "".join(block[0].itertext()).strip() if len(block) and not block.text else ""
    if sign and _ARROWS_ALONE.fullmatch(sign):
        remove(block[0])


def _drop_number(block: Any, number: str, *, is_shown: bool) -> None:
    """Take the number of a note away where its block begins with it; one without a sign only where the page has not
    shown it before."""
    text = block.text = (block.text or "").lstrip()
    match = _NUMBERED.match(text)
    if match is None and not is_shown:
        match = (_PLAIN if len(block) else _PLAIN_OR_ALONE).match(text)
    if match and number in match.groups():
        block.text = text[match.end() :]


def _mark_reference(link: Any, number: str, name: str) -> None:
    around = link.getparent()
    if around is not None and around.tag == "sup" and mark_of(around) == number:
        link, around = around, around.getparent()
    if around is None:
        return
    mark = reference(name, number)
    mark.tail = link.tail
    around.replace(link, mark)


def _unlist(notes: dict[Any, str]) -> None:
    """Make paragraphs of the notes in a list: their numbers stand before them. Other items keep a list, and theirs."""
    for around in {note.getparent(): None for note in notes if note.tag == "li"}:
        if around is None or around.tag not in ("ol", "ul"):
            continue
        others: Any = None
        for number, item in enumerate([*around], 1):
            if item in notes:
                item.tag, others = "div", None
                continue
            if others is None:
                others = etree.Element(around.tag, {"start": str(number)})
                item.addprevious(others)
            others.append(item)
        around.tag = "div"


def _drop_rule(first: Any) -> None:
    """Take out the rule between the text and the notes: whoever shows footnotes draws one."""
    at = first
    while (parent := at.getparent()) is not None:
        before = at.getprevious()
        if before is None and not (parent.text or "").strip():
            at = parent
            continue
        if before is not None and before.tag == "hr" and not (before.tail or "").strip():
            remove(before)
        return
