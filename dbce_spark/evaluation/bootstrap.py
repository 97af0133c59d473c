"""How sure a mean over pages is: pages drawn again and again, with repetition, from those that were measured."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

ROUNDS = 2000
"""Draws; the bounds of an interval then vary by about a twentieth of its width."""

SEED = 20170101
"""Of the draws, so that the same scores have the same intervals."""

COVERAGE = (2.5, 97.5)
"""Percentiles of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of one extractor less that of another on the same pages, its interval, and how likely chance makes it.

    `p` is two-sided: twice the share of draws in which the mean lies on the other side of 0, or on it.
    """

    mean: float
    low: float
    high: float
    p: float


def interval(values: Values) -> tuple[float, float]:
    """The 95 % interval of a mean."""
    low, high = np.percentile(_means(values), COVERAGE)
    return float(low), float(high)


def difference(values: Values, base: Values) -> Difference:
    """The paired test of `values` against `base`, one of each a page."""
    pairs = values - base
    means = _means(pairs)
    low, high = np.percentile(means, COVERAGE)
    tail = min(np.count_nonzero(means <= 0), np.count_nonzero(means >= 0))
    return Difference(float(pairs.mean()), float(low), float(high), float(min(1.0, 2 * (tail + 1) / (ROUNDS + 1))))


def _means(values: Values) -> Values:
    draw = np.random.default_rng(SEED)
    return np.array([values[draw.integers(0, len(values), len(values))].mean() for _ in range(ROUNDS)])
