"""Floors under the scores: what was reached once is not lost unseen.

For each set, a floors file has floors of mean F1 by extractor and metric; all pages of the set weigh the same. It also
has digests of the pages, and of the folds that scored them. So a set that has changed is not compared with floors of
what it was, and a classifier that has seen the pages is not compared with floors of others that have not.

    {"sets": {"sample": {"pages": "<digest>", "folds": "", "floors": {"dbce": {"rouge_l": 0.912}}}}}
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import fsspec
import numpy as np
import numpy.typing as npt

from dbce_spark.errors import EvaluationError, InputError
from dbce_spark.evaluation.datasets import GoldPage, Sets
from dbce_spark.evaluation.scoring.scores import MAIN_METRIC, Scores
from dbce_spark.files import storage
from dbce_spark.model import digest

METRICS = (MAIN_METRIC, "levenshtein")
"""Metrics with floors: the two that the study of extractors reports, for the others rank as the first does."""

DIGITS = 3
"""Of a floor: a score is rounded down to it. So a last bit that differs between two machines breaks no gate, and what a
reader would see in a table does."""

Floors = Mapping[str, Mapping[str, float]]
"""Scores by extractor and metric."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """The floors of one set, and the digests of the pages they are for and of the folds that scored them ("": none)."""

    pages: str
    folds: str
    floors: Floors


def pages_digest(pages: Sequence[GoldPage]) -> str:
    """Hash the ids, HTML and gold of all pages, in order: floors are pinned to it."""
    return digest(*(part for page in pages for part in (page.page_id, page.html, page.gold)))


def measured(scores: Scores, sets: Sets, folds: str) -> dict[str, Pinned]:
    """Round the scores of each set, by the folds of this digest, down to floors."""
    of_set = np.array([page.dataset for page in scores.pages], dtype=object)
    return {name: Pinned(pages_digest(pages), folds, _means(scores, of_set == name)) for name, pages in sets.items()}


def _means(scores: Scores, is_chosen: npt.NDArray[np.bool_]) -> Floors:
    """Average F1 over the chosen pages, every page the same, rounded down."""
    f1 = {metric: scores.f1_by(metric) for metric in METRICS}
    return {
        extractor: {metric: _rounded_down(float(values[at][is_chosen].mean())) for metric, values in f1.items()}
        for at, extractor in enumerate(scores.extractors)
    }


def read(path: str) -> dict[str, Pinned]:
    """Read the floors of a file, by set.

    Raises:
        InputError: it cannot be read, or is no file of floors.
    """
    try:
        with fsspec.open(path, "rb") as file:
            fields = json.load(file)
        return {
            name: Pinned(str(one["pages"]), str(one["folds"]), _floors(one["floors"]))
            for name, one in fields["sets"].items()
        }
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}; --pin-floors writes it") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: is no file of floors: {error!r}; --pin-floors writes one") from error


def check(path: str, reached: Mapping[str, Pinned]) -> int:
    """Hold the scores that were reached to the floors of a file; return how many were compared.

    Sets and extractors that the file has no floors for are free. One error lists all that sank.

    Raises:
        InputError: as `read`.
        EvaluationError: a score is under its floor, was not measured, or is of other pages or folds; or no set has
            floors.
    """
    pinned = read(path)
    compared = {name: one for name, one in reached.items() if name in pinned}
    if not compared:
        raise EvaluationError(f"{path} has no floors for {', '.join(reached)}; --pin-floors adds them")
    for name, one in compared.items():
        if changed := _changed(pinned[name], one):
            raise EvaluationError(
                f"{path}: the floors of {name} are of other {changed} than these; --pin-floors writes new ones"
            )
    found = list(_compared(pinned, compared))
    sunk = [f"{name} is {_shown(now)}, floor {floor:.{DIGITS}f}" for name, now, floor in found if not now >= floor]
    if sunk:
        raise EvaluationError(f"{len(sunk)} of {len(found)} scores are under {path}: {'; '.join(sunk)}")
    return len(found)


def pin(path: str, reached: Mapping[str, Pinned], *, lower: bool) -> None:
    """Write the floors that were reached, and keep those of sets and extractors that were not measured.

    Floors of a set whose pages or folds have changed are all replaced: they were of other pages or classifiers.

    Raises:
        InputError: there is a file that cannot be read.
        EvaluationError: a floor would sink, and `lower` does not allow it; then nothing is written.
    """
    before = read(path) if _exists(path) else {}
    changed = {name: _changed(one, reached[name]) for name, one in before.items() if name in reached}
    same = {name: one for name, one in before.items() if not changed.get(name)}
    sinking = [
        f"{name} from {floor:.{DIGITS}f} to {_shown(now)}"
        for name, now, floor in _compared(same, reached)
        if now < floor
    ]
    if others := [f"{name} has other {what} now" for name, what in sorted(changed.items()) if what and not lower]:
        raise EvaluationError(f"{path}: {', '.join(others)}; --lower-floors replaces its floors")
    if sinking and not lower:
        raise EvaluationError(f"{path}: floors would sink ({'; '.join(sinking)}); --lower-floors if that is meant")
    merged = {
        name: Pinned(one.pages, one.folds, {**(same[name].floors if name in same else {}), **one.floors})
        for name, one in reached.items()
    }
    text = {name: asdict(one) for name, one in sorted((same | merged).items())}
    storage.write(path, (json.dumps({"sets": text}, indent=2) + "\n").encode())


def _changed(pinned: Pinned, one: Pinned) -> str:
    """Name what scores are of that their floors are not, "" for the same pages and folds."""
    if one.pages != pinned.pages:
        return "pages"
    if one.folds != pinned.folds:
        return f"folds (floors {_scored_by(pinned)}, scores {_scored_by(one)})"
    return ""


def _scored_by(one: Pinned) -> str:
    return f"of folds {one.folds}" if one.folds else "without folds"


def _compared(pinned: Mapping[str, Pinned], reached: Mapping[str, Pinned]) -> Iterator[tuple[str, float, float]]:
    """Iterate over the floors of the measured sets: a name, what is reached now (NaN if not measured), the floor."""
    for name, one in reached.items():
        for extractor, floors in pinned[name].floors.items() if name in pinned else ():
            for metric, floor in floors.items():
                now = one.floors.get(extractor, {}).get(metric, math.nan)
                yield f"{name} {extractor} {metric}", now, floor


def _shown(now: float) -> str:
    return "not measured" if math.isnan(now) else f"{now:.{DIGITS}f}"


def _floors(fields: Mapping[str, Any]) -> Floors:
    return {
        extractor: {metric: float(floor) for metric, floor in floors.items()} for extractor, floors in fields.items()
    }


def _rounded_down(score: float) -> float:
    # A mean of 0.7 must not become 0.699 because its last bit is missing.
    scale = pow(10.0, DIGITS)
    return math.floor(score * scale + 1e-6) / scale


def _exists(path: str) -> bool:
    filesystem, name = fsspec.core.url_to_fs(path)
    return bool(filesystem.exists(name))
