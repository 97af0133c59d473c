"""Duplicates: which captures have a main text that an earlier one has, exactly or nearly.

The mark of a capture follows from those before it alone. So it stays when later ones come, and new captures need only
be compared with the marked ones of a collection.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dbce_spark.config import DuplicatesConfig
from dbce_spark.dbce import texts
from dbce_spark.dbce.texts import Text
from dbce_spark.model import Extraction, by_time

EXACT, NEAR = "exact", "near"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The mark of one capture with a text."""

    duplicate_of: str | None  # the earliest leader whose text is the same or nearly; None: this leads, or is by itself
    similarity: float | None  # with the text of `duplicate_of`; 1 if it is the same
    same_url: bool  # `duplicate_of` is a capture of the same URL
    copy_of: str | None  # the earliest capture of the very same text; None: this one
    repeats: str | None  # EXACT: an earlier capture of this URL has the same text; NEAR: one has the same leader
    steps: int | None  # comparisons that the decision took; None: too many, and so it is no duplicate of any


class MarkedText(NamedTuple):
    text: Text
    mark: Mark


class Like(NamedTuple):
    """An earlier text that is like a later one, and their similarity."""

    earlier: str
    similarity: float


class Settled(NamedTuple):
    """The decision on a text, after so many steps: it leads, or is like one that does."""

    leads: bool
    steps: int


Likes = Mapping[str, Sequence[Like]]
"""The earlier texts that a text is like, by the capture that it was first seen in, from the earliest on."""


def texts_of(extractions: Iterable[Extraction], config: DuplicatesConfig) -> Iterator[Text]:
    """Iterate over the main texts of some extractions as duplicates are found by them; none unless `find` is set."""
    for one in extractions if config.find else ():
        if one.text.split():
            digest, signature = texts.digest_and_sign(one.text, config)
            yield Text(
                capture_id=one.page.capture_id,
                url_key=one.page.capture.url_key,
                timestamp=one.page.capture.timestamp,
                digest=digest,
                signature=signature,
            )


def mark_texts(prior: Sequence[MarkedText], new: Iterable[Text], config: DuplicatesConfig) -> list[MarkedText]:
    """Mark the texts of some new captures, in order of time, beside the prior ones.

    Prior texts count as earlier than all new ones, whatever their time, and their marks are not changed. If they
    really are earlier, several calls give the marks that one call gives.
    """
    arrived = sorted(new, key=by_time)
    before = sorted(prior, key=lambda one: by_time(one.text))
    ordered = [*(one.text for one in before), *arrived]
    firsts = {one.text.digest: one.text for one in before if one.mark.copy_of is None}
    for text in arrived:
        firsts.setdefault(text.digest, text)
    likes = find_similar([*firsts.values()], config)
    prior_marks = {one.text.capture_id: one.mark for one in before}
    settled = settle(firsts.values(), likes, prior_marks, config.steps)
    leaders = {
        name: _leader_of_mark(prior_marks[name]) if name in prior_marks else leader(name, likes, settled)
        for name in (text.capture_id for text in firsts.values())
    }
    marking = _Marking(leaders, settled, {text.capture_id: text.url_key for text in ordered})
    marked = [MarkedText(text, marking.next(text, firsts[text.digest].capture_id)) for text in ordered]
    return marked[len(before) :]


def extend_marks(
    prior: Sequence[MarkedText], relabelled: Mapping[str, Text | None], new: Iterable[Text], config: DuplicatesConfig
) -> list[MarkedText]:
    """Mark new captures and prior ones that were labelled again, and those whose `duplicate_of` or `copy_of` changed.

    `relabelled` are the texts that prior captures have now, by their ids; None: no text any more.
    """
    unchanged, to_mark = split_prior(prior, relabelled)
    again = [one for one in unchanged if one.text.capture_id in relabelled]
    return [*again, *mark_texts(unchanged, [*new, *to_mark], config)]


def split_prior(
    prior: Sequence[MarkedText], relabelled: Mapping[str, Text | None]
) -> tuple[list[MarkedText], list[Text]]:
    """Split prior texts after captures were labelled again: into those whose marks hold, and those to mark again.

    `repeats` is never computed again: no other mark depends on it.
    """
    same = {
        one.text.capture_id
        for one in prior
        if (now := relabelled.get(one.text.capture_id)) is not None and now.digest == one.text.digest
    }
    gone = {one.text.capture_id for one in prior} & relabelled.keys() - same
    unchanged = [one for one in prior if not {one.text.capture_id, one.mark.duplicate_of, one.mark.copy_of} & gone]
    held = {one.text.capture_id for one in unchanged}
    texts_now = {**{one.text.capture_id: one.text for one in prior}, **relabelled}
    return unchanged, [text for name, text in texts_now.items() if text is not None and name not in held]


