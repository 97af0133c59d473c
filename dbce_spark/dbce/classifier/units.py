"""Units of a page: a row, a list, a table, a section. They nest, and what hangs together is kept or dropped together.

A unit is an element that holds other blocks than the elements within it. Scores of blocks are pooled over the units
around each, and what is kept is decided for the whole tree of units at once.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.block_scores import Scores, log_odds_of
from dbce_spark.dbce.classifier.features import REPEATED, UNKNOWN, Columns, share, total
from dbce_spark.dbce.classifier.layout import Layout, Rows, joined, sums, sums_between
from dbce_spark.dbce.classifier.slot_keys import nearest
from dbce_spark.dbce.key_numbers import grouped, mixed_pairs
from dbce_spark.model import Numbers, Units

DEPTH = 8
"""Units around a block that its score is pooled over: the one it stands in, and those around that."""

HIGH = 512
"""A score above which a block likely is content, in 1/1024."""

SHARES = (0, 20, 60, 150, 300, 512, 724, 874, 964, 1025)
"""Steps of scores, in 1/1024, whose shares of the page describe it as a whole."""

LOG_ODDS_STEPS = 16
"""Steps of a cost in one unit of log-odds."""

COST_OF_DIFFERENCE = 16
"""Cost of a block or unit whose label is not that of the unit around it, in steps: evidence of e to one.

