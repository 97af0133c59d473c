"""Duplicates: which captures have a main text that an earlier one has, exactly or nearly.

What is said of a capture follows from those before it alone. So it stays when later ones come, and what is known of a
collection's captures need only be set beside the new ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dbce_spark.config import DuplicatesConfig
from dbce_spark.dbce import texts
from dbce_spark.dbce.texts import Text

EXACT, NEAR = "exact", "near"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What is said of one capture with a text."""

    duplicate_of: str | None  # the earliest leader whose text is the same or nearly; None: this leads, or is by itself
    similarity: float | None  # with the text of `duplicate_of`; 1 if it is the same
    same_url: bool  # `duplicate_of` is a capture of the same URL
    copy_of: str | None  # the earliest capture of the very same text; None: this one
    repeats: str | None  # EXACT: an earlier capture of this URL has the same text; NEAR: one has the same leader
    steps: int | None  # how many looks at others it took to say so; None: too many, and so it is nobody's duplicate


class MarkedText(NamedTuple):
    text: Text
    mark: Mark


class Like(NamedTuple):
    """An earlier text that one is like."""

    earlier: str
    similarity: float


class Settled(NamedTuple):
    """What became of a text: it leads, or is like one that does, as was clear after so many steps."""

    leads: bool
    steps: int


Likes = Mapping[str, Sequence[Like]]
"""By the capture that a text was first seen in, the earlier texts it is like, from the earliest on."""


def mark_texts(known: Sequence[MarkedText], new: Iterable[Text], config: DuplicatesConfig) -> list[MarkedText]:
    """The marks of some new captures, in order of time, beside those that are known already.

    Those come before all new ones, whatever their time, and what was said of them is not changed. Where they are
    earlier, marking in parts gives what marking all at once gives.
    """
    arrived = sorted(new, key=by_time)
    before = sorted(known, key=lambda one: by_time(one.text))
    ordered = [*(one.text for one in before), *arrived]
    firsts = {one.text.digest: one.text for one in before if one.mark.copy_of is None}
    for text in arrived:
        firsts.setdefault(text.digest, text)
    likes = find_similar([*firsts.values()], config)
    said = {one.text.capture_id: one.mark for one in before}
    settled = settle(firsts.values(), likes, said, config.steps)
    leaders = {
        name: _told(said[name]) if name in said else leader(name, likes, settled)
        for name in (text.capture_id for text in firsts.values())
    }
    urls = {text.capture_id: text.url_key for text in ordered}
    seen: set[tuple[str, ...]] = set()
    found: list[MarkedText] = []
    for text in ordered:
        first = firsts[text.digest].capture_id
        mark = _mark(text, first, leaders[first], settled.get(first), urls, seen)
        seen |= {(text.url_key, text.digest), (text.url_key, NEAR, mark.duplicate_of or first)}
        found.append(MarkedText(text, mark))
    return found[len(before) :]


def extend_marks(
    known: Sequence[MarkedText], relabelled: Mapping[str, Text | None], new: Iterable[Text], config: DuplicatesConfig
) -> list[MarkedText]:
    """What is said, or said again, when captures come and known ones are labelled again: of all these, and of those
    that were said to be like a text that has changed.

    `relabelled` are the texts that known captures have now, by their ids; None: no text any more.
    """
    standing, asked = split_prior(known, relabelled)
    again = [one for one in standing if one.text.capture_id in relabelled]
    return [*again, *mark_texts(standing, [*new, *asked], config)]


def split_prior(
    known: Sequence[MarkedText], relabelled: Mapping[str, Text | None]
) -> tuple[list[MarkedText], list[Text]]:
    """What of the known still holds when captures were labelled again, and which texts are to be marked anew.

    Nothing follows from `repeats` of others: it stays what it was when a capture came.
    """
    same = {
        one.text.capture_id
        for one in known
        if (now := relabelled.get(one.text.capture_id)) is not None and now.digest == one.text.digest
    }
    gone = {one.text.capture_id for one in known} & relabelled.keys() - same
    standing = [one for one in known if not {one.text.capture_id, one.mark.duplicate_of, one.mark.copy_of} & gone]
    held = {one.text.capture_id for one in standing}
    asked = {**{one.text.capture_id: one.text for one in known}, **relabelled}
    return standing, [text for name, text in asked.items() if text is not None and name not in held]


