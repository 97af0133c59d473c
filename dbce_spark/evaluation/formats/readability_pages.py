"""The test pages of Mozilla's Readability and its ports: a folder a page, its gold as HTML."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbce_spark.config import default
from dbce_spark.errors import InputError
from dbce_spark.evaluation.formats import entry
from dbce_spark.evaluation.formats.entry import GoldEntry
from dbce_spark.html import page
from dbce_spark.html.dom import PageError

NAME = "readability"
LOOKS = "folders with source.html and expected.html"


def fits(folder: Path) -> bool:
    return any(found.with_name("source.html").is_file() for found in folder.glob("*/expected.html"))


def entries(folder: Path) -> Iterator[GoldEntry]:
    """Iterate over a page for each folder with a source.html, in the order of their names."""
    for source in sorted(folder.glob("*/source.html")):
        expected = source.with_name("expected.html")
        if expected.is_file():
            yield GoldEntry(str(source), _fields(source, expected))
        else:
            yield GoldEntry(str(source), {}, "no gold text")


def _fields(source: Path, expected: Path) -> dict[str, Any]:
    html = entry.stored(source)
    lang = _metadata(source.with_name("expected-metadata.json")).get("lang")
    return {
        "id": entry.page_id(html),
        "html": entry.text(html),
        "gold": _without_markup(expected),
        "dataset": NAME,
        "lang": str(lang or "").partition("-")[0].lower(),
        "filename": source.parent.name,
    }


def _metadata(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    found = entry.parsed_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{path}: a JSON {type(found).__name__}, not an object with title and lang")
    return found


def _without_markup(path: Path) -> str:
    """Extract the gold's text, a line a block, so that no words of two elements become one (study, section 3.4, issue
    2)."""
    try:
        return page.parse(entry.stored(path), "", default().page).blocks.text
    except page.NoText:
        return ""
    except PageError as error:
        raise InputError(f"{path}: no HTML: {error}") from error
