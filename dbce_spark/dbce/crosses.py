"""Crosses: a capture with its most similar siblings and its nearest snapshots (thesis 2.3, figure 2.6).

They are built from ids and signatures alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.buckets import BucketKey
from dbce_spark.model import Cross, Found, Member, Signature, digest

Counts = npt.NDArray[np.int16]
Indexes = npt.NDArray[np.intp]

_CACHED = 1 << 18
"""Comparisons, a byte each, that are held at once."""


def build(part: Sequence[Member], *, cap: int) -> list[Cross]:
    """The crosses of all captures of one part of a bucket that have a sibling in it, in order of (URL key, time, id).

    `up` and `down` are the two most similar captures of other URLs, `down`'s being another than `up`'s where there is
    one; of equally similar ones the lower id comes first. `prev` and `next` are the nearest captures of the same URL.
    At most `cap` captures are looked at as siblings, so that the work grows with the part, not with its square.
    """
    if len({member.url_key for member in part}) < 2:  # most buckets are of one page
        return []
    members = sorted(part, key=lambda member: (member.url_key, member.timestamp, member.capture_id))
    candidates = _candidates(members, cap)
    signatures = np.stack([member.signature for member in members])
    urls = _url_numbers(members)
    ups, downs, up_counts, down_counts = _nearest(signatures, urls, candidates)
    crosses = []
    for at, member in enumerate(members):
        if ups[at] < 0:
            continue
        before = at - 1 if at > 0 and urls[at - 1] == urls[at] else -1
        after = at + 1 if at + 1 < len(members) and urls[at + 1] == urls[at] else -1
        ids = [members[arm].capture_id if arm >= 0 else "" for arm in (ups[at], downs[at], before, after)]
        share = 1 / signatures.shape[1]
        crosses.append(
            Cross(
                cur=member.capture_id,
                up=ids[0],
                down=ids[1],
                prev=ids[2],
                next=ids[3],
                up_similarity=up_counts[at] * share,
                down_similarity=down_counts[at] * share,
                prev_similarity=_equal_rows(signatures, at, before) * share,
                next_similarity=_equal_rows(signatures, at, after) * share,
            )
        )
    return crosses


def of_siblings(cur: str, siblings: Sequence[str]) -> Cross:
    """A cross of a capture and the first two of some chosen siblings, by ids. How similar they are is not told."""
    up, down = [*siblings, "", ""][:2]
    return Cross(
        cur=cur, up=up, down=down, prev="", next="",
        up_similarity=0.0, down_similarity=0.0, prev_similarity=0.0, next_similarity=0.0,
    )  # fmt: skip


def bucket_id(bucket: BucketKey) -> str:
    return digest(bucket.site, str(bucket.band), str(bucket.key))


def find(bucket: BucketKey, members: Sequence[Member], *, bucket_size: int, part: int, cap: int) -> Iterator[Found]:
    """The crosses of one part of a bucket, in groups of at most `cap` that are annotated together."""
    named = bucket_id(bucket)
    for at, cross in enumerate(build(members, cap=cap)):
        yield Found(
            cross=cross,
            bucket_id=named,
            bucket_size=bucket_size,
            group=f"{named}-{part}-{at // cap}",
        )


def select(found: Iterable[Found], *, per_capture: int) -> list[Found]:
    """At most `per_capture` different crosses of each capture: the fullest, then the most similar, then the lowest id.

    A cross that several buckets found counts once, as found in the largest of them (of equal ones, the lowest id).
    """
    unique: dict[str, Found] = {}
    for one in sorted(found, key=lambda one: (-one.bucket_size, one.bucket_id)):
        unique.setdefault(one.cross.cross_id, one)
    ranked = sorted(unique.values(), key=lambda one: (one.cross.cur, *_rank(one.cross)))
    return [one for _, of_one in groupby(ranked, lambda one: one.cross.cur) for one in list(of_one)[:per_capture]]


def _rank(cross: Cross) -> tuple[int, float, str]:
    return -cross.bits.bit_count(), -(cross.up_similarity + cross.down_similarity), cross.cross_id


def template_id(found: Iterable[Found]) -> str:
    """What stands for a capture's template: the largest bucket one of its crosses was found in, "" without one."""
    return min(((-one.bucket_size, one.bucket_id) for one in found), default=(0, ""))[1]


def _candidates(members: Sequence[Member], cap: int) -> Indexes:
    """Whom a capture may get as sibling: all, or in a part over `cap` each URL's first capture before any second one.

    In order of their ids, so that the first of equally similar ones is the one with the lower id.
    """
    nth_of_url = [nth for _, of_url in groupby(members, lambda member: member.url_key) for nth, _ in enumerate(of_url)]
    order = sorted(range(len(members)), key=lambda at: (nth_of_url[at], members[at].capture_id))[:cap]
    return np.array(sorted(order, key=lambda at: members[at].capture_id), np.intp)


def _url_numbers(members: Sequence[Member]) -> Indexes:
    """A number for each URL key, equal for equal ones. The members are sorted by it."""
    keys = [member.url_key for member in members]
    changes = [before != after for before, after in pairwise(keys)]
    return np.cumsum([False, *changes]).astype(np.intp)


def _nearest(signatures: Signature, urls: Indexes, candidates: Indexes) -> tuple[Indexes, Indexes, Counts, Counts]:
    """For each member the indexes of its `up` and `down` (-1: none) and how many signature rows they share with it."""
    if not len(candidates):
        nothing, none = np.full(len(urls), -1, np.intp), np.zeros(len(urls), np.int16)
        return nothing, nothing, none, none
    counts = _equal_row_counts(signatures, signatures[candidates])
    candidate_urls = urls[candidates]
    counts[urls[:, None] == candidate_urls[None, :]] = -1
    ups, up_counts = _best(counts)
    rows = np.arange(len(urls))
    of_third_urls = np.where(candidate_urls[None, :] == candidate_urls[ups][:, None], np.int16(-1), counts)
    downs, down_counts = _best(of_third_urls)
    counts[rows, ups] = -1
    second, second_counts = _best(counts)
    lacks_third = down_counts < 0
    downs, down_counts = np.where(lacks_third, second, downs), np.where(lacks_third, second_counts, down_counts)
    ups, downs = np.where(up_counts >= 0, candidates[ups], -1), np.where(down_counts >= 0, candidates[downs], -1)
    return ups, downs, np.maximum(up_counts, 0), np.maximum(down_counts, 0)


def _best(counts: Counts) -> tuple[Indexes, Counts]:
    best = counts.argmax(axis=1)
    return best, counts[np.arange(len(counts)), best]


def _equal_row_counts(signatures: Signature, others: Signature) -> Counts:
    """How many rows each signature shares with each other one: shape (signatures, others)."""
    rows, other_rows = np.ascontiguousarray(signatures.T), np.ascontiguousarray(others.T)
    counts = np.zeros((len(signatures), len(others)), np.int16)
    # So many rows at once that a step fits in the processor's cache, and a small bucket is done in one;
    # bytes add fastest.
    step = max(1, min(255, _CACHED // max(1, counts.size)))
    for start in range(0, len(rows), step):
        equal = rows[start : start + step, :, None] == other_rows[start : start + step, None, :]
        counts += np.add.reduce(equal.view(np.uint8), axis=0, dtype=np.uint8)
    return counts


def _equal_rows(signatures: Signature, at: int, other: int) -> int:
    return int(np.count_nonzero(signatures[at] == signatures[other])) if other >= 0 else 0
