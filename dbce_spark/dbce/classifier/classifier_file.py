"""The file of a classifier: arrays of NumPy, and JSON about them."""

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.dbce.classifier.class_words import ClassWords
from dbce_spark.dbce.classifier.classify import GROUPS, Binning, Classifier
from dbce_spark.dbce.classifier.forest import Forest
from dbce_spark.dbce.classifier.page_types import PageTypes
from dbce_spark.dbce.classifier.site_corrections import SiteCorrections
from dbce_spark.errors import ConfigError, Parameter

_SHIPPED = "classifier.npz"
_FORESTS = ("first", "first_replies", "second", "article", "whole", "replies")
_PAGE_TYPE, _NO_CONTENT = "page_type", "no_content"
_BROKEN = (
    OSError, EOFError, ValueError, KeyError, IndexError, TypeError, RecursionError, zipfile.BadZipFile, zlib.error
)  # fmt: skip
"""Errors that a file raises which is damaged, or was made by somebody else."""
_CORRECTED, _OF_CORRECTED = "corrected_sites", ("corrected_names", "corrected_shifts")


@cache
def load_classifier(path: str) -> Classifier:
    """Load the classifier in a file that `dbce train` wrote, or for "" the one that comes with the package.

    A file holds arrays and JSON; nothing in it is ever executed.

    Raises:
        ConfigError: there is no such file, or it is another one.
    """
    name = path or _SHIPPED
    try:
        with (
            (Path(path) if path else files("dbce_spark").joinpath("conf", _SHIPPED)).open("rb") as file,
            np.load(file, allow_pickle=False) as stored,
        ):
            return _restore({key: stored[key] for key in stored.files})
    except _BROKEN as error:
        raise ConfigError(
            Parameter("label.classifier"), f": {name} is no classifier that `dbce train` wrote: {_cause(error)}"
        ) from error


def _restore(arrays: Mapping[str, Any]) -> Classifier:
    """Restore a classifier from the arrays of its file."""
    about = json.loads(bytes(arrays["about"]).decode())
    names, card = about["names"], about["card"]
    types = tuple(about.get("page_types", ()))
    sites = frozenset(about.get(_CORRECTED, ()))
    return Classifier(
        {group: _binning(names[group], arrays, group) for group in GROUPS},
        ClassWords(arrays["class_words"], arrays["class_word_weights"]),
        **{name: _forest(arrays, name) for name in _FORESTS},
        card=card,
        page_types=PageTypes(types, _forest(arrays, _PAGE_TYPE)) if types else None,
        no_content=_forest(arrays, _NO_CONTENT) if about.get(_NO_CONTENT) else None,
        corrections=SiteCorrections(sites, *(arrays[name] for name in _OF_CORRECTED)) if sites else SiteCorrections(),
    )


def _cause(error: Exception) -> str:
    """Return what is wrong with a file: of what is no array NumPy says how to load it unsafely."""
    return "it holds something other than arrays of numbers" if "pickle" in str(error) else str(error)


def _forest(arrays: Mapping[str, Any], name: str) -> Forest:
    made = Forest(**{column: arrays[f"{name}_{column}"] for column in Forest.__dataclass_fields__})
    made.check()
    return made


def _binning(names: Sequence[str], arrays: Mapping[str, Any], group: str) -> Binning:
    ends = np.cumsum(arrays[f"{group}_bins"], dtype=np.intp)
    edges = np.split(arrays[f"{group}_edges"], ends[:-1]) if names else []
    return Binning(tuple(names), tuple(edges))


def save_classifier(classifier: Classifier, path: Path) -> None:
    """Write a classifier as NumPy arrays and JSON. The same classifier gives the same bytes."""
    names = {group: list(binning.names) for group, binning in classifier.binnings.items()}
    forests = {name: getattr(classifier, name) for name in _FORESTS}
    types: tuple[str, ...] = ()
    if classifier.page_types:
        types, forests[_PAGE_TYPE] = classifier.page_types.names, classifier.page_types.forest
    about: dict[str, Any] = {"names": names, "card": classifier.card, "page_types": types}
    if classifier.no_content:
        about[_NO_CONTENT], forests[_NO_CONTENT] = True, classifier.no_content
    arrays: dict[str, npt.NDArray[Any]] = {}
    if classifier.corrections.sites:
        about[_CORRECTED] = sorted(classifier.corrections.sites)
        arrays |= zip(_OF_CORRECTED, (classifier.corrections.names, classifier.corrections.shifts), strict=True)
    arrays["about"] = np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8)
    arrays |= {"class_words": classifier.class_words.hashes, "class_word_weights": classifier.class_words.weights}
    for group, binning in classifier.binnings.items():
        arrays[f"{group}_bins"] = np.array([len(edges) for edges in binning.edges], np.uint8)
        arrays[f"{group}_edges"] = np.concatenate([*binning.edges, np.empty(0)])
    for name, forest in forests.items():
        arrays |= {f"{name}_{column}": getattr(forest, column) for column in Forest.__dataclass_fields__}
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    load_classifier.cache_clear()  # a file of this name may have been loaded before
