"""A month of an archive: sites that are crawled every day, and deliveries that go wrong as they do."""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from benchmarks.samples.calendar import Calendar
from benchmarks.samples.sample_archive import Summary, empty_folder
from benchmarks.samples.sample_crawl import Fetch, Schedule, fetches
from benchmarks.samples.sample_records import Place, WarcFiles
from benchmarks.samples.sample_web import sites
from dbce_spark.archive.index.index_entry import payload_digest

DAYS = 30
MISSING = 11
"""The day without a crawl."""
AGAIN = 15
"""The day on which the crawl of the day before comes once more, as files of another name."""
REDESIGNED = 17
"""The day on which one site has a new design."""
DAMAGED = 22
"""The day whose first file has lost a part of itself on its way."""
WHOLE = 24
"""The day on which that file comes once more, whole, under another name."""

COPY, MENDED = "copy-", "whole-"
"""The beginning of the names of files that come once more."""

_BEGINS = date(2026, 3, 1)
_BORN_BEFORE = 0.7
"""Share of a site's items that the first crawl finds; the others come day by day."""


def write_month(folder: str | os.PathLike[str], *, pages: int, days: int, seed: int, weight: int = 0) -> Summary:
    """Write a folder for each day with a crawl, `day-01` and so on, of one WARC file or two, into a new or empty one.

    A page that has not changed since the day before is a revisit. `pages` and `weight` are as for `write_archive`.
    Returns what was crawled: what came twice is counted once, and what was lost is counted.

    Raises:
        OutputError: the folder is not empty, or cannot be made.
    """
    target = empty_folder(Path(folder))
    web = sites(pages=pages, seed=seed, weight=weight, calendar=_calendar(days))
    schedule = Schedule(web)
    files = records = captures = 0
    for number, when in enumerate(schedule.calendar.days):
        day = (when - _BEGINS).days + 1
        crawl = _write_crawl(_folder(target, day), fetches(schedule, number), when, schedule.total, day)
        files += crawl.warcs.files
        records += crawl.warcs.records
        captures += crawl.captures
        if day + 1 == AGAIN <= days:
            _deliver(target, AGAIN, COPY, sorted(_folder(target, day).iterdir()))
        if day == DAMAGED:
            _damage(crawl.places, target, days)
    return Summary(
        files=files, records=records, captures=captures, pages=sum(site.pages for site in web), sites=len(web)
    )


@dataclass(frozen=True, slots=True)
class _Crawl:
    warcs: WarcFiles
    captures: int
    places: list[Place]  # of pages that came with a body of their own


def _calendar(days: int) -> Calendar:
    """Make a calendar of daily crawls: most pages are as they were the day before, a few are edited, and each day
    brings new ones."""
    crawled = [_BEGINS + timedelta(days=day - 1) for day in range(1, days + 1) if day != MISSING]
    new_design = _BEGINS + timedelta(days=REDESIGNED - 1)
    growth = (1 - _BORN_BEFORE) / max(1, len(crawled) - 1)
    return Calendar(
        days=tuple(crawled),
        born=tuple(1 - growth * (len(crawled) - 1 - number) for number in range(len(crawled))),
        gone=0.15,
        edited=0.03,
        cached=0.6,
        redesigned=crawled.index(new_design) if new_design in crawled else len(crawled),
    )


def _folder(target: Path, day: int) -> Path:
    return target / f"day-{day:02}"


def _write_crawl(folder: Path, fetched: Iterable[Fetch], when: date, urls: int, day: int) -> _Crawl:
    folder.mkdir(exist_ok=True)
    places, captures = [], 0
    with WarcFiles(folder, f"{when:%Y%m%d}") as warcs:
        for fetch in fetched:
            if captures == urls // 2 and day % 2 == 0:
                warcs.close()  # what follows goes into a second file
            place = warcs.write(fetch, payload_digest(fetch.answer.body))
            if fetch.answer.drawn is not None and not fetch.again:
                places.append(place)
            captures += 1
    return _Crawl(warcs, captures, places)


def _deliver(target: Path, day: int, prefix: str, files: Iterable[Path]) -> None:
    """Deliver files of an earlier day once more."""
    _folder(target, day).mkdir(exist_ok=True)
    for file in files:
        shutil.copy(file, _folder(target, day) / f"{prefix}{file.name}")


def _damage(places: list[Place], target: Path, days: int) -> None:
    """Remove a quarter of the first file, from the midst of one page to the midst of another."""
    file = _folder(target, DAMAGED) / places[0].filename
    if days >= WHOLE:
        _deliver(target, WHOLE, MENDED, [file])
    inside = [place for place in places if place.filename == file.name]
    begin, end = (
        place.offset + place.length // 2 for place in (inside[len(inside) // 2], inside[len(inside) * 3 // 4])
    )
    whole = file.read_bytes()
    file.write_bytes(whole[:begin] + whole[end:])
