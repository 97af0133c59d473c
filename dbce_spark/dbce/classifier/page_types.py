"""The type of a page, such as an article or a form: by the means of its blocks' features and by their scores."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dbce_spark.dbce.classifier.forest import BINS, Forest
from dbce_spark.dbce.classifier.layout import Rows
from dbce_spark.dbce.classifier.units import SHARES
from dbce_spark.model import Codes, Numbers

_BLOCKS_AT_ONCE = 4096
"""Blocks whose codes are added up at once, eight bytes each: few pages have more."""


@dataclass(frozen=True)
class PageTypes:
    """The names of the types that pages are sorted into, some of them alike, and a forest that weighs each type
    against all others."""

    names: tuple[str, ...]
    forest: Forest

    def of_pages(self, codes: Codes) -> list[str]:
        """Choose the likeliest type of each page by its `page_codes`."""
        likeliest = self.forest.log_odds_by_class(codes, len(self.names)).argmax(axis=0)
        return [self.names[at] for at in likeliest.tolist()]


def page_codes(rows: Rows, codes: Codes, highest: Numbers, scores: Numbers) -> Codes:
    """Describe some pages: (features, pages) bins.

    `codes` are bins of features of the blocks, `highest` the last bin of each, `scores` those of the blocks in 1/1024.
    Of each feature, and of each step of scores (`units.SHARES`), a page has the mean over its blocks, over its words,
    and over the words that likely are content, as a share of the highest bin: quotients of whole numbers.
    """
    steps = np.searchsorted(SHARES, scores, side="right")
    in_steps = steps == np.arange(1, len(SHARES))[:, None]
    everything = np.concatenate((codes, in_steps.astype(np.uint8)))
    most = np.maximum(np.concatenate((highest, np.ones(len(in_steps), np.int64))), 1)[:, None]
    weights = np.stack((np.ones(len(rows), np.int64), rows.words, rows.words * scores)).astype(np.float64)
    pages = np.empty((len(weights) * len(everything), len(rows.starts) - 1), np.uint8)
    for page, (start, end) in enumerate(pairwise(rows.starts.tolist())):
        sums = np.zeros((len(everything), len(weights)), np.int64)
        for first in range(start, end, _BLOCKS_AT_ONCE):
            some = slice(first, min(first + _BLOCKS_AT_ONCE, end))
            # Products of whole numbers below 2**53: exact, and faster than in whole numbers. Not by BLAS: its threads
            # would keep the other cores busy, waiting for more.
            sums += np.einsum("fb,wb->fw", everything[:, some].astype(np.float64), weights[:, some]).astype(np.int64)
        totals = weights[:, start:end].sum(axis=1).astype(np.int64)
        pages[:, page] = ((BINS - 1) * sums // (most * np.maximum(totals, 1))).ravel()
    return pages
