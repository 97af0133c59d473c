"""Growth: of whom something else may be said when captures come into a site that is known, and what is to be asked.

A bucket is cut by time, and a capture hears the nearest of its URL: so captures that come behind all others change only
what is near the end. What comes late, between known captures, changes all that follows in its buckets.

What others say of a capture follows from who they are: the arms of its crosses, those who speak in its pool, and its
nearest snapshots. Whoever has the same others as before is not asked again.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, crosses, pools, sites
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.dbce.evidence import NEAREST
from dbce_spark.model import BucketCross, IndexedCapture, Member

Pool = tuple[list[str], list[str]]
"""Who is heard in a pool, and who of them is wanted: capture ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedCaptures:
    """What is to be looked at when a site has grown: the crosses of all captures of which something else may be said
    now, and the pools that they hear."""

    affected: set[str]
    found: list[BucketCross]
    siblings: list[Pool]
    snapshots: list[Pool]
    sizes: BucketSizes

    @property
    def needed(self) -> set[str]:
        """The captures whose words are to be compared, or whose blocks are to be heard."""
        arms = {arm for one in self.found for arm in one.cross.arms if arm}
        return arms.union(*(heard for heard, _ in [*self.siblings, *self.snapshots]))


def affected_captures(
    standing: Sequence[IndexedCapture], new: Collection[str], again: Collection[str], config: DbceConfig
) -> AffectedCaptures:
    """What is to be asked of a site of which all captures are given: some of them are new, some were fetched again, and
    so written again, whatever is said of them."""
    before = _Site([one for one in standing if one.capture_id not in new], config)
    now = _Site(standing, config)
    suspects = _suspects(before, now, new)
    beside, known = _Company(now, suspects.union(again)), _Company(before, suspects.difference(new))
    affected = {one for one in suspects if one in new or beside.of(one) != known.of(one)}.union(again)
    return AffectedCaptures(
        affected=affected,
        found=[one for one in beside.found if one.cross.cur in affected],
        siblings=[*beside.siblings(affected)],
        snapshots=[*_stretches(now.lines, affected)],
        sizes=buckets.sizes(now.met, config.bucket.cap),
    )


class _Site:
    """The captures of a site at some time: who meets in which bucket, in which runs siblings are heard, and of each URL
    the captures that are arms of each other, and those that hear each other."""

    def __init__(self, standing: Sequence[IndexedCapture], config: DbceConfig):
        self.config = config
        witnesses = [one for one in standing if one.is_witness]
        self.met, heard = (
            buckets.group_by_bucket(one.member for one in some if one.member is not None)
            for some in (standing, witnesses)
        )
        self.heard = pools.chunks(heard, config.bucket.cap)
        self.arms = [*pools.snapshot_sequences(one for one in standing if one.member is not None)]
        self.lines = [*pools.snapshot_sequences(witnesses)]


def _suspects(before: _Site, now: _Site, new: Collection[str]) -> set[str]:
    """The new captures, those in runs that were not there before, and those near new ones of their URL."""
    found = {*new}
    cap = now.config.bucket.cap
    for runs, old in ((pools.chunks(now.met, cap), pools.chunks(before.met, cap)), (now.heard, before.heard)):
        for place, run in runs.items():
            ids = _ids(run)
            if ids != _ids(old.get(place, ())):
                found.update(ids)
    for line in [*now.arms, *now.lines]:
        found.update(line[at].capture_id for at in _near([one.capture_id in new for one in line]))
    return found


class _Company:
    """Beside whom some captures of a site stand, by ids alone."""

    def __init__(self, site: _Site, wanted: Collection[str]):
        self.found = sites.choose_crosses_of(site.met, wanted, site.config)
        self._pools = [(_speakers(run), asking) for run, asking in pools.home_pools(site.heard, wanted)]
        self._crosses = {cur: [*some] for cur, some in groupby(self.found, lambda one: one.cross.cur)}
        self._siblings = {one: speakers for speakers, asking in self._pools for one in asking}
        self._snapshots = {
            line[at].capture_id: _ids(line[max(0, at - NEAREST) : at + NEAREST + 1])
            for line in site.lines
            for at in range(len(line))
            if line[at].capture_id in wanted
        }

    def of(self, capture_id: str) -> tuple[object, ...]:
        """The crosses of a capture, its template, and who is heard of its siblings and snapshots."""
        found = self._crosses.get(capture_id, [])
        return (
            [one.cross for one in found],
            crosses.template_id(found),
            self._siblings.get(capture_id),
            self._snapshots.get(capture_id),
        )

    def siblings(self, wanted: Collection[str]) -> Iterator[Pool]:
        """The pools of siblings of the wanted ones among these captures."""
        for speakers, asking in self._pools:
            chosen = [one for one in asking if one in wanted]
            if chosen:
                yield [*dict.fromkeys([*speakers, *chosen])], chosen


def _speakers(run: Sequence[Member]) -> list[str]:
    """Those who are heard in a pool: of each URL the first."""
    first: dict[str, str] = {}
    for one in run:
        first.setdefault(one.url_key, one.capture_id)
    return [*first.values()]


def _ids(some: Sequence[Member | IndexedCapture]) -> list[str]:
    return [one.capture_id for one in some]


def _near(marks: Sequence[bool]) -> list[int]:
    """The places that are marked, and those near them, in order."""
    marked = (at for at, is_marked in enumerate(marks) if is_marked)
    return sorted({near for at in marked for near in range(max(0, at - NEAREST), min(len(marks), at + NEAREST + 1))})


def _stretches(lines: Sequence[Sequence[IndexedCapture]], wanted: Collection[str]) -> Iterator[Pool]:
    """The captures of each URL, in order of time, that are wanted or heard by those; a pool for each stretch."""
    for line in lines:
        stretch: list[int] = []
        for at in [*_near([one.capture_id in wanted for one in line]), len(line) + 1]:
            if stretch and at > stretch[-1] + 1:
                ids = [line[place].capture_id for place in stretch]
                yield ids, [one for one in ids if one in wanted]
                stretch = []
            stretch.append(at)
