"""Results of `dbce evaluate` from several folders as one: what was measured again takes the place of what was."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from dbce_spark.errors import InputError
from dbce_spark.evaluation import evaluation_job, extracted_texts
from dbce_spark.evaluation.datasets import unit_of
from dbce_spark.evaluation.scoring.scores import PARTS, Values

METRIC = "rouge_lsum"
_SCORES = ("dataset", "page_id", "site", "page_type", "extractor", *PARTS, "seconds")
_FACTS = ("dataset", "page_id", "lang", "siblings", "gold_error", "complexity", "tags")

PageKey = tuple[str, str]
"""Data set and id."""

TextsBySet = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Texts by set, extractor and page id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedPage:
    """A page that all extractors were scored on."""

    dataset: str
    page_id: str
    unit: str  # the name that the page is drawn and weighed with
    page_type: str
    gold_error: float
    complexity: float
    lang: str
    siblings: int
    tags: tuple[float, ...]  # shares, in the order of `clusters.TAGS`


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of extractors on the pages that each of them was run on."""

    extractors: tuple[str, ...]
    pages: tuple[EvaluatedPage, ...]
    parts: Values  # precision, recall, F1: (3, extractors, pages)
    seconds: Values  # (extractors, pages)

    @property
    def f1(self) -> Values:
        """Return F1: (extractors, pages)."""
        found: Values = self.parts[PARTS.index("f1")]
        return found


def read(folders: Sequence[str], metric: str = METRIC, dataset: str = "") -> Evaluation:
    """Read the scores of all folders by a metric, of one set if it is named; an extractor's on a set are those of the
    last folder that has any.

    Pages that an extractor was not run on are left out: it may have been given a sample. A page has as many siblings
    as in the folder with most of them.

    Raises:
        InputError: a folder cannot be read, an extractor was not run on one of the sets, or no set is named and the
            extractors have no page in common.
    """
    found: dict[tuple[str, str], dict[PageKey, dict[str, Any]]] = {}
    facts: dict[PageKey, dict[str, Any]] = {}
    for folder in folders:
        of_folder: dict[tuple[str, str], dict[PageKey, dict[str, Any]]] = {}
        of_set = [("dataset", "=", dataset)] if dataset else []
        for row in _rows(folder, "scores.parquet", _SCORES, filters=[("metric", "=", metric), *of_set]):
            scored = of_folder.setdefault((row["extractor"], row["dataset"]), {})
            scored[row["dataset"], row["page_id"]] = row
        found |= of_folder
        for row in _rows(folder, "pages.parquet", _FACTS):
            seen = facts.setdefault((row["dataset"], row["page_id"]), row)
            seen |= row | {"siblings": max(seen["siblings"], row["siblings"])}
    extractors = tuple(dict.fromkeys(extractor for extractor, _ in found))
    datasets = tuple(dict.fromkeys(dataset for _, dataset in found))
    for extractor in extractors:
        if missing := [name for name in datasets if (extractor, name) not in found]:
            raise InputError(
                f"{', '.join(folders)}: {extractor} was not run on {missing[0]}; run it with `dbce evaluate`"
            )
    rows = {name: {key: row for one in datasets for key, row in found[name, one].items()} for name in extractors}
    keys = [key for key in facts if rows and all(key in of_extractor for of_extractor in rows.values())]
    if not keys and not dataset:
        raise InputError(
            f"{', '.join(folders)}: no page has scores of {', '.join(extractors)}; run all of them on the same pages"
        )
    columns = [[rows[name][key] for key in keys] for name in extractors]
    return Evaluation(
        extractors,
        tuple(_page(rows[extractors[0]][key], facts[key]) for key in keys),
        np.array([[[row[part] for row in of_extractor] for of_extractor in columns] for part in PARTS]),
        np.array([[row["seconds"] for row in of_extractor] for of_extractor in columns]),
    )


def texts(folders: Sequence[str]) -> TextsBySet:
    """Read the texts of all folders; the last folder that has one of a page by an extractor counts.

    Raises:
        InputError: a folder cannot be read.
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    for folder in folders:
        for row in _rows(folder, extracted_texts.NAME, ("dataset", "page_id", "extractor", "text")):
            found.setdefault(row["dataset"], {}).setdefault(row["extractor"], {})[row["page_id"]] = row["text"]
    return found


def versions(folders: Sequence[str]) -> dict[str, str]:
    """Read the version of each peer that has one, without the digest of our call."""
    found: dict[str, str] = {}
    for folder in folders:
        for row in _rows(folder, extracted_texts.NAME, ("extractor", "version")):
            found[row["extractor"]] = row["version"].rpartition(", ")[0]
    return {name: version for name, version in found.items() if version}


def description(folder: str) -> Mapping[str, Any]:
    """Read the description of the evaluation in a folder.

    Raises:
        InputError: it cannot be read.
    """
    try:
        described: Mapping[str, Any] = json.loads((Path(folder) / evaluation_job.DESCRIPTION).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder} is no folder that `dbce evaluate` wrote: {error}") from error
    return described


def _rows(folder: str, name: str, columns: Sequence[str], filters: Any = None) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = pq.read_table(Path(folder) / name, columns=[*columns], filters=filters).to_pylist()
    except (OSError, ValueError) as error:
        raise InputError(f"{folder} is no folder that `dbce evaluate` wrote: {error}") from error
    return rows


def _page(row: Mapping[str, Any], facts: Mapping[str, Any]) -> EvaluatedPage:
    return EvaluatedPage(
        dataset=row["dataset"],
        page_id=row["page_id"],
        unit=unit_of(row["site"], row["dataset"], row["page_id"]),
        page_type=row["page_type"],
        gold_error=facts["gold_error"],
        complexity=facts["complexity"],
        lang=facts["lang"],
        siblings=facts["siblings"],
        tags=tuple(facts["tags"]),
    )
