"""Scores by set, and by the properties of pages: a cell for each value."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbce_spark.evaluation.scoring import average_weights, bootstrap, complexity, gold_recurrence
from dbce_spark.evaluation.scoring.bootstrap import Interval
from dbce_spark.evaluation.scoring.facts import Facts
from dbce_spark.evaluation.scoring.scores import MAIN_METRIC, Scores, Values

Places = npt.NDArray[np.intp]
"""Positions of some pages among all."""

MIN_PAGES = 10
"""Fewer pages of one language, type or year than this are counted together, as "other"."""

UNKNOWN, OTHER = "not known", "other"

_STEPS = {"0": 0, "1": 1, "2-3": 2, "4-7": 4, "8-15": 8, "16+": 16}
_FIXED = {
    "siblings": tuple(_STEPS),
    "snapshots": tuple(_STEPS),
    "gold recurrence": (*gold_recurrence.GROUPS, UNKNOWN),
    "complexity": complexity.GROUPS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The scores of all extractors on the pages with one value of a breakdown."""

    value: str
    pages: int
    sites: int
    precision: tuple[float, ...]
    recall: tuple[float, ...]
    f1: tuple[float, ...]
    distance: tuple[float, ...]  # the edit distance of the study, in tokens of the longer text
    intervals: tuple[Interval, ...]  # of f1
    drawn: str  # "sites" or "pages": what the intervals are drawn by


def by_set(scores: Scores, places: Places) -> tuple[Cell, ...]:
    """Average the scores of each set over its pages among these."""
    found = places_by_set([scores.pages[at] for at in places])
    names = [name for name in places_by_set(scores.pages) if name in found]
    return tuple(_cell(name, scores, places[found[name]], average_weights.equal(len(found[name]))) for name in names)


def places_by_set(pages: Sequence[Facts]) -> dict[str, Places]:
    """Map each set to the positions of its pages."""
    return places_by_value([page.dataset for page in pages])


def places_by_value(values: Sequence[str]) -> dict[str, Places]:
    """Map each value to its positions, values in the order of first occurrence."""
    array = np.array(values, dtype=object)
    return {value: np.flatnonzero(array == value) for value in dict.fromkeys(values)}


def breakdown(
    scores: Scores, weight: Values, of_complexity: Sequence[str], of_cluster: Sequence[int]
) -> dict[str, tuple[Cell, ...]]:
    """Average scores by each property in which pages differ; the parts of the weight add up to it."""
    pages = scores.pages
    by: dict[str, list[str]] = {
        "siblings": [_step(page.siblings) for page in pages],
        "snapshots": [_step(page.snapshots) for page in pages],
        "gold recurrence": [
            gold_recurrence.group(page.gold_recurrence) if page.siblings >= gold_recurrence.MIN_SIBLINGS else UNKNOWN
            for page in pages
        ],
        "page type": grouped([page.page_type for page in pages]),
        "language": languages([page.lang for page in pages]),
        "era": grouped([page.era for page in pages]),
        "complexity": list(of_complexity),
        "cluster": [str(one) for one in of_cluster],
    }
    cells = {name: _cells(name, places_by_value(values), scores, weight) for name, values in by.items()}
    return {name: some for name, some in cells.items() if len(some) > 1}


def _cells(name: str, found: Mapping[str, Places], scores: Scores, weight: Values) -> tuple[Cell, ...]:
    return tuple(_cell(value, scores, found[value], weight[found[value]]) for value in ordered(name, found))


def ordered(name: str, found: Mapping[str, Places]) -> list[str]:
    """Order the values of a property for a table: steps and years upward, kinds by their number of pages, and missing
    values last."""
    if name in _FIXED:
        return [value for value in _FIXED[name] if value in found]
    last = (OTHER, UNKNOWN)
    upward = sorted(set(found) - set(last))
    if name in ("language", "page type"):
        upward.sort(key=lambda value: -len(found[value]))
    return [*upward, *(value for value in last if value in found)]


def _step(count: int) -> str:
    return [step for step, least in _STEPS.items() if count >= least][-1]


def languages(tags: Sequence[str]) -> list[str]:
    """Group pages by the language that their tags name, whatever the region: "de" of de-AT."""
    return grouped([tag.replace("_", "-").split("-")[0].lower() for tag in tags])


def grouped(values: Sequence[str]) -> list[str]:
    """Replace "" by "not known", and a value of fewer than MIN_PAGES pages by "other"."""
    counts = Counter(values)
    return [UNKNOWN if not value else value if counts[value] >= MIN_PAGES else OTHER for value in values]


def _cell(value: str, scores: Scores, places: Places, weight: Values) -> Cell:
    pages = [scores.pages[at] for at in places]
    f1 = scores.f1[:, places]
    units, drawn = bootstrap.drawn_units([page.unit for page in pages])
    precision, recall, mean_f1 = average_weights.mean(scores.values[MAIN_METRIC][:, :, places], weight).T.tolist()
    likeness = average_weights.mean(scores.f1_by("levenshtein")[:, places], weight)
    return Cell(
        value=value,
        pages=len(pages),
        sites=len({page.unit for page in pages}),
        precision=tuple(precision),
        recall=tuple(recall),
        f1=tuple(mean_f1),
        distance=tuple((1 - likeness).tolist()),
        intervals=tuple(bootstrap.intervals(bootstrap.means(f1, weight, units))),
        drawn=drawn,
    )
