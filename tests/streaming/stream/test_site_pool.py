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

CLASSIFIER = load_classifier("")
MOST = 256
Arrived = list[tuple[PageFeatures, Member]]


@st.composite
def captures(draw: st.DrawFn, max_size: int = 8) -> Arrived:
    """Draw captures of a site in order of arrival, in few buckets and of few URLs, so that much recurs."""
    found = draw(members(max_size))
    shown = [draw(captures_of_few_texts(st.just(one.url_key), one.capture_id)) for one in found]
    return [(replace(one, timestamp=member.timestamp), member) for one, member in zip(shown, found, strict=True)]


def filled(arrived: Arrived, most: int = MOST) -> SitePool:
    pool = SitePool(most)
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


@given(captures(), st.integers(0, 8))
def test_state_goes_on_from_its_bytes(arrived: Arrived, after: int) -> None:
    halfway = SitePool.from_bytes(filled(arrived[:after]).to_bytes(), MOST)
    for features, member in arrived[after:]:
        halfway.add(features, member)

    assert filled(arrived).to_bytes() == halfway.to_bytes()
    assert shown(filled(arrived), arrived) == shown(halfway, arrived)


@given(captures_of_few_texts(st.just("u"), "a"), captures_of_few_texts(st.just("u"), "b"))
def test_page_without_signature_has_snapshots_and_no_siblings(one: PageFeatures, other: PageFeatures) -> None:
    pool = SitePool(MOST)
    for at, features in enumerate((one, other)):
        pool.add(replace(features, timestamp=at), None)

    for kept in (pool, SitePool.from_bytes(pool.to_bytes(), MOST)):
        found = kept.evidence("b", CLASSIFIER)
        assert found.by_siblings is None
        assert found.by_snapshots is not None
        assert (0, 1) == (found.siblings, found.snapshots)


def test_state_of_another_version_is_refused() -> None:
    data = SitePool(MOST).to_bytes()
    other = data[:8] + np.uint16(9).tobytes() + data[10:]

    with pytest.raises(OutputError, match="of version 9, this program has 1"):
        SitePool.from_bytes(other, MOST)
    with pytest.raises(OutputError, match="of version unknown"):
        SitePool.from_bytes(b"x" * 8 + data[8:], MOST)
