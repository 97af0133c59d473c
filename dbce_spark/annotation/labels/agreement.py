"""Measure how far annotators agree beyond chance: Fleiss's multi-pi.

Names are those of Artstein and Poesio, Inter-Coder Agreement for Computational Linguistics (2008), section 2.6: items i
are segments, categories k are labels, coders c are annotators; n_ik is how many coders put item i into category k.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import numpy.typing as npt

from dbce_spark.annotation.labels.majority import MergedPage, Votes

Counts = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement on a number of items. `pi` is nan where the expected agreement is 1: all votes are for one category."""

    items: int  # with two coders or more; others show no agreement and are left out
    observed: float  # A_o: share of pairs of coders that agree on an item, the mean over items
    expected: float  # A_e: that share if each coder drew its category by chance, all by the same odds
    pi: float  # (A_o - A_e) / (1 - A_e)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAgreement:
    """Agreement on one page, each segment counted once, and each as often as it has words."""

    page: str
    annotators: int
    words: int
    by_segments: Agreement
    by_words: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusAgreement:
    """Agreement on a corpus: page by page, and over the segments of all pages at once."""

    pages: tuple[PageAgreement, ...]
    pooled: Agreement
    pooled_by_words: Agreement

    @property
    def mean(self) -> float:
        """Return the mean pi of the pages that have one: KrdWrd's figure for canola (3.4.3)."""
        return mean_pi(page.by_segments for page in self.pages)

    @property
    def mean_by_words(self) -> float:
        """Return the mean pi of the pages that have one, with each segment counted as often as it has words."""
        return mean_pi(page.by_words for page in self.pages)


def multi_pi(n_ik: Counts, weights: Weights | None = None) -> Agreement:
    """Compute Fleiss's multi-pi of a table of votes.

    n_ik: (items, categories). Items may have different numbers of coders: then A_o is the mean over items of the share
    of agreeing pairs, and P(k) the share of all judgements. weights: (items,), how often each counts; None: once.
    """
    coders = n_ik.sum(axis=1)
    has_pair = coders >= 2
    n_ik, coders = n_ik[has_pair], coders[has_pair]
    weight = np.ones(len(n_ik)) if weights is None else weights[has_pair]
    if not weight.sum() > 0:
        return Agreement(items=0, observed=nan, expected=nan, pi=nan)
    agr_i = (n_ik * (n_ik - 1)).sum(axis=1) / (coders * (coders - 1))
    a_o = float(np.average(agr_i, weights=weight))
    p_k = weight @ n_ik / (weight @ coders)
    a_e = float((p_k**2).sum())
    is_one_thing = np.count_nonzero(p_k) == 1
    pi = nan if is_one_thing else (a_o - a_e) / (1 - a_e)
    return Agreement(items=len(n_ik), observed=a_o, expected=a_e, pi=pi)


def measure_corpus(pages: Sequence[tuple[MergedPage, Sequence[int]]]) -> CorpusAgreement:
    """Measure the agreement on merged pages, each given with the number of words of its segments."""
    page_agreements = tuple(_page(merged, words) for merged, words in pages)
    votes = _table(one for merged, _ in pages for one in merged.votes)
    words = np.array([count for _, counts in pages for count in counts], np.float64)
    return CorpusAgreement(pages=page_agreements, pooled=multi_pi(votes), pooled_by_words=multi_pi(votes, words))


def mean_pi(agreements: Iterable[Agreement]) -> float:
    """Return the mean of the values of pi that are not nan; nan if there is none."""
    values = [agreement.pi for agreement in agreements if not isnan(agreement.pi)]
    return sum(values) / len(values) if values else nan


def _page(merged: MergedPage, words: Sequence[int]) -> PageAgreement:
    votes = _table(merged.votes)
    return PageAgreement(
        page=merged.page,
        annotators=len(merged.annotators),
        words=sum(words),
        by_segments=multi_pi(votes),
        by_words=multi_pi(votes, np.array(words, np.float64)),
    )


def _table(votes: Iterable[Votes]) -> Counts:
    """Stack votes into a table, (items, categories)."""
    return np.array(list(votes), np.int64).reshape(-1, 3)
