"""<dbce> elements and the metrics of table 2.1."""

import numpy as np
import pytest
from hypothesis import given

from dbce_spark.annotation.markup.token_dom import DBCE_NAME, class_hash
from reproductions.thesis.nodes import CLASS, LENGTH, LINK_DENSITY, NAME, TAGS, TEXT_DENSITY, WORDS
from tests.support.strategies import documents
from tests.support.thesis_pages import nodes_of

PAGE = '<html><body><div class="b a"><p>one <a>two three</a></p><p>four</p></div></body></html>'
"""<dbce> elements: one, two three, four; elements: html, body, div, p, a, p."""


def test_a_node_ends_where_bits_or_text_nodes_change() -> None:
    """A run of words with the same bits, in one text node."""
    nodes = nodes_of("<html><body><p>one two <b>three</b> four</p></body></html>", "11000", "10000", "10000", "10000")
    assert [(0, 1), (1, 2), (2, 3), (3, 4)] == list(zip(nodes.starts.tolist(), nodes.ends.tolist(), strict=True))
    assert [0, 0, 1, 2] == nodes.texts.tolist()


def test_counts_of_elements_are_sums_of_their_children() -> None:
    """Words, characters and tags; the dummy node has none."""
    nodes = nodes_of(PAGE)
    assert [1, 2, 1, 4, 4, 4, 3, 2, 1, 0] == nodes.metrics[:, WORDS].tolist()
    assert [3, 9, 4, 16, 16, 16, 12, 9, 4, 0] == nodes.metrics[:, LENGTH].tolist()
    assert [0, 0, 0, 6, 5, 4, 2, 1, 1, 0] == nodes.metrics[:, TAGS].tolist()


def test_links_count_from_the_a_element_up() -> None:
    """The share of an element's characters that stand in links below it or in itself."""
    nodes = nodes_of(PAGE)
    expected = [0, 0, 0, 9 / 16, 9 / 16, 9 / 16, 9 / 12, 1, 0, 0]
    assert expected == pytest.approx(nodes.metrics[:, LINK_DENSITY].tolist())


def test_a_dbce_element_has_its_own_name_and_no_class() -> None:
    """Its class attribute is the annotation, which is no feature; that of an element is hashed."""
    nodes = nodes_of(PAGE)
    assert [DBCE_NAME] * 3 == nodes.metrics[:3, NAME].tolist()
    assert [0, 0, 0, 0, 0, class_hash("a b"), 0, 0, 0, 0] == nodes.metrics[:, CLASS].tolist()


def test_text_density_is_words_a_full_line() -> None:
    """Twenty words of nine letters fill lines of eight, eight and four: the last one does not count."""
    nodes = nodes_of(f"<html><body><p>{'wwwwwwwww ' * 20}</p><p>two words</p></body></html>")
    assert [8, 2] == nodes.metrics[:2, TEXT_DENSITY].tolist()
    assert (16 + 2) / (2 + 1) == nodes.metrics[2, TEXT_DENSITY]


def test_a_word_longer_than_a_line_has_one_of_its_own() -> None:
    """It ends nothing but its line."""
    nodes = nodes_of(f"<html><body><p>{'w' * 200} {'v' * 90} end</p></body></html>")
    assert 1 == nodes.metrics[0, TEXT_DENSITY]


def test_neighbours_are_children_of_the_same_parent() -> None:
    """An element may stand beside a <dbce> element; at the ends of a group stands the dummy node."""
    nodes = nodes_of("<html><body><p>one two <b>three</b> four</p></body></html>", *["11000", *["10000"] * 3])
    bold, dummy = 7, 8
    assert [dummy, 0, dummy, bold] == nodes.previous[:4].tolist()
    assert [1, bold, dummy, dummy] == nodes.following[:4].tolist()
    assert [6, 6, bold, 6] == nodes.parents[:4].tolist()


@given(documents)
def test_the_root_has_all_words(html: str) -> None:
    """And what stands before a node has that node behind it."""
    nodes = nodes_of(html)
    root, dummy = len(nodes), len(nodes.parents) - 1
    assert nodes.metrics[root, WORDS] == nodes.metrics[:root, WORDS].sum()
    has_next = np.flatnonzero(nodes.following != dummy)
    assert has_next.tolist() == nodes.previous[nodes.following[has_next]].tolist()
    assert (nodes.metrics[:, LINK_DENSITY] <= 1).all()
