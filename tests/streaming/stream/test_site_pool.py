"""The last pages of a site are evidence as they would be in an archive, are bounded, and survive as bytes."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce import pools
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.errors import OutputError
from dbce_spark.model import Codes, Member, PageFeatures
from dbce_spark.streaming.stream.site_pool import SitePool
from tests.support.strategies import captures_of_few_texts, members
from tests.support.stream_files import scored_page

CLASSIFIER = load_classifier("")
MOST, MOST_BLOCKS = 256, 1_000
Arrived = list[tuple[PageFeatures, Member]]


@st.composite
def captures(draw: st.DrawFn, max_size: int = 8) -> Arrived:
    """Draw captures of a site in order of arrival, in few buckets and of few URLs, so that much recurs."""
    found = draw(members(max_size))
    shown = [draw(captures_of_few_texts(st.just(one.url_key), one.capture_id)) for one in found]
    return [(replace(one, timestamp=member.timestamp), member) for one, member in zip(shown, found, strict=True)]


def filled(arrived: Arrived, most: int = MOST, most_blocks: int = MOST_BLOCKS) -> SitePool:
    pool = SitePool(most, most_blocks)
    for features, member in arrived:
        pool.add(features, member)
    return pool


def plain(codes: Codes | None) -> list[list[int]] | None:
    return None if codes is None else codes.tolist()


def shown(pool: SitePool, arrived: Arrived) -> list[list[list[list[int]] | None]]:
    """List the evidence on each capture."""
    found = (pool.evidence(one.capture_id, CLASSIFIER) for one, _ in arrived)
    return [[plain(one.by_siblings), plain(one.by_snapshots)] for one in found]


@given(captures())
def test_evidence_is_that_of_the_batch_on_the_pages_that_came(arrived: Arrived) -> None:
    batch = pools.pool_evidence(
        [member for _, member in arrived], [features for features, _ in arrived], MOST, lambda: CLASSIFIER
    )
    ids = [one.capture_id for one, _ in arrived]

    expected = [[plain(batch.by_siblings.get(one)), plain(batch.by_snapshots.get(one))] for one in ids]
    assert expected == shown(filled(arrived), arrived)


@given(captures(), st.randoms())
def test_order_of_arrival_is_nothing_while_all_are_kept(arrived: Arrived, random: Random) -> None:
    shuffled = [*arrived]
    random.shuffle(shuffled)

    assert shown(filled(arrived), arrived) == shown(filled(shuffled), arrived)


@given(captures(), st.integers(1, 4))
def test_only_the_last_pages_are_kept(arrived: Arrived, most: int) -> None:
    """Pages that have left are as if they had never come."""
    assert filled(arrived, most).to_bytes() == filled(arrived[-most:], most).to_bytes()
    assert len(filled(arrived, most)) == min(most, len(arrived))


def plainly_kept(blocks: list[int], most: int) -> list[int]:
    """Number the pages that are kept of pages with so many blocks, which come one after the other."""
    kept: list[int] = []
    for at in range(len(blocks)):
        kept.append(at)
        while sum(blocks[one] for one in kept) > most:
            kept.remove(max(kept, key=lambda one: blocks[one]))  # of equal ones the first
    return kept


@given(captures(), st.integers(1, 12))
def test_pages_have_no_more_blocks_than_may_be(arrived: Arrived, most_blocks: int) -> None:
    """The largest are let go, of equal ones the older; the others are as if these had never come."""
    pool = filled(arrived, most_blocks=most_blocks)
    kept = [arrived[at] for at in plainly_kept([len(one.words) for one, _ in arrived], most_blocks)]

    assert [one.capture_id for one, _ in kept] == [one.capture_id for one, _ in arrived if one.capture_id in pool]
    assert len(arrived) == len(pool)
    assert shown(filled(kept), kept) == shown(pool, kept)


@given(captures(), st.integers(1, 12), st.integers(0, 8))
def test_state_with_pages_let_go_goes_on_from_its_bytes(arrived: Arrived, most_blocks: int, after: int) -> None:
    first = filled(arrived[:after], 3, most_blocks)
    second = SitePool.from_bytes(first.to_bytes(), 3, most_blocks)
    for features, member in arrived[after:]:
        second.add(features, member)

    assert filled(arrived, 3, most_blocks).to_bytes() == second.to_bytes()
    assert len(second) == min(3, len(arrived))


def test_a_page_that_is_too_large_is_compared_and_lets_no_other_go() -> None:
    """It is let go itself, behind its own evidence: the pages that were there stay."""
    small = [scored_page(f"http://a.example/{at}.html", "Head", *["Some words"] * at) for at in (1, 2, 3)]
    large = scored_page("http://a.example/large.html", "Head", *["Some words"] * 60)
    pool = SitePool(9, 50)
    found = [pool.take(one, CLASSIFIER).siblings for one in (*small, large, small[0])]

    assert [0, 1, 2, 3, 2] == found
    assert [True, True, True, False] == [one.capture_id in pool for one in (*small, large)]


@given(captures(), st.integers(0, 8))
def test_state_goes_on_from_its_bytes(arrived: Arrived, after: int) -> None:
    halfway = SitePool.from_bytes(filled(arrived[:after]).to_bytes(), MOST, MOST_BLOCKS)
    for features, member in arrived[after:]:
        halfway.add(features, member)

    assert filled(arrived).to_bytes() == halfway.to_bytes()
    assert shown(filled(arrived), arrived) == shown(halfway, arrived)


@given(captures_of_few_texts(st.just("u"), "a"), captures_of_few_texts(st.just("u"), "b"))
def test_page_without_signature_has_snapshots_and_no_siblings(one: PageFeatures, other: PageFeatures) -> None:
    pool = SitePool(MOST, MOST_BLOCKS)
    for at, features in enumerate((one, other)):
        pool.add(replace(features, timestamp=at), None)

    for kept in (pool, SitePool.from_bytes(pool.to_bytes(), MOST, MOST_BLOCKS)):
        found = kept.evidence("b", CLASSIFIER)
        assert found.by_siblings is None
        assert found.by_snapshots is not None
        assert (0, 1) == (found.siblings, found.snapshots)


def test_state_of_another_version_is_refused() -> None:
    data = SitePool(MOST, MOST_BLOCKS).to_bytes()
    other = data[:8] + np.uint16(9).tobytes() + data[10:]

    with pytest.raises(OutputError, match="of version 9, this program has 2"):
        SitePool.from_bytes(other, MOST, MOST_BLOCKS)
    with pytest.raises(OutputError, match="of version unknown"):
        SitePool.from_bytes(b"x" * 8 + data[8:], MOST, MOST_BLOCKS)
