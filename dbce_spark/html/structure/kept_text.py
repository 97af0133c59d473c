"""A page's tree is cut down to the text that is kept."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from lxml import etree

from dbce_spark.html.elements import BLOCK_TAGS, CELL_TAGS, CODE_TAGS, DROPPED_TAGS
from dbce_spark.html.removal import remove_children, remove_element, remove_elements
from dbce_spark.html.structure.kept_media import MEDIA_TAGS, Around, Counts, Kept, Surroundings, counts_before
from dbce_spark.html.tokens import code_points

TextNode = tuple[Any, bool, str]
"""An element, whether this is its tail, and the text."""

_Stretch = tuple[Any, int, int]
"""An element, with the characters of the page that it spans."""

_CLASSES: Any = etree.XPath("descendant-or-self::*/@class", smart_strings=False)
_MEDIA = tuple(sorted(MEDIA_TAGS))
STAYING_TAGS = ("td", "th", "body")
"""Elements that stay where none of their text does."""

_JUDGED_APART = (MEDIA_TAGS - {"code"}) | DROPPED_TAGS | frozenset(("br", "source", "td", "th", "tr"))
_WHITE_SPACE = np.array([chr(code).isspace() for code in range(0x3002)])
"""Of each character up to the last that is white space, and of one behind it, which stands for all that follow."""


def is_visible(text: str) -> npt.NDArray[np.bool_]:
    """Tell of each character whether it is no white space, as `str.isspace` has it."""
    visible: npt.NDArray[np.bool_] = ~_WHITE_SPACE.take(code_points(text), mode="clip")
    return visible


@lru_cache(maxsize=1)
def visible_before(text: str) -> Counts:
    """Count the characters before each of a text, and before its end, that are no white space. Several steps ask for
    the same page."""
    return counts_before(is_visible(text))


def classes_of(root: Any) -> str:
    """List the classes of the elements of a tree, in small letters: a line break before those of each."""
    return "".join(f"\n{one}" for one in _CLASSES(root)).lower()


def text_nodes(root: Any) -> Iterator[TextNode]:
    """Iterate over the text nodes that the walk of a page reads."""
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        is_tail = event == "end"
        if not is_tail and element.tag in DROPPED_TAGS:
            walker.skip_subtree()
            continue
        text = element.tail if is_tail else element.text
        if text and not text.isspace():
            yield element, is_tail, text


def replace_text(element: Any, is_tail: bool, lead: str, behind: Sequence[Any]) -> None:
    """Put another text, and elements behind it, in the place of a text node."""
    if is_tail:
        element.tail = None
        for one in reversed(behind):  # to find a place by its number takes as long as the number is large
            element.addnext(one)
        element.tail = lead
    else:
        for one in reversed(behind):
            element.insert(0, one)
        element.text = lead


def wrap_content(element: Any, inner: Any) -> None:
    """Put a new element around all that another holds."""
    inner.text, element.text = element.text, None
    inner.extend([*element])
    element.append(inner)


def cut_text(root: Any, is_kept: Kept, decided: Mapping[Any, int]) -> None:
    """Take all text that is not kept out of a page's tree, and every element that then shows nothing.

    Media stay where `kept_media` finds that they belong to what is kept. Cells of a row that stays do, too, so that
    tables keep their shape. `decided` are elements that stay as a whole, or have been emptied, with the characters that
    they hold or held.
    """
    media, gone = _find(root, is_kept, decided)
    before_code = _blocks_before_code(root)
    is_left = np.ones(len(is_kept), np.bool_)
    for _, start, end in gone:
        is_left[start:end] = False
    remove_elements({element: "" if element in before_code else " " for element, _, _ in gone})
    is_kept = is_kept[is_left]
    if not is_kept.all():
        _cut_nodes(root, is_kept)
    _prune(root, media, before_code)


def _blocks_before_code(root: Any) -> set[Any]:
    """List the block-level elements in code that no other follows: a space that stands for one would indent a line."""
    found: set[Any] = set()
    for code in root.iter(*CODE_TAGS):
        if code not in found:
            found.update(code.iterdescendants(*BLOCK_TAGS))
    return {block for block in found if not (_is_blank(block.tail) and _is_block(block.getnext()))}


def _is_block(element: Any) -> bool:
    return element is not None and element.tag in BLOCK_TAGS


def _cut_nodes(root: Any, is_kept: Kept) -> None:
    """Take the characters that are not kept out of the text nodes.

    Raises:
        ValueError: `is_kept` is of another text.
    """
    position = 0
    cut: list[TextNode] = []
    for element, is_tail, text in text_nodes(root):
        length = sum(map(len, text.split()))
        of_node = is_kept[position : position + length]
        position += length
        if not of_node.all():
            cut.append((element, is_tail, _kept_part(text, of_node.tolist()) if of_node.any() else " "))
    if position != len(is_kept):
        raise ValueError(f"the page has {position} characters of text, and {len(is_kept)} have a label")
    for element, is_tail, text in cut:
        if is_tail:
            element.tail = text
        else:
            element.text = text


def is_formula_script(script: Any) -> bool:
    """Test for LaTeX that MathJax finds in a script."""
    return (script.get("type") or "").strip().lower().startswith("math/tex")


def _is_medium(element: Any) -> bool:
    if element.tag == "code":
        return _is_space(element)
    return element.tag != "script" or is_formula_script(element)


def _is_space(code: Any) -> bool:
    """Test for a space as code, beside a text: it is shown, in a box."""
    if len(code) or not code.text or not code.text.isspace():
        return False
    before = code.getprevious()
    beside = (code.tail, code.getparent().text if before is None else before.tail)
    return not all(map(_is_blank, beside))


def _kept_part(text: str, is_kept: list[bool]) -> str:
    """Take some characters out of a text; a space is left in their place."""
    visible = iter(is_kept)
    parts: list[str] = []
    was_kept = True
    for character in text:
        if not character.isspace():
            was_kept = next(visible)
        parts.append(character if was_kept else " ")
    return "".join(parts)


def _find(root: Any, is_kept: Kept, decided: Mapping[Any, int]) -> tuple[set[Any], list[_Stretch]]:
    """Find the elements without text that stay, and the largest ones of which nothing does."""
    surroundings = Surroundings(is_kept, counts_before(is_kept))
    media: set[Any] = set()
    largest: list[_Stretch] = []
    pending: list[tuple[int, Any]] = []  # media, each at its place, for which no text around them was found yet
    gone: list[_Stretch] = []  # of the elements that are still open, one after the other
    opened: list[tuple[int, int, int]] = []  # of each of them, its place, and where in these lists its own begin
    position = 0
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        if event == "start":
            opened.append((position, len(pending), len(gone)))
            if tag in MEDIA_TAGS and _is_medium(element):
                pending.append((position, element))
            if tag in DROPPED_TAGS:
                walker.skip_subtree()
                continue
            if element in decided:
                position += decided[element]
                media.update(filter(_is_medium, element.iter(*_MEDIA)))
                walker.skip_subtree()
                continue
            text = element.text
        else:
            start, first_pending, first = opened.pop()
            if position > start:
                kept = surroundings.kept(start, position)
                if len(pending) > first_pending:
                    around = Around(element, start, position)
                    media.update(one for at, one in pending[first_pending:] if surroundings.hold(one, at, around))
                    del pending[first_pending:]
                if not kept and tag not in STAYING_TAGS and opened:
                    gone[first:] = [(element, start, position)]
                elif first < len(gone):
                    largest += gone[first:]
                    del gone[first:]
            text = element.tail
        if text and not text.isspace():
            position += len("".join(text.split()))
    return media, largest


def _prune(root: Any, kept_media: set[Any], before_code: set[Any]) -> None:
    """Remove the elements that show nothing, from the last to the first: an element is judged without those in it."""
    in_formulas = {part for formula in root.iter("math") for part in formula.iterdescendants("*")}
    gone: dict[Any, str] = {}
    around: set[Any] = set()  # these
    for element in reversed([*root.iter("*")]):
        if element in around:
            remove_children(element, gone)
        if _shows_nothing(element) and element not in in_formulas and element not in kept_media:
            gone[element] = "" if element in before_code else space_of(element)
            around.add(element.getparent())


def _shows_nothing(element: Any) -> bool:
    tag = element.tag
    if tag not in _JUDGED_APART:
        return not len(element) and _is_blank(element.text) and not _is_place(element)
    if tag == "math":
        return not any(text and not text.isspace() for text in element.itertext())
    if tag in CELL_TAGS:
        return element.getparent().tag != "tr" and _is_blank(element.text) and not len(element)
    if tag in MEDIA_TAGS:
        # Their own elements are judged with them.
        return next(element.iterancestors("noscript", "picture"), None) is None
    return tag in DROPPED_TAGS or (tag == "tr" and _is_blank(element.text) and not any(map(_shows_text, element)))


def _is_blank(text: str | None) -> bool:
    return not text or text.isspace()


def _shows_text(cell: Any) -> bool:
    """Test for a cell, or text behind it, that shows something."""
    return bool(len(cell)) or not (_is_blank(cell.text) and _is_blank(cell.tail))


def _is_place(element: Any) -> bool:
    """Test for an empty element that links lead to: a footnote may begin there."""
    return element.tag in ("a", "span") and ("id" in element.attrib or "name" in element.attrib)


def remove(element: Any) -> None:
    """Take an element out as `remove_element` does, but for the space of it."""
    remove_element(element, space_of(element))


def space_of(element: Any) -> str:
    """Read the space that stays of an element which is taken out: its own white space, as code is indented by it; where
    it was a block, texts stay apart."""
    space: str = element.text if element.text and element.text.isspace() else ""
    return space or (" " if element.tag in BLOCK_TAGS else "")
