"""Pools: the pages that are evidence on a page."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce import pools
from dbce_spark.dbce.buckets import chunks, group_by_bucket, members
from dbce_spark.model import Codes, Member, Page, PageFeatures
from tests.support.builders import page
from tests.support.evidence_pools import Echo, archives, page_in

CAPS = st.integers(2, 9)


def pools_of(pages: list[Page], cap: int = 100) -> dict[str, tuple[set[str], set[str]]]:
    """List the members of each wanted capture's pool, by URL and day, and those that were wanted with it."""
    names = {one.capture_id: name(one) for one in pages}
    return {
        names[capture_id]: ({names[one] for one in members_of_pool}, {names[one] for one in wanted})
        for members_of_pool, wanted in pools.sibling_pools(members(pages), cap)
        for capture_id in wanted
    }


def features_of(pages: list[Page]) -> list[PageFeatures]:
    """Reduce the pages that have features to these."""
    return [pools.page_features(one) for one in pages if one.features is not None]


def name(one: Page) -> str:
    return f"{one.capture.url[-1]}{np.datetime64(one.capture.timestamp, 'us').item().day}"


def lines(pages: list[Page]) -> list[list[str]]:
    names = {one.capture_id: name(one) for one in pages}
    return [[names[one.capture_id] for one in some] for some in pools.snapshot_sequences(features_of(pages))]


def homes(pages: list[Page], cap: int = 100) -> dict[str, pools.ChunkKey]:
    return pools.home_buckets(in_chunks(pages, cap))


def in_chunks(pages: list[Page], cap: int = 100) -> dict[pools.ChunkKey, list[Member]]:
    found = group_by_bucket(members(pages))
    return {(bucket, at): chunk for bucket, captures in found.items() for at, chunk in enumerate(chunks(captures, cap))}


def test_home_is_the_bucket_of_most_urls() -> None:
    """The home is not the bucket of most captures: `a` and `b` share two buckets, and stay in that of `c`."""
    pages = [page_in([1, 7], "a"), page_in([1, 7], "a", 2), page_in([1, 7], "a", 3), page_in([1, 7], "b")]
    pages.append(page_in([2, 7], "c"))
    assert {(1, 7)} == {(bucket.band, bucket.key) for bucket, _ in homes(pages).values()}


def test_home_of_many_is_of_the_lowest_band() -> None:
    """Pages that share all their buckets have the same home."""
    home = homes([page_in([5, 4, 3], "a"), page_in([5, 4, 3], "b")])

    assert {(0, 5)} == {(bucket.band, bucket.key) for bucket, _ in home.values()}


def test_snapshots_alone_have_no_home() -> None:
    """A bucket of one URL has no siblings."""
    assert homes([page_in([1], "a"), page_in([1], "a", 2)]) == {}


def test_guests_are_evidence_and_get_none() -> None:
    """A capture whose home is another bucket is evidence in this one; evidence on it comes from its home only."""
    pages = [page_in([1, 7], "a"), page_in([1, 8], "b"), page_in([2, 8], "c"), page_in([2, 8], "d")]
    found = pools_of(pages)

    assert ({"a1", "b1"}, {"a1"}) == found["a1"]
    assert ({"b1", "c1", "d1"}, {"b1", "c1", "d1"}) == found["b1"]


def test_page_without_signature_is_in_no_pool_of_siblings() -> None:
    """It can still have snapshots."""
    pages = [page_in(None, "a"), page_in(None, "a", 2), page_in([1], "b"), page_in([1], "c")]

    assert {"b1", "c1"} == set(pools_of(pages))
    assert [["a1", "a2"]] == lines(pages)


def test_redesigned_page_keeps_its_snapshots() -> None:
    """Captures of a URL are each other's snapshots in whatever buckets they are."""
    pages = [page_in([2], "a", 3), page_in([1], "a", 1), page_in([1], "b"), page_in([2], "c", 3)]

    assert [["a1", "a3"]] == lines(pages)
    assert ({"a1", "b1"}, {"a3", "c3"}) == (pools_of(pages)["a1"][0], pools_of(pages)["a3"][0])


def test_sites_have_pools_of_their_own() -> None:
    """The same bucket keys on two sites are two buckets."""
    assert pools_of([page_in([1], "a"), page_in([1], "b", host="http://www.example.com")]) == {}


def test_one_page_alone_has_no_evidence() -> None:
    """Its evidence are two arrays without a feature, as wide as the page."""
    one = page_in([1])
    evidence = pools.evidence([one], 9, Echo)[one.capture_id]

    assert ((0, len(one.blocks)), (0, len(one.blocks))) == (evidence.siblings.shape, evidence.snapshots.shape)


