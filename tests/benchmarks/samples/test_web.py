"""The choice of sites."""

import pytest

from benchmarks.samples.sample_web import KINDS, sites


@pytest.mark.parametrize("pages", [1, 7, 40, 300, 5_001, 123_456])
def test_sizes_add_up(pages: int) -> None:
    """The sites share out exactly the requested pages."""
    assert pages == sum(site.pages for site in sites(pages=pages, seed=1))


def test_all_kinds_in_a_small_archive() -> None:
    """Forty pages are enough for a site of every kind, the largest first, none smaller than four pages."""
    found = sites(pages=40, seed=1)
    assert 4 <= min(site.pages for site in found)
    assert [kind[0] for kind in KINDS] == [type(site) for site in found]
    assert sorted((site.pages for site in found), reverse=True) == [site.pages for site in found]


def test_more_and_larger_sites_as_the_archive_grows() -> None:
    """A large archive has more sites, on domains of their own, and larger ones."""
    small, large = sites(pages=5_000, seed=1), sites(pages=100_000, seed=1)
    hosts = {site.host for site in large}
    assert (8, 40, 40) == (len(small), len(large), len(hosts))
    assert large[0].pages > 2 * small[0].pages
    assert "www.gazette-2.example" in hosts
