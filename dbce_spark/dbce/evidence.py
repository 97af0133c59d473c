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

from dbce_spark.dbce.context import SURE
from dbce_spark.dbce.features import UNKNOWN, Columns, share
from dbce_spark.dbce.layout import Numbers, sums
from dbce_spark.labels import SIBLING_ARMS, arm_bit
from dbce_spark.model import Annotation, Codes, Ints, Witness

TEXT, SHAPE, CLASS, ID, PATH, ABOVE = range(6)
"""Rows of `Witness.keys`."""

_SLOTS = (("class", CLASS), ("id", ID), ("path", PATH), ("above", ABOVE))
_MANY = 4
_NEAREST = 2
"""Snapshots looked at on either side in time."""

UNMOVED = 128
"""The code of a block that snapshots do not move. One more is a step towards content."""

STEPS = 16
"""Steps of a shift in one unit of log-odds."""

_LOG_ODDS = np.rint(STEPS * np.log((np.arange(SURE + 1) + 0.5) / (SURE + 0.5 - np.arange(SURE + 1)))).astype(np.int64)
"""Of a verdict, in steps. Certain is 2,049 to one."""


def of_siblings(witnesses: Iterable[Witness], wanted: Collection[str]) -> dict[str, Columns]:
    """For each wanted capture what its siblings among the witnesses say, by feature: (blocks,) each.

    Of a URL with several captures the first speaks for all; no capture is compared with another one of its own URL.
    A capture without a sibling is left out.
    """
    everyone = sorted(witnesses, key=lambda one: (one.url_key, one.timestamp, one.capture_id))
    speakers = [next(of_url) for _, of_url in groupby(everyone, lambda one: one.url_key)]
    if len(speakers) < 2 or not any(one.capture_id in wanted for one in everyone):
        return {}
    speaker_of = {one.url_key: at for at, one in enumerate(speakers)}
    asking = [one for one in everyone if one.capture_id in wanted]
    said = _Pool(speakers).said_of(asking, [speaker_of[one.url_key] for one in asking])
    ends = np.cumsum([len(one.words) for one in asking])
    parts = {name: np.split(values, ends[:-1]) for name, values in said.items()}
    return {one.capture_id: {name: of_all[at] for name, of_all in parts.items()} for at, one in enumerate(asking)}


def of_snapshots(witnesses: Sequence[Witness]) -> dict[str, Codes]:
    """How far the nearest captures of the same URL move each block of each, at most two before and two behind: (1,
    blocks) codes.

    `witnesses` are captures of one URL. Captures of the same moment are no snapshots of each other.
    """
    ordered = sorted(witnesses, key=lambda one: (one.timestamp, one.capture_id))
    found: dict[str, Codes] = {}
    for at, one in enumerate(ordered):
        near = [*ordered[max(0, at - _NEAREST) : at], *ordered[at + 1 : at + 1 + _NEAREST]]
        others = [other for other in near if other.timestamp != one.timestamp]
        if others:
            found[one.capture_id] = (UNMOVED + _shifts(one, others)).astype(np.uint8).reshape(1, -1)
    return found


def shifts(codes: Codes) -> npt.NDArray[np.float64]:
    """What codes of `of_snapshots` add to the log-odds of the blocks."""
    added: npt.NDArray[np.float64] = (codes[0].astype(np.float64) - UNMOVED) / STEPS
    return added


def _shifts(one: Witness, others: Sequence[Witness]) -> Numbers:
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


def _both(first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
    return first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)


@dataclass(frozen=True, slots=True)
class _Table:
    """Sums over the blocks of one key, of all speakers and of each: rows are sums, columns keys or (key, speaker)."""

    keys: npt.NDArray[np.uint64]  # sorted
    pairs: Numbers  # key index * speakers + speaker, sorted
    of_keys: Numbers
    of_pairs: Numbers

    def others(
        self, keys: npt.NDArray[np.uint64], without: Numbers, speakers: int
    ) -> tuple[npt.NDArray[np.bool_], Numbers]:
        """For each of some keys whether any speaker has it, and the sums of all speakers but one."""
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[at] == keys
        pair = at * speakers + without
        place = np.minimum(np.searchsorted(self.pairs, pair), len(self.pairs) - 1)
        own = np.where(self.pairs[place] == pair, self.of_pairs[:, place], 0)
        return known, np.where(known, self.of_keys[:, at] - own, 0)


