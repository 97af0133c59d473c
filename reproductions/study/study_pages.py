"""The pages, texts and scores of an evaluation, as the study's tables need them: in one order of pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from sklearn.model_selection import GroupKFold

from dbce_spark.errors import InputError
from dbce_spark.evaluation import datasets, extracted_texts
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting import ensembles
from dbce_spark.evaluation.extracting.child_process import Extracted
from dbce_spark.evaluation.scoring import average_weights, bootstrap
from dbce_spark.evaluation.scoring.facts import Facts
from dbce_spark.evaluation.scoring.scores import MAIN_METRIC, Values

PageKey = tuple[str, str]
"""Data set and id."""

_UNMEASURED = {"gold_recurrence": 0.0}
"""Facts that results of before they were measured lack; the study's tables do not have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPages:
    """The pages that all extractors were run on, with the text of each extractor and its F1."""

    pages: tuple[GoldPage, ...]
    facts: tuple[Facts, ...]
    extractors: tuple[str, ...]  # in the order in which they were run; all else is compared with the first
    texts: Mapping[str, Sequence[Extracted]]  # by extractor, one a page
    f1: Values  # (extractors, pages)

    @property
    def units(self) -> npt.NDArray[np.intp]:
        """Number the sites of the pages, by which all is learned and drawn."""
        return bootstrap.numbered([page.unit for page in self.facts])

    @property
    def weights(self) -> Values:
        """Return the weight of each page in averages: no site decides them."""
        return average_weights.capped([page.unit for page in self.facts])


def read(results: str, paths: Sequence[str]) -> StudyPages:
    """Read a folder that `dbce evaluate` wrote, and the gold pages that it was given.

    Raises:
        InputError: the folder holds no results, they are not of these pages, or these are of one site.
    """
    try:
        of_pages = pq.read_table(f"{results}/pages.parquet").to_pylist()
        texts = pq.read_table(f"{results}/{extracted_texts.NAME}").to_pylist()
        scores = pq.read_table(
            f"{results}/scores.parquet",
            columns=["dataset", "page_id", "extractor", "f1"],
            filters=[("metric", "=", MAIN_METRIC)],
        ).to_pylist()
    except (OSError, ValueError) as error:
        raise InputError(f"{results}: no results of `dbce evaluate`: {error}") from error
    gold = {(page.dataset, page.page_id): page for page in datasets.read(paths).pages}
    keys: list[PageKey] = [(row["dataset"], row["page_id"]) for row in of_pages]
    if missing := [key for key in keys if key not in gold]:
        raise InputError(
            f"{results}: {len(missing):,} pages are not in the given files, such as {'/'.join(missing[0])}"
        )
    if len({gold[key].unit for key in keys}) == 1:
        raise InputError(
            f"{results}: all pages are of one site, and nothing is learned from others; evaluate more sites"
        )
    by_key = {(row["extractor"], row["dataset"], row["page_id"]): row for row in texts}
    f1 = {(row["extractor"], row["dataset"], row["page_id"]): row["f1"] for row in scores}
    extractors = tuple(dict.fromkeys(row["extractor"] for row in scores))
    return StudyPages(
        pages=tuple(gold[key] for key in keys),
        facts=tuple(Facts(**{**_UNMEASURED, **row, "tags": tuple(row["tags"])}) for row in of_pages),
        extractors=extractors,
        texts={
            name: [Extracted(row["text"], row["seconds"], row["error"]) for key in keys for row in [by_key[name, *key]]]
            for name in extractors
        },
        f1=np.array([[f1[name, *key] for key in keys] for name in extractors]),
    )


def site_folds(units: npt.NDArray[np.intp]) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Iterate over folds of sites, fewer where there are fewer: the places of pages to learn from, and of the others.
    units: of each page the number of its site."""
    folds = GroupKFold(min(ensembles.FOLDS, len(np.unique(units))))
    yield from folds.split(units, groups=units)
