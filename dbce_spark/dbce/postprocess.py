"""Output for readers: the main text, and the page as it was with its text coloured by label (thesis 2.4, stage 3)."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from lxml import etree, html

from dbce_spark.dbce.patterns import propagate
from dbce_spark.html.page import PageError, parse_tree
from dbce_spark.html.removal import disarm_embed, remove_element
from dbce_spark.html.structure.kept_media import Kept
from dbce_spark.html.structure.kept_text import is_visible, text_nodes
from dbce_spark.model import Ints, Label, Segments

Piece = tuple[Any, bool, str, Ints]
"""A text node: its element, whether it is its tail, its text, and the segment of each character but white space."""

Markup = Callable[[int], tuple[str, str]]
"""The element name and class that a segment, by its index, is wrapped in."""

ACTIVE_TAGS = ("script", "noscript", "iframe", "frame", "object", "embed", "applet", "template", "base", "link")
_URL_ATTRIBUTES = frozenset("href src action formaction data background poster srcset ping xlink:href".split())

_REPLACED_PRAGMAS = ("refresh", "content-security-policy", "set-cookie", "content-type")

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""Archived pages are hostile: the annotated page may not run a script, load anything or send anything."""

STYLE = """
.dbce-content { background-color: #b9e6b4 !important; color: #10240e !important; }
.dbce-boilerplate { background-color: #f3b8b3 !important; color: #3a0f0b !important; }
.dbce-undecided { background-color: #fbe9a1 !important; color: #3a300a !important; }
"""


def text(page_text: str, segments: Segments) -> str:
    """Join the content segments, one line a block; what a block holds between two of them is left out."""
    chosen = np.flatnonzero(segments.labels == Label.CONTENT)
    columns = (segments.blocks[chosen], segments.starts[chosen], segments.ends[chosen])
    lines: list[str] = []
    last_block, last_end = -1, 0
    for block, start, end in zip(*(column.tolist() for column in columns), strict=True):
        between = page_text[last_end:start]
        if block != last_block:
            lines.append(page_text[start:end])
        elif between.strip():
            lines[-1] += " " + page_text[start:end]
        else:
            lines[-1] += between + page_text[start:end]
        last_block, last_end = block, end
    return "\n".join(lines)


def kept_characters(page_text: str, segments: Segments) -> Kept:
    """Tell of each character of the page text that is no white space whether it is content."""
    is_content = segments.labels == Label.CONTENT
    edges = np.zeros(len(page_text) + 1, np.int32)
    edges[segments.starts[is_content]] += 1
    edges[segments.ends[is_content]] -= 1
    kept: Kept = np.cumsum(edges[:-1])[is_visible(page_text)] > 0
    return kept


def labelled_html(utf8_html: bytes, page_text: str, segments: Segments) -> str:
    """Render the page with its original head, every segment in a `<span class="dbce-LABEL">`, and colours for labels.

    Elements whose text has one label throughout have it in `data-dbce`: labels go from children to parents (thesis
    2.3). Scripts and everything else that acts or loads is out, and a content policy forbids what might be left.
    """

    def markup(at: int) -> tuple[str, str]:
        return "span", f"dbce-{Label(segments.labels[at]).word}"

    root = parse_tree(utf8_html)
    pieces = _owned(root, page_text, segments)
    _mark_elements(pieces, segments)
    _wrap(pieces, markup)
    return _sealed(root, STYLE)


def coloured_html(
    utf8_html: bytes, page_text: str, segments: Segments, css_class: Callable[[int], str], style: str
) -> str:
    """Render the page, disarmed as by `labelled_html`, with every segment in a `<span>` of a class of its own.

    css_class: of a segment by its index. style: the style sheet of these classes.

    Raises:
        PageError: lxml finds no element in it, or the text is not the page's.
    """
    root = parse_tree(utf8_html)
    own, given = ("".join("".join(text.split()) for text in texts) for texts in (_texts(root), [page_text]))
    if own != given:
        at = next((at for at, pair in enumerate(zip(own, given, strict=False)) if pair[0] != pair[1]), 0)
        raise PageError(f"the text is not the page's, which has {own[at : at + 20]!r} for {given[at : at + 20]!r}")
    _wrap(_owned(root, page_text, segments), lambda at: ("span", css_class(at)))
    return _sealed(root, style)


