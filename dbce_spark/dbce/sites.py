"""What the pages of whole sites say of each other: the middle of the method, between reading a page and judging it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, classify, crosses, pools
from dbce_spark.dbce.annotate import annotate
from dbce_spark.dbce.buckets import BucketKey, BucketSizes
from dbce_spark.model import Annotation, BucketCross, Member, Neighbour, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteComparison:
    """The chosen crosses of all captures with their annotations, one for each, and what pools said."""

    found: list[BucketCross]
    annotations: list[Annotation]
    heard: pools.PoolEvidence
    sizes: BucketSizes


def neighbour(page: Page) -> Neighbour:
    """A page as those of its site meet it."""
    return Neighbour(
        member=buckets.member(page),
        witness=None if page.traits is None else pools.page_features(page),
        tokens=page.blocks.tokens,
    )


def compare_sites(neighbours: Sequence[Neighbour], config: DbceConfig) -> SiteComparison:
    """What some pages say of each other, all those of their sites being among them."""
    members = [one.member for one in neighbours if one.member is not None]
    tokens = {one.member.capture_id: one.tokens for one in neighbours if one.member is not None}
    met = buckets.group_by_bucket(members)
    found = choose_crosses_of(met, {one.capture_id for one in members}, config)
    return SiteComparison(
        found=found,
        annotations=list(annotate([one.cross for one in found], tokens, exact_limit=config.diff.exact_limit)),
        heard=pools.pool_evidence(
            (one.member for one in neighbours if one.member is not None and one.witness is not None),
            [one.witness for one in neighbours if one.witness is not None],
            config.bucket.cap,
            partial(classify.load_classifier, config.label.classifier),
        ),
        sizes=buckets.sizes(met, config.bucket.cap),
    )


def choose_crosses(members: Iterable[Member], config: DbceConfig) -> list[BucketCross]:
    """The crosses in which each of some captures is annotated."""
    known = [*members]
    return choose_crosses_of(buckets.group_by_bucket(known), {one.capture_id for one in known}, config)


def choose_crosses_of(
    met: Mapping[BucketKey, Sequence[Member]], wanted: Collection[str], config: DbceConfig
) -> list[BucketCross]:
    """The crosses in which each of the wanted captures is annotated, of all buckets that their sites have."""
    return crosses.select(_find(met, wanted, config.bucket.cap), per_capture=config.cross.per_capture)


def _find(met: Mapping[BucketKey, Sequence[Member]], wanted: Collection[str], cap: int) -> Iterator[BucketCross]:
    """The crosses of the wanted captures that some buckets find.

    Pages of one template share most of their buckets, and runs of the same captures find the same crosses: of those
    only the one in the bucket of the lowest id is asked, the one that `crosses.select` would choose.
    """
    members = {one.capture_id: one for some in met.values() for one in some}
    adjacent = crosses.adjacent(members.values(), wanted)
    asked: dict[tuple[str, ...], tuple[str, int, BucketKey, list[Member]]] = {}
    for bucket, all_of_it in met.items():
        for number, run in enumerate(buckets.chunks(all_of_it, cap)):
            if len(run) > 1 and any(one.capture_id in adjacent for one in run):
                same = tuple([one.capture_id for one in run])
                this = crosses.bucket_id(bucket), number, bucket, run
                asked[same] = min(asked.get(same, this), this, key=lambda one: one[0])
    for _, number, bucket, run in asked.values():
        yield from crosses.find(bucket, run, number, adjacent)
