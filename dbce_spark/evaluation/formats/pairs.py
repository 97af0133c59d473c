"""Pages and their gold texts in files of their own, which belong together by name."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbce_spark.evaluation.formats.entry import GoldEntry

_PAGE_ENDINGS = (".html", ".htm")
_GOLD_ENDINGS = (".html.corrected.txt", "-cleaned.txt", ".htm.txt", ".html.txt", ".txt")


@dataclass(frozen=True, slots=True)
class Pair:
    """A page and its gold text. One of them may be missing: then it is None."""

    html: Path | None
    gold: Path | None

    @property
    def place(self) -> str:
        return str(self.html or self.gold)


def pairs(pages: Path, golds: Path) -> Iterator[Pair]:
    """Iterate over all pages and gold texts of two folders, or of one, in the order of their names."""
    html = _by_name(pages, _PAGE_ENDINGS)
    gold = _by_name(golds, _GOLD_ENDINGS)
    for name in sorted({*html, *gold}):
        yield Pair(html.get(name), gold.get(name))


def paired_entries(pages: Path, golds: Path, fields: Callable[[Path, Path], Mapping[str, Any]]) -> Iterator[GoldEntry]:
    """Read all pages and gold texts of two folders: `fields` reads those of a page from its file and its gold text's.
    One without the other becomes an entry that is only counted."""
    for pair in pairs(pages, golds):
        if pair.html and pair.gold:
            yield GoldEntry(pair.place, fields(pair.html, pair.gold))
        else:
            yield GoldEntry(pair.place, {}, "no gold text" if pair.html else "no page")


def subfolder(folder: Path, name: str) -> Path | None:
    """Find the folder of this name within another, whatever its capitals are, or None."""
    named = (inner for inner in sorted(folder.iterdir()) if inner.name.lower() == name.lower() and inner.is_dir())
    return next(named, None)


def _by_name(folder: Path, endings: tuple[str, ...]) -> dict[str, Path]:
    """Map the files of a folder by their names without their ending, the longest that fits."""
    found = {}
    for path in sorted(folder.iterdir()):
        ending = next((ending for ending in endings if path.name.lower().endswith(ending)), "")
        if ending and path.is_file():
            found[path.name[: -len(ending)]] = path
    return found
