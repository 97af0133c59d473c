"""The history of a page: what each capture of it added, took away, changed and moved, and how long each text stood.

A *piece* is what a block holds of one label. Pieces of two captures are the same where their texts are, in order; what
remains between two such is paired by how similar it is.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

ADDED, REMOVED, EDITED, REPLACED, MOVED, RELABELLED = "added", "removed", "edited", "replaced", "moved", "relabelled"
EDITED_FROM = 60.0
"""Similarity, of 100 (twice the longest common subsequence of characters to all of them), from which on a text is an
edited one and not another. Headlines of one event have 30 to 50, an article with a corrected figure over 95."""
_LONGEST = 2000
"""Characters of a text that are compared."""
_MOST_PAIRS = 250_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What a block holds of one label."""

    text: str
    label: str
    xpath: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A capture of the page: its time in microseconds, and what it holds. Of a revisit, what its original held.

    `similarity` is that of its template to the capture before, 0 to 1; -1 where it is not known.
    """

    capture_id: str
    timestamp: int
    pieces: tuple[Piece, ...]
    template_id: str = ""
    similarity: float = -1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of one piece from a capture to the next: None on the side where it is not."""

    kind: str
    before: Piece | None
    after: Piece | None

    @property
    def label(self) -> str:
        """Of the piece as it is now, or as it was last."""
        piece = self.after or self.before
        assert piece is not None
        return piece.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """How long a text stood on the page: from which capture to which, in how many, and what became of it then.

    `end` is "" where it still stands in the last capture; `moves` says how often it changed its place.
    """

    text: str
    label: str
    first_seen: int
    last_seen: int
    captures: int
    moves: int
    end: str


def pieces(page_text: str, segments: Sequence[dict[str, object]]) -> tuple[Piece, ...]:
    """The pieces of a row of `extractions`, in the order of the page."""
    found: list[Piece] = []
    last: tuple[object, object] | None = None
    start = end = 0
    for one in segments:
        place = (one["block"], one["label"])
        at, until = int(str(one["start"])), int(str(one["end"]))
        if place == last:
            found.pop()
        else:
            start = at
        end = until
        text = " ".join(page_text[start:end].split())
        found.append(Piece(text=text, label=str(one["label"]), xpath=str(one["xpath"])))
        last = place
    return tuple(found)


def changes(before: Moment, after: Moment) -> list[Change]:
    """What is other in a capture than in the one before it, in the order of the page."""
    old, new = before.pieces, after.pieces
    left: list[int] = []
    come: list[int] = []
    found: list[tuple[tuple[int, int], Change]] = []
    for step in Indel.opcodes([one.text for one in old], [one.text for one in new]):
        here, there = range(step.src_start, step.src_end), range(step.dest_start, step.dest_end)
        if step.tag == "equal":
            found += [
                ((j, 0), Change(kind=RELABELLED, before=old[i], after=new[j]))
                for i, j in zip(here, there, strict=True)
                if old[i].label != new[j].label
            ]
        else:
            left += here
            come += there
    for i, j, kind in _pairs(old, new, left, come):
        found.append(((j, 0), Change(kind=kind, before=old[i], after=new[j])))
        left.remove(i)
        come.remove(j)
    found += [((_place(i, old, new), 1), Change(kind=REMOVED, before=old[i], after=None)) for i in left]
    found += [((j, 2), Change(kind=ADDED, before=None, after=new[j])) for j in come]
    return [change for _, change in sorted(found, key=lambda one: one[0])]


def _pairs(
    old: Sequence[Piece], new: Sequence[Piece], left: Sequence[int], come: Sequence[int]
) -> Iterator[tuple[int, int, str]]:
    """Pieces that went and came that are the same one: moved, edited, or another text in the same place."""
    open_old, open_new = [*left], [*come]
    for i in left:
        j = next((j for j in open_new if new[j].text == old[i].text), None)
        if j is not None:
            yield i, j, MOVED
            open_old.remove(i)
            open_new.remove(j)
    for i, j in _similar(old, new, open_old, open_new):
        yield i, j, EDITED
        open_old.remove(i)
        open_new.remove(j)
    for i in [*open_old]:
        j = next((j for j in open_new if (new[j].xpath, new[j].label) == (old[i].xpath, old[i].label)), None)
        if j is not None:
            yield i, j, REPLACED
            open_new.remove(j)


def _similar(
    old: Sequence[Piece], new: Sequence[Piece], left: Sequence[int], come: Sequence[int]
) -> list[tuple[int, int]]:
    """The most similar pairs first, of equal ones those that stand first; each piece in one pair."""
    if not left or not come or len(left) * len(come) > _MOST_PAIRS:
        return []
    texts, others = ([some[at].text[:_LONGEST] for at in places] for some, places in ((old, left), (new, come)))
    scores = process.cdist(texts, others, scorer=fuzz.ratio, score_cutoff=EDITED_FROM, dtype=np.float32)
    rows, columns = np.nonzero(scores)
    order = np.lexsort((columns, rows, -scores[rows, columns]))
    taken: set[tuple[str, int]] = set()
    pairs = []
    for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        if ("old", row) not in taken and ("new", column) not in taken:
            taken |= {("old", row), ("new", column)}
            pairs.append((left[row], come[column]))
    return pairs


def _place(at: int, old: Sequence[Piece], new: Sequence[Piece]) -> int:
    """Where a piece that went would stand: as far down the page as it stood."""
    return at * len(new) // max(1, len(old))


def lives(moments: Sequence[Moment]) -> list[Life]:
    """How long each text stood, in order of its first place and time. Of a text that a capture holds twice, one.

    `moments` are in order of time.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    count: Counter[str] = Counter()
    label: dict[str, str] = {}
    for at, moment in enumerate(moments):
        for text, one in {one.text: one for one in moment.pieces}.items():
            first.setdefault(text, at)
            last[text], label[text] = at, one.label
            count[text] += 1
    ends: dict[tuple[str, int], str] = {}
    moves: Counter[str] = Counter()
    for at, (before, after) in enumerate(pairwise(moments)):
        for change in changes(before, after):
            if change.kind == MOVED and change.before:
                moves[change.before.text] += 1
            elif change.before and change.kind != RELABELLED:
                ends.setdefault((change.before.text, at), change.kind)
    return [
        Life(
            text=text,
            label=label[text],
            first_seen=moments[start].timestamp,
            last_seen=moments[last[text]].timestamp,
            captures=count[text],
            moves=moves[text],
            end="" if last[text] == len(moments) - 1 else ends.get((text, last[text]), REMOVED),
        )
        for text, start in first.items()
    ]


def is_redesigned(moment: Moment, threshold: float) -> bool:
    """Whether the template of a capture is another one than that of the capture before: less similar than pages of one
    bucket are."""
    return 0 <= moment.similarity < threshold
