"""Pools: beside whom a page is judged. Its siblings in one bucket, its home, and its own snapshots.

Crosses ask who is most similar; a pool asks many pages at once what is the same in all of them.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol, TypeVar

import numpy as np

from dbce_spark.dbce import buckets
from dbce_spark.dbce.buckets import BucketKey
from dbce_spark.model import Codes, Evidence, Member, Page, Witness

_One = TypeVar("_One", str, Witness)


class Judge(Protocol):
    """Who says what the other pages of a pool mean for each: the classifier. Codes are (features, blocks)."""

    def of_siblings(self, witnesses: Sequence[Witness], wanted: Collection[str]) -> Mapping[str, Codes]:
        """What siblings say of the wanted captures, by capture id. One without a sibling is left out."""

    def of_snapshots(self, witnesses: Sequence[Witness]) -> Mapping[str, Codes]:
        """What captures of one URL, in order of (time, id), say of each other, by capture id."""


def evidence(pages: Iterable[Page], cap: int, judge: Callable[[], Judge]) -> dict[str, Evidence]:
    """What other pages say of each of some pages, by capture id.

    A page without traits says nothing and hears nothing. `judge` is asked for only where there is something to judge.
    """
    looked_at = [page for page in pages if page.traits is not None]
    said = heard(buckets.members(looked_at), [witness(page) for page in looked_at], cap, judge)
    return {
        page.capture_id: told(page, said.by_siblings.get(page.capture_id), said.by_snapshots.get(page.capture_id))
        for page in looked_at
    }


@dataclass(frozen=True, slots=True)
class Heard:
    """What the pools said of each capture of which they said something, by its id."""

    by_siblings: dict[str, Codes]
    by_snapshots: dict[str, Codes]


def heard(members: Iterable[Member], witnesses: Sequence[Witness], cap: int, judge: Callable[[], Judge]) -> Heard:
    """What the witnesses say of each other; each member is one of them."""
    said = Heard({}, {})
    by_id = {one.capture_id: one for one in witnesses}
    for ids, wanted in siblings(members, cap):
        said.by_siblings.update(judge().of_siblings([by_id[capture_id] for capture_id in ids], wanted))
    for stretch in snapshots(witnesses, cap):
        said.by_snapshots.update(judge().of_snapshots(stretch))
    return said


def told(page: Page, siblings: Codes | None = None, snapshots: Codes | None = None) -> Evidence:
    """The evidence on a page; an empty array where there is none."""
    nothing = np.empty((0, len(page.blocks)), np.uint8)
    return Evidence(
        siblings=nothing if siblings is None else siblings, snapshots=nothing if snapshots is None else snapshots
    )


def witness(page: Page) -> Witness:
    """A page with traits, as others see it."""
    assert page.traits is not None
    return Witness(
        capture_id=page.capture_id,
        url_key=page.capture.url_key,
        timestamp=page.capture.timestamp,
        words=page.blocks.words,
        link_words=page.blocks.link_words,
        verdicts=page.traits.verdicts,
        keys=page.traits.keys,
    )


def siblings(members: Iterable[Member], cap: int) -> Iterator[tuple[list[str], list[str]]]:
    """The pools of some captures: the capture ids of its witnesses, and of those whose home it is.

    All members of a part of a bucket are witnesses, also those whose home is elsewhere. Where they are more than `cap`,
    it comes in several sittings.
    """
    found = buckets.members_of(members)
    home = homes(found)
    for bucket, met in found.items():
        for part in buckets.parts(met, cap).values():
            wanted = {member.capture_id for member in part if home.get(member.capture_id) == bucket}
            if wanted and _urls(part) > 1:
                yield from _sittings(part, wanted, cap)


def homes(found: Mapping[BucketKey, Sequence[Member]]) -> dict[str, BucketKey]:
    """Where each capture looks for siblings, by its id: of its buckets of two URLs and more, that of most URLs.

    Of several with as many that of the lowest band, so that pages of one template, who share all their buckets, meet in
    the same one.
    """
    urls = {bucket: _urls(members) for bucket, members in found.items()}
    chosen: dict[str, BucketKey] = {}
    for bucket in sorted(urls, key=lambda bucket: (-urls[bucket], bucket.band)):
        if urls[bucket] > 1:
            for member in found[bucket]:
                chosen.setdefault(member.capture_id, bucket)
    return chosen


def _urls(members: Iterable[Member]) -> int:
    return len({member.url_key for member in members})


def _sittings(part: Sequence[Member], wanted: Collection[str], cap: int) -> Iterator[tuple[list[str], list[str]]]:
    """The first `cap` captures, each URL's first before any second one; the others, some at a time, beside these."""
    ordered = sorted(part, key=_by_time)
    nth = {
        member.capture_id: at
        for _, of_url in groupby(ordered, lambda member: member.url_key)
        for at, member in enumerate(of_url)
    }
    ids = sorted(nth, key=lambda capture_id: (nth[capture_id], capture_id))
    first = ids[:cap]
    stretches = [first, *(ids[start : start + later(cap)] for start in range(cap, len(ids), later(cap)))]
    for stretch in stretches:
        asking = [capture_id for capture_id in stretch if capture_id in wanted]
        if asking:
            yield (first if stretch is first else beside(first, asking, cap)), asking


def _by_time(member: Member) -> tuple[str, int, str]:
    return member.url_key, member.timestamp, member.capture_id


def later(cap: int) -> int:
    """How many captures beyond the first `cap` are judged together: so many that half of the witnesses are others."""
    return cap // 2


def beside(first: list[_One], others: list[_One], cap: int) -> list[_One]:
    """`cap` witnesses at most, the others among them."""
    return first[: cap - len(others)] + others


def snapshots(witnesses: Iterable[Witness], cap: int) -> Iterator[list[Witness]]:
    """The captures of each URL that has two and more, in order of (time, id), in stretches of about `cap`."""
    of_url: dict[str, list[Witness]] = defaultdict(list)
    for one in witnesses:
        of_url[one.url_key].append(one)
    for some in of_url.values():
        stretches: dict[int, list[Witness]] = defaultdict(list)
        if len(some) > 1:
            for at, one in enumerate(sorted(some, key=lambda one: (one.timestamp, one.capture_id))):
                stretches[stretch_of(at, len(some), cap)].append(one)
        yield from stretches.values()


def stretch_of(at: int, count: int, cap: int) -> int:
    """Which stretch the capture at a place in time belongs to. A last one that would stand alone joins those before."""
    return min(at // cap, (count - 2) // cap)
