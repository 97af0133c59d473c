"""Nodes are counted as in the thesis, and labels by gold text are those that people voted for."""

import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.errors import InputError
from dbce_spark.evaluation import node_scores
from dbce_spark.evaluation.child_process import Extracted
from dbce_spark.evaluation.datasets import read
from dbce_spark.evaluation.metrics import Score
from dbce_spark.evaluation.node_scores import (
    BAD,
    GOOD,
    HEAD,
    TIE,
    UNCERTAIN,
    Confusion,
    NodeScoreRow,
    Vote,
    agreement,
    table,
    votes,
)
from tests.support.fake_extractors import gold_pages, line

PAGE = "<body><div>Home</div> | <p>A <b>grey</b> seal.</p><div>Buy now!</div></body>"
MASKS = st.integers(1, 9).flatmap(lambda size: st.tuples(*[st.lists(st.booleans(), min_size=size, max_size=size)] * 2))


def archive(folder: Path, tables: Mapping[str, str]) -> str:
    """A file of votes."""
    path = folder / "votes.tar.xz"
    with tarfile.open(path, "w:xz") as file:
        for name, content in tables.items():
            member = tarfile.TarInfo(f"votes/{name}")
            member.size = len(content)
            file.addfile(member, BytesIO(content.encode()))
    return str(path)


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


def test_rows_add_up_pages_and_the_table_sets(tmp_path: Path) -> None:
    """A row a set and extractor, sums last, and a page that cannot be parsed has no nodes."""
    pages = gold_pages(tmp_path, [line("a", PAGE, "A grey seal."), line("b", PAGE, "Home"), line("c", "")])
    texts = {"one": {page.page_id: Extracted("A grey seal.", 0, "") for page in pages}}
    of_set = node_scores.rows("made", pages, texts)
    assert [NodeScoreRow("made", "one", Confusion(tp=3, fn=1, fp=3, tn=3))] == of_set
    lines = [
        dict(zip(HEAD, cells, strict=True))
        for cells in table([*of_set, NodeScoreRow("other", "one", Confusion(0, 0, 0, 90))])
    ]
    assert [("made", "10", "0.600"), ("other", "90", "1.000"), ("all sets", "100", "0.960")] == [
        (cells["set"], cells["nodes"], cells["accuracy"]) for cells in lines
    ]
    assert ("0.500", "0.750", "0.600") == tuple(lines[0][f"content {part}"] for part in ("P", "R", "F1"))


STATS = """# submitted : 8
# tokens\tmerged\t16\t21
1\tkrdwrd-tag-1-100\tkrdwrd-tag-1\tkrdwrd-tag-1
undefined\tundefined\tnull\tundefined
1\tkrdwrd-tag-2-60\tkrdwrd-tag-2\tkrdwrd-tag-1
12\tkrdwrd-tag-mrgtie-50\tkrdwrd-tag-1\tkrdwrd-tag-3
"""


def test_votes_are_read(tmp_path: Path) -> None:
    """A vote a text node; headings, rows of no node and files of no page are passed over."""
    path = archive(tmp_path, {"738.stats": STATS, "uids": "9\n10\n", "739.stats": ""})
    assert {"738": [Vote(1, BAD, 100), Vote(1, UNCERTAIN, 60), Vote(12, TIE, 50)], "739": []} == votes(path)


@pytest.mark.parametrize("broken", [None, b"", b"no archive"])
def test_what_is_no_archive_of_votes_is_named(broken: bytes | None, tmp_path: Path) -> None:
    """Missing, empty or something else: an error of one line with the path."""
    path = tmp_path / "votes.tar.xz"
    if broken is not None:
        path.write_bytes(broken)
    with pytest.raises(InputError, match=r"^\S+votes\.tar\.xz: no archive of votes: [^\n]+$"):
        votes(str(path))


def test_a_table_that_is_of_no_votes_is_named(tmp_path: Path) -> None:
    """A row whose tag is none ends the reading."""
    with pytest.raises(InputError, match=r"votes\.tar\.xz: no archive of votes: "):
        votes(archive(tmp_path, {"1.stats": "3\tgood-enough\n"}))


def test_only_nodes_that_people_agree_on_are_compared(tmp_path: Path) -> None:
    """One leaf of three is voted otherwise than by the gold; the uncertain, the tie and the bar do not count."""
    [page] = gold_pages(tmp_path, [line("a", PAGE, "A grey seal.")])
    tags = [GOOD, GOOD, GOOD, UNCERTAIN, BAD, TIE]
    assert Confusion(tp=1, fn=1, fp=1, tn=0) == agreement(page, [Vote(1, tag, 100) for tag in tags])
    assert None is agreement(page, [])


@pytest.mark.data
def test_gold_labels_are_those_that_people_voted_for(shared_data: Path) -> None:
    """98 of 100 nodes, on the pages of Canola with as many leaves as votes; the gold lacks most of the others."""
    found = votes(str(shared_data / "gold" / "canola-votes.tar.xz"))
    pages = read([str(shared_data / "gold" / "canola.jsonl.xz")]).sets["canola"]
    counts = [counted for page in pages if (counted := agreement(page, found[page.page_id]))]
    total = sum(counts, Confusion())
    assert len(counts) > 0.7 * len(pages)
    assert total.accuracy > 0.98
    assert min(total.content.f1, total.boilerplate.f1) > 0.97
