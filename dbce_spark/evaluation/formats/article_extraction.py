"""Scrapinghub's article-extraction-benchmark: compressed pages, all gold in one JSON file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dbce_spark.errors import InputError
from dbce_spark.evaluation.formats import entry
from dbce_spark.evaluation.formats.entry import GoldEntry

NAME = "article-extraction-benchmark"
LOOKS = "ground-truth.json beside html/*.html.gz"
_TRUTH = "ground-truth.json"


def fits(folder: Path) -> bool:
    return (folder / _TRUTH).is_file() and (folder / "html").is_dir()


def entries(folder: Path) -> Iterator[GoldEntry]:
    """Iterate over a page for each key of the ground truth, in their order; pages without a key last.

    Raises:
        InputError: the ground truth is no object.
    """
    place = folder / _TRUTH
    truths = entry.parsed_json(place)
    if not isinstance(truths, dict):
        raise InputError(f"{place}: a JSON {type(truths).__name__}, not an object with a page a key")
    pages = {path.name.partition(".html")[0]: path for path in sorted((folder / "html").glob("*.html*"))}
    for key, truth in truths.items():
        if key in pages:
            yield GoldEntry(str(pages[key]), _fields(pages[key], truth, f"{place}, {key}"))
        else:
            yield GoldEntry(f"{place}, {key}", {}, "no page")
    for key in sorted(pages.keys() - truths.keys()):
        yield GoldEntry(str(pages[key]), {}, "no gold text")


def _fields(path: Path, truth: Any, place: str) -> dict[str, Any]:
    if not isinstance(truth, Mapping) or not isinstance(truth.get("articleBody"), str):
        raise InputError(f"{place}: articleBody must be a text")
    html = entry.stored(path)
    return {
        "id": entry.page_id(html),
        "html": entry.text(html),
        "gold": truth["articleBody"],
        "dataset": NAME,
        "url": str(truth.get("url") or ""),
        "page_type": "article",
        "filename": path.name,
    }
