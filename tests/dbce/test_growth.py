"""Growth: of whom something else may be said when captures come into a site, and what is asked then."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark import config
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, growth, pools, sites
from dbce_spark.model import Codes, Page, Standing
from tests.pools import Echo, archives, page_in

splits = st.tuples(archives(20), st.sets(st.integers(0, 19)), st.integers(2, 5))


def standing(pages: Sequence[Page]) -> list[Standing]:
    return [
        Standing(
            capture_id=one.capture_id,
            url_key=one.capture.url_key,
            timestamp=one.capture.timestamp,
            member=buckets.member(one),
            is_witness=one.traits is not None,
        )
        for one in pages
    ]


def settings_of(cap: int) -> DbceConfig:
    return config.load(settings=[f"bucket.cap={cap}"])


def heard(pages: Sequence[Page], cap: int) -> dict[str, list[list[Codes]]]:
    """What a judge says of each page who remembers whom it was asked about."""
    said = pools.evidence(pages, cap, Echo)
    return {key: [one.siblings.tolist(), one.snapshots.tolist()] for key, one in said.items()}


def heard_by(asked: growth.Asked, pages: Sequence[Page]) -> dict[tuple[str, int], list[list[int]]]:
    witnesses = {one.capture_id: pools.witness(one) for one in pages if one.traits is not None}
    found: dict[tuple[str, int], list[list[int]]] = {}
    for ids, wanted in asked.siblings:
        said = Echo().of_siblings([witnesses[one] for one in ids], wanted)
        found |= {(capture_id, 0): codes.tolist() for capture_id, codes in said.items()}
    for ids, wanted in asked.snapshots:
        said = Echo().of_snapshots([witnesses[one] for one in ids])
        found |= {(capture_id, 1): said[capture_id].tolist() for capture_id in wanted}
    return found


@given(splits)
def test_nothing_else_is_said_of_others(split: tuple[list[Page], set[int], int]) -> None:
    """Whatever comes when, of captures that are not affected the same crosses are chosen and the same is heard."""
    pages, places, cap = split
    known = [one for at, one in enumerate(pages) if at not in places]
    affected = growth.affected(standing(pages), {pages[at].capture_id for at in places if at < len(pages)}, cap)
    before, now = (
        [one for one in sites.chosen(buckets.members(some), settings_of(cap)) if one.cross.cur not in affected]
        for some in (known, pages)
    )

    assert [(one.cross, one.bucket_id) for one in before] == [(one.cross, one.bucket_id) for one in now]
    heard_before, heard_now = heard(known, cap), heard(pages, cap)
    assert {key: heard_before[key] for key in heard_before.keys() - affected} == {
        key: heard_now[key] for key in heard_now.keys() - affected
    }


@given(splits, st.sets(st.integers(0, 19)))
def test_what_is_asked_is_what_a_run_over_all_would_say(
    split: tuple[list[Page], set[int], int], fetched: set[int]
) -> None:
    """Of affected captures, and those that were fetched again, the crosses that are chosen among all pages, and pools
    that say the same."""
    pages, places, cap = split
    new, again = ({pages[at].capture_id for at in some if at < len(pages)} for some in (places, fetched))
    asked = growth.asked(standing(pages), new, again, settings_of(cap))
    chosen = sites.chosen(buckets.members(pages), settings_of(cap))
    said = {
        (key, kind): of_kind
        for key, of_page in heard(pages, cap).items()
        for kind, of_kind in enumerate(of_page)
        if key in asked.affected and of_kind
    }

    assert [one for one in chosen if one.cross.cur in asked.affected] == asked.found
    assert said == heard_by(asked, pages)
    assert asked.affected >= new | again
    assert asked.needed <= {one.capture_id for one in pages}


def test_captures_behind_all_others_affect_only_the_end() -> None:
    """Two runs are full; what comes later changes the third, and the near captures of the same URL."""
    pages = [page_in([1, 1, 1], f"{at % 7}", 1 + at) for at in range(24)]
    new = page_in([1, 1, 1], "0", 28)
    affected = growth.affected(standing([*pages, new]), {new.capture_id}, 8)
    same_url = [one.capture_id for one in pages if one.capture.url_key.endswith("/0")][-2:]

    assert affected == {new.capture_id, *(one.capture_id for one in pages[16:]), *same_url}


def test_nothing_new_affects_nobody() -> None:
    """A site to which nothing came is left as it is."""
    asked = growth.asked(
        standing([page_in([1], "a"), page_in([1], "b"), page_in([1], "b", 2)]), set(), set(), config.default()
    )

    assert (set(), [], [], [], set()) == (asked.affected, asked.found, asked.siblings, asked.snapshots, asked.needed)
    assert asked.sizes.largest == 3


def test_a_late_capture_moves_those_behind_it() -> None:
    """It shifts the runs that follow; those before stay."""
    pages = [page_in([1], f"{at}", 1 + at) for at in range(24)]
    affected = growth.affected(standing(pages), {pages[10].capture_id}, 8)

    assert affected == {one.capture_id for one in pages[8:]}
    assert np.all([one.capture_id not in affected for one in pages[:8]])
