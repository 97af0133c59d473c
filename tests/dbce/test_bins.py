"""Bins: found by a table as a search finds them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.feature_bins import table

positive = st.floats(1e-3, 1e6) | st.integers(1, 200).map(float) | st.integers(1, 64).map(lambda part: part / 64)
firsts = st.sampled_from([-1378.0, -1.0, -0.5, -0.0, 0.0]) | positive


@given(firsts, st.lists(positive, max_size=63), st.lists(st.floats(-1e6, 1e7) | positive))
def test_table_finds_what_a_search_finds(first: float, others: list[float], values: list[float]) -> None:
    """The bins of any values are found: on the edges, just beside them, below and beyond all, and both zeros."""
    edges = np.unique([first, *others])
    close = [np.nextafter(edges, -np.inf), edges, np.nextafter(edges, np.inf)]
    asked = np.concatenate([*close, [0.0, -0.0, -1.0, 1e300, -1e300], values])
    made = table(edges)

    if made is not None:
        assert edges.searchsorted(asked, side="right").tolist() == made.bins(asked).tolist()


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
