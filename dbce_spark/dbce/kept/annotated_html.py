"""The page as it was, with its text coloured by label (thesis 2.4, stage 3)."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from lxml import etree

from dbce_spark.dbce.patterns import propagate
from dbce_spark.html.dom import PageError, parse_tree
from dbce_spark.html.sealed_html import sealed
from dbce_spark.html.structure.kept_text import is_visible, replace_text, text_nodes
from dbce_spark.model import Ints, Label, Segments

Piece = tuple[Any, bool, str, Ints]
"""A text node: its element, whether it is its tail, its text, and the segment of each character but white space."""

Markup = Callable[[int], tuple[str, str]]
"""The element name and class that a segment, by its index, is wrapped in."""

STYLE = """
.dbce-content { background-color: #b9e6b4 !important; color: #10240e !important; }
.dbce-boilerplate { background-color: #f3b8b3 !important; color: #3a0f0b !important; }
.dbce-undecided { background-color: #fbe9a1 !important; color: #3a300a !important; }
"""


def labelled_html(utf8_html: bytes, page_text: str, segments: Segments) -> str:
    """Render the page with its original head, every segment in a `<span class="dbce-LABEL">`, and colours for labels.

    Elements whose text has one label throughout have it in `data-dbce`: labels go from children to parents (thesis
    2.3). Scripts and everything else that acts or loads is out, and a content policy forbids what might be left.
    """
    root = parse_tree(utf8_html)
    pieces = _owned(root, page_text, segments)
    _mark_elements(pieces, segments)
    _wrap(pieces, lambda at: ("span", f"dbce-{Label(segments.labels[at]).word}"))
    return sealed(root, STYLE)


def coloured_html(
    utf8_html: bytes, page_text: str, segments: Segments, css_class: Callable[[int], str], style: str
) -> str:
    """Render the page, disarmed as by `labelled_html`, with every segment in a `<span>` of a class of its own.

    css_class: of a segment by its index. style: the style sheet of these classes.

    Raises:
        PageError: lxml finds no element in it, or the text is not the page's.
    """
    root = parse_tree(utf8_html)
    own = "".join("".join(text.split()) for _, _, text in text_nodes(root))
    given = "".join(page_text.split())
    if own != given:
        at = next((at for at, pair in enumerate(zip(own, given, strict=False)) if pair[0] != pair[1]), 0)
        raise PageError(f"the text is not the page's, which has {own[at : at + 20]!r} for {given[at : at + 20]!r}")
    wrap(root, page_text, segments, lambda at: ("span", css_class(at)))
    return sealed(root, style)


def wrap(root: Any, page_text: str, segments: Segments, markup: Markup) -> None:
    """Wrap the text of a page's tree, segment by segment; one that inline elements cut comes in several pieces."""
    _wrap(_owned(root, page_text, segments), markup)


def _mark_elements(pieces: list[Piece], segments: Segments) -> None:
    """Write the label of each element that has one into its `data-dbce`."""
    paths: dict[Any, str] = {}
    labelled: list[tuple[str, Label]] = []
    for element, is_tail, _, owners in pieces:
        holder = _path(element.getparent() if is_tail else element, paths)
        labelled += [(holder, Label(segments.labels[owner])) for owner in np.unique(owners).tolist() if owner >= 0]
    elements = {path: element for element, path in paths.items()}
    for path, label in propagate(labelled).items():
        elements[path].set("data-dbce", label.word)


def _path(element: Any, paths: dict[Any, str]) -> str:
    """Return an element's path of numbers, and remember it and those of the elements above. To find the place of each
    among its siblings, as an XPath has it, would take the square of their number."""
    new: list[Any] = []
    at = element
    while at is not None and at not in paths:
        new.append(at)
        at = at.getparent()
    path = "" if at is None else paths[at]
    for one in reversed(new):
        path = paths[one] = f"{path}/{len(paths)}"
    return path


def _wrap(pieces: list[Piece], markup: Markup) -> None:
    for element, is_tail, piece, owners in pieces:
        _replace(element, is_tail, piece, owners, markup)


def _owned(root: Any, page_text: str, segments: Segments) -> list[Piece]:
    """List the text nodes of a tree, with the segments their characters belong to.

    Page text and tree hold the same characters in the same order, white space aside: that is what ties them.
    """
    owners, position = _owners(page_text, segments), 0
    pieces: list[Piece] = []
    for element, is_tail, piece in text_nodes(root):
        length = sum(map(len, piece.split()))
        pieces.append((element, is_tail, piece, owners[position : position + length]))
        position += length
    return pieces


def _owners(page_text: str, segments: Segments) -> Ints:
    """Map each character of the page text that is no white space to its segment, -1 for none."""
    owners = np.full(len(page_text), -1, np.int32)
    for at, (start, end) in enumerate(zip(segments.starts.tolist(), segments.ends.tolist(), strict=True)):
        owners[start:end] = at
    return owners[is_visible(page_text)]


def _replace(element: Any, is_tail: bool, piece: str, owners: Ints, markup: Markup) -> None:
    """Put one text node's segments, each wrapped, in the place of the node."""
    lead = ""
    wrapped: list[Any] = []
    for owner, run in _runs(piece, owners):
        if owner < 0:
            if wrapped:
                wrapped[-1].tail = (wrapped[-1].tail or "") + run
            else:
                lead += run
            continue
        name, css_class = markup(owner)
        wrapper = etree.Element(name, {"class": css_class})
        wrapper.text = run
        wrapped.append(wrapper)
    replace_text(element, is_tail, lead, wrapped)


def _runs(piece: str, owners: Ints) -> Iterator[tuple[int, str]]:
    """Cut a text node where the owner changes; white space between two owners belongs to neither (-1)."""
    visible = iter(owners.tolist())
    start, end, current = 0, 0, -1
    for at, character in enumerate(piece):
        if character.isspace():
            continue
        owner = next(visible)
        if owner != current:
            yield from ((current, piece[start:end]), (-1, piece[end:at])) if end else [(-1, piece[:at])]
            start, current = at, owner
        end = at + 1
    yield current, piece[start:end]
    yield -1, piece[end:]
