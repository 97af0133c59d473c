"""Summarise scores: averages with their weights and intervals, over all pages and by their properties.

There are two kinds of average. Of one set: every page weighs the same. Of pages of several sets (a pool, and every part
of one): by `average_weights.capped` over the pool, so that no site decides it; a part of a pool keeps the pool's
weights, and the parts of a pool add up to it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbce_spark.evaluation.scoring import (
    average_weights,
    bootstrap,
    clusters,
    complexity,
    facts,
    gold_recurrence,
    node_scores,
    reliability,
    score_breakdown,
)
from dbce_spark.evaluation.scoring.bootstrap import Interval, MeanDifference
from dbce_spark.evaluation.scoring.facts import Facts
from dbce_spark.evaluation.scoring.rank_correlation import rank_correlation
from dbce_spark.evaluation.scoring.reliability import Reliability
from dbce_spark.evaluation.scoring.score_breakdown import Cell, Places, places_by_set
from dbce_spark.evaluation.scoring.scores import MAIN_METRIC, Scores, Values

LOW_F1 = 0.5
"""Under it a page counts as failed: half of what matters is missing, or as much again was added."""

MIN_SIBLINGS = 2
"""Siblings from which on the joint method has its evidence: a page to compare with, and another that confirms it."""

BEST = 5
"""Extractors beside the first that are shown where there is no room for all."""

ALL, WITH_SIBLINGS = "all pages", f"pages with at least {MIN_SIBLINGS} siblings"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorRank:
    """One extractor in a pool. All but the last seven fields are averages by the pool's weights."""

    extractor: str
    precision: float
    recall: float
    f1: float
    by_sites: Interval  # of f1, from draws of sites (of pages, where there are under bootstrap.MIN_SITES)
    by_pages: Interval  # of f1, from draws of pages
    median: float
    low: float  # share of pages under LOW_F1
    against: MeanDifference | None  # f1 less the first extractor's, from the draws of by_sites; None for the first
    over_pages: float  # f1, every page the same
    over_sites: float  # f1, every site the same
    over_sets: float  # f1, every set the same
    clean: float  # f1 of pages with a gold error up to 2 %; NaN if there is none
    unrepeated: float  # f1 of pages with a gold recurrence up to 5 %; NaN if there is none
    misses: int
    pace: float  # pages a second of CPU, all pages; NaN if it took no time


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """All extractors on some pages of all sets."""

    name: str
    pages: int
    sites: int
    share: float  # what the site weighs that weighs most
    drawn: str  # "sites" or "pages": the units of ExtractorRank.by_sites
    ranks: tuple[ExtractorRank, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetFacts:
    """Properties of a set's gold: table 3.3 of the study, and its section 3.4."""

    name: str
    pages: int
    sites: int
    quartiles: tuple[float, float, float]  # of the complexity ratio
    faulty: int  # pages with a gold error over 2 %
    recurring: int  # pages with a gold recurrence over 5 %
    groups: Mapping[str, float]  # share of the set's pages in each group by complexity (table 3.4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The whole analysis. Values by extractor are in the order in which the extractors were given."""

    extractors: tuple[str, ...]
    order: tuple[int, ...]  # extractors by their F1 in the first pool, the best first: rows of tables
    shown: tuple[int, ...]  # the first extractor, and the BEST of the others in that order
    pools: tuple[Pool, ...]
    by_set: Mapping[str, tuple[Cell, ...]]  # of each pool
    breakdown: Mapping[str, tuple[Cell, ...]]  # of all pages, by what
    metrics: tuple[str, ...]
    by_metric: Values  # F1: (extractors, metrics), by the weights of all pages
    correlation: Values  # (metrics, metrics), NaN where too few extractors have both
    sets: tuple[SetFacts, ...]
    clusters: tuple[int, ...]  # of each page
    shared: Mapping[str, tuple[float, ...]]  # of each group by complexity its share in each cluster (table 3.6)
    nodes: tuple[tuple[str, ...], ...]  # the cells under node_scores.HEAD
    reliability: Reliability | None  # of the first extractor with confidences
    misses: Mapping[tuple[str, str, str], int]  # by set, extractor, kind


def analyse(scores: Scores, nodes: Sequence[node_scores.NodeScoreRow]) -> Analysis:
    """Analyse all scores, and the counts of text nodes by set and extractor."""
    pages = scores.pages
    of_complexity = complexity.groups(np.array([page.complexity for page in pages]))
    of_cluster = clusters.groups(facts.features(pages))
    everything = np.arange(len(pages))
    with_siblings = np.array([at for at, page in enumerate(pages) if page.siblings >= MIN_SIBLINGS], np.intp)
    differ = 0 < len(with_siblings) < len(pages)
    places = {ALL: everything, **({WITH_SIBLINGS: with_siblings} if differ else {})}
    pools = tuple(_pool(name, scores, some) for name, some in places.items())
    order = tuple(sorted(range(len(scores.extractors)), key=lambda at: -pools[0].ranks[at].f1))
    whole = average_weights.capped([page.unit for page in pages])
    names = tuple(scores.values)
    by_metric = np.stack([average_weights.mean(scores.f1_by(name), whole) for name in names], axis=1)
    return Analysis(
        extractors=scores.extractors,
        order=order,
        shown=(0, *[at for at in order if at][:BEST]),
        pools=pools,
        by_set={name: score_breakdown.by_set(scores, some) for name, some in places.items()},
        breakdown=score_breakdown.breakdown(scores, whole, of_complexity, of_cluster),
        metrics=names,
        by_metric=by_metric,
        correlation=rank_correlation(by_metric),
        sets=tuple(_set_facts(name, pages, some, of_complexity) for name, some in places_by_set(pages).items()),
        clusters=tuple(of_cluster),
        shared=_shared(of_complexity, of_cluster),
        nodes=tuple(node_scores.table(nodes)),
        reliability=reliability.measure(scores),
        misses=_misses(scores),
    )


def _pool(name: str, scores: Scores, places: Places) -> Pool:
    pages = [scores.pages[at] for at in places]
    sites = [page.unit for page in pages]
    weight = average_weights.capped(sites)
    return Pool(
        name=name,
        pages=len(pages),
        sites=len(set(sites)),
        share=average_weights.largest_share(sites, weight),
        drawn=bootstrap.drawn_units(sites)[1],
        ranks=_extractor_ranks(scores, places, weight),
    )


def _extractor_ranks(scores: Scores, places: Places, weight: Values) -> tuple[ExtractorRank, ...]:
    pages = [scores.pages[at] for at in places]
    f1 = scores.f1[:, places]
    units, _ = bootstrap.drawn_units([page.unit for page in pages])
    by_sites = bootstrap.intervals(bootstrap.means(f1, weight, units))
    by_pages = bootstrap.intervals(bootstrap.means(f1, weight, np.arange(len(pages))))
    against = bootstrap.differences(f1, weight, units)
    over_sites = average_weights.mean(f1, average_weights.by_site([page.unit for page in pages]))
    over_sets = average_weights.mean(f1, average_weights.by_site([page.dataset for page in pages]))
    clean = np.array([page.gold_error <= complexity.MAX_GOLD_ERROR for page in pages])
    unrepeated = np.array([page.gold_recurrence <= gold_recurrence.MAX_RECURRENCE for page in pages])
    main = average_weights.mean(scores.values[MAIN_METRIC][:, :, places], weight)
    return tuple(
        ExtractorRank(
            extractor=extractor,
            precision=float(main[at, 0]),
            recall=float(main[at, 1]),
            f1=float(main[at, 2]),
            by_sites=by_sites[at],
            by_pages=by_pages[at],
            median=average_weights.median(f1[at], weight),
            low=float((f1[at] < LOW_F1) @ weight),
            against=against[at] if at else None,
            over_pages=float(f1[at].mean()),
            over_sites=float(over_sites[at]),
            over_sets=float(over_sets[at]),
            clean=_mean_of_some(f1[at], weight, clean),
            unrepeated=_mean_of_some(f1[at], weight, unrepeated),
            misses=sum(bool(scores.errors[at][place]) for place in places),
            pace=float(len(places) / spent) if (spent := scores.seconds[at, places].sum()) else float("nan"),
        )
        for at, extractor in enumerate(scores.extractors)
    )


def _mean_of_some(values: Values, weight: Values, chosen: npt.NDArray[np.bool_]) -> float:
    """Average the values that are chosen; NaN if none is."""
    return float(values[chosen] @ weight[chosen] / weight[chosen].sum()) if chosen.any() else float("nan")


def _set_facts(name: str, pages: Sequence[Facts], places: Places, of_complexity: Sequence[str]) -> SetFacts:
    some = [pages[at] for at in places]
    groups = Counter(of_complexity[at] for at in places)
    return SetFacts(
        name=name,
        pages=len(some),
        sites=len({page.unit for page in some}),
        quartiles=complexity.quartiles(np.array([page.complexity for page in some])),
        faulty=sum(page.gold_error > complexity.MAX_GOLD_ERROR for page in some),
        recurring=sum(page.gold_recurrence > gold_recurrence.MAX_RECURRENCE for page in some),
        groups={group: groups[group] / len(some) for group in complexity.GROUPS},
    )


def _shared(of_complexity: Sequence[str], of_cluster: Sequence[int]) -> dict[str, tuple[float, ...]]:
    both = Counter(zip(of_complexity, of_cluster, strict=True))
    sizes = Counter(of_complexity)
    return {
        group: tuple(both[group, cluster] / sizes[group] for cluster in range(max(of_cluster) + 1))
        for group in complexity.GROUPS
        if sizes[group]
    }


def _misses(scores: Scores) -> dict[tuple[str, str, str], int]:
    """Count errors by set, extractor and the words before the colon: the rest differs from page to page."""
    kinds = Counter(
        (page.dataset, extractor, error.split(":")[0])
        for extractor, errors in zip(scores.extractors, scores.errors, strict=True)
        for page, error in zip(scores.pages, errors, strict=True)
        if error
    )
    return dict(sorted(kinds.items()))
