"""T001 to T006 on labels that people gave crosses: tables 4.2 and D.1 to D.4 of the thesis."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import precision_recall_fscore_support

from dbce_spark.annotation import cross_tasks
from dbce_spark.annotation.cross_tasks import CrossSheet
from dbce_spark.annotation.labelling import Labelling
from dbce_spark.config import DbceConfig
from dbce_spark.errors import InputError
from dbce_spark.files import markdown_table
from dbce_spark.model import Bits, Label
from reproductions.thesis import learned_cases
from reproductions.thesis.learned_cases import CASES
from reproductions.thesis.phases import Clock

ALL = "all sites"

PUBLISHED: Mapping[str, tuple[float, ...]] = {
    "T001": (0.883, 0.59, 0.918, 0.718, 0.982, 0.877, 0.927),
    "T002": (0.899, 0.59, 0.909, 0.716, 0.984, 0.897, 0.938),
    "T006": (0.896, 0.63, 0.861, 0.728, 0.971, 0.902, 0.935),
}
"""Table 4.2: accuracy; precision, recall and F1 of content, and of boilerplate. Of 16 crosses of four sites."""


_SCORES = ("acc", *(f"{part} {of}" for of in ("con", "bp") for part in ("P", "R", "F1")), "acc of decided")
_HEAD = ("site", "case", "crosses", "elements", "undecided", *_SCORES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One test case on the labelled elements of some crosses."""

    case: str
    site: str
    crosses: int
    elements: int  # that people called content or boilerplate
    undecided: int  # of these, left undecided by the case
    accuracy: float  # what is left undecided counts as boilerplate: it is not in the main text
    accuracy_of_decided: float
    content: tuple[float, float, float]  # precision, recall, F1
    boilerplate: tuple[float, float, float]


def measure(crosses: Iterable[CrossSheet], labels: Labelling, config: DbceConfig) -> list[Outcome]:
    """Measure every test case on every site and on all of them, on the crosses that have labels.

    Raises:
        InputError: no cross has labels, or one has other segments than its labels.
    """
    truth: dict[str, list[Bits]] = {}
    predictions: dict[tuple[str, str], list[Bits]] = {}
    for one in crosses:
        if one.sheet.page not in labels:
            continue
        tags = labels[one.sheet.page]
        if len(tags) != len(one.sheet.segments):
            raise InputError(f"{one.sheet.page}: {len(tags)} labels of {len(one.sheet.segments)} segments")
        of_people = np.array([Label.UNDECIDED if tag is None else tag for tag in tags], np.uint8)
        truth.setdefault(one.sheet.site, []).append(of_people)
        dom, _ = cross_tasks.rebuild_elements(one, config)
        for name, case in CASES.items():
            labelled = learned_cases.label(dom, one.annotation, case, Clock())
            final = np.where(labelled.labels == Label.UNDECIDED, case.undecided, labelled.labels).astype(np.uint8)
            predictions.setdefault((name, one.sheet.site), []).append(final)
    if not truth:
        raise InputError("no cross has labels; give the crosses that were labelled")
    sites = sorted(truth)
    everywhere = [one for site in sites for one in truth[site]]
    return [
        _outcome(name, site, of_people, [one for part in parts for one in predictions[name, part]])
        for name in CASES
        for site, of_people, parts in (*((site, truth[site], [site]) for site in sites), (ALL, everywhere, sites))
    ]


def table(outcomes: Sequence[Outcome]) -> str:
    """Lay out the outcomes as Markdown, with the thesis's figures beside all sites."""
    rows = []
    for one in sorted(outcomes, key=lambda one: (one.site == ALL, one.site, one.case)):
        figures = (one.accuracy, *one.content, *one.boilerplate, one.accuracy_of_decided)
        counts = (f"{one.crosses}", f"{one.elements:,}", f"{one.undecided:,}")
        rows.append((one.site, one.case, *counts, *_cells(figures)))
        if one.site == ALL and one.case in PUBLISHED:
            rows.append((f"*thesis* | {one.case} | 16 | 6,855 | | {' | '.join(_cells(PUBLISHED[one.case]))} |",))
    return markdown_table.table(_HEAD, rows, rule=markdown_table.tight_rule(len(_HEAD))) + "\n"


def _cells(figures: Iterable[float]) -> Iterator[str]:
    return (f"{figure:.3f}" for figure in figures)


def _outcome(case: str, site: str, truth: Sequence[Bits], predictions: Sequence[Bits]) -> Outcome:
    true, called = np.concatenate(truth), np.concatenate(predictions)
    has_truth = true != Label.UNDECIDED
    true, called = true[has_truth], called[has_truth]
    decided = called != Label.UNDECIDED
    final = np.where(decided, called, Label.BOILERPLATE)
    figures = precision_recall_fscore_support(
        true, final, labels=[Label.CONTENT, Label.BOILERPLATE], zero_division=np.nan
    )
    content, boilerplate = ((float(figures[0][at]), float(figures[1][at]), float(figures[2][at])) for at in (0, 1))
    return Outcome(
        case=case,
        site=site,
        crosses=len(truth),
        elements=len(true),
        undecided=int((~decided).sum()),
        accuracy=_share(true == final),
        accuracy_of_decided=_share((true == called)[decided]),
        content=content,
        boilerplate=boilerplate,
    )


def _share(right: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> float:
    return float(np.mean(right)) if len(right) else float("nan")
