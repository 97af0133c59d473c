"""The DOM of a page beside its tokens: the element of each text, and the text node that each token begins in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash
from lxml import etree

from dbce_spark.html.dom import parse_tree
from dbce_spark.html.elements import DROPPED_TAGS
from dbce_spark.html.tokens import spans
from dbce_spark.model import Blocks, Ints

DBCE_NAME, FIRST_TAG = 1, 2
"""Name ids: of a <dbce> element, and of the first tag name in the page; 0 is that of a node that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dom:
    """The elements and text nodes of a page, in columns, each in document order; a parent stands before its children.

    `element_orders` and `text_orders` number elements and text nodes together. An element's descendants are the
    elements from its own index + 1 up to `element_ends`; `first_texts` to `last_texts` are the text nodes in it.
    `paths` name elements by index from the root ("/0/1/7"), so that the parent's path is all before the last slash.
    """

    names: Ints  # ids of tag names, in order of first occurrence
    classes: npt.NDArray[np.float64]  # 32-bit hash of the sorted class attribute, 0 without one
    links: npt.NDArray[np.bool_]  # <a>
    parents: Ints  # -1 for the root
    paths: list[str]
    element_orders: Ints
    element_ends: Ints
    first_texts: Ints
    last_texts: Ints  # exclusive
    text_parents: Ints
    text_orders: Ints
    token_texts: Ints  # the text node each token begins in
    token_blocks: Ints
    token_starts: Ints  # characters of the page text
    token_ends: Ints


def read(utf8_html: bytes, blocks: Blocks) -> Dom:
    """Read the DOM that these blocks were cut from, without what the walk over a page leaves out (scripts, forms).

    Page text and tree hold the same characters in the same order, white space aside: that is what ties them.

    Raises:
        PageError: lxml finds no element in the HTML.
    """
    walk = _Walk(parse_tree(utf8_html))
    places = np.array(spans(blocks.text), np.int32).reshape(-1, 2)
    lengths = places[:, 1] - places[:, 0]
    begins = np.cumsum(lengths) - lengths
    return Dom(
        names=np.array(walk.names, np.int32),
        classes=np.array(walk.classes, np.float64),
        links=np.array(walk.links, np.bool_),
        parents=np.array(walk.parents, np.int32),
        paths=walk.paths,
        element_orders=np.array(walk.element_orders, np.int32),
        element_ends=np.array(walk.element_ends, np.int32),
        first_texts=np.array(walk.first_texts, np.int32),
        last_texts=np.array(walk.last_texts, np.int32),
        text_parents=np.array(walk.text_parents, np.int32),
        text_orders=np.array(walk.text_orders, np.int32),
        token_texts=np.searchsorted(np.cumsum(walk.visible), begins, side="right").astype(np.int32),
        token_blocks=np.repeat(np.arange(len(blocks), dtype=np.int32), blocks.words),
        token_starts=places[:, 0],
        token_ends=places[:, 1],
    )


class _Walk:
    """One pass over the tree, in the order that the walk of a page has."""

    def __init__(self, root: Any):
        self.names: list[int] = []
        self.classes: list[int] = []
        self.links: list[bool] = []
        self.parents: list[int] = []
        self.paths: list[str] = []
        self.element_orders: list[int] = []
        self.element_ends: list[int] = []
        self.first_texts: list[int] = []
        self.last_texts: list[int] = []
        self.text_parents: list[int] = []
        self.text_orders: list[int] = []
        self.visible: list[int] = []  # characters of each text node that are no white space
        self._ids: dict[str, int] = {}
        self._run(root)

    def _run(self, root: Any) -> None:
        above = [-1]
        walker = etree.iterwalk(root, events=("start", "end"))
        for event, element in walker:
            if event == "end":
                if element.tag not in DROPPED_TAGS:
                    self._close(above.pop())
                self._text(element.tail, above[-1])
            elif element.tag in DROPPED_TAGS:
                walker.skip_subtree()
            else:
                above.append(self._open(element, above[-1]))
                self._text(element.text, above[-1])

    def _open(self, element: Any, parent: int) -> int:
        at = len(self.names)
        self.names.append(self._ids.setdefault(element.tag, FIRST_TAG + len(self._ids)))
        self.classes.append(class_hash(element.get("class", "")))
        self.links.append(element.tag == "a")
        self.parents.append(parent)
        self.paths.append(f"{self.paths[parent] if parent >= 0 else ''}/{at}")
        self.element_orders.append(at + len(self.visible))
        self.element_ends.append(at)
        self.first_texts.append(len(self.visible))
        self.last_texts.append(len(self.visible))
        return at

    def _close(self, at: int) -> None:
        self.element_ends[at] = len(self.names)
        self.last_texts[at] = len(self.visible)

    def _text(self, text: str | None, parent: int) -> None:
        if text and parent >= 0 and not text.isspace():
            self.text_parents.append(parent)
            self.text_orders.append(len(self.names) + len(self.visible))
            self.visible.append(sum(map(len, text.split())))


def class_hash(attribute: str) -> int:
    """Hash a class attribute: its names are sorted, so that their order does not count."""
    names = sorted(attribute.split())
    return xxhash.xxh32_intdigest(" ".join(names).encode("utf-8", "surrogatepass")) if names else 0
