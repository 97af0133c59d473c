"""Buckets and their runs: who is compared with whom."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.buckets import BucketKey, BucketSizes, chunks, group_by_bucket, last_chunk, members, sizes
from dbce_spark.model import Member, text_hash
from tests.support.builders import member, page

TEMPLATE = (
    "<html><body><div><ul><li>a</li></ul><h1>b</h1><p>c</p><table><tr><td>d</td></tr></table></div></body></html>"
)


def many(urls: int, captures: int) -> list[Member]:
    return [member(f"{url}-{nth}", f"org,example)/{url}", nth) for url in range(urls) for nth in range(captures)]


def test_every_page_is_in_one_bucket_a_band() -> None:
    """A page is in as many buckets as it has bands, each under its own key."""
    one = page(TEMPLATE)
    buckets = group_by_bucket(members([one]))

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
    for met in group_by_bucket(members(pages)).values():
        expected = [(one.capture_id, one.capture.url_key, one.capture.timestamp) for one in pages]
        actual = [(one.capture_id, one.url_key, one.timestamp) for one in met]

        assert expected == actual


def test_sites_have_buckets_of_their_own() -> None:
    """The same tree on two sites is no bucket."""
    pages = [page(TEMPLATE, "http://www.example.org/"), page(TEMPLATE, "http://www.example.com/")]

    assert {len(met) for met in group_by_bucket(members(pages)).values()} == {1}


def test_page_without_signature_is_in_no_bucket() -> None:
    """A page with too few shingles is compared with none."""
    assert group_by_bucket(members([page("<p>hello</p>")])) == {}


def test_bucket_of_about_the_cap_stays_whole() -> None:
    """Nothing is cut that need not be: half a run more is no run of its own."""
    some = many(8, 1)

    assert [8] == [len(run) for run in chunks(some, 6)]
    assert [5, 3] == [len(run) for run in chunks(some, 5)]


def test_captures_that_share_no_bucket_are_in_none() -> None:
    """As a page that is alone on its site, they count for no size."""
    one, other = member("1", "a", rows=(1, 2)), member("2", "b", rows=(3, 4))

    assert BucketSizes() == sizes(group_by_bucket([one, other]), cap=2)
    assert BucketSizes(largest=2) == sizes(group_by_bucket([one, one, other]), cap=2)


@given(st.integers(0, 60), st.integers(1, 5), st.integers(1, 20))
def test_runs_are_the_bucket_in_order_of_time(urls: int, captures: int, cap: int) -> None:
    """Each capture is in one run, earlier ones in earlier runs, and of equal times the one of the lower id first."""
    met = many(urls, captures)

    assert sorted(met, key=lambda one: (one.timestamp, one.capture_id)) == [
        one for run in chunks(met, cap) for one in run
    ]


@given(st.integers(1, 10**6), st.integers(1, 10**4))
def test_runs_are_about_as_large_as_the_cap(size: int, cap: int) -> None:
    """All but the last hold just `cap`; that one holds at least half of it, and less than half more."""
    last = size - cap * last_chunk(size, cap)

    assert last < 1.5 * cap
    assert last >= min(size, cap / 2)


@given(st.integers(1, 200), st.integers(0, 200), st.integers(1, 20))
def test_what_comes_later_changes_only_the_end(before: int, more: int, cap: int) -> None:
    """All runs but the last of a bucket are its runs still when later captures have come into it."""
    grown = [member(f"{nth:03}", "u", nth) for nth in range(before + more)]

    assert chunks(grown[:before], cap)[:-1] == chunks(grown, cap)[: last_chunk(before, cap)]


def test_text_hash_never_changes() -> None:
    """The place of a row depends on it."""
    assert text_hash("org,example)/") == 6853821733953201834
