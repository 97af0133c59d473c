"""Bins: found by a table as a search finds them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.classifier import feature_bins
from dbce_spark.dbce.classifier.feature_bins import BinTables, Values, table

positive = st.floats(1e-3, 1e6) | st.integers(1, 200).map(float) | st.integers(1, 64).map(lambda part: part / 64)
firsts = st.sampled_from([-1378.0, -1.0, -0.5, -0.0, 0.0]) | positive


all_edges = st.builds(lambda first, others: np.unique([first, *others]), firsts, st.lists(positive, max_size=63))


@given(st.lists(all_edges, min_size=1, max_size=4), st.lists(st.floats(-1e6, 1e7) | positive))
def test_tables_find_what_a_search_finds(of_features: list[Values], values: list[float]) -> None:
    """The bins of any values are found, by the edges of several features: on the edges, just beside them, below and
    beyond all, and both zeros."""
    edges = [one for one in of_features if table(one) is not None]
    close = [np.nextafter(one, to) for one in edges for to in (-np.inf, one, np.inf)]
    asked = np.concatenate([*close, [0.0, -0.0, -1.0, 1e300, -1e300], values])
    if not edges:
        return
    made = BinTables.joined([one for one in map(table, of_features) if one is not None])
    places = np.arange(len(edges))[::-1]

    assert [edges[place].searchsorted(asked, side="right").tolist() for place in places] == made.bins(
        places, [asked] * len(edges)
    ).tolist()


def test_more_values_than_are_looked_up_at_once_are_found() -> None:
    """Features come in several steps then, of one feature at least."""
    edges = [np.array([0.0, 0.5]), np.array([2.0]), np.array([1.0, 3.0, 4.0])]
    made = BinTables.joined([one for one in map(table, edges) if one is not None])

    for count in (feature_bins._AT_ONCE // 2, feature_bins._AT_ONCE + 1):
        values = np.resize(np.array([0.25, 0.5, 1.5, 2.0, 3.5]), count)
        found = made.bins(np.arange(3), [values] * 3)
        assert [one.searchsorted(values, side="right").tolist() for one in edges] == found.tolist()


@pytest.mark.parametrize(
    "edges",
    [[5.0], [-3.0], [0.0, 0.5], [-1378.0, 1.0, 2.0], list(range(64)), [part / 64 for part in range(1, 64)]],
)
def test_edges_as_features_have_them_need_no_search(edges: list[float]) -> None:
    """Counts, shares, and one of either kind where nothing is known."""
    assert table(np.array(edges, np.float64)) is not None


@pytest.mark.parametrize("edges", [[], [-2.0, -1.0], [-1.0, 0.0], [0.1, 1.0, 1e6, 1e6 + 1e-9]])
def test_edges_that_no_table_tells_apart(edges: list[float]) -> None:
    """None at all, several that are not positive, and two that lie too close for their distance from the others."""
    assert table(np.array(edges, np.float64)) is None
