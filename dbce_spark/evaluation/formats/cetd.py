"""The set of Content Extraction via Text Density (Sun, Song, Liao 2011): a folder a site, pages and gold apart."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from dbce_spark.evaluation.formats import entry
from dbce_spark.evaluation.formats.entry import GoldEntry
from dbce_spark.evaluation.formats.pairs import paired_entries, subfolder

NAME = "cetd"
LOOKS = "a folder a site with original/*.htm and gold/*.txt"

_MIXED = ("chaos", "cleaneval")
"""Folders of pages of many sites, by how their names begin; all others are each of one site."""


def fits(folder: Path) -> bool:
    return next(_sites(folder), None) is not None


def entries(folder: Path) -> Iterator[GoldEntry]:
    """Iterate over the pages of all sites; the folder of one site is taken too. The set knows no URLs."""
    for site, pages, golds in _sites(folder):
        yield from paired_entries(pages, golds, partial(_fields, site=site))


def _sites(folder: Path) -> Iterator[tuple[str, Path, Path]]:
    """Iterate over the sites: the name of each, and the folders of its pages and of its gold texts."""
    inner = sorted(path for path in folder.iterdir() if path.is_dir())
    for site in (folder, *inner):
        pages, golds = subfolder(site, "original"), subfolder(site, "gold")
        if pages and golds:
            yield site.name, pages, golds


def _fields(html_path: Path, gold_path: Path, site: str) -> dict[str, Any]:
    html = entry.stored(html_path)
    return {
        "id": entry.page_id(html),
        "html": entry.text(html),
        "gold": entry.text(entry.stored(gold_path)),
        "dataset": NAME,
        "site": "" if site.lower().startswith(_MIXED) else site.lower(),
        "lang": "en",
        "filename": f"{site}/{html_path.name}",
    }