def sealed_html(utf8_html: bytes) -> str:
    """Render the page as it was, but disarmed.

    Raises:
        PageError: lxml finds no element in it.
    """
    return _sealed(parse_tree(utf8_html), "")


def _sealed(root: Any, style: str) -> str:
    """Render the page without what acts or loads, and with a policy that forbids what might be left."""
    _disarm(root)
    head = root.find("head")
    if head is None:
        head = etree.Element("head")
        root.insert(0, head)
    etree.SubElement(head, "style").text = style
    head.insert(0, etree.Element("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}))
    head.insert(0, etree.Element("meta", charset="utf-8"))
    return f"<!DOCTYPE html>\n{html.tostring(root, encoding='unicode')}"


def wrap(root: Any, page_text: str, segments: Segments, markup: Markup) -> None:
    """Wrap the text of a page's tree, segment by segment; one that inline elements cut comes in several pieces."""
    _wrap(_owned(root, page_text, segments), markup)


def _mark_elements(pieces: list[Piece], segments: Segments) -> None:
    """Write the label of each element that has one into its `data-dbce`."""
    elements: dict[str, Any] = {}
    labelled: list[tuple[str, Label]] = []
    for element, is_tail, _, owners in pieces:
        holder = _remember(element.getparent() if is_tail else element, elements)
        labelled += [(holder, Label(segments.labels[owner])) for owner in np.unique(owners).tolist() if owner >= 0]
    for path, label in propagate(labelled).items():
        elements[path].set("data-dbce", label.word)


def _remember(element: Any, elements: dict[str, Any]) -> str:
    """Remember an element and those above it by their paths; return its path."""
    path = holder = str(element.getroottree().getpath(element))
    while element is not None and path not in elements:
        elements[path] = element
        element, path = element.getparent(), path.rpartition("/")[0]
    return holder


def _wrap(pieces: list[Piece], markup: Markup) -> None:
    """Wrap the text of a tree, segment by segment."""
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


def _texts(root: Any) -> Iterator[str]:
    return (piece for _, _, piece in text_nodes(root))


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
    if is_tail:
        element.tail = lead
        parent, at = element.getparent(), element.getparent().index(element) + 1
    else:
        element.text = lead
        parent, at = element, 0
    for nth, wrapper in enumerate(wrapped):
        parent.insert(at + nth, wrapper)


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


def _disarm(root: Any) -> None:
    # A <link> to connect or fetch ahead is not under the policy; one to a style sheet is, and would not load.
    for element in list(root.iter(*ACTIVE_TAGS)):
        if element.tag == "embed":
            disarm_embed(element)
        else:
            remove_element(element)
    for style in list(root.iter("style")):
        # In a drawing or a formula a browser reads the text as markup; elsewhere it ends the style at its end tag.
        if next(style.iterancestors("svg", "math"), None) is not None:
            remove_element(style)
        elif style.text:
            style.text = style.text.replace("<", "\\3c ")
    for element in root.iter(etree.Element):
        for name, value in element.attrib.items():
            acts = name.lower().startswith("on")
            if acts or (name.lower() in _URL_ATTRIBUTES and _is_active_url(value)):
                del element.attrib[name]
    for meta in list(root.iter("meta")):
        if meta.get("charset") is not None or meta.get("http-equiv", "").strip().lower() in _REPLACED_PRAGMAS:
            remove_element(meta)


def _is_active_url(value: str) -> bool:
    compact = "".join(character for character in value if character > " ").lower()
    return compact.startswith(("javascript:", "vbscript:", "data:text/html", "data:image/svg"))
