"""Learns whether a page has content at all, by what classifiers see of pages of sites that they have not learned from:
pages that readers labelled, and the same ones emptied.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import pages, sites
from dbce_spark.dbce.classifier.classifier_file import load_classifier, save_classifier
from dbce_spark.dbce.classifier.forest import Forest
from dbce_spark.dbce.page_lots import TOGETHER, cut_lots
from dbce_spark.evaluation import folds
from dbce_spark.evaluation.datasets import GoldPage, Sets
from dbce_spark.evaluation.training import boosted_trees
from dbce_spark.evaluation.training.emptied_pages import emptied
from dbce_spark.model import Codes, Page

TREES = 200

EMPTIED_WEIGHT = 0.25
"""The weight of an emptied page, where that of another page is 1: a fifth of all pages then has no content."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Pages of a set, which may be siblings of each other, and the weight of each."""

    pages: Sequence[GoldPage]
    weight: float


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page as the classifier of a fold sees it: its `page_codes`, (features), and whether it has no content."""

    codes: Codes
    is_contentless: bool
    weight: float


def add(gold: Sets, folder: Path, output: Path, config: DbceConfig) -> None:
    """Add what is learned to the classifier `output`, and to each fold's in `folder` what the other folds teach; to
    none if no page is labelled by a reader.

    Raises:
        InputError: the folder has no folds.
    """
    seen = {
        path: [*_see(groups, replace(config, label=replace(config.label, by="classifier", classifier=path)))]
        for path, groups in _by_classifier(gold, folder).items()
    }
    for fold in sorted(folder.glob("fold-*.npz")):
        _add(fold, [one for path, some in seen.items() if Path(path) != fold for one in some])
    _add(output, [one for some in seen.values() for one in some])


def _by_classifier(gold: Sets, folder: Path) -> Mapping[str, Sequence[_Group]]:
    """Group the pages that readers labelled, and apart from them the same emptied, by the path of the classifier that
    has not seen them."""
    found: dict[str, list[_Group]] = defaultdict(list)
    for of_set in gold.values():
        labelled = [page for page in of_set if page.nodes]
        for path, some in folds.by_classifier(labelled, str(folder)).items():
            found[path] += _Group(some, 1.0), _Group([*filter(None, map(emptied, some))], EMPTIED_WEIGHT)
    return found


def _see(groups: Sequence[_Group], config: DbceConfig) -> Iterator[SeenPage]:
    classifier = load_classifier(config.label.classifier)
    for group in groups:
        made = [*pages.parse_fetches([page.fetch(at) for at, page in enumerate(group.pages)], config)]
        gold = {one.capture_id: page for one, page in zip(made, group.pages, strict=True) if isinstance(one, Page)}
        compared, _ = sites.compare_pages(pages.unique(one for one in made if isinstance(one, Page)), config)
        for lot in cut_lots(compared, lambda one: len(one.page.blocks), TOGETHER):
            codes = classifier.second_scores(lot).page_codes
            for one, of_page in zip(lot, codes.T, strict=True):
                has_content = any(label == 1 for label, _ in gold[one.page.capture_id].nodes)
                yield SeenPage(of_page.copy(), not has_content, group.weight)


def _add(path: Path, seen: Sequence[SeenPage]) -> None:
    if seen:
        save_classifier(replace(load_classifier(str(path)), no_content=learn(seen)), path)


def learn(seen: Sequence[SeenPage]) -> Forest:
    """Train the forest that tells pages without content from others."""
    return boosted_trees.fit(
        np.stack([one.codes for one in seen], axis=1),
        np.array([one.is_contentless for one in seen], np.bool_),
        np.array([one.weight for one in seen]),
        TREES,
        boosted_trees.NO_CONTENT_PARAMETERS,
    )
