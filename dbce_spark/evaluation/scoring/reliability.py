"""Reliability of confidences and page types: the F1 that texts are expected to reach beside the F1 that they reach, and
the types that are read beside those of the gold."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dbce_spark.evaluation.scoring import bootstrap
from dbce_spark.evaluation.scoring.bootstrap import Interval
from dbce_spark.evaluation.scoring.rank_correlation import rank_correlation
from dbce_spark.evaluation.scoring.scores import Scores, Values

BOUNDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
"""Confidences between which pages are counted together: finer at the upper end, where most pages are."""

GOOD_F1 = 0.9
"""From it on a page counts as good."""


@dataclass(frozen=True, slots=True)
class ReliabilityStep:
    """The pages whose confidence is between two bounds; each weighs the same."""

    name: str
    pages: int
    confidence: float  # mean
    f1: float  # mean
    interval: Interval  # of f1, by draws of sites, or of pages where there are few sites
    good: float  # share of pages with GOOD_F1 and more


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """The confidence of one extractor's pages beside their F1, over those that have one."""

    extractor: str
    steps: tuple[ReliabilityStep, ...]  # those with pages, from low confidence to high
    excess: float  # mean confidence less mean F1
    correlation: float  # of the ranks of confidence and F1 (Spearman); NaN if one of them is the same on all pages
    types: Mapping[tuple[str, str], int]  # pages by the type that was read, and the gold's; those with both


def measure(scores: Scores) -> Reliability | None:
    """Measure the first extractor that gives confidences; None if none does."""
    for at, extractor in enumerate(scores.extractors):
        places = np.flatnonzero(~np.isnan(scores.confidences[at]))
        if len(places):
            pages = [scores.pages[place] for place in places]
            types = Counter((scores.read_types[at][place], scores.pages[place].page_type) for place in places)
            confidence, f1 = scores.confidences[at, places], scores.f1[at, places]
            return Reliability(
                extractor=extractor,
                steps=measure_steps(confidence, f1, [page.unit for page in pages]),
                excess=float((confidence - f1).mean()),
                correlation=float(rank_correlation(np.stack([confidence, f1], axis=1))[0, 1]),
                types={pair: count for pair, count in sorted(types.items()) if all(pair)},
            )
    return None


def measure_steps(confidence: Values, f1: Values, units: Sequence[str]) -> tuple[ReliabilityStep, ...]:
    """Measure pages by their confidence. All are of the shape (pages); `units` are what is drawn for intervals."""
    step_of = np.searchsorted(BOUNDS, confidence, side="right")
    names = [f"under {BOUNDS[0]:g}", *(f"{low:g} to {high:g}" for low, high in pairwise((*BOUNDS, 1.0)))]
    return tuple(
        _step(names[step], confidence[chosen], f1[chosen], [units[at] for at in chosen.tolist()])
        for step, chosen in ((step, np.flatnonzero(step_of == step)) for step in range(len(names)))
        if len(chosen)
    )


def _step(name: str, confidence: Values, f1: Values, units: Sequence[str]) -> ReliabilityStep:
    drawn = bootstrap.means(f1[None], np.ones(len(f1)), bootstrap.drawn_units(units)[0])
    return ReliabilityStep(
        name=name,
        pages=len(f1),
        confidence=float(confidence.mean()),
        f1=float(f1.mean()),
        interval=bootstrap.intervals(drawn)[0],
        good=float((f1 >= GOOD_F1).mean()),
    )
