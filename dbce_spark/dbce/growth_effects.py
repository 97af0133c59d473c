"""Growth: the prior captures of a site that new captures affect, and the pages to compare for them.

A bucket is cut by time, and snapshots are the captures of a URL near in time: so captures that come behind all others
change only what is near the end. What comes late, between prior captures, changes all that follows in its buckets.

The evidence on a capture follows from the captures it is compared with: the arms of its crosses, the first captures of
the URLs in its pool, and its snapshots. Whatever has the same ones as before is not compared again.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, crosses, moments, pools, sites
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.occurrence_bits import annotate
from dbce_spark.dbce.pools import Pool
from dbce_spark.model import BucketCross, IndexedCapture, Member, Neighbour


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedCaptures:
    """Captures of a grown site whose comparison may give something else now, with their crosses and their pools."""

    affected: set[str]
    crosses: list[BucketCross]
    siblings: list[Pool]
    snapshots: list[Pool]
    sizes: BucketSizes

    @property
    def needed(self) -> set[str]:
        """Collect the captures whose words are compared, or whose blocks are evidence in a pool."""
        arms = {arm for one in self.crosses for arm in one.cross.arms if arm}
        return arms.union(*(members for members, _ in [*self.siblings, *self.snapshots]))


def affected_captures(
    indexed: Sequence[IndexedCapture], new: Collection[str], again: Collection[str], config: DbceConfig
) -> AffectedCaptures:
    """Find what is to be compared in a site, of all its captures, prior and new ones.

    `new` and `again` are ids: of new captures, and of prior ones that were fetched again and so are written again,
    whatever the evidence on them.
    """
    before = _Site([one for one in indexed if one.capture_id not in new], config)
    now = _Site(indexed, config)
    suspects = _suspects(before, now, new)
    current, prior = _Neighbourhood(now, suspects.union(again)), _Neighbourhood(before, suspects.difference(new))
    changed = {
        suspect for suspect in suspects if suspect in new or current.neighbours(suspect) != prior.neighbours(suspect)
    }
    affected = changed.union(again)
    return AffectedCaptures(
        affected=affected,
        crosses=[cross for cross in current.crosses if cross.cross.cur in affected],
        siblings=[*current.sibling_pools(affected)],
        snapshots=[*_snapshot_pools(now.snapshots, affected)],
        sizes=buckets.sizes(now.buckets, config.bucket.cap),
    )


def compare_affected(
    affected: AffectedCaptures, needed: Sequence[Neighbour], config: DbceConfig
) -> sites.SiteComparison:
    """Compare the affected captures of a site with those that they need, of which each is given."""
    tokens = {one.member.capture_id: one.tokens for one in needed if one.member is not None}
    return sites.SiteComparison(
        crosses=affected.crosses,
        annotations=[*annotate([one.cross for one in affected.crosses], tokens, exact_limit=config.diff.exact_limit)],
        evidence=pools.evidence_of_pools(
            affected.siblings,
            affected.snapshots,
            [one.features for one in needed if one.features is not None],
            partial(load_classifier, config.label.classifier),
        ),
        sizes=affected.sizes,
    )


class _Site:
    """The captures of a site at some time.

    `pools` are the chunks of buckets that are pools of siblings. `arms` and `snapshots` list captures of one URL, in
    order of time: those that are arms of each other, and those that are evidence on each other.
    """

    def __init__(self, indexed: Sequence[IndexedCapture], config: DbceConfig):
        self.config = config
        in_pools = [one for one in indexed if one.has_features]
        self.buckets, pool_buckets = (
            buckets.group_by_bucket(capture.member for capture in captures if capture.member is not None)
            for captures in (indexed, in_pools)
        )
        self.pools = pools.chunks(pool_buckets, config.bucket.cap)
        self.arms = [*pools.snapshot_sequences(one for one in indexed if one.member is not None)]
        self.snapshots = [*pools.snapshot_sequences(in_pools)]


def _suspects(before: _Site, now: _Site, new: Collection[str]) -> set[str]:
    """List the new captures, those in chunks that were not there before, and those near new ones of their URL."""
    found = {*new}
    cap = now.config.bucket.cap
    of_crosses = pools.chunks(now.buckets, cap), pools.chunks(before.buckets, cap)
    for chunks, prior in (of_crosses, (now.pools, before.pools)):
        for key, chunk in chunks.items():
            ids = _ids(chunk)
            if ids != _ids(prior.get(key, ())):
                found.update(ids)
    for sequence in [*now.arms, *now.snapshots]:
        for stretch in moments.near(sequence, new):
            found.update(_ids(stretch))
    return found


class _Neighbourhood:
    """The captures that some captures of a site are compared with, by ids alone."""

    def __init__(self, site: _Site, wanted: Collection[str]):
        self.crosses = sites.choose_crosses_of(site.buckets, wanted, site.config)
        self._pools = [(_first_of_urls(chunk), ids) for chunk, ids in pools.home_pools(site.pools, wanted)]
        self._crosses = {cur: [*of_cur] for cur, of_cur in groupby(self.crosses, lambda one: one.cross.cur)}
        self._siblings = {capture_id: first for first, ids in self._pools for capture_id in ids}
        self._snapshots = {
            one.capture_id: ids  # one list for all of a moment, however many
            for sequence in site.snapshots
            for moment, others in moments.snapshots(sequence)
            if (ids := _ids(others))
            for one in moment
            if one.capture_id in wanted
        }

    def neighbours(self, capture_id: str) -> tuple[object, ...]:
        """List a capture's crosses, template, and the siblings and snapshots that are evidence on it."""
        found = self._crosses.get(capture_id, [])
        return (
            [one.cross for one in found],
            crosses.template_id(found),
            self._siblings.get(capture_id),
            self._snapshots.get(capture_id),
        )

    def sibling_pools(self, wanted: Collection[str]) -> Iterator[Pool]:
        """Iterate over the pools of siblings of the wanted captures among these."""
        for first, ids in self._pools:
            chosen = [capture_id for capture_id in ids if capture_id in wanted]
            if chosen:
                yield [*dict.fromkeys([*first, *chosen])], chosen


def _first_of_urls(chunk: Sequence[Member]) -> list[str]:
    """List each URL's first capture id, in the order of the chunk."""
    first: dict[str, str] = {}
    for one in chunk:
        first.setdefault(one.url_key, one.capture_id)
    return [*first.values()]


def _ids(captures: Sequence[Member | IndexedCapture]) -> list[str]:
    return [capture.capture_id for capture in captures]


def _snapshot_pools(sequences: Sequence[Sequence[IndexedCapture]], wanted: Collection[str]) -> Iterator[Pool]:
    """Iterate over the stretches of each URL's captures, in order of time, that are wanted or evidence on those."""
    for sequence in sequences:
        for stretch in moments.near(sequence, wanted):
            ids = _ids(stretch)
            yield ids, [one for one in ids if one in wanted]
