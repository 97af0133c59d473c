"""Buckets: the captures of one site that share a band key, cut into parts where they are too many (thesis 2.4)."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import xxhash

from dbce_spark.model import Member, Page


class BucketKey(NamedTuple):
    """What the captures of a bucket have in common."""

    site: str
    band: int
    key: int


def members_of(pages: Iterable[Page]) -> dict[BucketKey, list[Member]]:
    """All buckets of some pages. A page without a signature is in none."""
    buckets: dict[BucketKey, list[Member]] = defaultdict(list)
    for page in pages:
        if page.signature is None:
            continue
        member = Member(
            capture_id=page.capture_id,
            url_key=page.capture.url_key,
            timestamp=page.capture.timestamp,
            signature=page.signature,
        )
        for band, key in enumerate(page.bands.view(np.int64).tolist()):  # signed, as Spark's integers are
            buckets[BucketKey(page.capture.site, band, key)].append(member)
    return buckets


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
