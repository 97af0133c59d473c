"""Growth: of whom something else may be said when captures come into a site that is known, and what is to be asked.

A bucket is cut by time, and a capture hears the nearest of its URL: so captures that come behind all others change only
what is near the end. What comes late, between known captures, changes all that follows in its buckets.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, pools, sites
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.dbce.evidence import NEAREST
from dbce_spark.model import Found, Member, Standing

Heard = tuple[list[str], list[str]]
"""Who is heard in a pool, and who of them is wanted: capture ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be looked at when a site has grown: the crosses of all captures of which something else may be said
    now, and the pools that they hear."""

    affected: set[str]
    found: list[Found]
    siblings: list[Heard]
    snapshots: list[Heard]
    sizes: BucketSizes

    @property
    def needed(self) -> set[str]:
        """The captures whose words are to be compared, or whose blocks are to be heard."""
        arms = {arm for one in self.found for arm in one.cross.arms if arm}
        return arms.union(*(heard for heard, _ in [*self.siblings, *self.snapshots]))


def asked(standing: Sequence[Standing], new: Collection[str], again: Collection[str], config: DbceConfig) -> Asked:
    """What is to be asked of a site of which all captures are given: some of them are new, some were fetched again, and
    so written again, whatever is said of them."""
    cap = config.bucket.cap
    changed = affected(standing, new, cap).union(again)
    members = [one.member for one in standing if one.member is not None]
    witnesses = [one for one in standing if one.is_witness]
    met = buckets.members_of(members)
    return Asked(
        affected=changed,
        found=sites.chosen_in(met, changed, config),
        siblings=[*pools.siblings((one.member for one in witnesses if one.member is not None), cap, changed)],
        snapshots=[*_stretches(witnesses, changed)],
        sizes=buckets.sizes(met, cap),
    )


def affected(standing: Sequence[Standing], new: Collection[str], cap: int) -> set[str]:
    """The captures of a site of which something else may be said than before some were there; these among them."""
    changed = {*new}
    witnesses = [one for one in standing if one.is_witness]
    for some in (standing, witnesses):  # who meets in crosses, and who in pools
        changed.update(_in_changed_runs([one.member for one in some if one.member is not None], new, cap))
        for line in pools.snapshots(some):
            changed.update(line[at].capture_id for at in _near([one.capture_id in new for one in line]))
    return changed


def _in_changed_runs(members: Sequence[Member], new: Collection[str], cap: int) -> Iterator[str]:
    """The captures in runs that were not there before, with just these captures in them."""
    for met in buckets.members_of(members).values():
        before = [one for one in met if one.capture_id not in new]
        if len(before) < len(met):
            known = {tuple([one.capture_id for one in run]) for run in buckets.runs(before, cap)}
            for run in buckets.runs(met, cap):
                ids = tuple([one.capture_id for one in run])
                if ids not in known:
                    yield from ids


def _near(marks: Sequence[bool]) -> list[int]:
    """The places that are marked, and those near them, in order."""
    marked = (at for at, is_marked in enumerate(marks) if is_marked)
    return sorted({near for at in marked for near in range(max(0, at - NEAREST), min(len(marks), at + NEAREST + 1))})


def _stretches(witnesses: Sequence[Standing], wanted: Collection[str]) -> Iterator[Heard]:
    """The captures of each URL, in order of time, that are wanted or heard by those; a pool for each stretch."""
    for line in pools.snapshots(witnesses):
        stretch: list[int] = []
        for at in [*_near([one.capture_id in wanted for one in line]), len(line) + 1]:
            if stretch and at > stretch[-1] + 1:
                ids = [line[place].capture_id for place in stretch]
                yield ids, [one for one in ids if one in wanted]
                stretch = []
            stretch.append(at)