def find_similar(firsts: Sequence[Text], config: DuplicatesConfig) -> Likes:
    """Find the earlier texts that each of some different texts, in their order, is like.

    Texts are compared within each chunk of each bucket, and only with those that lead there (`texts.alike`).
    """
    signed = [first for first in firsts if first.signature is not None]
    if not signed:
        return {}
    signatures = np.stack([one.signature for one in signed if one.signature is not None])
    buckets: dict[tuple[int, int], list[int]] = defaultdict(list)
    for at, keys in enumerate(texts.bands(signatures, config).tolist()):
        for band, key in enumerate(keys):
            buckets[band, key].append(at)
    pairs: dict[int, dict[int, float]] = defaultdict(dict)
    for bucket in buckets.values():
        for chunk in chunks(bucket, config.cap):
            for later, earlier, similarity in texts.alike(signatures[chunk], config.threshold):
                pairs[chunk[later]][chunk[earlier]] = similarity
    return {
        signed[later].capture_id: [Like(signed[one].capture_id, found[one]) for one in sorted(found)]
        for later, found in pairs.items()
    }


def chunks(bucket: Sequence[int], cap: int) -> list[list[int]]:
    """Cut a bucket, in order, into chunks of `cap`; each but the first begins with the first of all."""
    return [
        [*bucket[:1], *bucket[start : start + cap]] if start else [*bucket[:cap]]
        for start in range(0, len(bucket), cap)
    ]


def settle(firsts: Iterable[Text], likes: Likes, prior: Mapping[str, Mark], steps: int) -> dict[str, Settled]:
    """Decide which of some different texts lead, in their order; those that take more than `steps` are left out.

    A text leads if no text that it is like does; its decision takes a step more than theirs.
    """
    settled: dict[str, Settled] = {}
    for one in firsts:
        if one.capture_id in prior:
            mark = prior[one.capture_id]
            found = None if mark.steps is None else Settled(mark.duplicate_of is None, mark.steps)
        else:
            found = outcome([settled.get(like.earlier) for like in likes.get(one.capture_id, [])])
        if found is not None and found.steps <= steps:
            settled[one.capture_id] = found
    return settled


def outcome(earlier: Sequence[Settled | None]) -> Settled | None:
    """Decide on a text that is like these; None while they are undecided."""
    leading = [one.steps for one in earlier if one is not None and one.leads]
    if leading:
        return Settled(False, min(leading) + 1)
    if None in earlier:
        return None
    return Settled(True, max((one.steps + 1 for one in earlier if one is not None), default=0))


def leader(capture_id: str, likes: Likes, settled: Mapping[str, Settled]) -> Like | None:
    """Return the earliest leader that a text is like; None if it leads, or if the decision took too many steps."""
    own = settled.get(capture_id)
    if own is None or own.leads:
        return None
    return next(one for one in likes[capture_id] if one.earlier in settled and settled[one.earlier].leads)


def _leader_of_mark(mark: Mark) -> Like | None:
    """Return the leader that a prior mark names."""
    return None if mark.duplicate_of is None else Like(mark.duplicate_of, mark.similarity or 0.0)


@dataclass(slots=True)
class _Marking:
    """Texts that are marked one after the other: leaders and decisions by the first capture of a text, URL keys of all
    captures, and what each URL has had."""

    leaders: Mapping[str, Like | None]
    settled: Mapping[str, Settled]
    urls: Mapping[str, str]
    seen: set[tuple[str, ...]] = field(default_factory=set)

    def next(self, text: Text, first: str) -> Mark:
        """Mark the next text, which the capture `first` was the first to have."""
        settled = self.settled.get(first)
        copy_of = None if first == text.capture_id else first
        like = self.leaders[first] or (Like(copy_of, 1.0) if copy_of else None)
        duplicate_of = like.earlier if like else None
        return Mark(
            duplicate_of=duplicate_of,
            similarity=like.similarity if like else None,
            same_url=duplicate_of is not None and self.urls[duplicate_of] == text.url_key,
            copy_of=copy_of,
            repeats=self._repeats(text, duplicate_of or first),
            steps=settled.steps if settled else None,
        )

    def _repeats(self, text: Text, leader: str) -> str | None:
        """Tell whether the URL of a text had it before, exactly or nearly, and note that it has it now."""
        exact, near = (text.url_key, text.digest), (text.url_key, NEAR, leader)
        is_exact, is_near = exact in self.seen, near in self.seen
        self.seen |= {exact, near}
        if is_exact:
            return EXACT
        return NEAR if is_near else None
