"""The thesis's own examples and tables, through the code that does them today.

The HTML of listings 1.2 and 1.3 is lost in the text of the thesis. It is put together again from listings 1.4, 2.3, 2.4
and 2.10: one template, a list of advertisements in a <span>, the content behind it, and the line of the copyright.
"""

from collections import OrderedDict
from itertools import product

import numpy as np
import pytest
import xxhash
from hypothesis import given

from dbce_spark.dbce.annotation_merge import resolve
from dbce_spark.dbce.kept.annotated_html import labelled_html
from dbce_spark.dbce.kept.main_text import text
from dbce_spark.dbce.occurrence_bits import annotate
from dbce_spark.dbce.patterns import labels_of_bits, propagate
from dbce_spark.dbce.shingles import layer_shingles
from dbce_spark.model import Label, Segments, bits_text
from tests.support.builders import CONFIG, cross, parsed
from tests.support.occurrence_html import occurrence_html
from tests.support.strategies import Node, trees

DOC1 = """
<html><head></head><body>
  <span class="def" style="color: blue">
    <ul><li>Buy More</li><li>New Cars</li></ul>
    Definition of Boilerplate
    2016 - Example Inc. All rights reserved
  </span>
</body></html>
"""
DOC2 = """
<html><head></head><body>
  <span class="def" style="color: blue">
    <ul><li>Buy More</li><li>New Cars</li></ul>
    <i>What content extraction is</i>
    2016 - Example Inc. All rights reserved
  </span>
</body></html>
"""
LISTING_2_10 = """
<html><head></head><body>
  <span class="def" style="color: blue">
    <ul>
      <li><dbce class="dbce-cur dbce-up">Buy More</dbce></li>
      <li><dbce class="dbce-cur dbce-up">New Cars</dbce></li>
    </ul>
    <dbce class="dbce-cur">
      Definition of Boilerplate
    </dbce>
    <dbce class="dbce-cur dbce-up">
      2016 - Example Inc. All rights reserved
    </dbce>
  </span>
</body></html>
"""


def normalised(html: str) -> str:
    """HTML without the white space that only lays it out."""
    return "".join(html.replace("\n", " ").split(" "))


def doc1_annotated() -> tuple[str, Segments]:
    """Annotate doc1.html by the cross of doc1 and doc2; return its page text and segments."""
    blocks, other = parsed(DOC1).blocks, parsed(DOC2).blocks
    tokens = {"doc1": blocks.tokens, "doc2": other.tokens}
    made = annotate([cross("doc1", "doc2")], tokens, exact_limit=CONFIG.diff.exact_limit)
    return blocks.text, resolve(blocks, made, undecided=Label.UNDECIDED)


def test_listing_2_10() -> None:
    """doc1.html, annotated with where each piece of its text was found."""
    page_text, segments = doc1_annotated()
    actual = occurrence_html(DOC1.encode(), page_text, segments)

    assert normalised(LISTING_2_10) == normalised(actual)


def test_listing_1_4() -> None:
    """The definition is content, the advertisement and the copyright are boilerplate."""
    page_text, segments = doc1_annotated()
    expected = [
        ("Buy More", "boilerplate"),
        ("New Cars", "boilerplate"),
        ("Definition of Boilerplate", "content"),
        ("2016 - Example Inc. All rights reserved", "boilerplate"),
    ]
    actual = [
        (page_text[start:end], Label(label).word)
        for start, end, label in zip(segments.starts, segments.ends, segments.labels, strict=True)
    ]

    assert expected == actual


def test_listing_1_4_as_text() -> None:
    """The text of doc1.html is the definition."""
    page_text, segments = doc1_annotated()

    assert text(page_text, segments) == "Definition of Boilerplate"


def test_listing_1_4_as_html() -> None:
    """The page for readers marks the same pieces with the same labels."""
    page_text, segments = doc1_annotated()
    actual = normalised(labelled_html(DOC1.encode(), page_text, segments))

    assert normalised('<span class="dbce-content">Definition of Boilerplate</span>') in actual
    assert normalised('<span class="dbce-boilerplate">Buy More</span></li>') in actual


