"""Pools: the pages that are evidence on a page. Its siblings in one chunk of its home bucket, and its own snapshots.

Crosses hold the most similar pages; a pool shows what is the same in many pages at once.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from dbce_spark.dbce import buckets
from dbce_spark.dbce.buckets import BucketKey
from dbce_spark.model import Codes, Evidence, IndexedCapture, Member, Page, PageFeatures, by_time

Captured = TypeVar("Captured", PageFeatures, IndexedCapture)
ChunkKey = tuple[BucketKey, int]
"""A bucket, and the number of a chunk of it."""
Pool = tuple[list[str], list[str]]
"""Capture ids: the members of a pool, and those of them that its evidence is wanted on."""


class EvidenceModel(Protocol):
    """The classifier, as far as it reads the evidence of pools. Codes are (features, blocks)."""

    def of_siblings(self, captures: Sequence[PageFeatures], wanted: Collection[str]) -> Mapping[str, Codes]:
        """Compute the evidence of siblings on the wanted captures, by capture id. One without a sibling is left out.

        Of a URL with several captures only the first, in order of (time, id), is evidence on others."""

    def of_snapshots(self, captures: Sequence[PageFeatures]) -> Mapping[str, Codes]:
        """Compute the evidence of one URL's captures, in order of (time, id), on each other, by capture id.

        On each it is that of the captures of the nearest moments (`moments.snapshots`), and of no other."""


def evidence(pages: Iterable[Page], cap: int, load_model: Callable[[], EvidenceModel]) -> dict[str, Evidence]:
    """Compute the evidence of some pages on each other, by capture id.

    A page without features gives none and gets none. `load_model` is called only where there is a pool.
    """
    with_features = [page for page in pages if page.features is not None]
    found = pool_evidence(
        buckets.members(with_features), [page_features(page) for page in with_features], cap, load_model
    )
    return {page.capture_id: found.on(page) for page in with_features}


@dataclass(frozen=True, slots=True)
class PoolEvidence:
    """The evidence of pools on the captures that have any, by their ids."""

    by_siblings: dict[str, Codes]
    by_snapshots: dict[str, Codes]

    def on(self, page: Page) -> Evidence:
        """Return the evidence on a page."""
        return page_evidence(page, self.by_siblings.get(page.capture_id), self.by_snapshots.get(page.capture_id))


def pool_evidence(
    members: Iterable[Member],
    captures: Sequence[PageFeatures],
    cap: int,
    load_model: Callable[[], EvidenceModel],
) -> PoolEvidence:
    """Compute the evidence of some captures on each other; each member is one of them."""
    snapshots = ([one.capture_id for one in sequence] for sequence in snapshot_sequences(captures))
    return evidence_of_pools(sibling_pools(members, cap), ((ids, ids) for ids in snapshots), captures, load_model)


def evidence_of_pools(
    siblings: Iterable[Pool],
    snapshots: Iterable[Pool],
    captures: Iterable[PageFeatures],
    load_model: Callable[[], EvidenceModel],
) -> PoolEvidence:
    """Compute the evidence of some pools; each of their members is one of the captures."""
    by_id = {capture.capture_id: capture for capture in captures}

    def in_time(ids: Sequence[str]) -> list[PageFeatures]:
        return sorted((by_id[one] for one in ids), key=by_time)

    found = PoolEvidence({}, {})
    for ids, wanted in siblings:
        found.by_siblings.update(load_model().of_siblings(in_time(ids), wanted))
    for ids, wanted in snapshots:
        of_all = load_model().of_snapshots(in_time(ids))
        found.by_snapshots.update((one, of_all[one]) for one in wanted if one in of_all)
    return found


def page_evidence(page: Page, siblings: Codes | None = None, snapshots: Codes | None = None) -> Evidence:
    """Build the evidence on a page, with an empty array where there is none."""
    nothing = np.empty((0, len(page.blocks)), np.uint8)
    return Evidence(
        siblings=nothing if siblings is None else siblings, snapshots=nothing if snapshots is None else snapshots
    )


def page_features(page: Page) -> PageFeatures:
    """Reduce a page that has features to what the evidence on other pages needs."""
    assert page.features is not None
    return PageFeatures(
        capture_id=page.capture_id,
        url_key=page.capture.url_key,
        timestamp=page.capture.timestamp,
        words=page.blocks.words,
        link_words=page.blocks.link_words,
        first_scores=page.features.first_scores,
        keys=page.features.keys,
    )


def sibling_pools(members: Iterable[Member], cap: int, among: Collection[str] | None = None) -> Iterator[Pool]:
    """Iterate over the pools of some captures: of each chunk the ids of all, and of those whose home bucket it is.

    `among`: the captures that evidence is wanted on; None: all. Every member of a chunk is evidence in it, also one
    whose home bucket is another.
    """
    for chunk, wanted in home_pools(chunks(buckets.group_by_bucket(members), cap), among):
        yield [member.capture_id for member in chunk], wanted


def home_pools(
    chunk_members: Mapping[ChunkKey, Sequence[Member]], among: Collection[str] | None = None
) -> Iterator[tuple[Sequence[Member], list[str]]]:
    """Iterate over the chunks, of all those of their sites, that are the home bucket of wanted captures, and these.

    `among`: the captures that evidence is wanted on, by id; None: all.
    """
    homes = home_buckets(chunk_members)
    for key, chunk in chunk_members.items():
        wanted = [
            member.capture_id
            for member in chunk
            if homes.get(member.capture_id) == key and (among is None or member.capture_id in among)
        ]
        if wanted:
            yield chunk, wanted


def chunks(bucket_members: Mapping[BucketKey, Sequence[Member]], cap: int) -> dict[ChunkKey, list[Member]]:
    """Cut some buckets into chunks."""
    return {
        (bucket, number): chunk
        for bucket, members in bucket_members.items()
        for number, chunk in enumerate(buckets.chunks(members, cap))
    }


def home_buckets(chunk_members: Mapping[ChunkKey, Sequence[Member]]) -> dict[str, ChunkKey]:
    """Choose each capture's home bucket, by capture id: of its chunks of two URLs and more, that of most URLs.

    Of several with as many that of the lowest band, so that pages of one template, which share all their buckets, have
    the same one.
    """
    urls = {key: len({member.url_key for member in chunk}) for key, chunk in chunk_members.items()}
    homes: dict[str, ChunkKey] = {}
    for key in sorted(urls, key=lambda key: (-urls[key], key[0].band)):
        if urls[key] > 1:
            for member in chunk_members[key]:
                homes.setdefault(member.capture_id, key)
    return homes


def snapshot_sequences(captures: Iterable[Captured]) -> Iterator[list[Captured]]:
    """Iterate over the captures of each URL that has two and more, in order of (time, id)."""
    by_url: dict[str, list[Captured]] = defaultdict(list)
    for one in captures:
        by_url[one.url_key].append(one)
    for of_url in by_url.values():
        if len(of_url) > 1:
            yield sorted(of_url, key=by_time)
