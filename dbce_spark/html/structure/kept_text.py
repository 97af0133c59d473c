"""A page's tree is cut down to the text that is kept."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from lxml import etree

from dbce_spark.html.page import BLOCK_TAGS, DROPPED_TAGS

Kept = npt.NDArray[np.bool_]
"""Of each character of a page's text that is no white space: is it kept? In the order of the page."""

TextNode = tuple[Any, bool, str]
"""An element, whether this is its tail, and the text."""

MEDIA_TAGS = frozenset("hr img math noscript picture script".split())
"""Elements that may show something without text; where they are kept follows from the text around them."""


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


def cut_text(root: Any, is_kept: Kept) -> None:
    """Take all text that is not kept out of a page's tree, and every element that then shows nothing.

    Media stay where the text before or behind them is kept, and most of the text of the nearest element that has any.
    Cells of a row that stays do, too, so that tables keep their shape.
    """
    found = _find(root, is_kept)
    is_left = np.ones(len(is_kept), np.bool_)
    for element, start, end in found.gone:
        is_left[start:end] = False
        element.text = " "  # which stays in its place
        remove(element)
    is_kept = is_kept[is_left]
    position = 0
    cut: list[tuple[Any, bool, str]] = []
    for element, is_tail, text in text_nodes(root):
        length = sum(map(len, text.split()))
        of_node = is_kept[position : position + length]
        position += length
        if not of_node.all():
            cut.append((element, is_tail, _kept_part(text, of_node.tolist()) if of_node.any() else " "))
    for element, is_tail, text in cut:
        if is_tail:
            element.tail = text
        else:
            element.text = text
    _prune(root, found.media)


def is_formula_script(script: Any) -> bool:
    """Test for LaTeX that MathJax finds in a script."""
    return (script.get("type") or "").strip().lower().startswith("math/tex")


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


@dataclass(slots=True)
class _Found:
    """What one walk over a page finds: elements without text that stay, and the largest ones of which nothing does,
    with the characters of the page that they span."""

    media: set[Any] = field(default_factory=set)
    gone: list[tuple[Any, int, int]] = field(default_factory=list)


def _find(root: Any, is_kept: Kept) -> _Found:
    """Find what of a tree stays and goes as a whole."""
    kept_before = [0, *np.cumsum(is_kept).tolist()]
    found = _Found()
    pending: list[tuple[int, Any]] = []
    around: list[tuple[int, list[tuple[Any, int, int]]]] = []
    position = 0
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        if event == "start":
            if tag in MEDIA_TAGS and (tag != "script" or is_formula_script(element)):
                pending.append((position, element))
            around.append((position, []))
            if tag in DROPPED_TAGS:
                walker.skip_subtree()
                continue
            text = element.text
        else:
            start, gone = around.pop()
            kept = kept_before[position] - kept_before[start]
            if pending and position > start:
                while pending and pending[-1][0] >= start:
                    at, medium = pending.pop()
                    if 2 * kept >= position - start and is_kept[max(0, at - 1) : at + 1].any():
                        found.media.add(medium)
            if position > start and not kept and tag not in ("td", "th", "body") and around:
                around[-1][1].append((element, start, position))
            else:
                found.gone += gone
            text = element.tail
        if text:
            position += sum(map(len, text.split()))
    return found


def _prune(root: Any, kept_media: set[Any]) -> None:
    """Remove the elements that show nothing."""
    in_formulas = {part for formula in root.iter("math") for part in formula.iterdescendants("*")}
    for element in reversed([*root.iter("*")]):
        tag = element.tag
        if element in kept_media or element is root or tag == "br" or element in in_formulas:
            continue
        if tag == "math":
            if not any(text and not text.isspace() for text in element.itertext()):
                remove(element)
            continue
        if tag in ("td", "th") and element.getparent().tag == "tr":
            continue
        if tag in MEDIA_TAGS:
            # Their own elements are judged with them.
            if next(element.iterancestors("noscript", "picture"), None) is None:
                remove(element)
        elif tag in DROPPED_TAGS:
            remove(element)
        elif not (element.text and not element.text.isspace()):
            if tag == "tr":
                if not any(_shows(cell) or not _is_blank(cell.tail) for cell in element):
                    remove(element)
            elif not len(element) and tag != "source" and not _is_place(element):
                remove(element)


def _is_blank(text: str | None) -> bool:
    return not text or text.isspace()


def _shows(cell: Any) -> bool:
    return bool(len(cell)) or bool(cell.text and not cell.text.isspace())


def _is_place(element: Any) -> bool:
    """Test for an empty element that links lead to: a footnote may begin there."""
    return element.tag in ("a", "span") and ("id" in element.attrib or "name" in element.attrib)


def remove(element: Any) -> None:
    """Take an element out with all it holds, but not the text behind it. Where it was a block, texts stay apart."""
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    is_apart = element.tag in BLOCK_TAGS or bool(element.text and element.text.isspace())
    text = (" " if is_apart else "") + (element.tail or "")
    if text and before is not None:
        before.tail = (before.tail or "") + text
    elif text:
        parent.text = (parent.text or "") + text
    parent.remove(element)
