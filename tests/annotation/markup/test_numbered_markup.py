"""Number the nodes of an outline in a page's HTML."""

import re
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html

from dbce_spark.annotation.markup import numbered_markup
from dbce_spark.annotation.markup.numbered_markup import NODE, SEGMENT, NumberedPage
from dbce_spark.dbce import single
from tests.support.builders import parsed


def marked(html: str) -> tuple[NumberedPage, list[str]]:
    """Return a page whose segments are its blocks, and their texts."""
    blocks = parsed(html).blocks
    texts = [blocks.text[start:end] for start, end in zip(blocks.starts, blocks.ends, strict=True)]
    return numbered_markup.number_nodes(html.encode(), blocks.text, single.segments(blocks)), texts


TAGS = ("div", "p", "b", "a", "ul", "li", "table", "tr", "td", "br", "script", "section", "pre", "span")


@given(
    st.lists(st.sampled_from([*(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS), "word ", "x\n", "&amp;"]))
)
def test_every_word_of_a_page_is_in_the_segment_of_its_block(parts: list[str]) -> None:
    """The elements of a node, put together, hold the text of its segment, on pages of any shape."""
    found, texts = marked(f"<body>start{''.join(parts)}</body>")
    by_node: dict[int, str] = defaultdict(str)
    for piece in lxml_html.fromstring(found.html).iter(SEGMENT):
        by_node[int(piece.get(NODE, -1))] += piece.text or ""

    assert ["".join(text.split()) for text in texts] == [
        "".join(by_node[leaf].split()) for leaf in found.outline.leaves
    ]


def test_containers_with_the_same_text_are_one_node() -> None:
    """A <div> in a <div> with one paragraph is one node; a second paragraph makes another."""
    one, _ = marked("<body><div><div><p>One</p></div></div><p>Two</p></body>")

    assert (-1, 0, 0) == one.outline.parents
    assert (1, 2) == one.outline.leaves


def test_a_page_can_not_name_nodes_itself() -> None:
    """Elements and attributes of an archived page with our names lose them."""
    found, _ = marked(f'<body><p {NODE}="7">One</p><{SEGMENT} {NODE}="1" class="3">Two</{SEGMENT}><p>Three</p></body>')

    assert len(found.outline.leaves) == found.html.count(f"<{SEGMENT}")
    assert {*range(len(found.outline.parents))} == {*map(int, re.findall(rf'{NODE}="(\d+)"', found.html))}


def test_a_page_keeps_its_document_type() -> None:
    """A page without a document type stays without, since browsers lay it out as they did before standards."""
    old, new = marked("<body><p>One</p>")[0].html, marked("<!DOCTYPE html><p>One</p>")[0].html

    assert (False, True) == ("doctype" in old.lower(), new.startswith("<!DOCTYPE html>\n"))
