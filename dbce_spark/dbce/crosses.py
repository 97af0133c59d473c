"""Crosses: a capture with its most similar siblings and its nearest snapshots (thesis 2.3, figure 2.6).

They are built from ids and signatures alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.buckets import BucketKey
from dbce_spark.model import Adjacent, BucketCross, Cross, Indexes, Member, Signature, by_time, digest

Counts = npt.NDArray[np.int16]

_CACHED = 1 << 18
"""Comparisons, a byte each, that are held at once."""


def adjacent(members: Iterable[Member], wanted: Collection[str]) -> dict[str, Adjacent]:
    """Find the nearest captures of the same URL, in order of (time, id), of each wanted capture, by its id.

    `members` are all captures of their sites.
    """
    found: dict[str, Adjacent] = {}
    ordered = sorted(members, key=lambda one: (one.site, one.url_key, *by_time(one)))
    for _, of_url in groupby(ordered, key=lambda one: (one.site, one.url_key)):
        line = [*of_url]
        for before, one, after in zip([None, *line], line, [*line[1:], None], strict=False):
            if one.capture_id not in wanted:
                continue
            found[one.capture_id] = Adjacent(
                prev=before.capture_id if before else "",
                next=after.capture_id if after else "",
                prev_similarity=similarity(one.signature, before.signature) if before else 0.0,
                next_similarity=similarity(one.signature, after.signature) if after else 0.0,
            )
    return found


def similarity(one: Signature, other: Signature) -> float:
    """Compute the share of rows that two signatures have in common."""
    return int(np.count_nonzero(one == other)) / len(one)


def build(chunk: Sequence[Member], adjacent: Mapping[str, Adjacent]) -> list[Cross]:
    """Build the crosses of one chunk of a bucket, in order of (URL key, time, id): of each capture that is a key of
    `adjacent` and has a sibling in the chunk.

    `up` and `down` are the two most similar captures of other URLs, `down`'s being another than `up`'s where there is
    one; of equally similar ones the lower id comes first. `prev` and `next` are the nearest captures of the same URL,
    whatever buckets they are in.
    """
    if len({member.url_key for member in chunk}) < 2:  # most buckets are of one page
        return []
    members = sorted(chunk, key=lambda member: (member.url_key, *by_time(member)))
    curs = np.array([at for at, member in enumerate(members) if member.capture_id in adjacent], np.intp)
    signatures = np.stack([member.signature for member in members])
    ups, downs, up_counts, down_counts = _nearest(signatures, _url_numbers(members), curs, _by_id(members))
    rows = signatures.shape[1]
    crosses = []
    # Lists, since a number out of an array takes longer than all that is done with it.
    columns = (curs, ups, downs, up_counts / rows, down_counts / rows)
    for cur, up, down, up_similarity, down_similarity in zip(*(column.tolist() for column in columns), strict=True):
        beside = adjacent[members[cur].capture_id]
        crosses.append(
            Cross(
                cur=members[cur].capture_id,
                up=members[up].capture_id,
                down=members[down].capture_id if down >= 0 else "",
                prev=beside.prev,
                next=beside.next,
                up_similarity=up_similarity,
                down_similarity=down_similarity,
                prev_similarity=beside.prev_similarity,
                next_similarity=beside.next_similarity,
            )
        )
    return crosses


def of_siblings(cur: str, siblings: Sequence[str]) -> Cross:
    """Build a cross of a capture and the first two of some chosen siblings, by ids. Its similarities are 0."""
    up, down = [*siblings, "", ""][:2]
    return Cross(
        cur=cur, up=up, down=down, prev="", next="",
        up_similarity=0.0, down_similarity=0.0, prev_similarity=0.0, next_similarity=0.0,
    )  # fmt: skip


def bucket_id(bucket: BucketKey) -> str:
    """Return the id of a bucket."""
    return digest(bucket.site, str(bucket.band), str(bucket.key))


def find(
    bucket: BucketKey, chunk: Sequence[Member], number: int, adjacent: Mapping[str, Adjacent]
) -> Iterator[BucketCross]:
    """Iterate over the crosses of one chunk of a bucket, which are annotated together."""
    named, urls = bucket_id(bucket), len({member.url_key for member in chunk})
    for cross in build(chunk, adjacent):
        yield BucketCross(cross=cross, bucket_id=named, bucket_urls=urls, group=f"{named}-{number}")


def select(found: Iterable[BucketCross], *, per_capture: int) -> list[BucketCross]:
    """Select at most `per_capture` crosses of each capture: the fullest, then the most similar, then the lowest id.

    A cross that several buckets found counts once, as found in that of most URLs (of several the lowest id).
    """
    unique: dict[tuple[str, ...], BucketCross] = {}
    for one in found:
        other = unique.setdefault(one.cross.arms, one)
        if (-one.bucket_urls, one.bucket_id) < (-other.bucket_urls, other.bucket_id):
            unique[one.cross.arms] = one
    ranked = sorted(unique.values(), key=lambda one: (one.cross.cur, *_rank(one.cross)))
    return [one for _, of_one in groupby(ranked, lambda one: one.cross.cur) for one in list(of_one)[:per_capture]]


def _rank(cross: Cross) -> tuple[int, float, str]:
    return -cross.bits.bit_count(), -(cross.up_similarity + cross.down_similarity), cross.cross_id


def template_id(found: Iterable[BucketCross]) -> str:
    """Name a capture's template: the bucket with the most URLs among those of its crosses, "" without one.

    Not of most captures: with each crawl of the same pages another bucket would have these.
    """
    return min(((-one.bucket_urls, one.bucket_id) for one in found), default=(0, ""))[1]


def _by_id(members: Sequence[Member]) -> Indexes:
    """Order the members by id, so that the first of equally similar ones is the one with the lower id."""
    return np.array(sorted(range(len(members)), key=lambda at: members[at].capture_id), np.intp)


def _url_numbers(members: Sequence[Member]) -> Indexes:
    """Number the URL keys of members that are sorted by them, equal numbers for equal keys."""
    keys = [member.url_key for member in members]
    changes = [before != after for before, after in pairwise(keys)]
    return np.cumsum([False, *changes]).astype(np.intp)


def _nearest(
    signatures: Signature, urls: Indexes, curs: Indexes, candidates: Indexes
) -> tuple[Indexes, Indexes, Counts, Counts]:
    """Find the indexes of the `up` and `down` of each of `curs`, and how many rows each shares with it. -1 is
    no `down`; there always is an `up`, since the members are of several URLs."""
    counts = _equal_row_counts(signatures[curs], signatures[candidates])
    candidate_urls = urls[candidates]
    counts[urls[curs][:, None] == candidate_urls[None, :]] = -1
    ups, up_counts = _best(counts)
    rows = np.arange(len(curs))
    of_third_urls = np.where(candidate_urls[None, :] == candidate_urls[ups][:, None], np.int16(-1), counts)
    downs, down_counts = _best(of_third_urls)
    counts[rows, ups] = -1
    second, second_counts = _best(counts)
    lacks_third = down_counts < 0
    downs, down_counts = np.where(lacks_third, second, downs), np.where(lacks_third, second_counts, down_counts)
    downs = np.where(down_counts >= 0, candidates[downs], -1)
    return candidates[ups], downs, up_counts, np.maximum(down_counts, 0)


def _best(counts: Counts) -> tuple[Indexes, Counts]:
    best = counts.argmax(axis=1)
    return best, counts[np.arange(len(counts)), best]


def _equal_row_counts(signatures: Signature, others: Signature) -> Counts:
    """Count the rows that each signature shares with each other one: shape (signatures, others)."""
    rows, other_rows = np.ascontiguousarray(signatures.T), np.ascontiguousarray(others.T)
    counts = np.zeros((len(signatures), len(others)), np.int16)
    # So many rows at once that a step fits in the processor's cache, and a small bucket is done in one;
    # bytes add fastest.
    step = max(1, min(255, _CACHED // max(1, counts.size)))
    for start in range(0, len(rows), step):
        equal = rows[start : start + step, :, None] == other_rows[start : start + step, None, :]
        counts += np.add.reduce(equal.view(np.uint8), axis=0, dtype=np.uint8)
    return counts
