"""Learns what words of class names and ids say: which stand on many hosts, and their weights by logistic regression."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier import class_words, slot_keys
from dbce_spark.dbce.classifier.class_words import LOG_ODDS_STEPS, ClassWords
from dbce_spark.dbce.classifier.features import Columns
from dbce_spark.dbce.classifier.layout import Layout, sums
from dbce_spark.model import Numbers

if TYPE_CHECKING:  # scipy comes with the extra train alone
    from scipy.sparse import csr_array

HOSTS = 20
"""Fewest hosts of the pages trained on that have a word: what fewer have may name a site."""

RIDGE = 100.0
"""Penalty on the squares of the weights, where a page weighs 1,700 (`prepared_pages.PAGE_WEIGHT`)."""

ROUNDS = 60
"""Most steps of the regression; it gains little after half of them."""

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NamedSlots:
    """The slots of pages, one page behind the other, and the words in their names.

    Of each slot: `pages`, the index of its page; `above`, the index of the slot above, a root's its own; `words`, which
    of `hashes` its own name has, as a matrix (slots, hashes). `of_blocks`: the slot of each block.
    """

    pages: Numbers
    above: Numbers
    of_blocks: Numbers
    hashes: npt.NDArray[np.uint64]
    words: "csr_array[Any]"

    def columns(self, learned: ClassWords) -> Columns:
        """Compute the features of all blocks: those of `ClassWords.columns`."""
        of_words = np.zeros((2, len(self.hashes)), np.int64)
        of_words[:, np.searchsorted(self.hashes, learned.hashes)] = learned.weights
        is_known = np.isin(self.hashes, learned.hashes).astype(np.int64)
        below, nearest, known = (self.words @ values for values in (*of_words, is_known))
        return class_words.columns(below, nearest, known > 0, self.above, self.of_blocks)

    def of_pages(self, is_chosen: npt.NDArray[np.bool_]) -> "NamedSlots":
        """Choose the slots and blocks of some pages, which `is_chosen` marks."""
        of_chosen = is_chosen[self.pages]
        slots, number, page = np.flatnonzero(of_chosen), np.cumsum(of_chosen) - 1, np.cumsum(is_chosen) - 1
        of_blocks = self.of_blocks[of_chosen[self.of_blocks]]
        return NamedSlots(
            page[self.pages[slots]], number[self.above[slots]], number[of_blocks], self.hashes, self.words[slots]
        )


def named_slots(batches: Iterable[Layout]) -> NamedSlots:
    """Collect the slots of all pages, given some at a time."""
    from scipy.sparse import csr_array

    found: list[tuple[Numbers, Numbers, Numbers]] = []
    of_slots: list[list[int]] = []
    pages = slots = 0
    for some in batches:
        found.append((some.slot_pages + pages, some.slot_parents + slots, some.block_slots + slots))
        of_slots += [[*map(class_words.hashed, class_words.words_of(name))] for name in some.own_names]
        pages, slots = pages + len(some.starts) - 1, slots + len(some.own_names)
    page_of, above, of_blocks = map(np.concatenate, zip(*found, strict=True))
    ends = sums(np.array([len(words) for words in of_slots]))
    hashes, at = np.unique(np.array([word for words in of_slots for word in words], np.uint64), return_inverse=True)
    words = csr_array((np.ones(len(at), np.int64), at, ends), shape=(slots, len(hashes)))
    return NamedSlots(page_of, above, of_blocks, hashes, words)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Counts of slots below words: `counts`, (slots, words twice), of all elements around, then of the nearest
    that has a word; and the hash of each word."""

    hashes: npt.NDArray[np.uint64]
    counts: "csr_array[Any]"


def count_common(slots: NamedSlots, hosts: Sequence[str]) -> WordCounts:
    """Count the words that HOSTS hosts or more have; `hosts` has that of each page."""
    from scipy.sparse import csr_array, hstack

    common = _common(slots, hosts)
    own = slots.words[:, common].astype(np.float64)
    below = own
    for far in slot_keys.doubled(slots.above):
        has_far = np.flatnonzero(far < len(slots.above))
        shape = (len(slots.above), len(slots.above))
        below = below + csr_array((np.ones(len(has_far)), (has_far, far[has_far])), shape=shape) @ below
    nearest = own[slot_keys.nearest(np.diff(own.indptr) > 0, slots.above)]
    return WordCounts(slots.hashes[common], hstack((below, nearest), format="csr"))


def _common(slots: NamedSlots, hosts: Sequence[str]) -> Numbers:
    from scipy.sparse import csr_array

    names, host_of_page = np.unique(hosts, return_inverse=True)
    host = host_of_page[slots.pages]
    by_host = csr_array((np.ones(len(host), np.int64), (host, np.arange(len(host)))), shape=(len(names), len(host)))
    return np.flatnonzero(((by_host @ slots.words) > 0).sum(axis=0) >= HOSTS)


def learn(words: WordCounts, of_blocks: Numbers, is_content: npt.NDArray[np.bool_], weights: Weights) -> ClassWords:
    """Learn the weights of words, so that their sums tell content from all else.

    of_blocks, is_content, weights: of each block its slot, its label, its weight. One that is not to be learned from
    weighs 0.
    """
    content, others = (
        np.bincount(of_blocks, weights * side, minlength=words.counts.shape[0]).astype(np.float64)
        for side in (is_content, ~is_content)
    )
    rows = np.flatnonzero(content + others)
    found = _regression(words.counts[rows], content[rows], others[rows])
    steps = np.clip(np.rint(found * LOG_ODDS_STEPS), -(2**15), 2**15 - 1).astype(np.int16)
    return ClassWords(words.hashes, steps.reshape(2, -1))


def _regression(counts: "csr_array[Any]", content: Weights, others: Weights) -> Weights:
    """Fit the weight of each column by logistic regression; rows weigh `content` as content and `others` as others."""
    from scipy.optimize import minimize

    transposed = counts.T.tocsr()

    def loss(weights: Weights) -> tuple[float, Weights]:
        log_odds = counts @ weights[1:] + weights[0]
        penalty = RIDGE / 2 * float(weights[1:] @ weights[1:])
        value = float(content @ np.logaddexp(0, -log_odds) + others @ np.logaddexp(0, log_odds)) + penalty
        slope = (content + others) / (1 + np.exp(-log_odds)) - content
        return value, np.concatenate(([slope.sum()], transposed @ slope + RIDGE * weights[1:]))

    start = np.zeros(counts.shape[1] + 1)
    found: Weights = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ROUNDS}).x
    return found[1:]
