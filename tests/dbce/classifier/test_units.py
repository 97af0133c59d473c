"""Units of a page: what they are, what is pooled over them, and that they are kept or dropped together."""

import itertools
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.classifier import units
from dbce_spark.dbce.classifier.features import UNKNOWN
from dbce_spark.dbce.classifier.layout import Layout
from dbce_spark.html.page import Parsed, parse
from dbce_spark.model import Units
from tests.support.builders import config

TABLE = """<html><body><div><h1>Stations</h1><table>
<tr><td>Hope</td><td>12 m</td></tr><tr><td>Cape</td><td>40 m</td></tr><tr><td>Bear</td><td>7 m</td></tr>
</table></div><p>Imprint</p></body></html>"""


def parsed(html: str) -> Parsed:
    return parse(html.encode(), "utf-8", config().page)


def units_of(html: str) -> Units:
    (found,) = units.of_pages(Layout([parsed(html)]))
    return found


def test_units_are_the_elements_that_hold_different_blocks() -> None:
    """The page, its part, the table, three rows of two cells, and each cell; elements of one span are one unit."""
    found = units_of(TABLE)
    spans = list(zip(found.firsts.tolist(), found.lasts.tolist(), strict=True))

    assert [(0, 8), (0, 7), (0, 1), (1, 7), (1, 3), (1, 2), (2, 3)] == spans[:7]
    assert len(set(spans)) == len(spans)


def test_rows_of_a_table_are_of_one_kind() -> None:
    found = units_of(TABLE)
    rows = [
        kind
        for kind, first, last in zip(found.kinds.tolist(), found.firsts.tolist(), found.lasts.tolist(), strict=True)
        if last - first == 2
    ]

    assert 3 == len(rows)
    assert 1 == len(set(rows))


def test_units_do_not_depend_on_the_pages_beside() -> None:
    pages = [parsed(TABLE), parsed("<p>one</p><ul><li>two<li>three<li>four</ul>"), parsed(TABLE)]
    together = units.of_pages(Layout(pages))
    alone = [units.of_pages(Layout([one]))[0] for one in pages]

    for one, other in zip(together, alone, strict=True):
        assert all(np.array_equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(Units))


def test_pooled_features_do_not_depend_on_the_pages_beside() -> None:
    pages = [parsed(TABLE), parsed("<p>one</p><ul><li>two<li>three<li>four</ul>")]
    both = Layout(pages)
    scores = np.arange(len(both)) * 97 % 1025
    together = units.columns(both, units.of_pages(both), both.link_words, scores, np.arange(len(both)))
    for at, one in enumerate(pages):
        alone, rows = Layout([one]), slice(int(both.starts[at]), int(both.starts[at + 1]))
        columns = units.columns(alone, units.of_pages(alone), alone.link_words, scores[rows], np.arange(len(alone)))
        assert all(np.array_equal(columns[name], together[name][rows]) for name in together)


def test_pooled_features_do_not_depend_on_the_blocks_that_are_wanted() -> None:
    pages = Layout([parsed("<p>one</p><ul><li>two<li>three<li>four</ul>"), parsed(TABLE)])
    scores, wanted = np.arange(len(pages)) * 97 % 1025, np.array([1, 3, 8])
    of_pages, links = units.of_pages(pages), pages.link_words
    every = units.columns(pages, of_pages, links, scores, np.arange(len(pages)))
    some = units.columns(pages, of_pages, links, scores, wanted)

    assert every.keys() == some.keys()
    assert all(np.array_equal(every[name][wanted], some[name]) for name in some)


def test_the_mean_of_a_row_is_that_of_its_cells() -> None:
    pages = Layout([parsed(TABLE)])
    scores = np.array([1000, 900, 100, 0, 0, 0, 0, 0])
    columns = units.columns(pages, units.of_pages(pages), pages.link_words, scores, np.arange(len(pages)))

    assert 500.0 == columns["row_mean"][1] == columns["row_mean"][2]
    assert 3.0 == columns["row_records"][1]
    assert UNKNOWN == columns["row_mean"][0]


