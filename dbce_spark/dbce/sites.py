"""Comparison of whole sites: crosses, annotations and evidence, between reading a page and labelling it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import buckets, crosses, pools
from dbce_spark.dbce.buckets import BucketKey, BucketSizes
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.occurrence_bits import annotate
from dbce_spark.model import Annotation, BucketCross, ComparedPage, Cross, Evidence, Member, Neighbour, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteComparison:
    """The chosen crosses of all captures with their annotations, one for each, and the evidence of the pools."""

    crosses: list[BucketCross]
    annotations: list[Annotation]
    evidence: pools.PoolEvidence
    sizes: BucketSizes


def neighbour(page: Page) -> Neighbour:
    """Reduce a page to what the comparison with other pages of its site needs."""
    return Neighbour(
        member=buckets.member(page),
        features=None if page.features is None else pools.page_features(page),
        tokens=page.blocks.tokens,
    )


def compare_site(neighbours: Sequence[Neighbour], config: DbceConfig) -> SiteComparison:
    """Compare the pages of one site with each other; all pages of the site must be among them."""
    members = [one.member for one in neighbours if one.member is not None]
    tokens = {one.member.capture_id: one.tokens for one in neighbours if one.member is not None}
    bucket_members = buckets.group_by_bucket(members)
    chosen = choose_crosses_of(bucket_members, {member.capture_id for member in members}, config)
    return SiteComparison(
        crosses=chosen,
        annotations=list(annotate([one.cross for one in chosen], tokens, exact_limit=config.diff.exact_limit)),
        evidence=pools.pool_evidence(
            (one.member for one in neighbours if one.member is not None and one.features is not None),
            [one.features for one in neighbours if one.features is not None],
            config.bucket.cap,
            partial(load_classifier, config.label.classifier),
        ),
        sizes=buckets.sizes(bucket_members, config.bucket.cap),
    )


def compare_pages(unique: Sequence[Page], config: DbceConfig) -> tuple[list[ComparedPage], BucketSizes]:
    """Compare each page with its siblings and snapshots among all of them; also measure their buckets."""
    neighbours: dict[str, list[Neighbour]] = defaultdict(list)
    for page in unique:
        neighbours[page.capture.site].append(neighbour(page))
    comparisons = {site: compare_site(of_site, config) for site, of_site in neighbours.items()}
    bucket_crosses: dict[str, list[BucketCross]] = defaultdict(list)
    annotations: dict[str, list[Annotation]] = defaultdict(list)
    for comparison in comparisons.values():
        for found, annotation in zip(comparison.crosses, comparison.annotations, strict=True):
            bucket_crosses[found.cross.cur].append(found)
            annotations[found.cross.cur].append(annotation)
    compared = [
        gather(
            page,
            annotations[page.capture_id],
            comparisons[page.capture.site].evidence.on(page),
            crosses.template_id(bucket_crosses[page.capture_id]),
        )
        for page in unique
    ]
    return compared, sum((comparison.sizes for comparison in comparisons.values()), BucketSizes())


def annotate_crosses(
    chosen: Iterable[Cross], unique: Iterable[Page], config: DbceConfig
) -> dict[str, list[Annotation]]:
    """Annotate some crosses of these pages; list the annotations by the capture id of each cross's `cur`."""
    tokens = {page.capture_id: page.blocks.tokens for page in unique}
    annotations: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in annotate(chosen, tokens, exact_limit=config.diff.exact_limit):
        annotations[annotation.cross.cur].append(annotation)
    return annotations


def gather(page: Page, annotations: Iterable[Annotation], evidence: Evidence, template_id: str) -> ComparedPage:
    """Gather what the comparison with other pages gave of a page, each annotation once."""
    by_cross = {annotation.cross.cross_id: annotation for annotation in annotations}
    ordered = tuple(by_cross[cross_id] for cross_id in sorted(by_cross))
    return ComparedPage(page=page, annotations=ordered, evidence=evidence, template_id=template_id)


def choose_crosses(members: Iterable[Member], config: DbceConfig) -> list[BucketCross]:
    """Choose the crosses in which each capture of whole sites is annotated."""
    everyone = [*members]
    return choose_crosses_of(buckets.group_by_bucket(everyone), {one.capture_id for one in everyone}, config)


def choose_crosses_of(
    bucket_members: Mapping[BucketKey, Sequence[Member]], wanted: Collection[str], config: DbceConfig
) -> list[BucketCross]:
    """Choose the crosses in which each of the wanted captures is annotated, from all buckets of their sites."""
    return crosses.select(_find(bucket_members, wanted, config.bucket.cap), per_capture=config.cross.per_capture)


def _find(
    bucket_members: Mapping[BucketKey, Sequence[Member]], wanted: Collection[str], cap: int
) -> Iterator[BucketCross]:
    """Iterate over the crosses of the wanted captures in all chunks of the buckets.

    Pages of one template share most of their buckets, and chunks of the same captures give the same crosses: of those
    only the one in the bucket of the lowest id is searched, the one that `crosses.select` would choose.
    """
    captures = {one.capture_id: one for members in bucket_members.values() for one in members}
    adjacent = crosses.adjacent(captures.values(), wanted)
    chosen: dict[tuple[str, ...], tuple[str, int, BucketKey, list[Member]]] = {}
    for bucket, members in bucket_members.items():
        for number, chunk in enumerate(buckets.chunks(members, cap)):
            if len(chunk) > 1 and any(one.capture_id in adjacent for one in chunk):
                same = tuple([one.capture_id for one in chunk])
                this = crosses.bucket_id(bucket), number, bucket, chunk
                chosen[same] = min(chosen.get(same, this), this, key=lambda one: one[0])
    for _, number, bucket, chunk in chosen.values():
        yield from crosses.find(bucket, chunk, number, adjacent)
