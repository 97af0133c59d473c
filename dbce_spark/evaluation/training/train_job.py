"""`dbce train`: one classifier from all pages, and one for each fifth of the sites that has not seen it."""

import json
import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from dbce_spark.config import DbceConfig
from dbce_spark.dbce.classifier.classifier_file import save_classifier
from dbce_spark.errors import ConfigError, PlatformError, installs
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.folds import FOLDS_FILE, file_of, read_pinned
from dbce_spark.evaluation.training import no_content, prepared_pages, trainer, training_examples
from dbce_spark.evaluation.training.prepared_pages import PreparedPages
from dbce_spark.log import counted

FOLDS = 5
_LOGGER = logging.getLogger("dbce_spark.evaluation")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainRequest:
    """The pages to train on, and the files to write. `folds` is a folder, or None; `pinned_folds` is a file as
    FOLDS_FILE, whose sites stay in their folds, or None."""

    paths: Sequence[str]
    output: str
    folds: str | None
    limit: int | None
    pinned_folds: str | None = None


def train(request: TrainRequest, config: DbceConfig) -> str:
    """Train and write the classifiers; return a line on them. The same pages give the same files.

    Raises:
        InputError: the pages or the pinned folds cannot be read.
        ConfigError: there are pinned folds, but no folder for classifiers of folds.
        PlatformError: LightGBM is not installed.
    """
    if find_spec("lightgbm") is None:
        raise PlatformError(f"lightgbm is not installed; run: {installs('train')}")
    if request.pinned_folds and not request.folds:
        raise ConfigError("--pinned-folds has an effect beside --folds only; add --folds DIR")
    pinned = read_pinned(request.pinned_folds, FOLDS) if request.pinned_folds else {}
    prepared = prepare(request.paths, request.limit, config)
    if request.folds:
        train_folds(prepared, Path(request.folds), pinned=pinned)
    output = Path(request.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    save_classifier(trainer.train(prepared, _card(prepared)), output)
    if request.folds:
        no_content.add(datasets.read(request.paths, request.limit).sets, Path(request.folds), output, config)
    return f"{output}: {output.stat().st_size:,} bytes, trained on {counted(len(prepared.examples), 'page')}"


def prepare(paths: Sequence[str], limit: int | None, config: DbceConfig) -> PreparedPages:
    """Read the pages of some gold sets, at most `limit` of each, and compute all that training takes of them.

    Raises:
        InputError: they cannot be read.
    """
    pages = datasets.read(paths, limit).pages
    return prepared_pages.prepare(training_examples.read(pages, config), config)


def train_folds(
    prepared: PreparedPages,
    folder: Path,
    wanted: Collection[int] | None = None,
    *,
    pinned: Mapping[str, int] | None = None,
) -> None:
    """Write `fold-N.npz` of the wanted folds or of all, each without the pages of fold N, and the fold of each of their
    sites. Pinned sites stay in the folds they are pinned to."""
    folder.mkdir(parents=True, exist_ok=True)
    fold_of = fold_of_pages(prepared, pinned or {})
    chosen = range(FOLDS) if wanted is None else wanted
    for fold in tqdm(chosen, desc="folds", leave=False, disable=None):
        seen = prepared.of_pages(fold_of != fold)
        classifier = trainer.train(seen, _card(seen) | {"without_fold": fold})
        save_classifier(classifier, folder / file_of(fold))
    numbered = zip(prepared.sites, fold_of.tolist(), strict=True)
    sites = {site: file_of(fold) for site, fold in numbered if fold in chosen}
    (folder / FOLDS_FILE).write_text(json.dumps(sites, indent=1, sort_keys=True) + "\n", "utf-8")


def fold_of_pages(prepared: PreparedPages, pinned: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """Assign each page a fold; sites of one owner stay together, where the first of them, by name, is pinned to."""
    fold_of_owner: dict[str, int] = {}
    for owner, site in sorted({*zip(prepared.owners, prepared.sites, strict=True)}):
        if site in pinned and pinned[site] != fold_of_owner.setdefault(owner, pinned[site]):
            _LOGGER.warning(
                "%s is pinned to fold %d, and goes to fold %d: its pages share texts with those of a site there",
                site,
                pinned[site],
                fold_of_owner[owner],
            )
    return trainer.folds(prepared.owners, FOLDS, fold_of_owner)


def _card(pages: PreparedPages) -> dict[str, Any]:
    """Describe the pages that a classifier is trained on."""
    return {
        "sets": dict(sorted(Counter(one.gold.dataset for one in pages.examples).items())),
        "pages": len(pages.examples),
        "sites": len(set(pages.sites)),
        "blocks": len(pages.page_of_row),
        "lightgbm": version("lightgbm"),
    }
