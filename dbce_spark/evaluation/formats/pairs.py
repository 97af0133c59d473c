"""Pages and their gold texts in files of their own, which belong together by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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

    @property
    def missing(self) -> str:
        """Name what is missing, or ""."""
        return "no page" if self.html is None else "no gold text" if self.gold is None else ""


def pairs(pages: Path, golds: Path) -> Iterator[Pair]:
    """Iterate over all pages and gold texts of two folders, or of one, in the order of their names."""
    html = _by_name(pages, _PAGE_ENDINGS)
    gold = _by_name(golds, _GOLD_ENDINGS)
    for name in sorted({*html, *gold}):
        yield Pair(html.get(name), gold.get(name))


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
