"""Scores of blocks, from log-odds and back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.classifier.block_scores import STEP, integer_scores, log_odds_of, rounded
from dbce_spark.dbce.classifier.context import CERTAIN

LOG_ODDS = st.lists(st.floats(-40, 40), min_size=1).map(np.array)


@given(LOG_ODDS)
def test_scores_are_read_back_from_their_log_odds(log_odds: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    """Scores of 0 and 1 come back as the next step, since these two have no log-odds."""
    scores = rounded(log_odds)

    assert np.allclose(np.clip(scores, 1 / STEP, 1 - 1 / STEP), rounded(log_odds_of(scores)), rtol=0, atol=1e-12)


@given(LOG_ODDS)
def test_integer_scores_are_the_same_in_coarser_steps(log_odds: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    """Whole numbers up to that of a certain block, within half a step of either kind."""
    difference = np.abs(integer_scores(log_odds) / CERTAIN - rounded(log_odds))

    assert difference.max() <= (0.5 / CERTAIN + 0.5 / STEP) * (1 + 1e-9)
