"""Averages by hand: which pages, which weights."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbce_spark.evaluation.scoring.analysis import ALL, WITH_SIBLINGS, analyse
from dbce_spark.evaluation.scoring.node_scores import Confusion, NodeScoreRow
from tests.support.page_scores import made_scores, page

NODES = [NodeScoreRow("made", "first", Confusion(1, 1, 1, 1))]

# A large site of thirty pages, and thirty sites of one.
PAGES = [page(at, site="europa" if at < 30 else f"s{at}", siblings=29 if at < 30 else 0) for at in range(60)]
F1 = {"first": [1.0] * 30 + [0.0] * 30, "other": [0.5] * 60}


def test_a_pool_is_weighed_with_the_cap() -> None:
    """The large site has 5 % of the weight, however many pages it has; over sites a part of 31; over pages half."""
    first, other = analyse(made_scores(PAGES, F1), NODES).pools[0].ranks
    assert pytest.approx((0.05, 0.5, 1 / 31)) == (first.f1, first.over_pages, first.over_sites)
    assert pytest.approx((0.95, 0.0)) == (first.low, first.median)
    assert 0.0 == other.low  # half is not under half
    assert first.against is None
    assert other.against is not None
    assert pytest.approx(0.45) == other.against.mean


def test_pages_with_siblings_are_a_pool_of_their_own() -> None:
    """Thirty pages of one site, drawn by pages: there is no second site to draw."""
    found = {pool.name: (pool.pages, pool.sites, pool.drawn) for pool in analyse(made_scores(PAGES, F1), NODES).pools}
    assert {ALL: (60, 31, "sites"), WITH_SIBLINGS: (30, 1, "pages")} == found


def test_a_set_is_not_weighed() -> None:
    """In a set every page counts the same."""
    (cell,) = analyse(made_scores(PAGES, F1), NODES).by_set[ALL]
    assert pytest.approx((0.5, 0.5)) == cell.f1


def test_a_group_has_precision_recall_and_edit_distance() -> None:
    """Each is a mean of its own; the distance is what is missing to the likeness by edits."""
    scores = made_scores(PAGES[:2], {"first": [0.0, 0.0], "other": [0.0, 0.0]})
    main = np.array([[[0.2, 0.4], [0.6, 0.8], [0.3, 0.5]], [[1.0, 1.0], [0.5, 0.5], [0.7, 0.7]]])
    edits = np.array([[[0.9, 0.7]] * 3, [[1.0, 1.0]] * 3])
    values = {**scores.values, "rouge_l": main, "levenshtein": edits}
    (cell,) = analyse(replace(scores, values=values), NODES).by_set[ALL]
    assert pytest.approx((0.3, 1.0)) == cell.precision
    assert pytest.approx((0.7, 0.5)) == cell.recall
    assert pytest.approx((0.4, 0.7)) == cell.f1
    assert pytest.approx((0.2, 0.0)) == cell.distance


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20), st.floats(0, 1)), min_size=2, max_size=60))
def test_the_parts_of_a_pool_add_up_to_it(drawn: list[tuple[int, int, float]]) -> None:
    """By number of siblings: the parts' averages lie around the pool's, which is within them."""
    pages = [page(at, site=str(site), siblings=siblings) for at, (site, siblings, _) in enumerate(drawn)]
    found = analyse(made_scores(pages, {"first": [f1 for _, _, f1 in drawn]}), NODES)
    whole = found.pools[0].ranks[0].f1
    parts = [cell.f1[0] for cell in found.breakdown.get("siblings", ())] or [whole]
    assert min(parts) - 1e-9 <= whole <= max(parts) + 1e-9
    assert len(pages) == sum(cell.pages for cell in found.breakdown.get("siblings", ())) or len(parts) == 1


def test_parts_stand_in_the_order_they_are_read_in() -> None:
    """Steps of siblings and years upward, languages by their pages; rare ones together, unknown ones last."""
    languages = ["de"] * 12 + ["en-GB"] * 10 + ["en"] * 10 + [""] * 5 + ["fr"] * 3
    pages = [
        page(at, site=str(at), lang=lang, siblings=(16, 1, 0, 5, 2)[at % 5], era=("2013", "2005")[at % 2])
        for at, lang in enumerate(languages)
    ]
    found = analyse(made_scores(pages, {"first": [0.5] * 40}), NODES).breakdown
    assert ["en", "de", "other", "not known"] == [cell.value for cell in found["language"]]
    assert ["0", "1", "2-3", "4-7", "16+"] == [cell.value for cell in found["siblings"]]
    assert ["2005", "2013"] == [cell.value for cell in found["era"]]
    assert "snapshots" not in found  # one value alone is no table


def test_pages_with_faulty_gold_can_be_left_out() -> None:
    """One of two pages has gold of which a tenth is not in the page; 2 % are borne."""
    pages = [page(0, site="a", gold_error=0.1), page(1, site="b", gold_error=0.02)]
    found = analyse(made_scores(pages, {"first": [0.0, 1.0]}), NODES)
    assert (0.5, 1.0) == (found.pools[0].ranks[0].f1, found.pools[0].ranks[0].clean)
    assert 1 == found.sets[0].faulty


def test_pages_whose_gold_recurs_are_reported_apart() -> None:
    """Of four pages one has a tenth of its gold on most siblings, and one has too few siblings to tell."""
    shares = (0.1, 0.05, 0.0, 0.0)
    pages = [page(at, site=str(at), siblings=2 * (at < 3), gold_recurrence=share) for at, share in enumerate(shares)]
    found = analyse(made_scores(pages, {"first": [0.0, 1.0, 1.0, 1.0]}), NODES)
    cells = found.breakdown["gold recurrence"]

    assert (0.75, 1.0) == (found.pools[0].ranks[0].f1, found.pools[0].ranks[0].unrepeated)
    assert 1 == found.sets[0].recurring
    assert [("none", 1), ("up to 5 %", 1), ("over 5 %", 1), ("not known", 1)] == [
        (cell.value, cell.pages) for cell in cells
    ]


def test_the_first_and_the_best_five_are_shown() -> None:
    """The first whatever its place; others by their F1."""
    values = {"first": 0.1, "a": 0.2, "b": 0.9, "c": 0.3, "d": 0.4, "e": 0.5, "f": 0.6}
    found = analyse(made_scores([page(0)], {name: [value] for name, value in values.items()}), NODES)
    assert ["first", "b", "f", "e", "d", "c"] == [found.extractors[at] for at in found.shown]
    assert ["b", "f", "e", "d", "c", "a", "first"] == [found.extractors[at] for at in found.order]


def test_extractors_with_the_same_scores_share_a_rank() -> None:
    """By every metric, on pages of any weights: they would else be ranked by the last bit of a mean."""
    pages = [page(at, site=f"s{at % 41}") for at in range(59)]
    f1 = [(7919 * at % 59) / 59 / 1.1 for at in range(59)]
    by_metric = analyse(made_scores(pages, dict.fromkeys("abcde", f1)), NODES).by_metric
    assert {1} == {len(set(column.tolist())) for column in by_metric.T}
