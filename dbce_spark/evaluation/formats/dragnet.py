"""The set of Dragnet (Peters, Lecocq 2013): pages, and gold texts with the comments behind a separator."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dbce_spark.evaluation.formats import entry
from dbce_spark.evaluation.formats.entry import GoldEntry
from dbce_spark.evaluation.formats.pairs import paired_entries, subfolder

NAME = "dragnet"
LOOKS = "HTML/*.html and Corrected/*.html.corrected.txt"

_COMMENTS = re.compile(r"\s*!@#\$%\^&\*\(\)\s+COMMENTS\s*")


def fits(folder: Path) -> bool:
    golds = _golds(folder)
    return subfolder(folder, "HTML") is not None and golds is not None and any(golds.glob("*.html.corrected.txt"))


def entries(folder: Path) -> Iterator[GoldEntry]:
    """Iterate over the pages in the order of their names. The set knows no URLs."""
    pages, golds = subfolder(folder, "HTML"), _golds(folder)
    if pages and golds:
        yield from paired_entries(pages, golds, _fields)


def _golds(folder: Path) -> Path | None:
    """Find the folder of gold texts: copies of the set may have it twice, one within the other."""
    outer = subfolder(folder, "Corrected")
    return outer and (subfolder(outer, "Corrected") or outer)


def _fields(html_path: Path, gold_path: Path) -> dict[str, Any]:
    html = entry.stored(html_path)
    gold, *comments = _COMMENTS.split(entry.text(entry.stored(gold_path)), maxsplit=1)
    return {
        "id": entry.page_id(html),
        "html": entry.text(html),
        "gold": gold,
        "gold_comments": "".join(comments),
        "dataset": NAME,
        "filename": html_path.name,
    }
