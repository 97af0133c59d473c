"""What other pages say of a block: siblings, pooled over the slots of the template, and snapshots of the same URL.

A slot is a place in the template, named by the DOM path that leads to it. What its blocks are like on the other pages
(how many words, links, how varied, what the first verdict made of them) says what the slot is for, however the text in
it changes; that the text itself recurs says that it is not this page's own.

That a text stays or changes from capture to capture says nothing by itself: on one site what changes is the story, on
the next the list of other stories. But what stays where it was is one thing, and is judged as one (docs/method.md).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.context import CERTAIN
from dbce_spark.dbce.features import UNKNOWN, Columns, share, total
from dbce_spark.dbce.layout import Numbers, sums
from dbce_spark.model import SIBLING_ARMS, Annotation, Codes, Ints, PageFeatures, arm_bit

TEXT, SHAPE, CLASS, ID, PATH, ABOVE = range(6)
"""Rows of `Witness.keys`."""

_SLOTS = (("class", CLASS), ("id", ID), ("path", PATH), ("above", ABOVE))
_MANY = 4
NEAREST = 2
"""Snapshots looked at on either side in time."""

UNMOVED = 128
"""The code of a block that snapshots do not move. One more is a step towards content."""

STEPS = 16
"""Steps of a shift in one unit of log-odds."""

_LOG_ODDS = np.rint(STEPS * np.log((np.arange(CERTAIN + 1) + 0.5) / (CERTAIN + 0.5 - np.arange(CERTAIN + 1)))).astype(
    np.int64
)
"""Of a verdict, in steps. Certain is 2,049 to one."""


def of_siblings(witnesses: Iterable[PageFeatures], wanted: Collection[str]) -> dict[str, Columns]:
    """For each wanted capture what its siblings among the witnesses say, by feature: (blocks,) each. One without a
    sibling is left out."""
    asking, said = pooled_sibling_evidence(witnesses, wanted)
    ends = np.cumsum([len(one.words) for one in asking])
    parts = {name: np.split(values, ends[:-1]) for name, values in said.items()}
    return {one.capture_id: {name: of_all[at] for name, of_all in parts.items()} for at, one in enumerate(asking)}


def pooled_sibling_evidence(
    witnesses: Iterable[PageFeatures], wanted: Collection[str]
) -> tuple[list[PageFeatures], Columns]:
    """The wanted captures that have a sibling among the witnesses, and what these say of their blocks, one capture
    behind the other.

    Of a URL with several captures the first speaks for all; no capture is compared with another one of its own URL.
    """
    everyone = sorted(witnesses, key=lambda one: (one.url_key, one.timestamp, one.capture_id))
    speakers = {next(of_url).capture_id for _, of_url in groupby(everyone, lambda one: one.url_key)}
    asking = [one for one in everyone if one.capture_id in wanted]
    if len(speakers) < 2 or not asking:
        return [], {}
    heard = [one for one in everyone if one.capture_id in speakers or one.capture_id in wanted]
    speaks, asks = ([one.capture_id in some for one in heard] for some in (speakers, wanted))
    return asking, _Pool(heard, speaks, asks).said()


def of_snapshots(witnesses: Sequence[PageFeatures]) -> dict[str, Codes]:
    """How far the nearest captures of the same URL move each block of each, at most two before and two behind: (1,
    blocks) codes.

    `witnesses` are captures of one URL. Captures of the same moment are no snapshots of each other.
    """
    ordered = sorted(witnesses, key=lambda one: (one.timestamp, one.capture_id))
    found: dict[str, Codes] = {}
    for at, one in enumerate(ordered):
        near = [*ordered[max(0, at - NEAREST) : at], *ordered[at + 1 : at + 1 + NEAREST]]
        others = [other for other in near if other.timestamp != one.timestamp]
        if others:
            found[one.capture_id] = (UNMOVED + _shifts(one, others)).astype(np.uint8).reshape(1, -1)
    return found


def shifts(codes: Codes) -> npt.NDArray[np.float64]:
    """What codes of `of_snapshots` add to the log-odds of the blocks."""
    added: npt.NDArray[np.float64] = (codes[0].astype(np.float64) - UNMOVED) / STEPS
    return added


def _shifts(one: PageFeatures, others: Sequence[PageFeatures]) -> Numbers:
    """Half of the way from the verdict on each block to the mean of those on its text in its slot, in steps.

    Half: the verdicts of a page alone are half of what is known of it.
    """
    there = np.concatenate([_both(other.keys[TEXT], other.keys[CLASS]) for other in others])
    texts, group = np.unique(there, return_inverse=True)
    said = np.bincount(group, _LOG_ODDS[np.concatenate([other.verdicts for other in others])]).astype(np.int64)
    here = _both(one.keys[TEXT], one.keys[CLASS])
    at = np.minimum(np.searchsorted(texts, here), len(texts) - 1)
    held = texts[at] == here
    count, total = np.where(held, np.bincount(group)[at], 0), np.where(held, said[at], 0)
    own = _LOG_ODDS[one.verdicts]
    moved: Numbers = np.rint((total - count * own) / (2 * (count + 1))).astype(np.int64)
    return moved


def of_crosses(words: Ints, annotations: Iterable[Annotation]) -> Columns:
    """The share of each block's words that the siblings on the arms of its crosses hold.

    `words` are those of each block.
    """
    ends = sums(words)
    held: dict[str, Numbers] = {}
    for annotation in annotations:
        bits = annotation.per_token()
        for arm in SIBLING_ARMS:
            if capture_id := getattr(annotation.cross, arm):
                held[capture_id] = np.diff(sums((bits & arm_bit(arm)) != 0)[ends])
    if not held:
        return {}
    counts = list(held.values())
    every = np.sum(counts, axis=0)
    return {
        "sibling_words": share(every, words * len(counts)),
        "sibling_words_most": share(np.max(counts, axis=0), words),
        "sibling_words_page": np.full(len(words), int(every.sum()) / max(1, int(ends[-1]) * len(counts))),
    }


def _both(first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> npt.NDArray[np.uint64]:
    """Numbers of 32 bits, one behind the other."""
    return first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)


@dataclass(frozen=True, slots=True)
class _Table:
    """Sums over all blocks of speakers that have a key, and over those of one URL: (sums, keys) and (sums, pairs). The
    first sum is of URLs. `keys` and `pairs` say for each row of the pool which is its own."""

    keys: Numbers
    pairs: Numbers
    of_keys: Numbers
    of_pairs: Numbers

    def others(self, rows: Numbers) -> Numbers:
        """For some rows the sums over all speakers but that for their own URL."""
        return self.of_keys[:, self.keys[rows]] - self.of_pairs[:, self.pairs[rows]]


class _Pool:
    """The blocks of some captures, summed by what they have in common: a row each.

    The captures are in order of URL, and the first of each speaks for it. The others only ask, as speakers may.
    """

    def __init__(self, captures: Sequence[PageFeatures], speaks: Sequence[bool], asks: Sequence[bool]):
        self.capture = np.repeat(np.arange(len(captures)), [len(one.words) for one in captures])
        self.url = (np.cumsum(speaks) - 1)[self.capture]
        self.urls = sum(speaks)
        self.asking = np.flatnonzero(np.array(asks)[self.capture])
        self.spoken = np.array(speaks)[self.capture]
        self.words = np.concatenate([one.words for one in captures]).astype(np.int64)
        keys = np.concatenate([one.keys for one in captures], axis=1).astype(np.uint64)
        words = self.words * self.spoken
        links = np.concatenate([one.link_words for one in captures]) * self.spoken
        mass = words * np.concatenate([one.verdicts for one in captures]).astype(np.int64)
        self.mass = total(self.url, self.urls, mass)
        _, here = np.unique(_both(keys[TEXT], keys[CLASS]), return_inverse=True)
        self.texts = {
            "text": self._table(keys[TEXT]),
            "shape": self._table(keys[SHAPE]),
            "text_here": self._table(here.astype(np.uint64)),
        }
        texts = self.texts["text"]
        recurring = words * (texts.of_keys[0][texts.keys] > 1)
        self.slots = {name: self._table(keys[row], self.spoken, words, links, mass, recurring) for name, row in _SLOTS}
        self.different = {name: self._different(self.slots[name], texts.keys) for name, _ in _SLOTS}

    def _table(self, keys: npt.NDArray[np.uint64], *columns: npt.NDArray[np.generic]) -> _Table:
        """`keys` have 32 bits. What is summed, of rows that nobody speaks is 0."""
        found, pairs = np.unique(_both(keys, self.url.astype(np.uint64)), return_inverse=True)
        key_of_pair = np.cumsum(np.diff(found >> np.uint64(32), prepend=found[0] >> np.uint64(32)) != 0)
        of_pairs = [total(pairs, len(found), self.spoken) > 0, *(total(pairs, len(found), one) for one in columns)]
        of_keys = [total(key_of_pair, int(key_of_pair[-1]) + 1, one) for one in of_pairs]
        return _Table(key_of_pair[pairs], pairs, np.stack(of_keys), np.stack(of_pairs))

    def _different(self, slots: _Table, texts: Numbers) -> Numbers:
        """How many different texts all speakers have in each slot."""
        pairs = np.unique(_both(slots.keys[self.spoken], texts[self.spoken]))
        return np.bincount((pairs >> np.uint64(32)).astype(np.int64), minlength=slots.of_keys.shape[1])

    def said(self) -> Columns:
        """For the blocks of those who ask, one behind the other, what all speakers but that for their own URL say.

        How varied a slot is, and which texts recur, is counted over all speakers: it is said of the slot.
        """
        everyone = np.full(len(self.asking), self.urls - 1)
        mass = self.mass.sum() - self.mass[self.url[self.asking]]
        columns: Columns = {
            "siblings": everyone.astype(np.float64),
            "sibling_mass": mass / (CERTAIN * everyone),
        }
        for name, table in self.texts.items():
            (urls,) = table.others(self.asking)
            columns[f"sibling_{name}"] = share(urls, everyone)
            if name == "text":
                columns["sibling_text_count"] = np.minimum(urls, _MANY).astype(np.float64)
        for name, _ in _SLOTS:
            columns |= self._of_slot(name, mass)
        return columns

    def _of_slot(self, name: str, mass: Numbers) -> Columns:
        table = self.slots[name]
        at = table.keys[self.asking]
        _, own = np.unique(_both(self.capture[self.asking], at), return_inverse=True)
        own_words = total(own, len(own), self.words[self.asking])[own]
        pages, blocks, words, links, found, recurring = table.others(self.asking)
        columns = {
            "words": share(words, pages),
            "blocks": share(blocks, pages),
            "links": share(links, words),
            "variety": share(self.different[name][at], table.of_keys[1][at]),
            "recurring": share(recurring, words),
            "own_words": share(own_words * pages, words),
            "mean": share(words, blocks),
            "verdict": share(found, words),
        }
        said = {f"{name}_slot_{what}": np.where(pages > 0, values, UNKNOWN) for what, values in columns.items()}
        said[f"{name}_slot_pages"] = share(pages, np.full(len(pages), self.urls - 1))
        said[f"{name}_slot_mass"] = share(found, mass)
        return said