class _Pool:
    """The blocks of all speakers, summed by what they have in common."""

    def __init__(self, speakers: Sequence[Witness]):
        self.speakers = len(speakers)
        self.who = np.repeat(np.arange(len(speakers)), [len(one.words) for one in speakers])
        keys = np.concatenate([one.keys for one in speakers], axis=1)
        words = np.concatenate([one.words for one in speakers]).astype(np.int64)
        links = np.concatenate([one.link_words for one in speakers]).astype(np.int64)
        mass = words * np.concatenate([one.verdicts for one in speakers]).astype(np.int64)
        self.mass = np.bincount(self.who, mass, minlength=len(speakers)).astype(np.int64)
        ones = np.ones_like(words)
        self.texts = {
            "text": self._table(keys[TEXT].astype(np.uint64)),
            "shape": self._table(keys[SHAPE].astype(np.uint64)),
            "text_here": self._table(_both(keys[TEXT], keys[CLASS])),
        }
        table = self.texts["text"]
        holders = table.of_keys[0][np.searchsorted(table.keys, keys[TEXT].astype(np.uint64))]
        recurring = words * (holders > 1)
        self.slots = {
            name: self._table(keys[row].astype(np.uint64), ones, words, links, mass, recurring) for name, row in _SLOTS
        }
        self.variety = {name: self._variety(keys[row], keys[TEXT]) for name, row in _SLOTS}

    def _table(self, keys: npt.NDArray[np.uint64], *columns: Numbers) -> _Table:
        """The first sum is the number of speakers that have the key; those of `columns` follow."""
        found, group = np.unique(keys, return_inverse=True)
        pairs, of_pair = np.unique(group * self.speakers + self.who, return_inverse=True)
        of_pairs = [np.ones(len(pairs), np.int64)]
        of_pairs += [np.bincount(of_pair, column, minlength=len(pairs)).astype(np.int64) for column in columns]
        key_of_pair = pairs // self.speakers
        of_keys = [np.bincount(key_of_pair, one, minlength=len(found)).astype(np.int64) for one in of_pairs]
        return _Table(found, pairs, np.stack(of_keys), np.stack(of_pairs))

    def _variety(self, slots: npt.NDArray[np.uint32], texts: npt.NDArray[np.uint32]) -> tuple[Numbers, Numbers]:
        """For each slot in order of its key: how many different texts, and how many blocks, all speakers have in it."""
        keys, group = np.unique(slots, return_inverse=True)
        different = np.unique(_both(slots, texts)) >> np.uint64(32)
        return (
            np.bincount(np.searchsorted(keys, different), minlength=len(keys)),
            np.bincount(group, minlength=len(keys)),
        )

    def said_of(self, asking: Sequence[Witness], without: Sequence[int]) -> Columns:
        """For the blocks of some captures, one behind the other, what all speakers but that for its own URL say.

        How varied a slot is, and which texts recur, is counted over all speakers: it is said of the slot.
        """
        lengths = [len(one.words) for one in asking]
        page, own_speaker = (np.repeat(of_page, lengths) for of_page in (np.arange(len(asking)), np.array(without)))
        keys = np.concatenate([one.keys for one in asking], axis=1)
        words = np.concatenate([one.words for one in asking]).astype(np.int64)
        everyone = np.full(len(words), self.speakers - 1)
        mass = self.mass.sum() - self.mass[own_speaker]
        columns: Columns = {
            "siblings": everyone.astype(np.float64),
            "sibling_mass": mass / (SURE * everyone),
        }
        named = {"text": keys[TEXT], "shape": keys[SHAPE], "text_here": _both(keys[TEXT], keys[CLASS])}
        for name, table in self.texts.items():
            _, counts = table.others(named[name].astype(np.uint64), own_speaker, self.speakers)
            columns[f"sibling_{name}"] = share(counts[0], everyone)
            if name == "text":
                columns["sibling_text_count"] = np.minimum(counts[0], _MANY).astype(np.float64)
        for name, row in _SLOTS:
            slots = keys[row].astype(np.uint64)
            _, group = np.unique(page.astype(np.uint64) << np.uint64(32) | slots, return_inverse=True)
            own_words = np.bincount(group, words)[group].astype(np.int64)
            columns |= self._of_slot(name, slots, own_speaker, own_words, mass)
        return columns

    def _of_slot(
        self, name: str, keys: npt.NDArray[np.uint64], without: Numbers, own_words: Numbers, mass: Numbers
    ) -> Columns:
        table = self.slots[name]
        known, (pages, blocks, words, links, found, recurring) = table.others(keys, without, self.speakers)
        at = np.minimum(np.searchsorted(table.keys, keys), len(table.keys) - 1)
        different, in_all = (counts[at] for counts in self.variety[name])
        seen = known & (pages > 0)
        columns = {
            "words": share(words, pages),
            "blocks": share(blocks, pages),
            "links": share(links, words),
            "variety": share(different, in_all),
            "recurring": share(recurring, words),
            "own_words": share(own_words * pages, words),
            "mean": share(words, blocks),
            "verdict": share(found, words),
        }
        said = {f"{name}_slot_{what}": np.where(seen, values, UNKNOWN) for what, values in columns.items()}
        said[f"{name}_slot_pages"] = share(pages, np.full(len(pages), self.speakers - 1))
        said[f"{name}_slot_mass"] = share(found, mass)
        return said
