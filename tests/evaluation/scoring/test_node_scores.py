"""Nodes are counted as in the thesis."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.scoring import node_scores
from dbce_spark.evaluation.scoring.metrics import Score
from dbce_spark.evaluation.scoring.node_scores import HEAD, Confusion, NodeScoreRow, table
from tests.support.fake_extractors import gold_pages, line

PAGE = "<body><div>Home</div> | <p>A <b>grey</b> seal.</p><div>Buy now!</div></body>"
MASKS = st.integers(1, 9).flatmap(lambda size: st.tuples(*[st.lists(st.booleans(), min_size=size, max_size=size)] * 2))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (Confusion(871, 78, 606, 4307), (0.883, 0.590, 0.918, 0.718, 0.982, 0.877, 0.926)),
        (Confusion(871, 87, 606, 5291), (0.899, 0.590, 0.909, 0.715, 0.984, 0.897, 0.939)),
        (Confusion(817, 132, 480, 4433), (0.896, 0.630, 0.861, 0.728, 0.971, 0.902, 0.935)),
    ],
)
def test_the_thesis_has_these_measures(counts: Confusion, expected: tuple[float, ...]) -> None:
    """The sums of tables D.1-D.4 for T001, T002 and T006 give table 4.2, up to its rounding."""
    [cells] = table([NodeScoreRow("thesis", "T", counts)])
    assert expected == tuple(map(float, cells[3:10]))
    assert len(HEAD) == len(cells)


@given(MASKS)
def test_boilerplate_is_content_the_other_way_round(masks: tuple[list[bool], list[bool]]) -> None:
    """Every node is counted once, and negating both masks swaps the scores of the classes."""
    content, called = map(np.array, masks)
    counts, negated = node_scores.confusion(content, called), node_scores.confusion(~content, ~called)
    assert len(content) == counts.nodes == negated.nodes
    assert (counts.accuracy, counts.content, counts.boilerplate) == (
        negated.accuracy,
        negated.boilerplate,
        negated.content,
    )
    assert counts.accuracy == float((content == called).mean())


def test_a_page_without_nodes_is_labelled_right() -> None:
    """Nothing was to be found and nothing was, as in every metric."""
    assert (1.0, Score(1, 1, 1)) == (Confusion().accuracy, Confusion().boilerplate)


def test_nodes_are_leaves_with_a_word(tmp_path: Path) -> None:
    """The text has the menu of five leaves with words too much and nothing too little; the bar is no node."""
    [page] = gold_pages(tmp_path, [line("a", PAGE, "A grey seal.")])
    counted = node_scores.of_page(
        page, {"one": Extracted("Home\nA grey seal.", 0, ""), "two": Extracted("", 0, "timeout")}
    )
    assert {"one": Confusion(tp=3, fn=0, fp=1, tn=1), "two": Confusion(tp=0, fn=3, fp=0, tn=2)} == counted


def test_the_table_adds_up_sets(tmp_path: Path) -> None:
    """A row a set and extractor, sums last, and a page that cannot be parsed has no nodes."""
    pages = gold_pages(tmp_path, [line("a", PAGE, "A grey seal."), line("b", PAGE, "Home"), line("c", "")])
    text = Extracted("A grey seal.", 0, "")
    counted = sum((node_scores.of_page(page, {"one": text})["one"] for page in pages), Confusion())
    assert Confusion(tp=3, fn=1, fp=3, tn=3) == counted
    lines = [
        dict(zip(HEAD, cells, strict=True))
        for cells in table([NodeScoreRow("made", "one", counted), NodeScoreRow("other", "one", Confusion(0, 0, 0, 90))])
    ]
    assert [("made", "10", "0.600"), ("other", "90", "1.000"), ("all sets", "100", "0.960")] == [
        (cells["set"], cells["nodes"], cells["accuracy"]) for cells in lines
    ]
    assert ("0.500", "0.750", "0.600") == tuple(lines[0][f"content {part}"] for part in ("P", "R", "F1"))
