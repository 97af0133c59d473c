"""Number every segment, and every container of segments, in a page's HTML: browsers show and report nodes by number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lxml import etree

from dbce_spark.annotation.markup import url_rewriting
from dbce_spark.annotation.markup.outline import Outline
from dbce_spark.dbce.kept import annotated_html
from dbce_spark.html.dom import parse_tree
from dbce_spark.html.elements import BLOCK_TAGS
from dbce_spark.model import Segments

SEGMENT = "dbce-segment"
"""The element around each piece of a segment."""
NODE = "data-dbce-node"
"""The attribute with the number of an element's node in the outline."""

Range = tuple[int, int]
"""The first and the last segment of a block or a container."""


@dataclass(frozen=True, slots=True)
class NumberedPage:
    """A page's HTML with its nodes numbered, and the tree of these nodes."""

    html: str
    outline: Outline


def number_nodes(utf8_html: bytes, page_text: str, segments: Segments) -> NumberedPage:
    """Put the number of its node on every segment and container of a page; leave the rest as it was, scripts and all.

    A container is a block-level element that holds more than one around it does not: nested elements with the same
    text are one node, and so are they and their only block, and a block and its only segment.
    """
    root = parse_tree(utf8_html)
    _free_names(root)
    annotated_html.wrap(root, page_text, segments, lambda at: (SEGMENT, str(at)))
    pieces = [(int(piece.get("class")), piece) for piece in root.iter(SEGMENT)]
    around = [_containers(piece) for _, piece in pieces]
    ranges: dict[Any, Range] = {}
    for (at, _), containers in zip(pieces, around, strict=True):
        for container in containers:
            first, last = ranges.get(container, (at, at))
            ranges[container] = min(first, at), max(last, at)
    outline = _numbered(pieces, around, ranges, segments)
    return NumberedPage(_to_html(root, utf8_html), outline)


def number_places(utf8_html: bytes, places: Mapping[str, int]) -> str:
    """Put a node's number on each element of another page of the same template that stands where that node's block
    does.

    places: nodes by the XPath of their blocks, every step with its index. Where the page has no such element, nothing
    stands for the node.

    Raises:
        PageError: lxml finds no element in it.
    """
    root = parse_tree(utf8_html)
    _free_names(root)
    for xpath, node in places.items():
        try:
            elements = root.xpath(xpath)
        except etree.XPathError:  # a name that HTML allows and XPath does not
            continue
        for element in elements:
            element.set(NODE, str(node))
    return _to_html(root, utf8_html)


def _to_html(root: Any, utf8_html: bytes) -> str:
    """Return the HTML of a tree, with the document type of the page that it was parsed from."""
    return url_rewriting.to_html(root, url_rewriting.doctype(utf8_html.decode("utf-8", "replace")))


def _free_names(root: Any) -> None:
    """Rename elements and drop attributes of a page that use the names used here."""
    for element in root.iter("*"):
        if element.tag == SEGMENT:
            element.tag = "span"
        element.attrib.pop(NODE, None)


def _containers(piece: Any) -> list[Any]:
    """Return the block-level elements around a piece, the outermost first."""
    return [element for element in piece.iterancestors() if element.tag in BLOCK_TAGS][::-1]


def _numbered(
    pieces: list[tuple[int, Any]], around: list[list[Any]], ranges: dict[Any, Range], segments: Segments
) -> Outline:
    """Number each piece and each container with its node."""
    blocks = _blocks(segments)
    parents: list[int] = []
    extents: list[Range] = []
    node_of: dict[Any, int] = {}
    leaves = [-1] * len(segments)
    block_nodes = [-1] * len(segments)

    def node(key: Any, extent: Range, parent: int) -> int:
        """Return the node of this key; the one around it, if that holds the same segments."""
        if key not in node_of:
            if parent >= 0 and extents[parent] == extent:
                node_of[key] = parent
            else:
                node_of[key] = len(parents)
                parents.append(parent)
                extents.append(extent)
        return node_of[key]

    for (at, piece), containers in zip(pieces, around, strict=True):
        parent = -1
        for container in containers:
            parent = node(container, ranges[container], parent)
            container.set(NODE, str(parent))
        block = int(segments.blocks[at])
        parent = block_nodes[at] = node(("block", block), blocks[block], parent)
        leaves[at] = node(("segment", at), (at, at), parent)
        piece.set(NODE, str(leaves[at]))
        del piece.attrib["class"]
    return Outline(tuple(parents), tuple(leaves), tuple(block_nodes))


def _blocks(segments: Segments) -> dict[int, Range]:
    """Return the first and last segment of each block."""
    found: dict[int, Range] = {}
    for at, block in enumerate(segments.blocks.tolist()):
        found[block] = found.get(block, (at, at))[0], at
    return found