def test_figure_2_7() -> None:
    """The encoding of listing 2.10: cross (1,1,0,0,0) with <dbce> (1,1,0,0,0) and (1,0,0,0,0)."""
    _, segments = doc1_annotated()

    assert bits_text(cross("doc1", "doc2").bits) == "11000"
    assert [bits_text(bits) for bits in segments.bits] == ["11000", "11000", "10000", "11000"]


CONTENT, BP = "dbce-class-content", "dbce-class-bp"
APPENDIX_B = [
    # B.1
    ((1, 1, 0, 0, 0), (1, 0, 0, 0, 0), CONTENT),
    ((1, 1, 0, 0, 0), (1, 1, 0, 0, 0), BP),
    # B.2
    ((1, 1, 1, 0, 0), (1, 0, 0, 0, 0), CONTENT),
    ((1, 1, 1, 0, 0), (1, 0, 1, 0, 0), BP),
    ((1, 1, 1, 0, 0), (1, 1, 0, 0, 0), BP),
    ((1, 1, 1, 0, 0), (1, 1, 1, 0, 0), BP),
    # B.3
    ((1, 1, 0, 0, 1), (1, 0, 0, 0, 0), BP),
    ((1, 1, 0, 0, 1), (1, 0, 0, 0, 1), CONTENT),
    ((1, 1, 0, 0, 1), (1, 1, 0, 0, 0), BP),
    ((1, 1, 0, 0, 1), (1, 1, 0, 0, 1), BP),
    ((1, 1, 0, 1, 0), (1, 0, 0, 0, 0), BP),
    ((1, 1, 0, 1, 0), (1, 0, 0, 1, 0), CONTENT),
    ((1, 1, 0, 1, 0), (1, 1, 0, 0, 0), BP),
    ((1, 1, 0, 1, 0), (1, 1, 0, 1, 0), BP),
    # B.4
    ((1, 1, 0, 1, 1), (1, 0, 0, 0, 0), BP),
    ((1, 1, 0, 1, 1), (1, 0, 0, 0, 1), BP),
    ((1, 1, 0, 1, 1), (1, 0, 0, 1, 0), BP),
    ((1, 1, 0, 1, 1), (1, 0, 0, 1, 1), CONTENT),
    ((1, 1, 0, 1, 1), (1, 1, 0, 0, 0), BP),
    ((1, 1, 0, 1, 1), (1, 1, 0, 0, 1), BP),
    ((1, 1, 0, 1, 1), (1, 1, 0, 1, 0), BP),
    ((1, 1, 0, 1, 1), (1, 1, 0, 1, 1), BP),
    # B.5
    ((1, 1, 1, 0, 1), (1, 0, 0, 0, 1), CONTENT),
    ((1, 1, 1, 0, 1), (1, 1, 1, 0, 1), BP),
    ((1, 1, 1, 1, 0), (1, 0, 0, 1, 0), CONTENT),
    ((1, 1, 1, 1, 0), (1, 1, 1, 1, 0), BP),
    ((1, 1, 1, 1, 1), (1, 0, 0, 1, 1), CONTENT),
    ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), BP),
]
LABELS = {CONTENT: Label.CONTENT, BP: Label.BOILERPLATE}


def number(bits: tuple[int, ...]) -> int:
    return int("".join(map(str, bits)), 2)


@pytest.mark.parametrize(("of_cross", "of_segment", "label"), APPENDIX_B, ids=str)
def test_appendix_b(of_cross: tuple[int, ...], of_segment: tuple[int, ...], label: str) -> None:
    """Every line of tables B.1 to B.5."""
    (actual,) = labels_of_bits(number(of_cross), np.array([number(of_segment)], np.uint8))

    assert LABELS[label] == actual


