"""Scores in a line or two: pages of some sites, and what extractors reached on them."""

from collections.abc import Mapping, Sequence

import numpy as np

from dbce_spark.evaluation.scoring.facts import Facts
from dbce_spark.evaluation.scoring.scores import NAMES, Scores


def page(number: int, **known: str | float | tuple[float, ...]) -> Facts:
    """A page; what is not said of it is plain."""
    plain = {
        "dataset": "made",
        "page_id": str(number),
        "site": "",
        "group": "",
        "lang": "",
        "page_type": "",
        "era": "",
        "siblings": 0,
        "snapshots": 0,
        "gold_error": 0.0,
        "gold_recurrence": 0.0,
        "complexity": 0.5,
        "tags": (0.0,) * 14,
    }
    return Facts(**{**plain, **known})  # type: ignore[arg-type]


def made_scores(pages: Sequence[Facts], f1: Mapping[str, Sequence[float]]) -> Scores:
    """The same value in every metric and part; a second a page, and no error."""
    values = np.array([[of, of, of] for of in f1.values()], np.float64)
    return Scores(
        extractors=tuple(f1),
        pages=tuple(pages),
        values=dict.fromkeys(NAMES, values),
        seconds=np.ones((len(f1), len(pages))),
        confidences=np.full((len(f1), len(pages)), np.nan),
        read_types=(("",) * len(pages),) * len(f1),
        errors=(("",) * len(pages),) * len(f1),
    )
