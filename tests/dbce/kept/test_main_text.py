"""The main text of labelled segments."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.annotation_merge import resolve
from dbce_spark.dbce.kept.main_text import of_blocks, text
from dbce_spark.model import Annotation, Label
from tests.support.builders import parsed, segments_of
from tests.support.strategies import annotations, documents


def test_text_has_one_line_a_block() -> None:
    """Content of one block is one line, what stands between is left out."""
    blocks = parsed("<p>one two three</p><p>four five</p><p>six</p>").blocks
    segments = segments_of(blocks, "10000", "11000", "10000", "11000", "11000", "10000")

    assert text(blocks.text, segments) == "one three\nsix"


def test_a_cell_that_is_left_out_leaves_its_place() -> None:
    """The cells behind it stay in their columns."""
    blocks = parsed("<table><tr><td>one</td><td>two</td><td>three</td></tr></table>").blocks

    assert text(blocks.text, segments_of(blocks, "10000", "11000", "10000")) == "one\t\tthree"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("1111111", "a\tone two three\tb\nc\td"),
        ("1101111", "a\tone three\tb\nc\td"),
        ("1011111", "a\ttwo three\tb\nc\td"),
    ],
)
def test_blocks_of_a_cell_are_parted_by_a_space(labels: str, expected: str) -> None:
    """Also where one between them is left out."""
    html = "<table><tr><td>a<td><div>one</div><div>two</div><div>three</div><td>b<tr><td>c<td>d</table>"
    blocks = parsed(html).blocks

    assert expected == text(blocks.text, segments_of(blocks, *("10000" if one == "1" else "11000" for one in labels)))


def test_text_without_content_is_empty() -> None:
    """All boilerplate, no text."""
    blocks = parsed("<p>one</p>").blocks

    assert text(blocks.text, segments_of(blocks, "11000")) == ""


def test_text_keeps_the_white_space_between_neighbours() -> None:
    """Segments of one block with nothing between them are one text, its lines and indents as they stood."""
    blocks = parsed("<pre>def f():\n    return  1\n\nend</pre>").blocks
    neighbours = segments_of(blocks, "10000", "11000", "10000", "11000", "10000")
    everything = dataclasses.replace(neighbours, labels=np.full(len(neighbours), Label.CONTENT, np.uint8))

    assert 5 == len(neighbours)
    assert text(blocks.text, everything) == "def f():\n    return  1\n\nend"


def test_text_leaves_out_what_stands_between() -> None:
    """One space stands for it, and the white space before and behind it is gone."""
    blocks = parsed("<pre>one\n  two\n    three\nfour</pre><p>five six</p>").blocks
    segments = segments_of(blocks, "10000", "11000", "10000", "10000", "11000", "10000")

    assert text(blocks.text, segments) == "one three\nfour\nsix"


@given(documents, st.data())
def test_text_of_all_content_is_the_page_text(html: str, data: st.DataObject) -> None:
    """However the blocks are cut, where all of it is content nothing is lost and nothing added."""
    blocks = parsed(html).blocks
    some: list[Annotation] = data.draw(annotations(len(blocks.tokens), max_size=1))
    segments = resolve(blocks, some, undecided=Label.UNDECIDED)
    everything = dataclasses.replace(segments, labels=np.full(len(segments), Label.CONTENT, np.uint8))
    squeezed = [line.strip() for line in blocks.text.split("\n")]

    assert squeezed == [line.strip() for line in text(blocks.text, everything).split("\n")]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("111111", "Year\tShips\n\tmany\t1914\n1915\t\tfew"),
        ("110111", "Year\tShips\n1914\n1915\t\tfew"),
        ("011111", "Ships\n\tmany\t1914\n1915\t\tfew"),
        ("101111", "Year\n\tmany\t1914\n1915\t\tfew"),
        ("111011", "Year\tShips\n\tmany\n1915\t\tfew"),
        ("111110", "Year\tShips\n\tmany\t1914\n1915"),
    ],
)
def test_text_keeps_the_cells_of_a_row_in_their_places(labels: str, expected: str) -> None:
    """Tabs part what is kept of a row; one whose first cell is left out begins with text."""
    rows = "<tr><td>Year<td>Ships<tr><td><td>many<td>1914<tr><td>1915<td><td>few"
    blocks = parsed(f"<table>{rows}</table>").blocks
    kept = [Label.CONTENT if label == "1" else Label.BOILERPLATE for label in labels]

    assert expected == of_blocks(blocks.text, blocks.starts.tolist(), blocks.ends.tolist(), kept)