def by_time(text: Text) -> tuple[int, str]:
    return text.timestamp, text.capture_id


def find_similar(firsts: Sequence[Text], config: DuplicatesConfig) -> Likes:
    """Which of some different texts, in their order, are like earlier ones: in each run of each bucket, by leaders.

    A run is `cap` texts of a bucket, and the first of the bucket beside them.
    """
    signed = [one for one in firsts if one.signature is not None]
    if not signed:
        return {}
    signatures = np.stack([one.signature for one in signed if one.signature is not None])
    buckets: dict[tuple[int, int], list[int]] = defaultdict(list)
    for at, keys in enumerate(texts.bands(signatures, config).tolist()):
        for band, key in enumerate(keys):
            buckets[band, key].append(at)
    pairs: dict[int, dict[int, float]] = defaultdict(dict)
    for bucket in buckets.values():
        for run in chunks(bucket, config.cap):
            for later, earlier, similarity in texts.alike(signatures[run], config.threshold):
                pairs[run[later]][run[earlier]] = similarity
    return {
        signed[later].capture_id: [Like(signed[one].capture_id, found[one]) for one in sorted(found)]
        for later, found in pairs.items()
    }


def chunks(bucket: Sequence[int], cap: int) -> list[list[int]]:
    """A bucket in order, cut into runs of `cap`; each but the first begins with the first of all."""
    return [
        [*bucket[:1], *bucket[start : start + cap]] if start else [*bucket[:cap]]
        for start in range(0, len(bucket), cap)
    ]


def settle(firsts: Iterable[Text], likes: Likes, known: Mapping[str, Mark], steps: int) -> dict[str, Settled]:
    """What became of each of some different texts, in their order; none of those that took more than so many steps.

    A text leads if no text that it is like does; it takes a step more than theirs to say so.
    """
    settled: dict[str, Settled] = {}
    for one in firsts:
        if one.capture_id in known:
            mark = known[one.capture_id]
            found = None if mark.steps is None else Settled(mark.duplicate_of is None, mark.steps)
        else:
            found = outcome([settled.get(like.earlier) for like in likes.get(one.capture_id, [])])
        if found is not None and found.steps <= steps:
            settled[one.capture_id] = found
    return settled


def outcome(earlier: Sequence[Settled | None]) -> Settled | None:
    """What becomes of a text that is like these; None: that is not clear yet."""
    leading = [one.steps for one in earlier if one is not None and one.leads]
    if leading:
        return Settled(False, min(leading) + 1)
    if None in earlier:
        return None
    return Settled(True, max((one.steps + 1 for one in earlier if one is not None), default=0))


def leader(capture_id: str, likes: Likes, settled: Mapping[str, Settled]) -> Like | None:
    """The earliest leader that a text is like; None if it leads, or if that took too many steps to say."""
    own = settled.get(capture_id)
    if own is None or own.leads:
        return None
    return next(one for one in likes[capture_id] if one.earlier in settled and settled[one.earlier].leads)


def _told(mark: Mark) -> Like | None:
    """The leader of a text whose first capture is known."""
    return None if mark.duplicate_of is None else Like(mark.duplicate_of, mark.similarity or 0.0)


def _mark(
    text: Text,
    first: str,
    like: Like | None,
    settled: Settled | None,
    urls: Mapping[str, str],
    seen: set[tuple[str, ...]],
) -> Mark:
    copy_of = None if first == text.capture_id else first
    duplicate_of = copy_of if like is None else like.earlier
    repeats = None
    if (text.url_key, text.digest) in seen:
        repeats = EXACT
    elif (text.url_key, NEAR, duplicate_of or first) in seen:
        repeats = NEAR
    return Mark(
        duplicate_of=duplicate_of,
        similarity=None if duplicate_of is None else 1.0 if like is None else like.similarity,
        same_url=duplicate_of is not None and urls[duplicate_of] == text.url_key,
        copy_of=copy_of,
        repeats=repeats,
        steps=None if settled is None else settled.steps,
    )
