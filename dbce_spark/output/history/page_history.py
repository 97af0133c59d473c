"""Follow a page through its captures: texts added, removed, changed and moved, and how long each stood; and find
redesigns, which change many pages of a site at once.

A *piece* is the text of one block with one label. Pieces of two captures are the same where their texts are, in order;
the rest is paired by the words that texts have in common.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Indel

from dbce_spark.html.tokens import tokens
from dbce_spark.model import Signature

ADDED, REMOVED, EDITED, REPLACED, MOVED, RELABELLED = "added", "removed", "edited", "replaced", "moved", "relabelled"
KINDS = ADDED, REMOVED, EDITED, REPLACED, MOVED, RELABELLED
EDITED_FROM = 0.5
"""Similarity (`_similar`) from which on a text is an edited one and not another: half of what tells it from others on
its page is kept. Of 2,800 pairs of three archives those from 0.5 to 0.6 were edits of a title or of a line of code, but
for some of two or three words; those from 0.4 to 0.5 were as often two texts. Entries of a list ("lxml 3.0, released
2012-10-08", "lxml 3.1, released 2013-02-10") have less than 0.1, though three of four characters are the same."""
TOGETHER = 2
"""So many pages that had one template, and get others at once, make a redesign of their site; one alone is a page
redesigned. Of seven pages of netarkivet.dk two of different templates were, in four years: the site was not."""
_COMMON = 50
"""A word that so many pieces of a page have says nothing about which of them is which. It bounds what is compared."""
_WEIGHT = 1 << 20
_WORD = re.compile(r"[^\W_](?:.*[^\W_])?")
"""A token without the punctuation around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The text of one block with one label."""

    text: str
    label: str
    xpath: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A capture of the page: its time in microseconds, and its pieces; of a revisit, those of its original."""

    capture_id: str
    timestamp: int
    pieces: tuple[Piece, ...]
    url_key: str = ""
    url: str = ""
    site: str = ""
    template_id: str = ""
    signature: Signature | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The change of one piece from a capture to the next: None on the side where the piece is absent.

    `similarity`, 0 to 1, is there where it was edited.
    """

    kind: str
    before: Piece | None
    after: Piece | None
    similarity: float | None = None

    @property
    def label(self) -> str:
        """Return the label of the piece as it is now, or as it was last."""
        piece = self.after or self.before
        assert piece is not None
        return piece.label


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryStep:
    """A capture of a URL and the next. `similarity` is that of their templates, 0 to 1; None without signatures."""

    before: Moment
    after: Moment
    changes: tuple[Change, ...]
    similarity: float | None

    def is_redesigned(self, threshold: float) -> bool:
        """Compare the templates: True if they are less similar than pages of one bucket are."""
        return self.similarity is not None and self.similarity < threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The time a text stood on the page without a break: from which capture to which, in how many, how it began and how
    it ended. A text that comes back begins another life.

    `place` is which piece of the page it was at first, from 0; label and path are as they were last. `began` is "" if
    it stood in the first capture already, `ended` if it still stands in the last. `moves` says how often it changed its
    place.
    """

    text: str
    label: str
    xpath: str
    place: int
    first_seen: int
    last_seen: int
    captures: int
    moves: int
    began: str
    ended: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRedesign:
    """A step of one page to another template, with the times of both captures in microseconds."""

    url: str
    before: int
    after: int
    template_from: str
    template_to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateExchange:
    """The number of pages that went from one template to another."""

    template_from: str
    template_to: str
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Redesign:
    """A change of templates of many pages of one site at once: each may have happened between `not_before` and
    `not_after`, in microseconds.

    There are `pages` of them, of `compared` that were fetched before and after; `url` is one. `templates` says from
    which to which, the most pages first.
    """

    not_before: int
    not_after: int
    pages: int
    compared: int
    url: str
    templates: tuple[TemplateExchange, ...]


def pieces(page_text: str, segments: Iterable[Mapping[str, Any]]) -> tuple[Piece, ...]:
    """Join the segments of a row of `extractions` to pieces, in the order of the page."""
    runs = (list(run) for _, run in groupby(segments, itemgetter("block", "label")))
    return tuple(
        Piece(
            text=" ".join(page_text[run[0]["start"] : run[-1]["end"]].split()),
            label=run[0]["label"],
            xpath=run[0]["xpath"],
        )
        for run in runs
    )


def steps(moments: Iterable[Moment]) -> Iterator[HistoryStep]:
    """Pair each capture of a URL with the next, in order of time, with two of them held at once."""
    before = None
    for after in moments:
        if before is not None:
            yield HistoryStep(
                before=before,
                after=after,
                changes=tuple(changes(before, after)),
                similarity=_template_similarity(before.signature, after.signature),
            )
        before = after


def _template_similarity(before: Signature | None, after: Signature | None) -> float | None:
    return None if before is None or after is None else float(np.mean(before == after))


def changes(before: Moment, after: Moment) -> list[Change]:
    """List the changes between a capture and the one before it, in the order of the page."""
    old, new = before.pieces, after.pieces
    if old == new:
        return []
    same = _aligned([one.text for one in old], [one.text for one in new])
    left, come = [*range(len(old))], [*range(len(new))]
    _drop(same, left, come)
    found = [
        ((j, 0), Change(kind=RELABELLED, before=old[i], after=new[j])) for i, j in same if old[i].label != new[j].label
    ]
    for i, j, kind, similarity in _pairs(old, new, left, come, same):
        found.append(((j, 0), Change(kind=kind, before=old[i], after=new[j], similarity=similarity)))
    found += [((_behind(i, same), 1), Change(kind=REMOVED, before=old[i], after=None)) for i in left]
    found += [((j, 2), Change(kind=ADDED, before=None, after=new[j])) for j in come]
    return [change for _, change in sorted(found, key=lambda one: one[0])]


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """List the places of a longest common subsequence. Texts that one side alone has are left out first, since the
    quadratic part then sees little of a page that was rewritten."""
    both = {*old} & {*new}
    here, there = ([at for at, text in enumerate(texts) if text in both] for texts in (old, new))
    found: list[tuple[int, int]] = []
    for step in Indel.opcodes([old[at] for at in here], [new[at] for at in there]):
        if step.tag == "equal":
            found += zip(here[step.src_start : step.src_end], there[step.dest_start : step.dest_end], strict=True)
    return found


def _pairs(
    old: Sequence[Piece], new: Sequence[Piece], left: list[int], come: list[int], same: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, str, float | None]]:
    """Pair pieces that went with pieces that came: moved, edited, or another text in the same place, by its path and
    its neighbours. `left` and `come` keep those that are in no pair."""
    moved = _alike([(i, old[i].text) for i in left], [(j, new[j].text) for j in come])
    yield from ((i, j, MOVED, None) for i, j in moved)
    _drop(moved, left, come)
    edited = _similar(old, new, left, come)
    yield from ((i, j, EDITED, similarity) for i, j, similarity in edited)
    _drop([(i, j) for i, j, _ in edited], left, come)
    kept, stayed = [i for i, _ in same], [j for _, j in same]
    replaced = _alike(
        [(i, (old[i].xpath, old[i].label, bisect_left(kept, i))) for i in left],
        [(j, (new[j].xpath, new[j].label, bisect_left(stayed, j))) for j in come],
    )
    yield from ((i, j, REPLACED, None) for i, j in replaced)
    _drop(replaced, left, come)


def _drop(pairs: Sequence[tuple[int, int]], left: list[int], come: list[int]) -> None:
    """Remove paired pieces from those that went and those that came."""
    for at, places in ((0, left), (1, come)):
        paired = {pair[at] for pair in pairs}
        places[:] = [place for place in places if place not in paired]


def _alike(left: Iterable[tuple[int, Hashable]], come: Iterable[tuple[int, Hashable]]) -> list[tuple[int, int]]:
    """Pair items with the same key, the first of each with the first."""
    waiting: dict[Hashable, deque[int]] = defaultdict(deque)
    for j, key in come:
        waiting[key].append(j)
    return [(i, waiting[key].popleft()) for i, key in left if waiting[key]]


def _similar(
    old: Sequence[Piece], new: Sequence[Piece], left: Sequence[int], come: Sequence[int]
) -> list[tuple[int, int, float]]:
    """Pair the most similar pieces first, of equal ones those that stand first; each piece in one pair.

    The similarity of two texts is twice the weight of the words that both have, over that of all words of both. A word
    weighs the less the more pieces of the page have it; case, punctuation and order count for nothing.
    """
    if not left or not come:
        return []
    taken: tuple[set[int], set[int]] = (set(), set())
    pairs = []
    for negative, i, j in sorted(_scored(old, new, left, come)):
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            pairs.append((i, j, -negative))
    return pairs


def _scored(
    old: Sequence[Piece], new: Sequence[Piece], left: Sequence[int], come: Sequence[int]
) -> list[tuple[float, int, int]]:
    """Score all pairs of pieces that are similar enough, the score with a minus: so the best are the first in order."""
    ours, theirs = ([words(piece.text) for piece in pieces] for pieces in (old, new))
    weights = _weights(ours, theirs)
    totals = [
        {at: sum(weights[word] for word in texts[at]) for at in places}
        for texts, places in ((ours, left), (theirs, come))
    ]
    holders: dict[str, list[int]] = defaultdict(list)
    for j in come:
        for word in theirs[j]:
            if weights[word]:
                holders[word].append(j)
    found: list[tuple[float, int, int]] = []
    for i in left:
        shared: Counter[int] = Counter()
        for word in ours[i]:
            for j in holders.get(word, ()):
                shared[j] += weights[word]
        scores = ((2 * both / (totals[0][i] + totals[1][j]), j) for j, both in shared.items())
        found += [(-score, i, j) for score, j in scores if score >= EDITED_FROM]
    return found


def words(text: str) -> list[str]:
    """List the different words of a text, in lower case and without the punctuation around them."""
    found = filter(None, map(_WORD.search, tokens(text.casefold())))
    return [*dict.fromkeys(map(itemgetter(0), found))]


def _weights(ours: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]]) -> dict[str, int]:
    """Weigh each word in whole numbers, whose sums are the same in any order."""
    held, after = (Counter(chain.from_iterable(texts)) for texts in (ours, theirs))
    for word, count in after.items():
        held[word] = max(held[word], count)
    return {word: 0 if count > _COMMON else _WEIGHT // count for word, count in held.items()}


def _behind(at: int, same: Sequence[tuple[int, int]]) -> int:
    """Find the place of a piece that went: behind the last one before it that stayed; -1: before all others."""
    nearest = bisect_left(same, (at, 0))
    return same[nearest - 1][1] if nearest else -1


class Lives:
    """The lives of the texts of a page, returned as they end. A text that a capture holds twice has one.

    Only the last capture's pieces are held.
    """

    def __init__(self, first: Moment):
        self._last = first
        self._captures = 1
        self._pieces = _by_text(first)
        self._open = {text: _OpenLife(place, first.timestamp, 1, "") for text, (place, _) in self._pieces.items()}

    def advance(self, step: HistoryStep) -> list[Life]:
        """Take in a step and return the lives that end with it, in the order in which they began."""
        ended: list[Life] = []
        if step.after.pieces != step.before.pieces:
            now = _by_text(step.after)
            went = {one.before.text: one.kind for one in reversed(step.changes) if one.before}
            ended = [self._life(text, went.get(text, REMOVED)) for text in self._open if text not in now]
            for one in ended:
                del self._open[one.text]
            self._begin(step, now)
            self._pieces = now
        self._last = step.after
        self._captures += 1
        return ended

    def remaining(self) -> list[Life]:
        """Return the lives of the texts in the last capture."""
        return [self._life(text, "") for text in self._open]

    def _begin(self, step: HistoryStep, now: "_Pieces") -> None:
        came = {one.after.text: one.kind for one in reversed(step.changes) if one.after}
        for text, (place, _) in now.items():
            if text not in self._open:
                self._open[text] = _OpenLife(place, step.after.timestamp, self._captures + 1, came.get(text, ADDED))
        for one in step.changes:
            if one.kind == MOVED and one.after:
                self._open[one.after.text].moves += 1

    def _life(self, text: str, ended: str) -> Life:
        begun, (_, piece) = self._open[text], self._pieces[text]
        return Life(
            text=text,
            label=piece.label,
            xpath=piece.xpath,
            place=begun.place,
            first_seen=begun.timestamp,
            last_seen=self._last.timestamp,
            captures=self._captures - begun.capture + 1,
            moves=begun.moves,
            began=begun.began,
            ended=ended,
        )


@dataclass(slots=True)
class _OpenLife:
    """A life that has begun and not ended."""

    place: int  # on the page
    timestamp: int
    capture: int  # that it began with, counted from 1
    began: str  # the kind of change
    moves: int = 0


_Pieces = dict[str, tuple[int, Piece]]


def _by_text(moment: Moment) -> _Pieces:
    """Index the first piece of each text, with its place."""
    found: _Pieces = {}
    for place, piece in enumerate(moment.pieces):
        found.setdefault(piece.text, (place, piece))
    return found


def lives(first: Moment, line: Iterable[HistoryStep]) -> list[Life]:
    """List all lives on a page, from its first capture and the steps behind it, in order of when and where they
    began."""
    ongoing = Lives(first)
    ended = [life for step in line for life in ongoing.advance(step)]
    return sorted([*ended, *ongoing.remaining()], key=lambda one: (one.first_seen, one.place))


def redesigns(
    changed: Iterable[PageRedesign], befores: npt.NDArray[np.int64], afters: npt.NDArray[np.int64]
) -> list[Redesign]:
    """Find the redesigns of a site, in order of time.

    `changed` are the pages that got another template; `befores` and `afters` the times, each in ascending order, of all
    steps on the site that have a similarity. Each page is assigned to the earliest time at which it may have changed
    with others, so that there are as few times as can be.
    """
    return [_redesign(pages, befores, afters) for pages in _at_once(changed) if _shared(pages) >= TOGETHER]


def _shared(pages: Sequence[PageRedesign]) -> int:
    """Count the pages that had the template that most of them had; a page without siblings has none."""
    return max(Counter(page.template_from for page in pages if page.template_from).values(), default=0)


def _redesign(pages: Sequence[PageRedesign], befores: npt.NDArray[np.int64], afters: npt.NDArray[np.int64]) -> Redesign:
    first = min(page.after for page in pages)
    exchanged = Counter((page.template_from, page.template_to) for page in pages)
    return Redesign(
        not_before=max(page.before for page in pages),
        not_after=first,
        pages=len(pages),
        # A step lies over a time if it begins before and ends no earlier.
        compared=int(np.searchsorted(befores, first) - np.searchsorted(afters, first)),
        url=min(page.url for page in pages),
        templates=tuple(
            TemplateExchange(template_from=before, template_to=after, pages=count)
            for (before, after), count in sorted(exchanged.items(), key=lambda one: (-one[1], one[0]))
        ),
    )


def _at_once(changed: Iterable[PageRedesign]) -> Iterator[list[PageRedesign]]:
    """Group pages by a time at which all of them may have changed: the fewest such times, the first page's latest
    first."""
    pages: list[PageRedesign] = []
    for page in sorted(changed, key=lambda one: (one.after, one.before, one.url)):
        if pages and page.before >= pages[0].after:
            yield pages
            pages = []
        pages.append(page)
    if pages:
        yield pages
