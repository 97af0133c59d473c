"""Classifiers that have not seen a site, for pages that a classifier was trained on."""

import json
from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from dbce_spark.errors import InputError
from dbce_spark.evaluation.datasets import GoldPage

FOLDS_FILE = "folds.json"
"""Site -> the file of the classifier that was trained without it."""


def file_of(fold: int) -> str:
    """Name the file of the classifier that was trained without a fold."""
    return f"fold-{fold}.npz"


def read_pinned(path: str, count: int) -> dict[str, int]:
    """Read the fold of each site from a file as FOLDS_FILE, of so many folds.

    Raises:
        InputError: it is no such file.
    """
    fold_of = {file_of(fold): fold for fold in range(count)}
    try:
        file_of_site: dict[str, str] = json.loads(Path(path).read_text("utf-8"))
        return {site: fold_of[file] for site, file in file_of_site.items()}
    except (OSError, ValueError, AttributeError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"{path} is no file of {count} folds as `dbce train --folds` writes it: {error}") from error


def by_classifier(pages: Iterable[GoldPage], folder: str) -> dict[str, list[GoldPage]]:
    """Group the pages by the path of the classifier that has not seen their site. A page that no classifier has seen
    gets the first.

    Raises:
        InputError: the folder is not one that `dbce train --folds` wrote.
    """
    path = Path(folder) / FOLDS_FILE
    try:
        file_of_site: dict[str, str] = json.loads(path.read_text("utf-8"))
        first = min(file_of_site.values())
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{folder} is no folder that `dbce train --folds` wrote: {error}") from error
    chosen: dict[str, list[GoldPage]] = defaultdict(list)
    for page in pages:
        chosen[str(Path(folder) / file_of_site.get(page.fetch(0).capture.site, first))].append(page)
    return dict(chosen)


def digest(folder: str) -> str:
    """Return the start of a SHA-256 of the folds and of their classifiers, "" for no folder: scores by others are not
    the same scores."""
    if not folder:
        return ""
    files = sorted(path for path in Path(folder).iterdir() if path.suffix in (".json", ".npz"))
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
