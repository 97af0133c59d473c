"""Buckets: the captures of one site that share a band key, cut into chunks where they are too many (thesis 2.4)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dbce_spark.model import Member, Page, by_time


class BucketKey(NamedTuple):
    """The key of a bucket: what its captures have in common."""

    site: str
    band: int
    key: int


@dataclass(frozen=True, slots=True)
class BucketSizes:
    """The largest bucket in captures, and how many buckets were cut into chunks."""

    largest: int = 0
    capped: int = 0

    def __add__(self, other: "BucketSizes") -> "BucketSizes":
        return BucketSizes(max(self.largest, other.largest), self.capped + other.capped)


def members(pages: Iterable[Page]) -> Iterator[Member]:
    """Iterate over the bucket members among some pages; those without a signature are none."""
    return (one for one in map(member, pages) if one is not None)


def member(page: Page) -> Member | None:
    """Reduce a page to its ids and signature; None without a signature."""
    if page.signature is None:
        return None
    return Member(
        capture_id=page.capture_id,
        site=page.capture.site,
        url_key=page.capture.url_key,
        timestamp=page.capture.timestamp,
        signature=page.signature,
        bands=page.bands,
    )


def group_by_bucket(members: Iterable[Member]) -> dict[BucketKey, list[Member]]:
    """Group captures by each bucket that they are in."""
    buckets: dict[BucketKey, list[Member]] = defaultdict(list)
    for one in members:
        for band, key in enumerate(one.bands.view(np.int64).tolist()):  # signed, as Spark's integers are
            buckets[BucketKey(one.site, band, key)].append(one)
    return buckets


def sizes(buckets: Mapping[BucketKey, Sequence[Member]], cap: int) -> BucketSizes:
    """Measure the largest of some buckets, and count those that are cut. A capture that shares a bucket with no other
    is in none."""
    counts = [len(captures) for captures in buckets.values() if len(captures) > 1]
    return BucketSizes(max(counts, default=0), sum(last_chunk(count, cap) > 0 for count in counts))


def chunks(bucket: Iterable[Member], cap: int) -> list[list[Member]]:
    """Cut a bucket, in order of time, into chunks of `cap` captures, which are compared with each other.

    A rest of less than half of that joins the last chunk, so that no capture is left with hardly any to compare with.
    When later captures come into a bucket, only the end of it changes.
    """
    ordered = sorted(bucket, key=by_time)
    starts = [number * cap for number in range(last_chunk(len(ordered), cap) + 1)]
    return [ordered[start:end] for start, end in zip(starts, [*starts[1:], len(ordered)], strict=True)]


def last_chunk(size: int, cap: int) -> int:
    """Return the number, from 0 on, of the last chunk of a bucket of `size` captures."""
    return max(0, (2 * size + cap) // (2 * cap) - 1)
