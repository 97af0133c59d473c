"""The evidence of other pages on a block: siblings, pooled over the slots of the template, and snapshots of its URL.

A slot is a place in the template, named by the DOM path that leads to it. What its blocks are like on the other pages
(how many words, links, how varied, their first scores) shows what the slot is for, however the text in it changes; that
the text itself recurs shows that it is not this page's own.

That a text stays or changes from capture to capture shows nothing by itself: on one site what changes is the story, on
the next the list of other stories. But what stays where it was is one thing, and is labelled as one (docs/method.md).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce import moments
from dbce_spark.dbce.classifier.context import CERTAIN
from dbce_spark.dbce.classifier.features import UNKNOWN, Columns, share, total
from dbce_spark.dbce.classifier.layout import sums
from dbce_spark.dbce.key_numbers import keys_of_groups, numbered
from dbce_spark.dbce.near_copies import under_one_url
from dbce_spark.dbce.page_lots import TOGETHER, cut_lots
from dbce_spark.model import (
    ABOVE,
    CLASS,
    ID,
    PATH,
    SHAPE,
    SIBLING_ARMS,
    TEXT,
    Annotation,
    Codes,
    Ints,
    Numbers,
    PageFeatures,
    arm_bit,
)

_SLOTS = (("class", CLASS), ("id", ID), ("path", PATH), ("above", ABOVE))
_MOST_COUNTED = 4
"""Siblings with the same text; more count as so many."""

UNMOVED = 128
"""The code of a block that snapshots do not move. One more is a step towards content."""

LOG_ODDS_STEPS = 16
"""Steps of a shift in one unit of log-odds."""

_LOG_ODDS = np.rint(
    LOG_ODDS_STEPS * np.log((np.arange(CERTAIN + 1) + 0.5) / (CERTAIN + 0.5 - np.arange(CERTAIN + 1)))
).astype(np.int64)
"""The log-odds of each first score, in steps. CERTAIN is 2,049 to one."""


def of_siblings(captures: Iterable[PageFeatures], wanted: Collection[str]) -> dict[str, Columns]:
    """Compute the evidence of siblings among some captures on each wanted one, by capture id and feature: (blocks,).

    A capture without a sibling is left out.
    """
    found: dict[str, Columns] = {}
    for with_siblings, columns in pooled_sibling_evidence(captures, wanted):
        ends = np.cumsum([len(one.words) for one in with_siblings])
        parts = {name: np.split(values, ends[:-1]) for name, values in columns.items()}
        for at, one in enumerate(with_siblings):
            found[one.capture_id] = {name: of_all[at] for name, of_all in parts.items()}
    return found


def pooled_sibling_evidence(
    captures: Iterable[PageFeatures], wanted: Collection[str]
) -> Iterator[tuple[list[PageFeatures], Columns]]:
    """Compute the evidence on the blocks of the wanted captures that have a sibling in a pool: iterate over lots of
    these captures, each with the columns of its blocks, one capture behind the other.

    Of a URL with several captures only the first is evidence; no capture is compared with another one of its own URL.
    Near-copies count as captures of one URL.
    """
    ordered = under_one_url(captures)
    first = {next(of_url).capture_id for _, of_url in groupby(ordered, lambda one: one.url_key)}
    pool = [one for one in ordered if one.capture_id in first or one.capture_id in wanted]
    places = [at for at, one in enumerate(pool) if one.capture_id in wanted]
    if len(first) < 2 or not places:
        return
    summed = _Pool(pool, [one.capture_id in first for one in pool])
    for lot in cut_lots(places, lambda at: len(pool[at].words), TOGETHER):
        yield [pool[at] for at in lot], summed.columns(lot)


def of_snapshots(captures: Sequence[PageFeatures]) -> dict[str, Codes]:
    """Compute how far the nearest captures of the same URL move each block of each: (1, blocks) codes, by capture id.

    Nearest are those of `moments.snapshots`. `captures` are those of one URL.
    """
    found: dict[str, Codes] = {}
    for moment, others in moments.snapshots(captures):
        if not others:
            continue
        there = _SlotTexts.of(others)
        for one in moment:
            found[one.capture_id] = (UNMOVED + _shifts(one, there)).astype(np.uint8).reshape(1, -1)
    return found


def shifts(codes: Codes) -> npt.NDArray[np.float64]:
    """Convert codes of `of_snapshots` to what they add to the log-odds of the blocks."""
    added: npt.NDArray[np.float64] = (codes[0].astype(np.float64) - UNMOVED) / LOG_ODDS_STEPS
    return added


@dataclass(frozen=True, slots=True)
class _SlotTexts:
    """The texts that some captures have, each in a slot, in order: how often, and their log-odds summed, in steps."""

    keys: npt.NDArray[np.uint64]
    counts: Numbers
    log_odds: Numbers

    @classmethod
    def of(cls, captures: Sequence[PageFeatures]) -> "_SlotTexts":
        """Sum up some captures."""
        every = np.concatenate([_both(one.keys[TEXT], one.keys[CLASS]) for one in captures])
        keys, group = np.unique(every, return_inverse=True)
        log_odds = _LOG_ODDS[np.concatenate([one.first_scores for one in captures])]
        return cls(keys, np.bincount(group), total(group, len(keys), log_odds))


def _shifts(one: PageFeatures, there: _SlotTexts) -> Numbers:
    """Compute half of the way from each block's first score to the mean of those of its text in its slot, in steps.

    Half: the first scores of a page are half of the evidence on it.
    """
    here = _both(one.keys[TEXT], one.keys[CLASS])
    at = np.minimum(np.searchsorted(there.keys, here), len(there.keys) - 1)
    is_there = there.keys[at] == here
    count, summed = (np.where(is_there, of_texts[at], 0) for of_texts in (there.counts, there.log_odds))
    own = _LOG_ODDS[one.first_scores]
    moved: Numbers = np.rint((summed - count * own) / (2 * (count + 1))).astype(np.int64)
    return moved


def of_crosses(words: Ints, annotations: Iterable[Annotation]) -> Columns:
    """Compute the share of each block's words that the siblings on the arms of its crosses hold.

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
    """Join pairs of numbers of 32 bits to numbers of 64."""
    return first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)


