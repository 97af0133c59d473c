"""Revisits and their originals: find the capture that holds the payload that a revisit repeats.

A revisit and a capture are matched by a name that both have: the record's id, URL and second, URL and digest, digest
alone, or the URL alone. The names of a revisit are tried in this order, and the first under which there is a capture
decides. Under one name the latest capture up to the revisit's own time is the original; if all are later (clocks
differ, and so do the crawlers whose files are read together), the earliest of these. Revisits that have no original
among the captures that were read may have one in an index, which has the same names, record ids aside.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dbce_spark.archive import http_message
from dbce_spark.files import timestamps
from dbce_spark.model import Capture, Reject, RejectReason, RejectStage, Revisit, Seen, Skip, capture_id, digest

LOST_ORIGINAL = "the page that it refers to could not be labelled"

# Of types that are no page, as sites name them. Of ".php" and the like nobody can say what they send.
_NO_PAGE = re.compile(
    r"\.(?:avif|bmp|gif|ico|jpe?g|png|svg|tiff?|webp|css|js|mjs|json|eot|otf|ttf|woff2?"
    r"|aac|flv|m4a|m4v|mov|mp[34]|mpe?g|oga|ogg|ogv|wav|webm|wmv|pdf|swf|zip)",
    re.IGNORECASE,
)
_PATH = re.compile(r"[a-z]+://[^/?#]*([^?#]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OriginalName:
    """A name under which a revisit's original is looked up.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorCapture:
    """A capture of an earlier crawl, by which revisits are matched: what its names follow from."""

    capture_id: str
    url_key: str
    timestamp: int  # microseconds since 1970-01-01 UTC
    record_id: str
    payload_digest: str
    declared_digest: str


@dataclass(frozen=True, slots=True)
class Shared:
    """Revisits that share an extraction, and how many of them are no captures of their own."""

    revisits: list[Resolved]  # one a capture, in order of capture id
    duplicates: int  # of another revisit, or of a capture that holds its payload


def capture_names(
    url_key: str, timestamp: int, record_id: str, payload_digest: str, declared_digest: str
) -> tuple[str, ...]:
    """List the names of a capture; each is 32 characters long, whatever the URL."""
    digests = [each for each in (payload_digest, declared_digest) if each]
    named = [_url_name(url_key), _second_name(url_key, timestamp)]
    named += [digest("id", record_id)] if record_id else []
    return (*named, *(_url_digest_name(url_key, each) for each in digests), *(_digest_name(each) for each in digests))


def original_names(revisit: Revisit) -> list[OriginalName]:
    """List the names under which a revisit's original is looked up, in this order.

    The URL alone is enough only where the server said that its content was the same as before, and the record does not
    name a capture: one that is named, and not found, was another one.
    """
    found = [OriginalName(digest("id", revisit.refers_to_id))] if revisit.refers_to_id else []
    if revisit.refers_to_time is not None:
        found.append(OriginalName(_second_name(revisit.refers_to_key, revisit.refers_to_time)))
    if revisit.digest:
        keys = dict.fromkeys((revisit.refers_to_key, revisit.url_key))
        found += [OriginalName(_url_digest_name(key, revisit.digest)) for key in keys]
        found += [] if revisit.is_unmodified else [OriginalName(_digest_name(revisit.digest))]
    if revisit.is_unmodified and not revisit.refers_to_id and revisit.refers_to_time is None:
        found.append(OriginalName(_url_name(revisit.refers_to_key), is_before=True))
    return found


def indexed_names(revisit: Revisit) -> list[OriginalName]:
    """List the `original_names` that an index may have: none has record ids."""
    return original_names(revisit)[1:] if revisit.refers_to_id else original_names(revisit)


def unresolved(revisit: Revisit, lack: str = "") -> Reject | Skip:
    """Turn a revisit without an original into a reject, or into a skip if its URL shows that it is of no page.

    lack: the detail of the reject; "": the names that were tried.
    """
    return Skip("mime") if _is_no_page(revisit) else _reject(revisit, lack or _described(revisit))