def test_page_without_features_gives_and_has_no_evidence() -> None:
    """No model is built where no page has features."""
    pages = [replace(page_in([1], url), features=None) for url in "ab"]

    assert pools.evidence(pages, 9, pytest.fail) == {}
    assert set(pools.evidence([*pages, page_in([1], "c")], 9, Echo)) == {page_in([1], "c").capture_id}


def test_features_have_the_blocks_but_not_the_text() -> None:
    """The evidence on other pages has words, link words, first scores and keys of each block."""
    one = page_in([1])
    made = pools.page_features(one)

    assert one.features is not None
    assert (one.capture_id, one.capture.url_key, one.capture.timestamp) == (
        made.capture_id,
        made.url_key,
        made.timestamp,
    )
    assert np.array_equal(one.blocks.words, made.words)
    assert np.array_equal(one.blocks.link_words, made.link_words)
    assert np.array_equal(one.features.keys, made.keys)


def test_home_is_a_chunk() -> None:
    """The URLs of a cut bucket are counted in the capture's own chunk of it."""
    early = [page_in([1, 7], "a", day) for day in range(1, 5)] + [page_in([2, 7], "b", 1)]
    late = [page_in([1, 8], url, 9) for url in "cdef"]
    home = homes([*early, *late], 4)

    assert {((1, 7), 0)} == {((home[one.capture_id][0][1:]), home[one.capture_id][1]) for one in early}
    assert {((0, 1), 1)} == {((home[one.capture_id][0][1:]), home[one.capture_id][1]) for one in late}


@given(archives(), CAPS)
def test_each_capture_is_judged_at_most_once(pages: list[Page], cap: int) -> None:
    """In one pool of siblings, and among the snapshots of one URL; and always in its own pool."""
    judged = [capture_id for _, wanted in pools.sibling_pools(members(pages), cap) for capture_id in wanted]
    in_lines = [one.capture_id for line in pools.snapshot_sequences(features_of(pages)) for one in line]

    assert len(judged) == len(set(judged))
    assert len(in_lines) == len(set(in_lines))
    assert all(
        set(wanted) <= set(members_of_pool) for members_of_pool, wanted in pools.sibling_pools(members(pages), cap)
    )


@given(archives(), CAPS)
def test_work_is_bounded(pages: list[Page], cap: int) -> None:
    """A pool has less than half more pages than `cap`, none of them twice."""
    for members_of_pool, _ in pools.sibling_pools(members(pages), cap):
        assert len(set(members_of_pool)) == len(members_of_pool) < 1.5 * cap


@given(archives())
def test_under_the_cap_a_pool_is_the_home(pages: list[Page]) -> None:
    """Its members_of_pool are all members of the bucket, and whoever shares a bucket with another URL is judged."""
    captures, home = in_chunks(pages), homes(pages)
    for members_of_pool, wanted in pools.sibling_pools(members(pages), 100):
        (place,) = {home[capture_id] for capture_id in wanted}

        assert {one.capture_id for one in captures[place]} == set(members_of_pool)
        assert {capture_id for capture_id in home if home[capture_id] == place} == set(wanted)


@given(archives(), CAPS)
def test_order_of_the_pages_does_not_matter(pages: list[Page], cap: int) -> None:
    """The same pages give the same evidence."""

    def evidence_of(some: list[Page]) -> dict[str, tuple[list[int], list[int]]]:
        found = pools.evidence(some, cap, Echo)
        return {key: (one.siblings.tolist(), one.snapshots.tolist()) for key, one in sorted(found.items())}

    assert evidence_of(pages) == evidence_of(pages[::-1])


def test_bucket_over_the_cap_is_cut_as_for_crosses() -> None:
    """Only captures of one chunk are evidence for each other."""
    pages = [page_in([1], url, day) for day, url in enumerate("abcdefghijklmnopqrst", 1)]
    found = pools_of(pages, cap=8)

    assert {frozenset(members_of_pool) for members_of_pool, _ in found.values()} == {
        frozenset(map(name, pages[:8])),
        frozenset(map(name, pages[8:16])),
        frozenset(map(name, pages[16:])),
    }


def test_a_page_may_have_one_kind_of_evidence_without_the_other() -> None:
    """The other has no rows then."""
    one = page("<p>a</p><p>b</p>")
    codes: Codes = np.ones((4, 2), np.uint8)

    assert ((4, 2), (0, 2)) == (
        pools.page_evidence(one, codes).siblings.shape,
        pools.page_evidence(one, codes).snapshots.shape,
    )
    assert pools.page_evidence(one).siblings.dtype == np.uint8
