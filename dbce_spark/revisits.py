"""Revisits and their originals: which capture holds the payload that a revisit says was there again.

A revisit and a capture meet under a name that both have: the record's id, URL and second, URL and digest, digest alone,
or the URL alone. The names of a revisit are tried in this order, and the first under which there is a capture decides.
Under one name the latest capture up to the revisit's own time is the original; if all are later (clocks differ, and
so do the crawlers whose files are read together), the earliest of these.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dbce_spark.model import Capture, Revisit, Seen, capture_id, digest
from dbce_spark.rejects import Reason, Reject, Stage


@dataclass(frozen=True, slots=True)
class Name:
    """What a revisit's original may be known by.

    `is_before`: only a capture that is not later than the revisit can be it.
    """

    name: str
    is_before: bool = False


@dataclass(frozen=True, slots=True)
class Resolved:
    """A revisit and the capture whose extraction it shares."""

    revisit: Revisit
    original_id: str
    payload_digest: str

    @property
    def capture_id(self) -> str:
        return capture_id(self.revisit.url, self.revisit.timestamp, self.payload_digest)


@dataclass(frozen=True, slots=True)
class Shared:
    """What became of some revisits: each is in `revisits`, in `rejects`, or one of the `duplicates`."""

    revisits: list[Resolved]  # one a capture, in order of capture id
    duplicates: int  # of another revisit, or of a capture that holds its payload
    rejects: list[Reject]


def names_of(
    url_key: str, timestamp: int, record_id: str, payload_digest: str, declared_digest: str
) -> tuple[str, ...]:
    """The names of a capture; each is 32 characters long, whatever the URL."""
    digests = [one for one in (payload_digest, declared_digest) if one]
    named = [_of_url(url_key), _of_second(url_key, timestamp)]
    named += [digest("id", record_id)] if record_id else []
    return (*named, *(_of_both(url_key, one) for one in digests), *(_of_digest(one) for one in digests))


def names(revisit: Revisit) -> list[Name]:
    """The names under which a revisit's original is looked for, in this order.

    The URL alone is enough only where the server said that its content was the same as before, and the record does
    not say which capture that was: one that is named, and not found, was another one.
    """
    found = [Name(digest("id", revisit.refers_to_id))] if revisit.refers_to_id else []
    if revisit.refers_to_time is not None:
        found.append(Name(_of_second(revisit.refers_to_key, revisit.refers_to_time)))
    if revisit.digest:
        keys = dict.fromkeys((revisit.refers_to_key, revisit.url_key))
        found += [Name(_of_both(key, revisit.digest)) for key in keys]
        found += [] if revisit.is_unmodified else [Name(_of_digest(revisit.digest))]
    if revisit.is_unmodified and not revisit.refers_to_id and revisit.refers_to_time is None:
        found.append(Name(_of_url(revisit.refers_to_key), is_before=True))
    return found


def reject_of(revisit: Revisit) -> Reject:
    """The reject of a revisit whose original is not there, with what was looked for in vain."""
    said = [revisit.refers_to_id]
    if revisit.refers_to_time is not None:
        moment = np.datetime64(_second(revisit.refers_to_time), "s")  # of any year, which datetime is not
        said.append(f"{revisit.refers_to_key} of {moment}Z")
    said.append(revisit.digest)
    if revisit.is_unmodified:
        said.append(f"{revisit.url_key} before, since it was not modified")
    return Reject(
        warc_file=revisit.warc_file,
        warc_offset=revisit.warc_offset,
        record_id=revisit.record_id,
        url=revisit.url,
        stage=Stage.READ,
        reason=Reason.REVISIT_UNRESOLVED,
        detail="no page is " + (", or ".join(one for one in said if one) or "named"),
    )


def share(captures: Sequence[Capture], revisits: Sequence[Revisit]) -> Shared:
    """The revisits with their originals among some captures; of the same capture the first stays."""
    taken = {one.capture_id for one in captures}
    shared: dict[str, Resolved] = {}
    rejects: list[Reject] = []
    for revisit, found in zip(revisits, resolve(captures, revisits), strict=True):
        if found is None:
            rejects.append(reject_of(revisit))
        elif found.capture_id not in taken:
            shared.setdefault(found.capture_id, found)
    duplicates = len(revisits) - len(rejects) - len(shared)
    return Shared([shared[one] for one in sorted(shared)], duplicates, rejects)


def resolve(captures: Iterable[Capture], revisits: Sequence[Revisit]) -> list[Resolved | None]:
    """The original of each revisit among some captures; None where it is not there."""
    wanted = {name.name for revisit in revisits for name in names(revisit)}
    known: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for one in captures if wanted else ():
        for name in names_of(one.url_key, one.timestamp, one.record_id, one.payload_digest, one.declared_digest):
            if name in wanted:
                known[name].append((one.timestamp, one.capture_id, one.payload_digest))
    for under in known.values():
        under.sort()
    return [_resolved(revisit, known) for revisit in revisits]


def _resolved(revisit: Revisit, known: dict[str, list[tuple[int, str, str]]]) -> Resolved | None:
    for name in names(revisit):
        under = known.get(name.name, [])
        at = bisect_right(under, revisit.timestamp, key=lambda one: one[0])
        if at == 0 and (name.is_before or not under):
            continue
        _, original, payload_digest = under[max(0, at - 1)]
        return Resolved(revisit, original, payload_digest)
    return None


def seen(captures: Iterable[Capture], resolved: Iterable[Resolved]) -> dict[str, Seen]:
    """When the captures that share an extraction were fetched, by the ids of those that were revisited."""
    shared: dict[str, list[int]] = defaultdict(list)
    for one in resolved:
        shared[one.original_id].append(one.revisit.timestamp)
    own = {one.capture_id: one.timestamp for one in captures}
    return {
        original: Seen(first=min(own[original], *times), last=max(own[original], *times), revisits=len(times))
        for original, times in shared.items()
    }


def _second(timestamp: int) -> int:
    """Indexes and older archives know no more of a moment than its second."""
    return timestamp // 1_000_000


def _of_url(url_key: str) -> str:
    return digest("url", url_key)


def _of_second(url_key: str, timestamp: int) -> str:
    return digest("second", url_key, str(_second(timestamp)))


def _of_both(url_key: str, payload_digest: str) -> str:
    return digest("url and payload", url_key, payload_digest)


def _of_digest(payload_digest: str) -> str:
    return digest("payload", payload_digest)