Of 0.5, 1 and 2 units of log-odds the middle one left the fewest rows torn at no loss of F1 (docs/quality.md)."""

_FARTHEST = 6 * LOG_ODDS_STEPS
"""Most that one block may cost: none is so certain that it decides for a whole list."""

CUT_OF_FAVOR = {"precision": 0.6, "balanced": 0.35, "recall": 0.1}
"""The score from which on a block by itself is content. 0.35 and 0.3 were compared on pages that readers labelled: 0.35
gave the higher F1, and was as good at keeping what must stay as at dropping what must go (docs/quality.md)."""


def of_pages(pages: Layout) -> list[Units]:
    """Find the units of each page."""
    parents, firsts, lasts = pages.parents, pages.firsts, pages.lasts
    elements = np.arange(len(parents))
    is_unit = (firsts < lasts) & ((parents == elements) | (firsts[parents] != firsts) | (lasts[parents] != lasts))
    found = np.flatnonzero(is_unit)
    number = np.cumsum(is_unit) - 1
    around = nearest(is_unit, parents)
    unit_around = number[around[parents[found]]]
    _, first_of_kind, kind = np.unique(
        mixed_pairs(unit_around.astype(np.uint64), pages.slots.own[pages.element_slots[found]]),
        return_index=True,
        return_inverse=True,
    )
    kinds = first_of_kind[kind]
    holders = number[around[pages.holders]]
    ends = np.searchsorted(pages.element_pages[found], np.arange(len(pages.starts)))
    return [
        Units(
            parents=(unit_around[start:end] - start).astype(np.int32),
            firsts=(firsts[found[start:end]] - first).astype(np.int32),
            lasts=(lasts[found[start:end]] - first).astype(np.int32),
            kinds=(kinds[start:end] - start).astype(np.int32),
            holders=(holders[first:last] - start).astype(np.int32),
        )
        for start, end, first, last in zip(
            ends[:-1].tolist(), ends[1:].tolist(), pages.starts[:-1].tolist(), pages.starts[1:].tolist(), strict=True
        )
    ]


def columns(rows: Rows, units: list[Units], link_words: Numbers, scores: Numbers, wanted: Numbers) -> Columns:
    """Compute the features of some blocks of some pages by scores, in 1/1024, pooled over the units around each.

    `units` are those of each page, `link_words` and `scores` of each block, `wanted` the indexes of blocks.
    """
    return _Pooled(rows, units, link_words, scores).columns(wanted)


class _Pooled:
    """The units of some pages, one page behind the other, and sums over each."""

    def __init__(self, rows: Rows, units: list[Units], link_words: Numbers, scores: Numbers):
        self.rows, self.scores = rows, scores
        starts = sums(np.array([len(one.parents) for one in units]))
        page = np.repeat(np.arange(len(units)), np.diff(starts))
        self.parents = joined([one.parents for one in units]) + starts[page]
        self.holders = joined([one.holders for one in units]) + starts[rows.pages]
        self.firsts = joined([one.firsts for one in units]) + rows.starts[page]
        self.lasts = joined([one.lasts for one in units]) + rows.starts[page]
        self.kinds, self.alike = grouped(page, joined([one.kinds for one in units]).astype(np.uint64))
        self.mass = scores * rows.words
        self.blocks = self.lasts - self.firsts
        self.words, self.links, self.masses, self.score_sums, self.high = (
            sums_between(values, self.firsts, self.lasts)
            for values in (rows.words, link_words, self.mass, scores, scores > HIGH)
        )

    def columns(self, at: Numbers) -> Columns:
        page_words, page_mass = (self.rows.in_pages(values)[at] for values in (self.rows.words, self.mass))
        columns: Columns = {}
        unit, own = self.holders[at], self.scores[at]
        for level in range(DEPTH):
            blocks, inner = self.blocks[unit], self.score_sums[unit]
            others = np.where(blocks > 1, share(inner - own, blocks - 1), UNKNOWN)
            columns |= {
                f"unit{level}_words": self.words[unit].astype(np.float64),
                f"unit{level}_blocks": blocks.astype(np.float64),
                f"unit{level}_mean": share(inner, blocks),
                f"unit{level}_density": share(self.masses[unit], self.words[unit]),
                f"unit{level}_high": share(self.high[unit], blocks),
                f"unit{level}_links": share(self.links[unit], self.words[unit]),
                f"unit{level}_mass": share(self.masses[unit], page_mass),
                f"unit{level}_share": share(self.words[unit], page_words),
                f"unit{level}_others": others,
                f"unit{level}_before": (at - self.firsts[unit]).astype(np.float64),
                f"unit{level}_behind": (self.lasts[unit] - 1 - at).astype(np.float64),
            }
            unit = self.parents[unit]
        return columns | self._of_records(at, page_words, page_mass) | self._of_page(at)

    def _of_records(self, at: Numbers, page_words: Numbers, page_mass: Numbers) -> Columns:
        """Measure the two innermost records around each block, and the list that each record is of."""
        count = len(self.alike)
        words, mass, blocks, scores = (
            total(self.kinds, count, values) for values in (self.words, self.masses, self.blocks, self.score_sums)
        )
        likely = total(self.kinds, count, 2 * self.high >= self.blocks)
        unit = self.holders[at]
        inner, outer = np.full(len(unit), -1), np.full(len(unit), -1)
        for _ in range(DEPTH):
            is_record = self.alike[self.kinds[unit]] >= REPEATED
            is_outer = is_record & (inner >= 0) & (outer < 0)
            outer = np.where(is_outer, unit, outer)
            inner = np.where(is_record & (inner < 0), unit, inner)
            unit = self.parents[unit]
        columns: Columns = {}
        for name, record in (("row", inner), ("list", outer)):
            kind = self.kinds[record]
            found = {
                "records": self.alike[kind].astype(np.float64),
                "mean": share(self.score_sums[record], self.blocks[record]),
                "likely": share(likely[kind], self.alike[kind]),
                "list_mean": share(scores[kind], blocks[kind]),
                "list_density": share(mass[kind], words[kind]),
                "list_mass": share(mass[kind], page_mass),
                "list_share": share(words[kind], page_words),
                "words": self.words[record].astype(np.float64),
                "blocks": self.blocks[record].astype(np.float64),
                "nth": (at - self.firsts[record]).astype(np.float64),
            }
            columns |= {f"{name}_{key}": np.where(record >= 0, values, UNKNOWN) for key, values in found.items()}
        return columns

    def _of_page(self, at: Numbers) -> Columns:
        """Describe the page by how its scores are spread: what it is, and how much of it a reader wants."""

        def of_page(values: npt.NDArray[np.generic]) -> Numbers:
            return self.rows.in_pages(values)[at]

        blocks, words = of_page(np.ones(len(self.rows), np.int64)), of_page(self.rows.words)
        columns = {"page_mean": share(of_page(self.scores), blocks)}
        for step, (low, high) in enumerate(pairwise(SHARES)):
            is_within = (self.scores >= low) & (self.scores < high)
            columns[f"page_words{step}"] = share(of_page(self.rows.words * is_within), words)
            columns[f"page_blocks{step}"] = share(of_page(is_within), blocks)
        return columns


def choose_of_whole_page(scores: Scores, units: Units, favor: str) -> npt.NDArray[np.bool_]:
    """Choose the blocks of a page to keep: those whose labels, with labels of the units around them, cost least.

    To label a block against its score costs the distance of the score from the cut, in log-odds; to label a block
    or unit unlike the unit around it costs COST_OF_DIFFERENCE. That is the Potts model on a tree, and its minimum
    is exact (Felzenszwalb and Huttenlocher, *Efficient belief propagation for early vision*, IJCV 2006). Costs are
    whole numbers: the same page gives the same labels anywhere.
    """
    gains = np.clip(_steps(scores) - _steps(np.array([CUT_OF_FAVOR[favor]])), -_FARTHEST, _FARTHEST)
    parents, count, holders = units.parents.tolist(), len(units.parents), units.holders.astype(np.int64)
    # What is within a unit or block speaks for its label, and so for that of the unit around it, with the cost of a
    # difference at most: for more than that it differs.
    for_keeping = total(holders, count, np.clip(gains, -COST_OF_DIFFERENCE, COST_OF_DIFFERENCE)).tolist()
    for unit in range(count - 1, 0, -1):
        gain = for_keeping[unit]
        if gain > COST_OF_DIFFERENCE:
            gain = COST_OF_DIFFERENCE
        elif gain < -COST_OF_DIFFERENCE:
            gain = -COST_OF_DIFFERENCE
        for_keeping[parents[unit]] += gain
    turns = [0] * count  # for a block in each unit that its label is that of the unit
    for unit, around in enumerate(parents):
        turn = 0 if around == unit else turns[around]
        turns[unit] = COST_OF_DIFFERENCE if for_keeping[unit] + turn > 0 else -COST_OF_DIFFERENCE
    chosen: npt.NDArray[np.bool_] = gains + np.array(turns)[holders] > 0
    return chosen


def _steps(scores: Scores) -> Numbers:
    """Convert scores to log-odds in steps."""
    steps: Numbers = np.rint(LOG_ODDS_STEPS * log_odds_of(scores)).astype(np.int64)
    return steps