def test_the_list_around_a_row_is_of_the_next_records_and_of_no_further_ones() -> None:
    items = "".join(f"<li><p>{words}</p><b><p>end</p></b></li>" for words in ("one", "one two", "one two three"))
    pages = Layout([parsed(f"<section><div><ul>{items}</ul></div><div>a</div><div>b</div></section>" * 3)])
    nothing = np.zeros(len(pages), np.int64)
    columns = units.columns(pages, units.of_pages(pages), nothing, nothing, np.arange(len(pages)))

    assert [2.0, 9.0] == [columns[name][0] for name in ("row_words", "list_words")]


def test_a_doubtful_cell_goes_with_its_row() -> None:
    found = units_of(TABLE)
    scores = np.array([0.9, 0.9, 0.25, 0.9, 0.25, 0.9, 0.25, 0.01])

    assert [True] * 7 + [False] == units.choose_of_whole_page(scores, found, "balanced").tolist()


def test_the_bare_more_of_each_item_does_not_come_with_the_item() -> None:
    found = units_of("<ul>" + "<li><p>a b c</p><div>more</div></li>" * 3 + "</ul>")

    assert [True, False] * 3 == units.choose_of_whole_page(np.array([0.9, 0.1] * 3), found, "balanced").tolist()


def test_a_doubtful_advert_in_a_menu_is_dropped_with_it() -> None:
    found = units_of("<ul><li>a<li>b<li>c<li>d</ul>")

    assert not units.choose_of_whole_page(np.array([0.01, 0.35, 0.01, 0.01]), found, "balanced").any()


def test_what_is_certainly_no_content_is_never_kept() -> None:
    found = units_of("<ul><li>a<li>b<li>c<li>d</ul>")

    assert [True, False, True, True] == units.choose_of_whole_page(
        np.array([0.9, 0.0, 0.9, 0.9]), found, "recall"
    ).tolist()


@st.composite
def small_pages(draw: st.DrawFn) -> tuple[Units, np.ndarray]:
    """A tree of up to four units, with up to six blocks in any of them."""
    parents = [0] + [draw(st.integers(0, at)) for at in range(draw(st.integers(0, 3)))]
    holders = draw(st.lists(st.integers(0, len(parents) - 1), min_size=1, max_size=6))
    scores = draw(st.lists(st.integers(1, 9_999), min_size=len(holders), max_size=len(holders)))
    nothing = np.zeros(len(parents), np.int32)
    made = Units(
        parents=np.array(parents, np.int32), firsts=nothing, lasts=nothing, kinds=nothing,
        holders=np.array(holders, np.int32),
    )  # fmt: skip
    return made, np.array(scores) / 10_000


def cost(found: Units, gains: np.ndarray, kept_units: tuple[int, ...], kept: tuple[int, ...]) -> int:
    turns: int = sum(kept_units[unit] != kept_units[around] for unit, around in enumerate(found.parents.tolist()))
    turns += sum(label != kept_units[holder] for label, holder in zip(kept, found.holders.tolist(), strict=True))
    wrong: int = sum(
        abs(gain) for gain, label in zip(gains.tolist(), kept, strict=True) if (gain > 0) != label and gain
    )
    return wrong + units.COST_OF_DIFFERENCE * turns


@pytest.mark.parametrize("favor", sorted(units.CUT_OF_FAVOR))
@given(small_pages())
def test_no_other_labels_cost_less(favor: str, page: tuple[Units, np.ndarray]) -> None:
    """The decision is exact: of all labels of blocks and units those chosen cost least."""
    found, scores = page
    cut = np.array([units.CUT_OF_FAVOR[favor]])
    gains = np.clip(units._steps(scores) - units._steps(cut), -units._FARTHEST, units._FARTHEST)
    kept = tuple(int(one) for one in units.choose_of_whole_page(scores, found, favor))
    of_units = list(itertools.product((0, 1), repeat=len(found.parents)))
    best = min(
        cost(found, gains, some, labels)
        for some in of_units
        for labels in itertools.product((0, 1), repeat=len(scores))
    )

    assert best == min(cost(found, gains, some, kept) for some in of_units)


@given(small_pages())
def test_precision_keeps_some_of_balanced_and_that_some_of_recall(page: tuple[Units, np.ndarray]) -> None:
    found, scores = page
    precision, balanced, recall = (
        units.choose_of_whole_page(scores, found, favor) for favor in ("precision", "balanced", "recall")
    )

    assert (precision <= balanced).all()
    assert (balanced <= recall).all()
