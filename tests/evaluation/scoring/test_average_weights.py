"""No site decides an average."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.evaluation.scoring import average_weights

SITES = st.lists(st.integers(0, 60).map(str), min_size=1, max_size=300)


@given(SITES)
def test_no_site_weighs_more_than_its_share(sites: list[str]) -> None:
    """At most 5 %, or an equal part where there are under twenty sites; all weights add up to 1."""
    found = average_weights.capped(sites)
    assert average_weights.largest_share(sites, found) <= max(0.05, 1 / len(set(sites))) + 1e-9
    assert pytest.approx(1.0) == found.sum()


@given(SITES)
def test_sites_under_the_cap_keep_equal_pages(sites: list[str]) -> None:
    """A page of a larger site never weighs more than one of a smaller, and all pages of uncut sites weigh the same."""
    found = dict(zip(sites, average_weights.capped(sites), strict=True))
    by_size = [found[site] for site, _ in Counter(sites).most_common()]
    assert all(one <= other + 1e-12 for one, other in pairwise(by_size))


def test_the_cap_by_hand() -> None:
    """One site with 60 pages beside 38 with one: it counts as two pages of forty, which is 5 %."""
    found = average_weights.capped(["europa"] * 60 + [str(number) for number in range(38)])
    assert pytest.approx([0.05 / 60, 1 / 40]) == [found[0], found[-1]]


def test_where_no_site_is_large_every_page_weighs_the_same() -> None:
    """Forty sites with two pages each."""
    assert pytest.approx(average_weights.equal(80)) == average_weights.capped(
        [str(number // 2) for number in range(80)]
    )


def test_sites_of_few_and_of_many_pages_can_weigh_the_same() -> None:
    """Macro over sites: three pages share what one has alone."""
    assert pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2]) == average_weights.by_site(["a", "a", "a", "b"])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_with_equal_weights_the_median_is_the_plain_one(values: list[float]) -> None:
    """For an even number of values it is the middle of two."""
    array = np.array(values)
    assert pytest.approx(float(np.median(array))) == average_weights.median(array, average_weights.equal(len(array)))


def test_the_median_of_weighted_values_by_hand() -> None:
    """A page with more than half of the weight is the median."""
    assert 0.9 == average_weights.median(np.array([0.1, 0.9, 0.2]), np.array([1.0, 3.0, 1.0]))


@given(SITES, st.integers(2, 30), st.integers(0, 1000))
def test_equal_rows_have_equal_means(sites: list[str], rows: int, seed: int) -> None:
    """To the last bit, wherever they stand: two extractors that give the same texts share their place."""
    one = np.random.default_rng(seed).random(len(sites))
    weights = average_weights.capped(sites)
    means = average_weights.mean(np.tile(one, (rows, 1)), weights)
    assert 1 == len(set(means.tolist()))
    assert pytest.approx(float(np.average(one, weights=weights))) == means[0]
