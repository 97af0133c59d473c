"""Buckets and their parts: who is compared with whom."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.buckets import BucketKey, members, members_of, part_bits, part_of, parts, url_hash
from dbce_spark.model import Member
from tests.builders import member, page

TEMPLATE = (
    "<html><body><div><ul><li>a</li></ul><h1>b</h1><p>c</p><table><tr><td>d</td></tr></table></div></body></html>"
)


def many(urls: int, captures: int) -> list[Member]:
    return [member(f"{url}-{nth}", f"org,example)/{url}", nth) for url in range(urls) for nth in range(captures)]


def test_every_page_is_in_one_bucket_a_band() -> None:
    """A page is in as many buckets as it has bands, each under its own key."""
    one = page(TEMPLATE)
    buckets = members_of(members([one]))

    assert sorted(buckets) == sorted(
        BucketKey("example.org", band, key) for band, key in enumerate(one.bands.view(np.int64).tolist())
    )
    assert {made[0].capture_id for made in buckets.values()} == {one.capture_id}


def test_pages_of_one_template_share_all_buckets() -> None:
    """Same tree, same buckets; and the members know what a cross needs."""
    pages = [
        page(TEMPLATE, "http://www.example.org/a"),
        page(TEMPLATE, "http://www.example.org/b", "2021-01-01T00:00:00Z"),
    ]
    for met in members_of(members(pages)).values():
        expected = [(one.capture_id, one.capture.url_key, one.capture.timestamp) for one in pages]
        actual = [(one.capture_id, one.url_key, one.timestamp) for one in met]

        assert expected == actual


def test_sites_have_buckets_of_their_own() -> None:
    """The same tree on two sites is no bucket."""
    pages = [page(TEMPLATE, "http://www.example.org/"), page(TEMPLATE, "http://www.example.com/")]

    assert {len(met) for met in members_of(members(pages)).values()} == {1}


def test_page_without_signature_is_in_no_bucket() -> None:
    """A page with too few shingles is compared with none."""
    assert members_of(members([page("<p>hello</p>")])) == {}


def test_bucket_up_to_the_cap_stays_whole() -> None:
    """Nothing is cut that need not be."""
    some = many(8, 1)

    assert parts(some, 8) == {0: some}
    assert len(parts(some, 7)) > 1


@given(st.integers(0, 60), st.integers(1, 5), st.integers(1, 20))
def test_parts_cover_everything_once(urls: int, captures: int, cap: int) -> None:
    """Each capture is in one part, however small the cap."""
    met = many(urls, captures)
    cut = parts(met, cap)

    assert Counter(one.capture_id for one in met) == Counter(one.capture_id for some in cut.values() for one in some)


@given(st.integers(1, 60), st.integers(1, 5), st.integers(1, 20))
def test_captures_of_a_url_stay_together(urls: int, captures: int, cap: int) -> None:
    """No URL is in two parts, so its snapshots find each other."""
    places = {(one.url_key, part) for part, some in parts(many(urls, captures), cap).items() for one in some}

    assert len(places) == urls


def test_parts_are_about_as_large_as_the_cap() -> None:
    """With many URLs parts are of the cap's size, give or take chance."""
    sizes = [len(some) for some in parts(many(5000, 1), 100).values()]

    assert max(sizes) <= 150
    assert len(sizes) == 64


@given(st.integers(1, 10**9), st.integers(1, 10**4))
def test_part_bits(size: int, cap: int) -> None:
    """The bits suffice to cut a bucket into parts of the cap, and one bit fewer would not."""
    bits = part_bits(size, cap)

    assert size <= cap << bits
    assert bits == 0 or size > cap << (bits - 1)


@given(st.text(max_size=20), st.integers(0, 20))
def test_parts_are_prefixes(url_key: str, bits: int) -> None:
    """One more bit cuts every part in two: neighbouring sizes are cut at the same places."""
    hashed = url_hash(url_key)

    assert part_of(hashed, bits + 1) >> 1 == part_of(hashed, bits)
    assert part_of(hashed, 0) == 0


def test_url_hash_never_changes() -> None:
    """Where a row is written depends on it."""
    assert url_hash("org,example)/") == 6853821733953201834
