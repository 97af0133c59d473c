"""Moments: which captures of one URL are near in time."""

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce import moments


@dataclass(frozen=True)
class Capture:
    """A capture of a page, of which only the time counts here."""

    capture_id: str
    timestamp: int


captures = st.lists(st.integers(0, 9), max_size=12).map(
    lambda times: [Capture(f"id{at}", time) for at, time in enumerate(times)]
)


def beside(some: list[Capture]) -> dict[str, set[str]]:
    """List the ids of each one's snapshots."""
    return {
        one.capture_id: {other.capture_id for other in others}
        for moment, others in moments.snapshots(some)
        for one in moment
    }


@given(captures)
def test_snapshots_are_of_two_moments_before_and_two_behind(some: list[Capture]) -> None:
    """All captures of these, and none of the capture's own moment."""
    times = sorted({one.timestamp for one in some})
    for one in some:
        at = times.index(one.timestamp)
        near = {*times[max(0, at - 2) : at], *times[at + 1 : at + 3]}

        assert beside(some)[one.capture_id] == {other.capture_id for other in some if other.timestamp in near}


@given(captures, st.permutations(range(12)))
def test_snapshots_do_not_depend_on_ids(some: list[Capture], order: list[int]) -> None:
    """Other ids for the same captures give the same snapshots, under these."""
    named = {one.capture_id: f"id{order[at]}" for at, one in enumerate(some)}
    renamed = [replace(one, capture_id=named[one.capture_id]) for one in some]

    assert {named[one]: {named[other] for other in others} for one, others in beside(some).items()} == beside(renamed)


@given(captures, st.sets(st.sampled_from([f"id{at}" for at in range(12)])))
def test_chosen_captures_have_their_snapshots_in_a_stretch(some: list[Capture], chosen: set[str]) -> None:
    """Each chosen capture is in one stretch, with all its snapshots; whatever else is there is near a chosen one."""
    stretches = [*moments.near(some, chosen)]
    found = [one.capture_id for stretch in stretches for one in stretch]
    of_stretches = {one: others for stretch in stretches for one, others in beside(stretch).items()}
    of_all = beside(some)
    wanted = chosen & {*of_all}
    moment_of = {one.capture_id: one.timestamp for one in some}
    at_the_same_time = {one for one in of_all if moment_of[one] in {moment_of[other] for other in wanted}}

    assert len(found) == len({*found})
    assert {one: of_all[one] for one in wanted} == {one: of_stretches[one] for one in wanted}
    assert {*found} == at_the_same_time.union(*(of_all[one] for one in wanted))


def test_a_stretch_ends_where_no_chosen_capture_is_near() -> None:
    """Two moments behind a chosen one; the next stretch begins two moments before the next chosen one."""
    some = [Capture(f"id{time}", time) for time in range(12)]
    stretches = [[one.timestamp for one in stretch] for stretch in moments.near(some, {"id1", "id2", "id10"})]

    assert [[0, 1, 2, 3, 4], [8, 9, 10, 11]] == stretches
