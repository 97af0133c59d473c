"""Crosses with arms of our choosing."""

from dbce_spark.model import bits_text
from reproductions.thesis.neighbourhoods import cross, series, siblings, wide, with_arms
from tests.support.builders import member

CUR = member("cur", "u", 5, (1, 2, 3, 4))
OLDER, OLD, NEW = member("older", "u", 1), member("old", "u", 4), member("new", "u", 9)
NEAR, FAR, FARTHER = (
    member("near", "v", 5),
    member("far", "w", 5, (1, 2, 3, 0)),
    member("farther", "x", 5, (1, 0, 0, 0)),
)
COPY = member("copy", "v", 6, (1, 2, 0, 0))
EVERYONE = [NEW, FARTHER, CUR, COPY, OLDER, FAR, NEAR, OLD]


def test_siblings_stand_in_order_of_likeness() -> None:
    """One capture of each other URL, the one most like."""
    assert [NEAR, FAR, FARTHER] == siblings(CUR, EVERYONE)


def test_snapshots_stand_in_order_of_nearness() -> None:
    """Before and behind the capture."""
    assert ([OLD, OLDER], [NEW]) == series(CUR, EVERYONE)


def test_wide_takes_the_next_two_siblings_for_each_cross() -> None:
    """The snapshots stay the same, and the last cross may lack an arm."""
    found = [one.arms for one in wide(CUR, EVERYONE, 5)]
    assert [("cur", "near", "far", "old", "new"), ("cur", "farther", "", "old", "new")] == found


def test_arms_are_taken_out_with_their_likeness() -> None:
    """The other arms are as they were."""
    whole = cross(CUR, up=NEAR, down=FAR, prev=OLD, next=NEW)
    bare = with_arms(whole, "11001")
    assert ("11111", "11001") == (bits_text(whole.bits), bits_text(bare.bits))
    assert (whole.up_similarity, 0.75, 0.0) == (bare.up_similarity, whole.down_similarity, bare.down_similarity)
    assert ("cur", "near", "", "", "new") == bare.arms
