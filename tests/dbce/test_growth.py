"""Growth: of whom something else may be said when captures come into a site, and what is asked then."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark import config
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, crosses, growth, pools, sites
from dbce_spark.model import Codes, Cross, IndexedCapture, Page
from tests.support.evidence_pools import Echo, archives, page_in

splits = st.tuples(archives(20), st.sets(st.integers(0, 19)), st.integers(2, 5))


def standing(pages: Sequence[Page]) -> list[IndexedCapture]:
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
    """A page of one template; the later, the less it is like the others."""
    made = page_in([1], url, day)
    return replace(made, signature=np.array([0, 0, *([day] * (day // 10))] + [0] * (2 - day // 10), np.uint32))


def settings_of(cap: int) -> DbceConfig:
    return config.load(settings=[f"bucket.cap={cap}"])


def heard(pages: Sequence[Page], cap: int) -> dict[str, list[list[Codes]]]:
    """What a judge says of each page who remembers whom it was asked about."""
    said = pools.evidence(pages, cap, Echo)
    return {key: [one.siblings.tolist(), one.snapshots.tolist()] for key, one in said.items()}


def heard_by(asked: growth.AffectedCaptures, pages: Sequence[Page]) -> dict[tuple[str, int], list[list[int]]]:
    witnesses = {one.capture_id: pools.page_features(one) for one in pages if one.features is not None}
    found: dict[tuple[str, int], list[list[int]]] = {}
    for ids, wanted in asked.siblings:
        said = Echo().of_siblings([witnesses[one] for one in ids], wanted)
        found |= {(capture_id, 0): codes.tolist() for capture_id, codes in said.items()}
    for ids, wanted in asked.snapshots:
        said = Echo().of_snapshots([witnesses[one] for one in ids])
        found |= {(capture_id, 1): said[capture_id].tolist() for capture_id in wanted}
    return found


def asked(pages: Sequence[Page], new: Sequence[Page], cap: int) -> growth.AffectedCaptures:
    return growth.affected_captures(standing(pages), {one.capture_id for one in new}, set(), settings_of(cap))


def set_beside(pages: Sequence[Page], cap: int) -> dict[str, tuple[list[Cross], str]]:
    """The crosses and the template of each capture in a run over some."""
    found = sites.choose_crosses(buckets.members(pages), settings_of(cap))
    by_capture = {cur: [*some] for cur, some in groupby(found, lambda one: one.cross.cur)}
    return {cur: ([one.cross for one in some], crosses.template_id(some)) for cur, some in by_capture.items()}


@given(splits)
def test_nothing_else_is_said_of_others(split: tuple[list[Page], set[int], int]) -> None:
    """Whatever comes when, captures that are not affected have the same crosses and template, and hear the same."""
    pages, places, cap = split
    new = [one for at, one in enumerate(pages) if at in places]
    known = [one for at, one in enumerate(pages) if at not in places]
    affected = asked(pages, new, cap).affected
    for told in (set_beside, heard):
        before, now = (
            {key: said for key, said in told(some, cap).items() if key not in affected} for some in (known, pages)
        )
        assert before == now


@given(splits, st.sets(st.integers(0, 19)))
def test_what_is_asked_is_what_a_run_over_all_would_say(
    split: tuple[list[Page], set[int], int], fetched: set[int]
) -> None:
    """Of affected captures, and those that were fetched again, the crosses that are chosen among all pages, and pools
    that say the same."""
    pages, places, cap = split
    new, again = ({pages[at].capture_id for at in some if at < len(pages)} for some in (places, fetched))
    asked = growth.affected_captures(standing(pages), new, again, settings_of(cap))
    chosen = sites.choose_crosses(buckets.members(pages), settings_of(cap))
    said = {
        (key, kind): of_kind
        for key, of_page in heard(pages, cap).items()
        for kind, of_kind in enumerate(of_page)
        if key in asked.affected and of_kind
    }

    assert [one for one in chosen if one.cross.cur in asked.affected] == asked.crosses
    assert said == heard_by(asked, pages)
    assert asked.affected >= new | again
    assert asked.needed <= {one.capture_id for one in pages}


def test_captures_behind_all_others_affect_only_the_end() -> None:
    """Two runs are full; what comes later changes the third, and the near captures of the same URL."""
    pages = [page_in([1, 1, 1], f"{at % 7}", 1 + at) for at in range(24)]
    new = page_in([1, 1, 1], "0", 28)
    same_url = [one.capture_id for one in pages if one.capture.url_key.endswith("/0")][-2:]

    assert {new.capture_id, *same_url} <= asked([*pages, new], [new], 8).affected
    assert asked([*pages, new], [new], 8).affected <= {
        new.capture_id,
        *(one.capture_id for one in pages[16:]),
        *same_url,
    }


def test_who_has_the_same_others_is_not_asked_again() -> None:
    """One more capture of a known URL, which is nobody's nearest, is asked itself, and so are the two before it: all
    others of its run hear the first capture of its URL, as before."""
    pages = [alike(f"{at % 6}", 1 + at) for at in range(18)]
    new = alike("0", 28)
    found = asked([*pages, new], [new], 100)
    (pool, wanted), *rest = found.siblings

    assert {new.capture_id, pages[6].capture_id, pages[12].capture_id} == found.affected == {*wanted}
    assert [] == rest
    assert {one.capture_id for one in pages[:6]} | {*wanted} == {*pool}


def test_captures_in_no_bucket_are_no_arms() -> None:
    """A page that was empty for a while, and has another template since: its last capture before has a next one now."""
    pages = [page_in([1], "a"), page_in([1], "b"), *(page_in(None, "a", day) for day in (2, 3, 4, 5))]
    new = page_in([2], "a", 6)

    assert pages[0].capture_id in asked([*pages, new], [new], 100).affected


def test_nothing_new_affects_nobody() -> None:
    """A site to which nothing came is left as it is."""
    asked = growth.affected_captures(
        standing([page_in([1], "a"), page_in([1], "b"), page_in([1], "b", 2)]), set(), set(), config.default()
    )

    assert (set(), [], [], [], set()) == (asked.affected, asked.crosses, asked.siblings, asked.snapshots, asked.needed)
    assert asked.sizes.largest == 3


def test_a_late_capture_moves_those_behind_it() -> None:
    """It shifts the runs that follow; those before stay."""
    pages = [page_in([1], f"{at}", 1 + at) for at in range(24)]
    affected = asked(pages, [pages[10]], 8).affected

    assert {one.capture_id for one in (pages[10], pages[16])} <= affected <= {one.capture_id for one in pages[8:]}
