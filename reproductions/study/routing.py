"""Choices of the extractor to trust with a page: one for all, one a group, or what a forest predicts to be best.

The study ends in that question ("the selection of an extractor relies on the webpage"). Whatever is chosen is chosen by
pages of other sites, and nothing looks at the gold of the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbce_spark.evaluation.scoring import bootstrap
from dbce_spark.evaluation.scoring.bootstrap import Interval, MeanDifference
from dbce_spark.evaluation.scoring.scores import Values
from dbce_spark.files.markdown_table import table
from reproductions.study import estimated_complexity
from reproductions.study.study_pages import StudyPages, site_folds

Choices = npt.NDArray[np.intp]
"""Of each page the place of the extractor that is trusted with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """The scores of pages where each is left to the extractor that a way of choosing trusts with it."""

    name: str
    f1: float
    interval: Interval
    against: MeanDifference  # less the first extractor for all
    best: float  # share of pages where no candidate is better than the chosen one


def one_for_all(f1: Values, units: npt.NDArray[np.intp]) -> Choices:
    """Choose the extractor that is best on the pages of other sites."""
    return by_group(f1, np.zeros(f1.shape[1], np.intp), units)


def by_group(f1: Values, groups: npt.NDArray[np.intp], units: npt.NDArray[np.intp]) -> Choices:
    """Choose for each group of pages the extractor that is best on those of it that are of other sites; on all pages of
    other sites, where there is none of it.

    f1: (extractors, pages); groups, units: of each page.
    """
    found = np.zeros(len(groups), np.intp)
    for seen, unseen in site_folds(units):
        for group in np.unique(groups[unseen]):
            like = seen[groups[seen] == group]
            found[unseen[groups[unseen] == group]] = f1[:, like if len(like) else seen].mean(axis=1).argmax()
    return found


def by_forest(f1: Values, features: Values, units: npt.NDArray[np.intp]) -> Choices:
    """Choose the extractor whose F1 is predicted to be the highest, by a forest that has seen no page of the site."""
    found: Choices = estimated_complexity.predict(features, f1.T, units).argmax(axis=1)
    return found


def best(f1: Values) -> Choices:
    """Choose the best of each page, which only its gold can tell: the ceiling."""
    found: Choices = f1.argmax(axis=0)
    return found


def measure(of: StudyPages, candidates: Sequence[str], choices: Mapping[str, Choices]) -> list[Routed]:
    """Measure ways of choosing among some extractors, by name."""
    places = [of.extractors.index(name) for name in candidates]
    f1, pages = of.f1[places], np.arange(len(of.pages))
    chosen = [f1[places_of, pages] for places_of in choices.values()]
    values = np.stack([of.f1[0], *chosen])
    intervals = bootstrap.intervals(bootstrap.means(values, of.weights, of.units))[1:]
    differences = bootstrap.differences(values, of.weights, of.units)[1:]
    return [
        Routed(
            name=name,
            f1=float(one @ of.weights / of.weights.sum()),
            interval=interval,
            against=against,
            best=float((one >= f1.max(axis=0) - 1e-9).mean()),
        )
        for name, one, interval, against in zip(choices, chosen, intervals, differences, strict=True)
    ]


def report(first: str, candidates: Sequence[str], routed: Sequence[Routed]) -> str:
    """Lay out what ways of choosing among the candidates reach, and how far that is from the first extractor."""
    rows = [
        (
            one.name,
            f"{one.f1:.3f} ({one.interval.low:.3f}-{one.interval.high:.3f})",
            f"{one.against.mean:+.3f} ({one.against.low:+.3f} to {one.against.high:+.3f})",
            f"{one.best:.3f}",
        )
        for one in routed
    ]
    return f"Candidates: {', '.join(candidates)}.\n\n" + table(
        ("trusted with a page", "F1", f"less {first}", "none is better"), rows
    )
