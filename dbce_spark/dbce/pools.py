"""Pools: beside whom a page is judged. Its siblings in one run of one bucket, its home, and its own snapshots.

Crosses ask who is most similar; a pool asks many pages at once what is the same in all of them.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from dbce_spark.dbce import buckets
from dbce_spark.dbce.buckets import BucketKey
from dbce_spark.model import Codes, Evidence, IndexedCapture, Member, Page, PageFeatures

Captured = TypeVar("Captured", PageFeatures, IndexedCapture)
ChunkKey = tuple[BucketKey, int]
"""A bucket, and the number of a run of it."""


class EvidenceModel(Protocol):
    """Who says what the other pages of a pool mean for each: the classifier. Codes are (features, blocks)."""

    def of_siblings(self, witnesses: Sequence[PageFeatures], wanted: Collection[str]) -> Mapping[str, Codes]:
        """What siblings say of the wanted captures, by capture id. One without a sibling is left out.

        Of a URL with several captures the first, in order of (time, id), speaks for all."""

    def of_snapshots(self, witnesses: Sequence[PageFeatures]) -> Mapping[str, Codes]:
        """What captures of one URL, in order of (time, id), say of each other, by capture id.

        Each hears the nearest `evidence.NEAREST` on either side, and no other."""


def evidence(pages: Iterable[Page], cap: int, judge: Callable[[], EvidenceModel]) -> dict[str, Evidence]:
    """What other pages say of each of some pages, by capture id.

    A page without traits says nothing and hears nothing. `judge` is asked for only where there is something to judge.
    """
    looked_at = [page for page in pages if page.traits is not None]
    said = pool_evidence(buckets.members(looked_at), [page_features(page) for page in looked_at], cap, judge)
    return {
        page.capture_id: page_evidence(
            page, said.by_siblings.get(page.capture_id), said.by_snapshots.get(page.capture_id)
        )
        for page in looked_at
    }


@dataclass(frozen=True, slots=True)
class PoolEvidence:
    """What the pools said of each capture of which they said something, by its id."""

    by_siblings: dict[str, Codes]
    by_snapshots: dict[str, Codes]


def pool_evidence(
    members: Iterable[Member], witnesses: Sequence[PageFeatures], cap: int, judge: Callable[[], EvidenceModel]
) -> PoolEvidence:
    """What the witnesses say of each other; each member is one of them."""
    said = PoolEvidence({}, {})
    by_id = {one.capture_id: one for one in witnesses}
    for ids, wanted in sibling_pools(members, cap):
        said.by_siblings.update(judge().of_siblings([by_id[capture_id] for capture_id in ids], wanted))
    for stretch in snapshot_sequences(witnesses):
        said.by_snapshots.update(judge().of_snapshots(stretch))
    return said


def page_evidence(page: Page, siblings: Codes | None = None, snapshots: Codes | None = None) -> Evidence:
    """The evidence on a page; an empty array where there is none."""
    nothing = np.empty((0, len(page.blocks)), np.uint8)
    return Evidence(
        siblings=nothing if siblings is None else siblings, snapshots=nothing if snapshots is None else snapshots
    )


def page_features(page: Page) -> PageFeatures:
    """A page with traits, as others see it."""
    assert page.traits is not None
    return PageFeatures(
        capture_id=page.capture_id,
        url_key=page.capture.url_key,
        timestamp=page.capture.timestamp,
        words=page.blocks.words,
        link_words=page.blocks.link_words,
        verdicts=page.traits.verdicts,
        keys=page.traits.keys,
    )


def sibling_pools(
    members: Iterable[Member], cap: int, asking: Collection[str] | None = None
) -> Iterator[tuple[list[str], list[str]]]:
    """The pools of some captures: the capture ids of its witnesses, and of those whose home it is, if they are asking;
    without it all are.

    All members of a run of a bucket are witnesses, also those whose home is elsewhere.
    """
    for run, wanted in home_pools(chunks(buckets.group_by_bucket(members), cap), asking):
        yield [member.capture_id for member in run], wanted


def home_pools(
    found: Mapping[ChunkKey, Sequence[Member]], asking: Collection[str] | None = None
) -> Iterator[tuple[Sequence[Member], list[str]]]:
    """Of some runs, all those of their sites, the ones that are the home of who is asking; and who is. Without `asking`
    everyone is."""
    home = home_buckets(found)
    for place, run in found.items():
        wanted = [
            member.capture_id
            for member in run
            if home.get(member.capture_id) == place and (asking is None or member.capture_id in asking)
        ]
        if wanted:
            yield run, wanted


def chunks(met: Mapping[BucketKey, Sequence[Member]], cap: int) -> dict[ChunkKey, list[Member]]:
    """All runs of some buckets."""
    return {
        (bucket, number): run for bucket, some in met.items() for number, run in enumerate(buckets.chunks(some, cap))
    }


def home_buckets(found: Mapping[ChunkKey, Sequence[Member]]) -> dict[str, ChunkKey]:
    """Where each capture looks for siblings, by its id: of its runs of two URLs and more, that of most URLs.

    Of several with as many that of the lowest band, so that pages of one template, who share all their buckets, meet in
    the same one.
    """
    urls = {place: len({member.url_key for member in run}) for place, run in found.items()}
    chosen: dict[str, ChunkKey] = {}
    for place in sorted(urls, key=lambda place: (-urls[place], place[0].band)):
        if urls[place] > 1:
            for member in found[place]:
                chosen.setdefault(member.capture_id, place)
    return chosen


def snapshot_sequences(captures: Iterable[Captured]) -> Iterator[list[Captured]]:
    """The captures of each URL that has two and more, in order of (time, id)."""
    of_url: dict[str, list[Captured]] = defaultdict(list)
    for one in captures:
        of_url[one.url_key].append(one)
    for some in of_url.values():
        if len(some) > 1:
            yield sorted(some, key=buckets.by_time)
