"""Crosses: who stands above, below, before and behind a capture."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce import crosses as module
from dbce_spark.dbce.buckets import BucketKey
from dbce_spark.dbce.crosses import adjacent, find, select, template_id
from dbce_spark.model import Adjacent, BucketCross, Cross, Member
from tests.support.builders import cross, member
from tests.support.strategies import members


def build(some: Sequence[Member]) -> list[Cross]:
    """Build the crosses of a chunk that is its whole site."""
    return module.build(some, everyone(some))


def everyone(some: Sequence[Member]) -> dict[str, Adjacent]:
    return adjacent(some, {one.capture_id for one in some})


def build_one(cur: str, some: Sequence[Member]) -> Cross:
    (made,) = [one for one in build(some) if one.cur == cur]
    return made


def similarity(one: Member, other: Member) -> float:
    return float((one.signature == other.signature).mean())


def found(of: Cross, bucket_id: str = "b", bucket_urls: int = 2) -> BucketCross:
    return BucketCross(cross=of, bucket_id=bucket_id, bucket_urls=bucket_urls, group="g")


def test_up_is_the_most_similar_and_down_the_next() -> None:
    """The most similar capture with another URL is `up`, the second `down`."""
    some = [member("a", "u1", 0, [1, 1, 1, 1]), member("b", "u2", 0, [1, 1, 2, 2]), member("c", "u3", 0, [1, 1, 1, 2])]
    actual = build_one("a", some)

    assert (("a", "c", "b", "", ""), 0.75, 0.5) == (actual.arms, actual.up_similarity, actual.down_similarity)


def test_prev_and_next_are_the_nearest_in_time() -> None:
    """The captures of the same URL before and after `cur` are its `prev` and `next`."""
    some = [member(f"t{time}", "u", time) for time in (5, 1, 3, 9)] + [member("z", "v", 4)]

    assert [("t1", "", "t3"), ("t3", "t1", "t5"), ("t5", "t3", "t9"), ("t9", "t5", "")] == [
        (one.cur, one.prev, one.next) for one in build(some) if one.cur != "z"
    ]


def test_down_has_a_third_url_where_there_is_one() -> None:
    """Three captures of the front page do not fill both arms."""
    some = [member("a", "u1"), member("b1", "front", 1), member("b2", "front", 2), member("c", "u3", 0, [1, 2, 9, 9])]

    assert (build_one("a", some).up, build_one("a", some).down) == ("b1", "c")


def test_down_is_another_capture_of_ups_url_where_there_is_no_third() -> None:
    """Better the same page at another time than nothing."""
    some = [member("a", "u1"), member("b1", "front", 1), member("b2", "front", 2)]

    assert (build_one("a", some).up, build_one("a", some).down) == ("b1", "b2")


def test_no_cross_without_a_sibling() -> None:
    """Snapshots alone make no cross (thesis 2.3)."""
    assert build([member("a", "u", 1), member("b", "u", 2)]) == []


def test_no_cross_of_nothing() -> None:
    """An empty run has none, a run of one neither."""
    assert build([]) == []
    assert build([member("a")]) == []


def test_ties_go_to_the_lower_id() -> None:
    """The one with the lower id of equally similar captures comes first, whatever its place in the bucket."""
    some = [member("d", "u4"), member("b", "u2"), member("a", "u1"), member("c", "u3")]

    assert (build_one("d", some).up, build_one("d", some).down) == ("a", "b")


def oracle(cur: Member, some: Sequence[Member]) -> tuple[str, str, str, str]:
    """up, down, prev, next by the words of their definition."""
    others = sorted(
        (one for one in some if one.url_key != cur.url_key), key=lambda one: (-similarity(cur, one), one.capture_id)
    )
    up = others[0]
    thirds = [one for one in others if one.url_key != up.url_key] or others[1:]
    same = sorted((one for one in some if one.url_key == cur.url_key), key=lambda one: (one.timestamp, one.capture_id))
    at = same.index(cur)
    return (
        up.capture_id,
        thirds[0].capture_id if thirds else "",
        same[at - 1].capture_id if at else "",
        same[at + 1].capture_id if at + 1 < len(same) else "",
    )


@given(members())
def test_crosses_are_as_defined(some: list[Member]) -> None:
    """Every capture with a sibling has the cross that the definition gives, and no other capture has one."""
    urls = {one.url_key for one in some}
    expected = {one.capture_id: oracle(one, some) for one in some} if len(urls) > 1 else {}
    actual = {one.cur: (one.up, one.down, one.prev, one.next) for one in build(some)}

    assert expected == actual


@given(members())
def test_arms_keep_to_their_urls(some: list[Member]) -> None:
    """`up` and `down` have other URLs than `cur`, `prev` and `next` the same, and no capture stands in two arms."""
    by_id = {one.capture_id: one for one in some}
    for made in build(some):
        url = by_id[made.cur].url_key
        arms = [arm for arm in made.arms if arm]

        assert made.up
        assert all(by_id[arm].url_key != url for arm in (made.up, made.down) if arm)
        assert all(by_id[arm].url_key == url for arm in (made.prev, made.next) if arm)
        assert len(set(arms)) == len(arms)


@given(members(), st.randoms(use_true_random=False))
def test_order_does_not_matter(some: list[Member], random: object) -> None:
    """The crosses of a run and their order are those of its set of captures."""
    shuffled = sorted(some, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert build(some) == build(shuffled)


@given(members())
def test_similarities_are_shares_of_equal_rows(some: list[Member]) -> None:
    """The similarities of a cross are those of the signatures; an empty arm has 0."""
    by_id = {one.capture_id: one for one in some}
    for made in build(some):
        for arm in ("up", "down", "prev", "next"):
            other = getattr(made, arm)
            expected = similarity(by_id[made.cur], by_id[other]) if other else 0.0

            assert expected == getattr(made, f"{arm}_similarity")


@given(members(), st.sets(st.integers(0, 9)))
def test_who_asks_changes_no_cross(some: list[Member], places: set[int]) -> None:
    """Crosses are made of those who ask; the others stand in them all the same."""
    asking = {one.capture_id for at, one in enumerate(some) if at in places}

    assert [one for one in build(some) if one.cur in asking] == module.build(some, adjacent(some, asking))


def test_the_same_signature_is_wholly_similar() -> None:
    """However many rows it has: 49 times a 49th is less than 1."""
    some = [member("a", "u", rows=range(49)), member("b", "v", rows=range(49))]

    assert [1.0, 1.0] == [one.up_similarity for one in build(some)]
    assert 1.0 == module.similarity(some[0].signature, some[1].signature)


def test_snapshots_may_be_in_another_run_or_bucket() -> None:
    """`prev` and `next` are the nearest captures of the URL on its site; siblings come from the run alone."""
    here = [member("b", "u", 2), member("z", "v", 2)]
    before, behind, sibling = member("a", "u", 1), member("c", "u", 3, [1, 2, 9, 9]), member("y", "w", 2)
    (made,) = [one for one in module.build(here, everyone([*here, before, behind, sibling])) if one.cur == "b"]

    assert ("b", "z", "", "a", "c") == made.arms
    assert (1.0, 0.5) == (made.prev_similarity, made.next_similarity)


def test_the_same_url_key_on_another_site_is_no_snapshot() -> None:
    """Adjacent captures are of the same site."""
    one = member("a", "u", 1)
    other = replace(member("b", "u", 2), site="example.com")

    assert {"a": Adjacent(), "b": Adjacent()} == everyone([one, other])


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 300))
def test_equal_rows_are_counted(one: int, other: int, rows: int) -> None:
    """Counting in steps is counting."""
    random = np.random.default_rng(rows)
    a, b = (random.integers(0, 2, (count, rows)).astype(np.uint32) for count in (one, other))
    expected = (a[:, None, :] == b[None, :, :]).sum(axis=2)

    assert np.array_equal(expected, module._equal_row_counts(a, b))


def test_long_signatures_are_counted() -> None:
    """More equal rows than a byte holds are still counted."""
    same = np.ones((1, 300), np.uint32)

    assert module._equal_row_counts(same, same).tolist() == [[300]]


def test_find_says_where() -> None:
    """A cross comes with the URLs of its run, of which one was fetched twice, and in the group of that run."""
    some = [member(f"{nth}", f"u{min(nth, 4)}", nth) for nth in range(6)]
    made = list(find(BucketKey("s", 3, -7), some, 4, everyone(some)))

    assert ["0", "1", "2", "3", "4", "5"] == [one.cross.cur for one in made]
    assert {(5, f"{one.bucket_id}-4") for one in made} == {(one.bucket_urls, one.group) for one in made}


def test_select_takes_the_fullest_then_the_most_similar() -> None:
    """The crosses with most arms go first, and of equal ones the most similar."""
    full, plain = cross("a", "b", "c", "d", "e"), cross("a", "b", "c")
    close, far = cross("a", "x", "y"), Cross(**{**as_fields(cross("a", "v", "w")), "up_similarity": 0.5})
    made = select([found(far), found(close), found(plain), found(full)], per_capture=3)

    assert full == made[0].cross
    assert {plain.cross_id, close.cross_id} == {one.cross.cross_id for one in made[1:]}


def as_fields(of: Cross) -> dict[str, Any]:
    return {name: getattr(of, name) for name in Cross.__dataclass_fields__}


def test_select_counts_a_cross_once() -> None:
    """A cross that many bands found takes one place, under the bucket of most URLs."""
    one = cross("a", "b")
    made = select(
        [found(one, "x", 3), found(one, "z", 9), found(one, "y", 9), found(cross("a", "c"), "w", 1)], per_capture=2
    )

    assert sorted([("y", 9), ("w", 1)]) == sorted((some.bucket_id, some.bucket_urls) for some in made)


ids = st.sampled_from("abcde")
some_found = st.lists(
    st.builds(
        lambda cur, up, down, bucket, size: found(cross(cur, up, down), bucket, size),
        st.sampled_from("AB"),
        ids,
        st.sampled_from(["", "x", "y"]),
        st.sampled_from("klm"),
        st.integers(1, 3),
    ),
    max_size=12,
)


@given(some_found, st.randoms(use_true_random=False), st.integers(1, 3))
def test_select_does_not_depend_on_order(some: list[BucketCross], random: object, per_capture: int) -> None:
    """Whichever bucket is looked at first, the same crosses are chosen; and no capture has too many."""
    shuffled = sorted(some, key=lambda _: random.random())  # type: ignore[attr-defined]
    made = select(some, per_capture=per_capture)

    assert made == select(shuffled, per_capture=per_capture)
    assert all(sum(one.cross.cur == cur for one in made) <= per_capture for cur in "AB")


def test_template_is_the_bucket_of_most_urls() -> None:
    """The bucket of most URLs names a capture's template, of equal ones the lowest id, of none
    nothing."""
    made = [found(cross(), "c", 2), found(cross(), "b", 5), found(cross(), "a", 5)]

    assert template_id(made) == "a"
    assert template_id([]) == ""