def _is_no_page(revisit: Revisit) -> bool:
    """Return whether the URL shows that a record without media type is no page: 304 answers come without one, most of
    them of images and sheets. Wikis have pages by the name of "File:a.png", which do not count."""
    path = _PATH.match(revisit.url)
    if revisit.http_status not in (0, http_message.NOT_MODIFIED) or path is None:
        return False
    _, dot, suffix = path[1].rpartition("/")[2].rpartition(".")
    return ":" not in path[1] and "%3a" not in path[1].lower() and bool(_NO_PAGE.fullmatch(dot + suffix))


def _described(revisit: Revisit) -> str:
    """Describe the original that a revisit refers to."""
    references = [revisit.refers_to_id]
    if revisit.refers_to_time is not None:
        moment = np.datetime64(_second(revisit.refers_to_time), "s")  # of any year, which datetime is not
        references.append(f"{revisit.refers_to_key} of {moment}Z")
    references.append(revisit.digest)
    if revisit.is_unmodified:
        references.append(f"{revisit.url_key} before, since it was not modified")
    return "no page is " + (", or ".join(filter(None, references)) or "named")


def _reject(revisit: Revisit, detail: str) -> Reject:
    return Reject.of_record(revisit, RejectStage.READ, RejectReason.REVISIT_UNRESOLVED, detail)


def lost_original(resolved: Resolved) -> Reject:
    """Make the reject of a revisit whose original could not be labelled."""
    return Reject.of_record(resolved.revisit, RejectStage.LABEL, RejectReason.ORIGINAL_UNLABELLED, LOST_ORIGINAL)


def share(captures: Iterable[str], matched: Iterable[Resolved]) -> Shared:
    """Pick the revisits that are captures of their own, given the ids of all other captures; of several of one capture
    the first stays."""
    taken = set(captures)
    shared: dict[str, Resolved] = {}
    resolved = [*matched]
    for revisit in resolved:
        if revisit.capture_id not in taken:
            shared.setdefault(revisit.capture_id, revisit)
    return Shared([shared[capture] for capture in sorted(shared)], len(resolved) - len(shared))


def resolve(captures: Iterable[Capture | PriorCapture], revisits: Sequence[Revisit]) -> list[Resolved | None]:
    """Find the original of each revisit among the captures; None where it is missing."""
    wanted = {name.name for revisit in revisits for name in original_names(revisit)}
    named: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for each in captures if wanted else ():
        for name in capture_names(
            each.url_key, each.timestamp, each.record_id, each.payload_digest, each.declared_digest
        ):
            if name in wanted:
                named[name].append((each.timestamp, each.capture_id, each.payload_digest))
    for under in named.values():
        under.sort()
    return [_resolved(revisit, named) for revisit in revisits]


def _resolved(revisit: Revisit, named: dict[str, list[tuple[int, str, str]]]) -> Resolved | None:
    for name in original_names(revisit):
        under = named.get(name.name, [])
        at = bisect_right(under, revisit.timestamp, key=lambda one: one[0])
        if at == 0 and (name.is_before or not under):
            continue
        _, original, payload_digest = under[max(0, at - 1)]
        return Resolved(revisit, original, payload_digest)
    return None


def fetch_times(captures: Iterable[Capture], resolved: Iterable[Resolved]) -> dict[str, Seen]:
    """Collect when the captures that share an extraction were fetched, by the ids of those that were revisited."""
    shared: dict[str, list[int]] = defaultdict(list)
    for each in resolved:
        shared[each.original_id].append(each.revisit.timestamp)
    own = {capture.capture_id: capture.timestamp for capture in captures}
    return {
        original: Seen(first=min(own[original], *times), last=max(own[original], *times), revisits=len(times))
        for original, times in shared.items()
    }


def _second(timestamp: int) -> int:
    """Cut a moment to its second: indexes and older archives have no more."""
    return timestamp // timestamps.SECOND


def _url_name(url_key: str) -> str:
    return digest("url", url_key)


def _second_name(url_key: str, timestamp: int) -> str:
    return digest("second", url_key, str(_second(timestamp)))


def _url_digest_name(url_key: str, payload_digest: str) -> str:
    return digest("url and payload", url_key, payload_digest)


def _digest_name(payload_digest: str) -> str:
    return digest("payload", payload_digest)
