"""The drawn sizes of a large archive: they add up, and one task's share of them is bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import size_model
from dbce_spark import config
from dbce_spark.dbce import buckets

CONFIG = config.default()
PARTITION = 2**27


def draw(captures: int, exponent: float, seed: int = 1) -> size_model.Skew:
    sites = round(captures * size_model.CRAWLED_SITES / size_model.CRAWLED)
    return size_model.draw(captures, sites, exponent, PARTITION, CONFIG, np.random.default_rng(seed))


@pytest.mark.parametrize("exponent", [0.5, 0.8, 1.0, 1.3])
def test_harmonic_numbers_are_those_that_adding_gives(exponent: float) -> None:
    """The sum of a hundred thousand terms, of which all but a thousand are an integral, is right to six digits."""
    added = sum(rank**-exponent for rank in range(1, 100_001))

    assert size_model.harmonic(100_000, exponent) == pytest.approx(added, rel=1e-6)
    assert size_model.harmonic(3, exponent) == pytest.approx(1 + 2**-exponent + 3**-exponent)


def test_the_fitted_law_gives_what_the_crawl_has() -> None:
    """Fitted to the first domain of CC-MAIN-2024-42, it gives the five hundredth, of 104,961 captures, within 2 %."""
    exponent = size_model.fitted(size_model.CRAWLED_SITES, size_model.LARGEST_CRAWLED / size_model.CRAWLED)
    most = size_model.CRAWLED / size_model.harmonic(size_model.CRAWLED_SITES, exponent)

    assert most == pytest.approx(size_model.LARGEST_CRAWLED, rel=1e-6)
    assert most * 500**-exponent == pytest.approx(104_961, rel=0.02)


@pytest.mark.parametrize("exponent", [0.8, 1.2])
def test_sites_hold_about_all_captures(exponent: float) -> None:
    """Rounded to whole captures, they are as many as requested within 3 %."""
    sizes = size_model.site_sizes(10_000_000, 150_000, exponent)

    assert sizes.sum() == pytest.approx(10_000_000, rel=0.03)
    assert (np.diff(sizes) <= 0).all()


@given(st.integers(min_value=1, max_value=200_000_000), st.integers(min_value=1, max_value=5000))
def test_buckets_are_cut_as_the_method_cuts_them(size: int, cap: int) -> None:
    """A bucket has as many chunks as `buckets.last_chunk` computes."""
    assert [buckets.last_chunk(size, cap)] == size_model.last_runs(np.array([size]), cap).tolist()


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.2])
def test_runs_are_bounded_whatever_a_site_has(exponent: float) -> None:
    """At ten million captures and at a hundred million the largest run has as many, while the largest bucket grows."""
    tenth, whole = draw(10_000_000, exponent), draw(100_000_000, exponent)

    assert whole.largest_bucket > 5 * tenth.largest_bucket
    assert max(tenth.largest_run, whole.largest_run) < 1.5 * CONFIG.bucket.cap


def test_partitions_of_small_sites_are_bounded() -> None:
    """No site of those is larger than `bucket.whole_site_bytes`, so chance fills no partition many times over."""
    for exponent in (0.8, 1.2):
        assert draw(100_000_000, exponent).largest_partition_bytes < 5 * PARTITION


def test_the_same_seed_draws_the_same() -> None:
    """An account can be written down and made again."""
    once, again = (size_model.drawn(5_000_000, PARTITION, CONFIG) for _ in range(2))

    assert once == again
    assert size_model.drawn(5_000_000, PARTITION, CONFIG, seed=2) != once


def test_an_archive_of_one_small_site_has_no_large_one() -> None:
    """Nothing goes bucket by bucket, and nothing is cut."""
    drawn = size_model.draw(1000, 1, 1.0, PARTITION, CONFIG, np.random.default_rng(1))

    assert (1000, 0, 0, 0) == (drawn.largest_site, drawn.large_sites, drawn.capped_buckets, drawn.largest_run)
    assert 1 == drawn.partitions
