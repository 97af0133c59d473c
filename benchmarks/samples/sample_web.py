"""The sites of a sample archive: one of every kind, and further copies as the archive grows; a few large, many small."""

from itertools import accumulate, pairwise
from math import ceil, sqrt

from benchmarks.samples.calendar import THREE_YEARS, Calendar
from benchmarks.samples.diary import Diary
from benchmarks.samples.forum import Forum
from benchmarks.samples.gazette import Gazette
from benchmarks.samples.machi import Machi
from benchmarks.samples.manual import Manual
from benchmarks.samples.recipes import Recipes
from benchmarks.samples.sample_site import Site
from benchmarks.samples.shop import Shop
from benchmarks.samples.tagblatt import Tagblatt

KINDS: tuple[tuple[type[Site], str, str, str, int], ...] = (
    (Gazette, "www.", "gazette", "The Harrowgate Gazette", 210),
    (Recipes, "", "saucepan", "Saucepan", 15),
    (Forum, "forum.", "sawdust", "Sawdust Board", 205),
    (Shop, "www.", "lampworks", "Lampworks", 45),
    (Tagblatt, "www.", "tagblatt", "Niederfelder Tagblatt", 350),
    (Manual, "docs.", "ledgerd", "Ledgerd", 150),
    (Diary, "", "dnevnik", "Дневник дорог", 180),
    (Machi, "www.", "machikado", "まちかど通信", 95),
)
"""Class, first label, domain and name of each kind of site, and its colour (hue in degrees)."""

SMALLEST = 4
"""Pages of the smallest site, where the archive is large enough for it."""
PAGES_PER_COPY = 5_000
"""With more pages than this there are two sites of every kind; their number grows with the square root."""
SKEW = 0.9
"""Exponent of the sizes' power law: 1 is Zipf's."""


def sites(*, pages: int, seed: int, weight: int = 0, calendar: Calendar = THREE_YEARS) -> list[Site]:
    """Make all sites of an archive with `pages` pages of a weight (`weight.py`), the largest first."""
    copies = ceil(sqrt(max(1.0, pages / PAGES_PER_COPY)))
    found = []
    for rank, size in enumerate(_sizes(pages, copies * len(KINDS))):
        copy, kind = divmod(rank, len(KINDS))
        make, label, domain, name, hue = KINDS[kind]
        suffix = f"-{copy + 1}" if copy else ""
        title = f"{name} {copy + 1}" if copy else name
        colour = (hue + 47 * copy) % 360
        found.append(make(f"{label}{domain}{suffix}.example", title, str(seed), size, colour, weight, calendar))
    return [site for site in found if site.pages]


def _sizes(pages: int, count: int) -> list[int]:
    """Share out `pages` by rank, the largest first; the shares add up exactly."""
    least = min(SMALLEST, pages // count)
    weights = list(accumulate(1 / (rank + 1) ** SKEW for rank in range(count)))
    bounds = [round((pages - least * count) * weight / weights[-1]) for weight in (0.0, *weights)]
    return sorted((least + end - start for start, end in pairwise(bounds)), reverse=True)