@dataclass(frozen=True, slots=True)
class _Table:
    """Sums over all blocks of evidence that have a key, and over those of one URL: (sums, keys) and (sums, pairs). The
    first sum is of URLs. `keys` and `pairs` hold for each row of the pool the index of its own."""

    keys: Numbers
    pairs: Numbers
    of_keys: Numbers
    of_pairs: Numbers

    def others(self, rows: Numbers) -> Numbers:
        """Return the sums of some rows over all evidence but that of their own URL."""
        return self.of_keys[:, self.keys[rows]] - self.of_pairs[:, self.pairs[rows]]


class _Pool:
    """The blocks of some captures, summed by what they have in common: a row each.

    The captures are in order of URL, and only the first of each is evidence. Evidence is wanted on any of them.
    """

    def __init__(self, captures: Sequence[PageFeatures], is_evidence: Sequence[bool]):
        self.capture = np.repeat(np.arange(len(captures)), [len(one.words) for one in captures])
        self.url = (np.cumsum(is_evidence) - 1)[self.capture]
        self.urls = sum(is_evidence)
        self.is_evidence = np.array(is_evidence)[self.capture]
        self.words = np.concatenate([one.words for one in captures]).astype(np.int64)
        keys = np.concatenate([one.keys for one in captures], axis=1).astype(np.uint64)
        words = self.words * self.is_evidence
        links = np.concatenate([one.link_words for one in captures]) * self.is_evidence
        content_mass = words * np.concatenate([one.first_scores for one in captures]).astype(np.int64)
        self.content_mass = total(self.url, self.urls, content_mass)
        here, _ = numbered(_both(keys[TEXT], keys[CLASS]))
        self.texts = {
            "text": self._table(keys[TEXT]),
            "shape": self._table(keys[SHAPE]),
            "text_here": self._table(here.astype(np.uint64)),
        }
        texts = self.texts["text"]
        recurring = words * (texts.of_keys[0][texts.keys] > 1)
        self.slots = {
            name: self._table(keys[row], self.is_evidence, words, links, content_mass, recurring)
            for name, row in _SLOTS
        }
        self.different = {name: self._different(self.slots[name], texts.keys) for name, _ in _SLOTS}

    def _table(self, keys: npt.NDArray[np.uint64], *columns: npt.NDArray[np.generic]) -> _Table:
        """Sum columns by keys of 32 bits. The columns are 0 in rows that are no evidence."""
        of_keys, count = numbered(keys)
        pairs, pair_count = numbered(_both(of_keys, self.url))
        key_of_pair = keys_of_groups(of_keys, pairs, pair_count)
        has_evidence = total(pairs, pair_count, self.is_evidence) > 0
        sums_of_pairs = [has_evidence, *(total(pairs, pair_count, one) for one in columns)]
        sums_of_keys = [total(key_of_pair, count, one) for one in sums_of_pairs]
        return _Table(of_keys, pairs, np.stack(sums_of_keys), np.stack(sums_of_pairs))

    def _different(self, slots: _Table, texts: Numbers) -> Numbers:
        """Count the different texts that all evidence has in each slot."""
        keys = slots.keys[self.is_evidence]
        pairs, count = numbered(_both(keys, texts[self.is_evidence]))
        return np.bincount(keys_of_groups(keys, pairs, count), minlength=slots.of_keys.shape[1])

    def columns(self, captures: Sequence[int]) -> Columns:
        """Compute the features of the blocks of some captures, by their places in the pool, one capture behind the
        other, from all evidence but that of their own URL.

        How varied a slot is, and which texts recur, is counted over all evidence: it is a property of the slot.
        """
        wanted = np.flatnonzero(np.isin(self.capture, captures))
        siblings = np.full(len(wanted), self.urls - 1)
        content_mass = self.content_mass.sum() - self.content_mass[self.url[wanted]]
        columns: Columns = {
            "siblings": siblings.astype(np.float64),
            "sibling_mass": content_mass / (CERTAIN * siblings),
        }
        for name, table in self.texts.items():
            (urls,) = table.others(wanted)
            columns[f"sibling_{name}"] = share(urls, siblings)
            if name == "text":
                columns["sibling_text_count"] = np.minimum(urls, _MOST_COUNTED).astype(np.float64)
        for name, _ in _SLOTS:
            columns |= self._of_slot(name, wanted, content_mass)
        return columns

    def _of_slot(self, name: str, wanted: Numbers, content_mass: Numbers) -> Columns:
        table = self.slots[name]
        at = table.keys[wanted]
        own, count = numbered(_both(self.capture[wanted], at))
        own_words = total(own, count, self.words[wanted])[own]
        pages, blocks, words, links, found, recurring = table.others(wanted)
        columns = {
            "words": share(words, pages),
            "blocks": share(blocks, pages),
            "links": share(links, words),
            "variety": share(self.different[name][at], table.of_keys[1][at]),
            "recurring": share(recurring, words),
            "own_words": share(own_words * pages, words),
            "mean": share(words, blocks),
            "score": share(found, words),
        }
        named = {f"{name}_slot_{column}": np.where(pages > 0, values, UNKNOWN) for column, values in columns.items()}
        named[f"{name}_slot_pages"] = share(pages, np.full(len(pages), self.urls - 1))
        named[f"{name}_slot_mass"] = share(found, content_mass)
        return named