def test_every_other_pattern_is_undecided() -> None:
    """The 28 combinations of the tables have a label; the others of 1,024 are what the thesis calls invalid."""
    listed = {(number(of_cross), number(of_segment)) for of_cross, of_segment, _ in APPENDIX_B}
    undecided = {pair for pair in product(range(32), range(32)) if labels_of_bits(pair[0], np.array([pair[1]]))[0] == 0}

    assert undecided == set(product(range(32), range(32))) - listed
    assert len(listed) == 28


def layers_of(tree: Node) -> dict[int, list[list[Node]]]:
    """Listing 2.6, as printed."""

    def dfs(node: Node, level: int) -> None:
        nodes: list[Node] = []
        for child in node.children:
            dfs(child, level + 1)
            nodes.insert(0, child)
        levels.setdefault(level, []).insert(0, nodes)

    levels: OrderedDict[int, list[list[Node]]] = OrderedDict()
    dfs(tree, 0)
    return levels


def tokens_of(document: Node) -> set[str]:
    """Listing 2.7: position in the group, the group's in its layer, the layer; and the path, here with names only."""
    paths: dict[int, str] = {}

    def name(node: Node, path: str) -> None:
        for child in node.children:
            paths[id(child)] = f"{path}/{child.name}".lstrip("/")
            name(child, paths[id(child)])

    name(document, "")
    return {
        f"{node_nr}_{group_nr}_{level}_{paths[id(node)]}"
        for level, groups in layers_of(document).items()
        for group_nr, nodes in enumerate(groups)
        for node_nr, node in enumerate(nodes)
    }


@given(trees)
def test_listings_2_6_and_2_7(inner: Node) -> None:
    """The shingles of "layer" are the tokens of a recursive reading of the listings, on any tree."""
    html = Node("html", [Node("body", [Node("p", []), inner])])
    expected = {xxhash.xxh32_intdigest(token.encode()) for token in tokens_of(Node("", [html]))}
    actual = set(layer_shingles(parsed(html.html().replace("<p>", "<p>word", 1)).tree).tolist())

    assert expected == actual


def test_listing_2_3() -> None:
    """The layers of doc1.html: html, body, the <span>, the <ul>, two <li>; <head> is out before shingles are made."""
    expected = {"0_0_0_html", "0_0_1_html/body", "0_0_2_html/body/span", "0_0_3_html/body/span/ul"}
    expected |= {"0_0_4_html/body/span/ul/li", "1_0_4_html/body/span/ul/li"}
    actual = set(layer_shingles(parsed(DOC1).tree).tolist())

    assert {xxhash.xxh32_intdigest(token.encode()) for token in expected} == actual


C, B, U = Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED


@pytest.mark.parametrize(
    ("labelled", "expected"),
    [
        ([("/a/b/c", C)], {"/a/b/c": C, "/a/b": C, "/a": C}),
        ([("/a/b[1]", C), ("/a/b[2]", C)], {"/a/b[1]": C, "/a/b[2]": C, "/a": C}),
        ([("/a/b[1]", C), ("/a/b[2]", B)], {"/a/b[1]": C, "/a/b[2]": B}),
        ([("/a/b[1]", C), ("/a/b[2]", U)], {"/a/b[1]": C, "/a/b[2]": U}),
        ([("/a/b", C), ("/a/b", B)], {}),
        ([("/a/b/c[1]", C), ("/a/b/c[2]", B), ("/a/d", C)], {"/a/b/c[1]": C, "/a/b/c[2]": B, "/a/d": C}),
        ([("/a/b", C), ("/a", B)], {"/a/b": C}),
        ([], {}),
    ],
    ids=["alone", "alike", "unlike", "undecided", "split", "unlike below", "text beside an element", "nothing"],
)
def test_labels_go_from_children_to_parents(labelled: list[tuple[str, Label]], expected: dict[str, Label]) -> None:
    """Section 2.3: a parent gets the label that all its children share, from the deepest layer up."""
    actual = propagate(labelled)

    assert expected == actual
