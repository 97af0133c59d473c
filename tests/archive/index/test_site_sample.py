"""The part of an archive that is always the same."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.capture_filter import selection
from dbce_spark.archive.index.site_sample import is_sampled
from tests.support.indexes import entry, select

SITES = [f"site{nth}.example" for nth in range(20_000)]


def test_share_is_about_what_is_asked() -> None:
    """1 % of 20,000 sites is 200, give or take three standard deviations."""
    actual = sum(is_sampled(site, 0.01, 1) for site in SITES)

    assert 158 <= actual <= 242


def test_sample_is_the_same_everywhere() -> None:
    """It depends on name, share and seed alone; these are its first sites."""
    expected = ["site15.example", "site34.example", "site146.example"]

    assert expected == [site for site in SITES[:300] if is_sampled(site, 0.01, 1)][:3]


@given(st.text(), st.floats(0.001, 1), st.floats(0.001, 1), st.integers(0, 9))
def test_smaller_sample_is_part_of_a_larger(site: str, one: float, other: float, seed: int) -> None:
    """A site of the smaller share is in the larger too."""
    low, high = sorted((one, other))

    assert is_sampled(site, high, seed) or not is_sampled(site, low, seed)


def test_seeds_give_other_samples() -> None:
    """Another seed, other sites."""
    one, other = ([site for site in SITES if is_sampled(site, 0.01, seed)] for seed in (1, 2))

    assert len(set(one) & set(other)) < 20


@given(st.floats(0.01, 0.99), st.integers(0, 5))
def test_siblings_stay_together(share: float, seed: int) -> None:
    """All hosts and pages of one registered domain are in, or none is."""
    chosen = selection(select(sample=share, sample_seed=seed))
    urls = ["http://www.example.org/a", "https://news.example.org/b", "http://example.org:8080/", "http://example.org/"]

    assert 1 == len({chosen.refusal(entry(url=url)) for url in urls})


def test_long_sites_are_not_remembered() -> None:
    """A host of a megabyte is not held when it is decided."""
    tracemalloc.start()
    found = {is_sampled(str(nth).rjust(1 << 20), 1.0, 1) for nth in range(20)}
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert {True} == found
    assert held < 1 << 20
