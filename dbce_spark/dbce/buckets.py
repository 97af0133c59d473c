"""Buckets: the captures of one site that share a band key, cut into parts where they are too many (thesis 2.4)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xxhash

from dbce_spark.model import Member, Page


class BucketKey(NamedTuple):
    """What the captures of a bucket have in common."""

    site: str
    band: int
    key: int


@dataclass(frozen=True, slots=True)
class BucketSizes:
    """The largest bucket in captures, and how many buckets were cut into parts."""

    largest: int = 0
    capped: int = 0

    def __add__(self, other: "BucketSizes") -> "BucketSizes":
        return BucketSizes(max(self.largest, other.largest), self.capped + other.capped)


def members(pages: Iterable[Page]) -> Iterator[Member]:
    """Some pages as buckets know them; those without a signature are in none."""
    return (one for one in map(member, pages) if one is not None)


def member(page: Page) -> Member | None:
    """A page as a bucket knows it; None without a signature."""
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


def members_of(members: Iterable[Member]) -> dict[BucketKey, list[Member]]:
    """All buckets that some captures are in, and who is in each."""
    buckets: dict[BucketKey, list[Member]] = defaultdict(list)
    for one in members:
        for band, key in enumerate(one.bands.view(np.int64).tolist()):  # signed, as Spark's integers are
            buckets[BucketKey(one.site, band, key)].append(one)
    return buckets


def sizes(buckets: Mapping[BucketKey, Sequence[Member]], cap: int) -> BucketSizes:
    """How large some buckets are."""
    counts = [len(some) for some in buckets.values()]
    return BucketSizes(max(counts, default=0), sum(count > cap for count in counts))


def parts(bucket: Iterable[Member], cap: int) -> dict[int, list[Member]]:
    """A bucket as it is compared: whole if it holds at most `cap`, else cut by URL key into parts of about that size.

    All captures of a URL are in the same part, so a part can still be larger; `crosses.build` bounds the work in it.
    """
    members = list(bucket)
    bits = part_bits(len(members), cap)
    cut: dict[int, list[Member]] = defaultdict(list)
    for member in members:
        cut[part_of(url_hash(member.url_key), bits)].append(member)
    return cut


def part_bits(size: int, cap: int) -> int:
    """How many leading bits of the URL hash cut a bucket of `size` into parts of at most `cap`, were they even."""
    return ((size - 1) // cap).bit_length()


def part_of(hashed_url: int, bits: int) -> int:
    return hashed_url >> (64 - bits)


def url_hash(url_key: str) -> int:
    """64 bits of a URL key.

    Its leading bits, not a rank, choose the part: so a page more or less elsewhere moves nothing.
    """
    return xxhash.xxh3_64_intdigest(url_key.encode("utf-8", "surrogatepass"))
