"""A forest of boosted decision trees over binned features: small, fast in numpy, and bit for bit the same anywhere.

No row is walked through a tree. A row is one bit in strings of bits. The answers to a split's question are such a
string, and so are the rows that reach the split; an AND of both gives the rows that it sends to the right. This goes on
down to the leaves, in all trees together. The leaf that a row has reached is then read as a number of five bits.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dbce_spark.model import Codes, Indexes

LEAVES = 32
"""Most leaves of a tree: the numbers of `_LEAF_BITS` bits."""

BINS = 64
"""Most bins of a feature."""

_LEAF_BITS = 5

_CHUNK = 1024
"""Rows that are scored at once: the strings of 200 trees take 1.6 MB, and stay in the processor's cache."""

_ANSWERS_AT_ONCE = 1 << 19
"""Answers that are given at once, a byte each, for the same reason."""

_VALUES_AT_ONCE = 1 << 16
"""Values of leaves that are added up at once, eight bytes each, for the same reason."""

Strings = npt.NDArray[np.uint8]
"""(strings, rows / 8): a bit a row, eight in a byte."""


@dataclass(frozen=True, slots=True)
class _Level:
    """The splits of one depth in all trees: their nodes, their questions, and the nodes below them."""

    splits: Indexes
    questions: Indexes
    lefts: slice
    rights: slice


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan by which all trees are walked down at once.

    Nodes are numbered by depth. First comes one that no row comes to, then the roots. `leaves` are the nodes of the
    leaves of each tree, (LEAVES, trees), and the first node where a tree has fewer.
    """

    nodes: int
    levels: list[_Level]
    leaves: Indexes


@dataclass(frozen=True)
class Forest:
    """Trees one behind the other. The leaves of a tree are numbered from left to right.

    Of each split: `features`, `thresholds` (a bin above it goes right), and the leaves on its left, `firsts` up to, not
    including, `lasts`. `splits` and `leaves` count those of each tree; `values` are those of the leaves, in log-odds.
    """

    features: npt.NDArray[np.uint16]
    thresholds: npt.NDArray[np.uint8]
    firsts: npt.NDArray[np.uint8]
    lasts: npt.NDArray[np.uint8]
    splits: npt.NDArray[np.uint8]
    leaves: npt.NDArray[np.uint8]
    values: npt.NDArray[np.float64]

    def check(self) -> None:
        """Plan the walk, which any array of a file may have made impossible.

        Raises:
            ValueError, IndexError: its splits are of no tree, or have not the leaves that there are.
        """
        if len(self.values) != self.leaves.sum():
            raise ValueError("its trees have other leaves")
        self._plan  # noqa: B018  # made by the first look

    def log_odds(self, codes: Codes) -> npt.NDArray[np.float64]:
        """Sum over all trees for each row of (features, rows) bins."""
        total: npt.NDArray[np.float64] = self.log_odds_by_class(codes, 1)[0]
        return total

    def log_odds_by_class(self, codes: Codes, classes: int) -> npt.NDArray[np.float64]:
        """Sum over the trees of each class, which take turns: (classes, rows)."""
        totals = np.zeros((classes, codes.shape[1]))
        for start in range(0, codes.shape[1], _CHUNK):
            rows = slice(start, start + _CHUNK)
            # What is not in one piece, numpy copies for each batch of questions.
            self._add(np.ascontiguousarray(codes[:, rows]), totals[:, rows])
        return totals

    def _add(self, codes: Codes, totals: npt.NDArray[np.float64]) -> None:
        """Add the values of the leaves, tree after tree: in one order whatever rows there are."""
        reached = self._reached(self._answers(codes))
        classes, rows = len(totals), reached.shape[1]
        sums = np.zeros((classes, rows))
        step = classes * max(1, _VALUES_AT_ONCE // (classes * rows))
        for start in range(0, len(reached), step):
            some = slice(start, start + step)
            values = self.values.take(reached[some] + self._first_leaves[some], mode="clip").reshape(-1, classes, rows)
            values[0] += sums
            np.add.reduce(values, axis=0, out=sums)
        totals += sums[:, : totals.shape[1]]

    def _answers(self, codes: Codes) -> Strings:
        """Mark for each question the rows that go right. The two large arrays are made once: fresh memory costs more
        than what is done in it, and so does a check of each index, which "clip" leaves out."""
        features, thresholds, _ = self._questions
        step = max(1, min(len(features), _ANSWERS_AT_ONCE // codes.shape[1]))
        answers = np.empty((len(features), -(-codes.shape[1] // 8)), np.uint8)
        asked = np.empty((step, codes.shape[1]), np.uint8)
        goes_right = np.empty(asked.shape, np.bool_)
        for start in range(0, len(features), step):
            batch = slice(start, start + step)
            some = slice(len(features[batch]))
            codes.take(features[batch], axis=0, out=asked[some], mode="clip")
            np.greater(asked[some], thresholds[batch], out=goes_right[some])
            answers[batch] = np.packbits(goes_right[some], axis=1)
        return answers

    def _reached(self, answers: Strings) -> npt.NDArray[np.uint8]:
        """Find the number of the leaf that each row comes to: (trees, rows), rows filled up to whole bytes."""
        plan, trees = self._plan, len(self.splits)
        nodes = np.empty((plan.nodes, answers.shape[1]), np.uint8)
        nodes[0], nodes[1 : trees + 1] = 0, 0xFF
        for level in plan.levels:
            here = nodes.take(level.splits, axis=0)
            rights = np.bitwise_and(here, answers.take(level.questions, axis=0), out=nodes[level.rights])
            np.bitwise_xor(here, rights, out=nodes[level.lefts])
        leaves = nodes.take(plan.leaves, axis=0)
        numbers = np.zeros((trees, answers.shape[1]), np.uint64)  # of eight rows, a byte each
        for bit in range(_LEAF_BITS):
            is_set = leaves.reshape(1 << bit, 2, -1, *leaves.shape[1:])[:, 1]
            numbers <<= np.uint64(1)
            numbers |= np.unpackbits(np.bitwise_or.reduce(is_set, axis=(0, 1)), axis=1).view(np.uint64)
        return numbers.view(np.uint8)

    @cached_property
    def _questions(self) -> tuple[Indexes, Codes, Indexes]:
        """List the distinct questions: features, thresholds in a column; and the index of each split's question."""
        questions, of_splits = np.unique(self.features.astype(np.intp) * BINS + self.thresholds, return_inverse=True)
        return questions // BINS, (questions % BINS).astype(np.uint8)[:, None], of_splits

    @cached_property
    def _first_leaves(self) -> Indexes:
        """Return the index of the first leaf of each tree, in a column."""
        return (np.cumsum(self.leaves, dtype=np.intp) - self.leaves)[:, None]

    @cached_property
    def _plan(self) -> _Plan:
        """Plan the walk down all trees.

        Of the splits that have a node's first leaf on their left, its own has most leaves there; those that have fewer
        stand further down."""
        of_splits = np.repeat(np.arange(len(self.splits)), self.splits)
        keys = _key(of_splits, self.firsts.astype(np.intp), self.lasts.astype(np.intp))
        order = keys.argsort()
        keys, questions, middles = keys[order], self._questions[2][order], self.lasts[order].astype(np.intp)
        leaves = np.zeros((LEAVES, len(self.splits)), np.intp)
        levels: list[_Level] = []
        trees = np.arange(len(self.splits))
        firsts, ends = np.zeros(len(trees), np.intp), self.leaves.astype(np.intp)
        start = 1
        while len(trees):
            nodes, is_leaf = start + np.arange(len(trees)), ends - firsts == 1
            leaves[firsts[is_leaf], trees[is_leaf]] = nodes[is_leaf]
            trees, firsts, ends = trees[~is_leaf], firsts[~is_leaf], ends[~is_leaf]
            own = np.searchsorted(keys, _key(trees, firsts, ends)) - 1
            if not ((firsts < middles[own]) & (middles[own] < ends)).all():  # such a walk would never end
                raise ValueError("its splits are of no tree")
            start += len(nodes)
            between = start + len(trees)
            below = slice(start, between), slice(between, between + len(trees))
            levels.append(_Level(nodes[~is_leaf], questions[own], *below))
            trees, firsts, ends = (
                np.concatenate(pair) for pair in ((trees, trees), (firsts, middles[own]), (middles[own], ends))
            )
        return _Plan(start, levels, leaves)


def probability(log_odds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Convert log-odds to probabilities."""
    return 1 / (1 + np.exp(-log_odds))


def _key(trees: Indexes, firsts: Indexes, lasts: Indexes) -> Indexes:
    """Number leaves of trees, from the first to before the last, in the order of all three."""
    return (trees * (LEAVES + 1) + firsts) * (LEAVES + 1) + lasts
