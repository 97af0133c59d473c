"""Scores of blocks as probabilities, and as the log-odds that are added up."""

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.context import CERTAIN
from dbce_spark.dbce.classifier.forest import probability

Scores = npt.NDArray[np.float64]

STEP = 10_000
"""Scores are rounded to steps of 1/10,000: finer differences mean nothing."""


def integer_scores(log_odds: Scores) -> npt.NDArray[np.int64]:
    """Convert log-odds to scores in 1/1024."""
    return np.rint(probability(log_odds) * CERTAIN).astype(np.int64)


def rounded(log_odds: Scores) -> Scores:
    """Convert log-odds to probabilities in the steps of scores."""
    return np.rint(probability(log_odds) * STEP) / STEP


def log_odds_of(scores: Scores) -> Scores:
    """Convert scores back to log-odds: those of 0 and 1 to those of the next step, as these two have none."""
    bounded = np.clip(scores, 1 / STEP, 1 - 1 / STEP)
    return np.log(bounded / (1 - bounded))
