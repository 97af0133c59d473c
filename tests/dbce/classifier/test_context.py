"""Features of a block's surroundings: the first scores around it."""

import numpy as np

from dbce_spark.dbce.classifier import context
from dbce_spark.dbce.classifier.context import CERTAIN
from dbce_spark.dbce.classifier.features import UNKNOWN, Columns
from dbce_spark.dbce.classifier.layout import Layout
from tests.support.builders import parsed

LONG = " ".join(["word"] * 12)


def seen(body: str, *scores: int) -> Columns:
    """Compute the features of a page's blocks with these first scores."""
    page = Layout([parsed(f"<html><body>{body}</body></html>")])
    assert len(page) == len(scores)
    return context.of_pages(page, np.array(scores, np.int64))


def test_neighbours() -> None:
    """Before and behind; beyond the page there is none."""
    columns = seen("<p>a</p><p>b</p><p>c</p>", 10, 20, 30)

    assert [10, 20, 30] == columns["score"].tolist()
    assert [UNKNOWN, 10, 20] == columns["score-1"].tolist()
    assert [30, UNKNOWN, UNKNOWN] == columns["score+2"].tolist()


def test_windows_weigh_by_words() -> None:
    """The mean score of the words two blocks around."""
    columns = seen("<p>a b</p><p>c</p><p>d</p><p>e</p>", 300, 600, 0, 900)

    assert [1200 / 4, 2100 / 5, 2100 / 5, 1500 / 3] == columns["window2"].tolist()
    assert [0, 600 / 2100, 1200 / 2100, 1200 / 2100] == columns["mass_before"].tolist()
    assert [1500 / 2100, 900 / 2100, 900 / 2100, 0] == columns["mass_behind"].tolist()


def test_sure_blocks_nearby() -> None:
    """Their features are the distances to the last one and the next one, and to the first and last of the page."""
    columns = seen(f"<p>a</p><p>{LONG}</p><p>b</p><p>{LONG}</p><p>{LONG}</p>", CERTAIN, CERTAIN, 0, CERTAIN, 100)

    assert [1e6, 0, 1, 0, 1] == columns["since_strong"].tolist()
    assert [1, 0, 1, 0, 1e6] == columns["until_strong"].tolist()
    assert [-1, 0, 1, 2, 3] == columns["from_first_strong"].tolist()
    assert [-3, -2, -1, 0, 1] == columns["from_last_strong"].tolist()


def test_page_without_a_sure_block() -> None:
    """Says so."""
    columns = seen("<p>a</p><p>b</p>", 500, 0)

    assert {1e6} == {*columns["since_strong"].tolist(), *columns["until_strong"].tolist()}
    assert {-1e6} == {*columns["from_first_strong"].tolist(), *columns["from_last_strong"].tolist()}


def test_sections_with_and_without_the_block() -> None:
    """The rest of a section speaks for itself, and so does its heading."""
    columns = seen("<p>a</p><h2>b</h2><p>c d</p><p>e</p>", 100, 200, 600, 900)

    assert [UNKNOWN, 2100 / 3, 1100 / 2, 1400 / 3] == columns["section_others"].tolist()
    assert [UNKNOWN, 200, 200, 200] == columns["section_heading"].tolist()


def test_slots_with_and_without_the_block() -> None:
    """The other blocks of a slot speak for themselves."""
    columns = seen("<p>a</p><p>b c</p><div>d</div>", 0, 600, 900)

    assert [400, 400, 900] == columns["path_density"].tolist()
    assert [600, 0, 0] == columns["path_others"].tolist()


def test_records_behind_the_content() -> None:
    """A list of comments: all that was found stands before it."""
    comments = "".join(f"<li>one two three {name}</li>" for name in "abc")
    columns = seen(f"<p>{LONG}</p><ul>{comments}</ul>", CERTAIN, 0, 0, 0)

    assert [UNKNOWN, 3, 3, 3] == columns["beside_list_records"].tolist()
    assert [UNKNOWN, 1, 1, 1] == columns["beside_list_mass_before"].tolist()
    assert [UNKNOWN, 0, 0, 0] == columns["beside_list_mass"].tolist()
    assert [UNKNOWN, 0, 1, 2] == columns["beside_list_block"].tolist()


def test_page_where_nothing_was_found() -> None:
    """Shares of nothing are nothing."""
    columns = seen("<p>a</p><p>b</p>", 0, 0)

    assert {0.0} == {
        *columns["mass_before"].tolist(),
        *columns["window_share2"].tolist(),
        *columns["page_mass"].tolist(),
    }
