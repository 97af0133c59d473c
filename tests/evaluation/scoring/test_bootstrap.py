"""Intervals hold what they should, and are the same each time."""

import numpy as np
import pytest

from dbce_spark.evaluation.scoring.bootstrap import ROUNDS, differences, intervals, means, numbered

DRAW = np.random.default_rng(5)
NOISE = DRAW.normal(0, 1, 400)
EQUAL = np.ones(400)
PAGES = np.arange(400)


def test_the_interval_of_a_mean_is_that_of_its_normal_distribution() -> None:
    """400 values: the mean plus and minus 1.96 standard errors, within a fifth of one."""
    error = NOISE.std() / 20
    (found,) = intervals(means(NOISE[None], EQUAL, PAGES))
    expected = (NOISE.mean() - 1.96 * error, NOISE.mean() + 1.96 * error)
    assert pytest.approx(expected, abs=error / 5) == (found.low, found.high)


def test_the_same_values_have_the_same_interval() -> None:
    """The draws are seeded."""
    assert intervals(means(NOISE[None], EQUAL, PAGES)) == intervals(means(NOISE[None].copy(), EQUAL, PAGES))


def test_pages_that_differ_by_site_only_are_as_uncertain_as_sites() -> None:
    """Twenty values of twenty pages each: the interval by sites is that of twenty values, far wider than by pages."""
    values = np.repeat(NOISE[:20], 20)[None]
    sites = np.repeat(np.arange(20), 20)
    (by_sites,), (by_pages,) = intervals(means(values, EQUAL, sites)), intervals(means(values, EQUAL, PAGES))
    (of_twenty,) = intervals(means(NOISE[None, :20], np.ones(20), np.arange(20)))
    assert pytest.approx((of_twenty.low, of_twenty.high)) == (by_sites.low, by_sites.high)
    assert by_sites.high - by_sites.low > 3 * (by_pages.high - by_pages.low)


def test_a_page_without_weight_decides_nothing() -> None:
    """An absurd value on a page of weight 0 leaves the means where they are."""
    weights = np.where(PAGES == 7, 0.0, 1.0)
    absurd = np.where(PAGES == 7, 1e6, NOISE)
    assert np.array_equal(means(NOISE[None], weights, PAGES), means(absurd[None], weights, PAGES))


def test_a_constant_gain_is_certain_and_none_is_chance() -> None:
    """One extractor always better has the smallest p that so many draws can give; one always equal has 1."""
    equal, better = differences(np.stack([NOISE, NOISE + 0.25]), EQUAL, PAGES)
    assert pytest.approx((0.25, 0.25, 0.25, 2 / (ROUNDS + 1))) == (better.mean, better.low, better.high, better.p)
    assert (0.0, 0.0, 0.0, 1.0) == (equal.mean, equal.low, equal.high, equal.p)


def test_p_of_noise_is_rarely_small() -> None:
    """About five of a hundred pairs without a difference have p under 0.05."""
    pairs = [np.stack([DRAW.normal(0, 1, 60), DRAW.normal(0, 1, 60)]) for _ in range(100)]
    small = sum(differences(pair, np.ones(60), np.arange(60))[1].p < 0.05 for pair in pairs)
    assert small <= 12


def test_few_pages_have_no_p_and_one_has_no_interval() -> None:
    """Of one page there is a mean alone, of five an interval too, of six all."""
    of_one, of_five, of_six = (
        differences(np.stack([NOISE, NOISE + 0.25])[:, :count], np.ones(count), np.arange(count))[1]
        for count in (1, 5, 6)
    )

    assert [True, True, True] == np.isnan([of_one.low, of_one.high, of_one.p]).tolist()
    assert [False, False, True] == np.isnan([of_five.low, of_five.high, of_five.p]).tolist()
    assert [False, False, False] == np.isnan([of_six.low, of_six.high, of_six.p]).tolist()
    assert pytest.approx([0.25] * 3) == [of_one.mean, of_five.mean, of_six.mean]


def test_units_are_numbered_by_name() -> None:
    """Pages of one site have one number, wherever they stand."""
    assert [1, 0, 1, 2] == numbered(["b", "a", "b", "c"]).tolist()
