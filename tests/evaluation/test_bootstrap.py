"""Intervals hold what they should, and are the same each time."""

import numpy as np
import pytest

from dbce_spark.evaluation.bootstrap import ROUNDS, difference, interval

DRAW = np.random.default_rng(5)
NOISE = DRAW.normal(0, 1, 400)


def test_the_interval_of_a_mean_is_that_of_its_normal_distribution() -> None:
    """400 values: the mean plus and minus 1.96 standard errors, within a tenth of one."""
    error = NOISE.std() / 20
    assert pytest.approx((NOISE.mean() - 1.96 * error, NOISE.mean() + 1.96 * error), abs=error / 5) == interval(NOISE)


def test_the_same_values_have_the_same_interval() -> None:
    """The draws are seeded."""
    assert interval(NOISE) == interval(NOISE.copy())


def test_a_constant_gain_is_certain_and_none_is_chance() -> None:
    """One extractor always better has the smallest p that so many draws can tell; one always equal has 1."""
    better, equal = difference(NOISE + 0.25, NOISE), difference(NOISE, NOISE)
    assert pytest.approx((0.25, 0.25, 0.25, 2 / (ROUNDS + 1))) == (better.mean, better.low, better.high, better.p)
    assert (0.0, 0.0, 0.0, 1.0) == (equal.mean, equal.low, equal.high, equal.p)


def test_p_of_noise_is_rarely_small() -> None:
    """Of a hundred pairs without a difference about five have p under 0.05."""
    small = sum(difference(DRAW.normal(0, 1, 60), DRAW.normal(0, 1, 60)).p < 0.05 for _ in range(100))
    assert small <= 12
