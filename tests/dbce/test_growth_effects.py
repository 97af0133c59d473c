"""Growth: the prior captures that new ones affect, and what is compared then."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark import config
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, crosses, growth_effects, pools, sites
from dbce_spark.model import Codes, Cross, IndexedCapture, Page
from tests.support.evidence_pools import Echo, archives, page_in

splits = st.tuples(archives(20), st.sets(st.integers(0, 19)), st.integers(2, 5))


def indexed(pages: Sequence[Page]) -> list[IndexedCapture]:
    return [
        IndexedCapture(
            capture_id=one.capture_id,
            url_key=one.capture.url_key,
            timestamp=one.capture.timestamp,
            member=buckets.member(one),
            has_features=one.features is not None,
        )
        for one in pages
    ]


def alike(url: str, day: int) -> Page:
    """Make a page of one template; the later, the less it is like the others."""
    made = page_in([1], url, day)
    return replace(made, signature=np.array([0, 0, *([day] * (day // 10))] + [0] * (2 - day // 10), np.uint32))


def settings_of(cap: int) -> DbceConfig:
    return config.load(settings=[f"bucket.cap={cap}"])


def evidence(pages: Sequence[Page], cap: int) -> dict[str, list[list[Codes]]]:
    """Collect the evidence on each page by a model that records the captures it was given."""
    found = pools.evidence(pages, cap, Echo)
    return {key: [one.siblings.tolist(), one.snapshots.tolist()] for key, one in found.items()}


def evidence_of(compared: sites.SiteComparison) -> dict[tuple[str, int], list[list[int]]]:
    by_kind = (compared.evidence.by_siblings, compared.evidence.by_snapshots)
    return {(key, kind): codes.tolist() for kind, found in enumerate(by_kind) for key, codes in found.items()}


def compared_by(grown: growth_effects.AffectedCaptures, pages: Sequence[Page], cap: int) -> sites.SiteComparison:
    """Compare affected captures with those that they need, and no others."""
    needed = [sites.neighbour(one) for one in pages if one.capture_id in grown.needed]
    with patch.object(growth_effects, "load_classifier", lambda _: Echo()):
        return growth_effects.compare_affected(grown, needed, settings_of(cap))


def affected_by(pages: Sequence[Page], new: Sequence[Page], cap: int) -> growth_effects.AffectedCaptures:
    return growth_effects.affected_captures(indexed(pages), {one.capture_id for one in new}, set(), settings_of(cap))


def crosses_and_template(pages: Sequence[Page], cap: int) -> dict[str, tuple[list[Cross], str]]:
    """Choose the crosses and the template of each capture by a comparison of these pages."""
    found = sites.choose_crosses(buckets.members(pages), settings_of(cap))
    by_capture = {cur: [*some] for cur, some in groupby(found, lambda one: one.cross.cur)}
    return {cur: ([one.cross for one in some], crosses.template_id(some)) for cur, some in by_capture.items()}


@given(splits)
def test_other_captures_keep_their_crosses_and_evidence(split: tuple[list[Page], set[int], int]) -> None:
    """Captures that are not affected have the same crosses, template and evidence, whatever comes when."""
    pages, places, cap = split
    new = [one for at, one in enumerate(pages) if at in places]
    prior = [one for at, one in enumerate(pages) if at not in places]
    affected = affected_by(pages, new, cap).affected
    for compare in (crosses_and_template, evidence):
        before, now = (
            {key: found for key, found in compare(some, cap).items() if key not in affected} for some in (prior, pages)
        )
        assert before == now


@given(splits, st.sets(st.integers(0, 19)))
def test_affected_captures_are_compared_as_in_a_run_over_all(
    split: tuple[list[Page], set[int], int], fetched: set[int]
) -> None:
    """Affected captures, and those fetched again, have the crosses and the evidence of a comparison of all."""
    pages, places, cap = split
    new, again = ({pages[at].capture_id for at in some if at < len(pages)} for some in (places, fetched))
    grown = growth_effects.affected_captures(indexed(pages), new, again, settings_of(cap))
    chosen = sites.choose_crosses(buckets.members(pages), settings_of(cap))
    found = {
        (key, kind): of_kind
        for key, of_page in evidence(pages, cap).items()
        for kind, of_kind in enumerate(of_page)
        if key in grown.affected and of_kind
    }

    compared = compared_by(grown, pages, cap)

    assert [one for one in chosen if one.cross.cur in grown.affected] == compared.crosses
    assert len(compared.crosses) == len(compared.annotations)
    assert found == evidence_of(compared)
    assert grown.affected >= new | again
    assert grown.needed <= {one.capture_id for one in pages}


def test_captures_behind_all_others_affect_only_the_end() -> None:
    """Two chunks are full; what comes later changes the third, and the near captures of the same URL."""
    pages = [page_in([1, 1, 1], f"{at % 7}", 1 + at) for at in range(24)]
    new = page_in([1, 1, 1], "0", 28)
    same_url = [one.capture_id for one in pages if one.capture.url_key.endswith("/0")][-2:]

    assert {new.capture_id, *same_url} <= affected_by([*pages, new], [new], 8).affected
    assert affected_by([*pages, new], [new], 8).affected <= {
        new.capture_id,
        *(one.capture_id for one in pages[16:]),
        *same_url,
    }


def test_captures_with_the_same_neighbours_are_not_affected() -> None:
    """One more capture of a prior URL affects itself and the two before it: the evidence on all others of its chunk is
    the first capture of its URL, as before."""
    pages = [alike(f"{at % 6}", 1 + at) for at in range(18)]
    new = alike("0", 28)
    found = affected_by([*pages, new], [new], 100)
    (pool, wanted), *rest = found.siblings

    assert {new.capture_id, pages[6].capture_id, pages[12].capture_id} == found.affected == {*wanted}
    assert [] == rest
    assert {one.capture_id for one in pages[:6]} | {*wanted} == {*pool}


def test_captures_of_one_moment_have_one_list_of_snapshots() -> None:
    """Not each its own: 2,000 captures of each of five moments had lists of 458 MB."""
    some = indexed([page_in([1], "0", day, lines=lines) for day in (1, 2) for lines in (0, 1)])
    site = growth_effects._Site(some, settings_of(9))
    known = growth_effects._Neighbourhood(site, {one.capture_id for one in some})
    (one, same, other, same_as_other) = (known.neighbours(one.capture_id)[-1] for one in some)

    assert one is same
    assert other is same_as_other
    assert sorted(capture.capture_id for capture in some[2:]) == one


def test_captures_in_no_bucket_are_no_arms() -> None:
    """A page that was empty for a while, and has another template since: its last capture before has a next one now."""
    pages = [page_in([1], "a"), page_in([1], "b"), *(page_in(None, "a", day) for day in (2, 3, 4, 5))]
    new = page_in([2], "a", 6)

    assert pages[0].capture_id in affected_by([*pages, new], [new], 100).affected


def test_nothing_new_affects_nothing() -> None:
    """A site to which nothing came is left as it is."""
    grown = growth_effects.affected_captures(
        indexed([page_in([1], "a"), page_in([1], "b"), page_in([1], "b", 2)]), set(), set(), config.default()
    )

    assert (set(), [], [], [], set()) == (grown.affected, grown.crosses, grown.siblings, grown.snapshots, grown.needed)
    assert grown.sizes.largest == 3


def test_a_late_capture_moves_those_behind_it() -> None:
    """It shifts the chunks that follow; those before stay."""
    pages = [page_in([1], f"{at}", 1 + at) for at in range(24)]
    affected = affected_by(pages, [pages[10]], 8).affected

    assert {one.capture_id for one in (pages[10], pages[16])} <= affected <= {one.capture_id for one in pages[8:]}
