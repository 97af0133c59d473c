"""The layouts that gold pages come in, each read into the fields of a JSON line.

A file is JSON lines; a folder is one of the five published sets of the benchmark study (section 3.1), recognised by
its files.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dbce_spark.errors import InputError
from dbce_spark.evaluation.formats import article_extraction, cetd, cleaneval, dragnet, json_lines, readability_pages
from dbce_spark.evaluation.formats.entry import GoldEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldLayout:
    """The layout of a published set's folder: its description in words, its test and its reader."""

    looks: str
    fits: Callable[[Path], bool]
    entries: Callable[[Path], Iterator[GoldEntry]]


LAYOUTS: Mapping[str, GoldLayout] = {
    module.NAME: GoldLayout(looks=module.LOOKS, fits=module.fits, entries=module.entries)
    for module in (readability_pages, article_extraction, cetd, dragnet, cleaneval)
}
"""Layouts by the name of the set, in the order in which a folder is tried: those recognised by one file before those
recognised by many."""


def entries(path: str) -> Iterator[GoldEntry]:
    """Iterate over the pages of a file of JSON lines, or of a folder in one of these layouts, where each HTML counts
    once.

    Raises:
        InputError: it cannot be read, or is of none of these layouts.
    """
    folder = Path(path)
    if not folder.is_dir():
        return json_lines.entries(path)
    name = recognised(folder)
    return _once(name, LAYOUTS[name].entries(folder))


def recognised(folder: Path) -> str:
    """Name the set that a folder holds, by its layout.

    Raises:
        InputError: it is of none of these layouts.
    """
    for name, layout in LAYOUTS.items():
        if layout.fits(folder):
            return name
    layouts = "; ".join(f"{name} ({layout.looks})" for name, layout in LAYOUTS.items())
    raise InputError(
        f"{folder}: no set of gold pages is known to look like this; give a file of JSON lines, or {layouts}"
    )


def _once(name: str, found: Iterator[GoldEntry]) -> Iterator[GoldEntry]:
    """Iterate over the pages of a set; a repeated page becomes an entry that is only counted."""
    seen: set[str] = set()
    for entry in found:
        page_id = entry.fields.get("id", "")
        if entry.missing or page_id in seen:
            yield GoldEntry(entry.place, {"dataset": name}, entry.missing or "the page is there already")
        else:
            seen.add(page_id)
            yield entry
