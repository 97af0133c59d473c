"""Averages of extractors over the pages of an evaluation, with their intervals, and their order."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.evaluations import Evaluation
from dbce_spark.evaluation.datasets import LABELLED
from dbce_spark.evaluation.scoring import average_weights, bootstrap, clusters, complexity
from dbce_spark.evaluation.scoring.bootstrap import Interval, MeanDifference
from dbce_spark.evaluation.scoring.score_breakdown import Places, grouped, languages, ordered, places_by_value
from dbce_spark.evaluation.scoring.scores import Values

_SIBLINGS = {"0 siblings": 0, "1-2 siblings": 2, "3 siblings and more": math.inf}
"""The steps of siblings by their names, each with the most that it holds."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The scores of all extractors on some pages: each of the three (extractors), and the interval of each F1."""

    places: Places  # of the pages, among those of the evaluation
    weights: Values  # of the pages
    precision: Values
    recall: Values
    f1: Values
    intervals: Sequence[Interval]

    @property
    def pages(self) -> int:
        """Return the number of pages."""
        return len(self.places)


@dataclass(frozen=True, slots=True)
class TwoGolds:
    """F1 of extractors on pages with two golds: that of their set, and that of a reader who labelled the whole page."""

    pages: int
    extractors: tuple[str, ...]
    by_set: Values
    by_reader: Values


def overall(evaluation: Evaluation) -> Standing:
    """Average over all pages, where no site weighs too much."""
    return _standing(evaluation, np.arange(len(evaluation.pages)), _weights(evaluation))


def of_all_alike(evaluation: Evaluation) -> Standing:
    """Average over all pages, each of the same weight."""
    return _standing(evaluation, np.arange(len(evaluation.pages)), average_weights.equal(len(evaluation.pages)))


def by_set(evaluation: Evaluation) -> dict[str, Standing]:
    """Average over the pages of each set, all alike."""
    places = places_by_value([page.dataset for page in evaluation.pages])
    return {name: _standing(evaluation, at, average_weights.equal(len(at))) for name, at in places.items()}


def by_type(evaluation: Evaluation) -> dict[str, Standing]:
    """Average over the pages of each type, the most frequent first, by the weights of all pages."""
    return _parts(evaluation, "page type", grouped([page.page_type for page in evaluation.pages]))


def by_complexity(evaluation: Evaluation) -> dict[str, Standing]:
    """Average over the pages of each group by complexity, by the weights of all pages."""
    return _parts(evaluation, "complexity", complexity.groups(np.array([page.complexity for page in evaluation.pages])))


def by_language(evaluation: Evaluation) -> dict[str, Standing]:
    """Average over the pages of each language, the most frequent first, by the weights of all pages."""
    return _parts(evaluation, "language", languages([page.lang for page in evaluation.pages]))


def by_cluster(evaluation: Evaluation) -> dict[str, Standing]:
    """Average over the pages of each cluster by tags, the largest first, by the weights of all pages."""
    found = clusters.groups(np.array([page.tags for page in evaluation.pages]))
    return _parts(evaluation, "cluster", [f"cluster {one}" for one in found])


def by_siblings(evaluation: Evaluation) -> dict[str, Standing]:
    """Average over the pages with no sibling, few and more, by the weights of all pages."""
    counts = [page.siblings for page in evaluation.pages]
    steps = [next(name for name, most in _SIBLINGS.items() if count <= most) for count in counts]
    return _parts(evaluation, "steps of siblings", steps)


def tags(evaluation: Evaluation, standing: Standing) -> dict[str, float]:
    """Average the share of each tag over the pages of a standing, all alike, the highest first."""
    shares = np.array([evaluation.pages[at].tags for at in standing.places]).mean(axis=0).tolist()
    return dict(sorted(zip(clusters.TAGS, shares, strict=True), key=lambda one: -one[1]))


def difference(evaluation: Evaluation, standing: Standing, extractor: str, other: str) -> MeanDifference:
    """Compare two extractors on the pages of a standing, paired."""
    return _differences(evaluation, standing, (other, extractor))[1]


def differences(evaluation: Evaluation, standing: Standing, other: str) -> Mapping[str, MeanDifference]:
    """Compare each extractor with one on the pages of a standing, paired."""
    names = sorted(evaluation.extractors, key=lambda name: name != other)
    return dict(zip(names, _differences(evaluation, standing, names), strict=True))


def _differences(evaluation: Evaluation, standing: Standing, names: Sequence[str]) -> list[MeanDifference]:
    """Compare each of some extractors with the first of them."""
    f1 = evaluation.f1[[evaluation.extractors.index(name) for name in names]][:, standing.places]
    units, _ = bootstrap.drawn_units([evaluation.pages[at].unit for at in standing.places])
    return bootstrap.differences(f1, standing.weights, units)


def two_golds(articles: Evaluation, whole: Evaluation) -> TwoGolds:
    """Average over the pages of sets that readers labelled too: those of SET in SET-read."""
    place = {(page.dataset, page.page_id): at for at, page in enumerate(whole.pages)}
    pairs = [
        (at, place[key])
        for at, page in enumerate(articles.pages)
        if (key := (f"{page.dataset}{LABELLED}", page.page_id)) in place
    ]
    names = tuple(name for name in whole.extractors if name in articles.extractors)
    means = [
        one.f1[[one.extractors.index(name) for name in names]][:, [pair[side] for pair in pairs]].mean(axis=1)
        if pairs
        else np.full(len(names), np.nan)
        for side, one in enumerate((articles, whole))
    ]
    return TwoGolds(len(pairs), names, *means)


def ranks(values: Values) -> list[int]:
    """Rank values from 1, the highest first; equal values share the better rank."""
    return [int((values > value).sum()) + 1 for value in values]


def _parts(evaluation: Evaluation, name: str, values: Sequence[str]) -> dict[str, Standing]:
    """Average over the pages of each value of a property, by the weights of all pages."""
    weights, places = _weights(evaluation), places_by_value(values)
    return {value: _standing(evaluation, places[value], weights[places[value]]) for value in ordered(name, places)}


def _standing(evaluation: Evaluation, places: Places, weights: Values) -> Standing:
    units, _ = bootstrap.drawn_units([evaluation.pages[at].unit for at in places])
    drawn = bootstrap.means(evaluation.f1[:, places], weights, units)
    precision, recall, f1 = average_weights.mean(evaluation.parts[:, :, places], weights)
    return Standing(places, weights, precision, recall, f1, bootstrap.intervals(drawn))


def _weights(evaluation: Evaluation) -> Values:
    return average_weights.capped([page.unit for page in evaluation.pages])
