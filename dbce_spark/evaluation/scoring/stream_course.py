"""Scores along the stream: moving averages (equation 4 of the URL Tree paper), and which extractor passes which."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dbce_spark.evaluation.datasets import GoldPage, Sets
from dbce_spark.evaluation.extracting import gold_stream
from dbce_spark.evaluation.extracting.peers import PEERS
from dbce_spark.evaluation.scoring import average_weights, bootstrap
from dbce_spark.evaluation.scoring.bootstrap import Interval, MeanDifference
from dbce_spark.evaluation.scoring.scores import Scores, Values

METHOD = "urltree"
"""Prefix of the names of extractors whose course is reported."""

LEAST = 10
"""Documents of a domain from which on its own course is meaningful: the paper's curves begin to differ there."""

POSITIONS = {"1": 1, "2-4": 2, "5-9": 5, "10-19": 10, "20-49": 20, "50-99": 50, "100+": 100}
"""Documents of its domain that had come when a page was labelled, itself included: names, and the first of each."""

ALL = "all"
"""The name of the step that all pages are in."""

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStep:
    """The pages that came at a range of positions within their domains, every page of the same weight.

    Intervals are from draws of whole domains, or of pages where there are fewer than `bootstrap.MIN_SITES` domains.
    """

    name: str
    pages: int
    domains: int
    f1: tuple[float, ...]  # mean of each extractor
    intervals: tuple[Interval, ...]  # of each mean
    differences: tuple[MeanDifference, ...]  # of each extractor less the first, on the same pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """The domains, of those with LEAST documents and more, on which one extractor passes another."""

    extractor: str
    other: str
    domains: int  # where it never falls below from some document on, to the end
    total: int
    median: float  # of the documents that had come by then, NaN if nowhere
    over_all: int  # of the stream over all domains, the document from which on it never falls below; 0: it ends below


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The scores of all extractors in order of arrival."""

    extractors: tuple[str, ...]
    f1: Values  # (extractors, pages)
    moving: Values  # (extractors, pages): mean of all up to each
    domains: Mapping[str, Places]  # of each domain with LEAST documents, where its pages stand in the stream
    steps: tuple[StreamStep, ...]  # the last is ALL
    passings: tuple[Passing, ...]
    undated: int  # pages without a date


def course(scores: Scores, sets: Sets) -> Course | None:
    """Order the scores of all sets, one after another, by arrival; None if no extractor learns from a stream."""
    methods = [at for at, name in enumerate(scores.extractors) if name.startswith(METHOD)]
    if not methods:
        return None
    place = {(page.dataset, page.page_id): at for at, page in enumerate(scores.pages)}
    pages = arrivals(sets)
    f1 = scores.f1[:, [place[page.dataset, page.page_id] for page in pages]]
    of_domain: dict[str, list[int]] = defaultdict(list)
    for at, page in enumerate(pages):
        of_domain[_domain_of_set(page)].append(at)
    domains = {name: np.array(places) for name, places in of_domain.items() if len(places) >= LEAST}
    others = [at for at, name in enumerate(scores.extractors) if name in PEERS]
    return Course(
        extractors=scores.extractors,
        f1=f1,
        moving=moving(f1),
        domains=domains,
        steps=steps(f1, pages),
        passings=tuple(_passing(scores.extractors, one, other, f1, domains) for one in methods for other in others),
        undated=sum(page.timestamp == 0 for page in pages),
    )


def arrivals(sets: Sets) -> list[GoldPage]:
    """Order the pages of all sets by arrival, one set after another."""
    return [page for some in sets.values() for page in gold_stream.arrivals(some)]


def steps(f1: Values, pages: Sequence[GoldPage]) -> tuple[StreamStep, ...]:
    """Average over the pages of each range of positions that has any, and then over all.

    f1: (extractors, pages), pages in order of arrival.
    """
    nth = positions(pages)
    firsts = [*POSITIONS.values(), int(nth.max()) + 1]
    chosen = {
        name: np.flatnonzero((nth >= first) & (nth < end))
        for name, (first, end) in zip(POSITIONS, pairwise(firsts), strict=True)
    }
    chosen[ALL] = np.arange(len(pages))
    return tuple(
        _step(name, f1[:, places], [pages[at] for at in places.tolist()])
        for name, places in chosen.items()
        if len(places)
    )


def positions(pages: Sequence[GoldPage]) -> Places:
    """Number the pages of each domain of a set from 1, in their order."""
    come: Counter[str] = Counter()
    nth = np.empty(len(pages), np.intp)
    for at, page in enumerate(pages):
        come[_domain_of_set(page)] += 1
        nth[at] = come[_domain_of_set(page)]
    return nth


def moving(f1: Values) -> Values:
    """Average all values up to each, along the last axis."""
    return np.cumsum(f1, axis=-1) / np.arange(1, f1.shape[-1] + 1)


def passed(one: Values, other: Values) -> int:
    """Return the document from which on the moving average of `one` never falls below that of `other`; 0 if it ends
    below."""
    below = np.flatnonzero(moving(one) < moving(other))
    first = int(below[-1]) + 2 if len(below) else 1
    return first if first <= len(one) else 0


def _domain_of_set(page: GoldPage) -> str:
    """Name the domain of a page; each set is a stream of its own."""
    return f"{page.dataset}: {gold_stream.domain(page)}"


def _step(name: str, f1: Values, pages: Sequence[GoldPage]) -> StreamStep:
    domains = [gold_stream.domain(page) for page in pages]  # a site in several sets is drawn as a whole
    units, _ = bootstrap.drawn_units(domains)
    weights = average_weights.equal(len(pages))
    return StreamStep(
        name=name,
        pages=len(pages),
        domains=len(set(domains)),
        f1=tuple(f1.mean(axis=1).tolist()),
        intervals=tuple(bootstrap.intervals(bootstrap.means(f1, weights, units))),
        differences=tuple(bootstrap.differences(f1, weights, units)),
    )


def _passing(names: Sequence[str], one: int, other: int, f1: Values, domains: Mapping[str, Places]) -> Passing:
    firsts = [passed(f1[one, places], f1[other, places]) for places in domains.values()]
    reached = [first for first in firsts if first]
    return Passing(
        extractor=names[one],
        other=names[other],
        domains=len(reached),
        total=len(firsts),
        median=float(np.median(reached)) if reached else float("nan"),
        over_all=passed(f1[one], f1[other]),
    )
