"""Import pages from web archives into a store, with all that they load.

The segments to tag are those that the method cuts: of a page whose siblings or snapshots are in the same archives, runs
of its blocks that these share or lack; of one alone, its blocks. They are fixed here, once, and so is what the model
makes of them.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

from dbce_spark.annotation.store import page_resources, resource_index, stored_pages, wanted_pages, workbench_store
from dbce_spark.annotation.store.resource_index import Place
from dbce_spark.annotation.store.stored_extraction import make_stored
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.store.wanted_pages import WantedPages
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings
from dbce_spark.archive import warc
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages
from dbce_spark.files import sources
from dbce_spark.files.sources import MEMBER
from dbce_spark.log import counted
from dbce_spark.model import Capture, Extraction, Page


@dataclass(frozen=True, slots=True)
class ReadArchives:
    """Archives, and all pages in them without their HTML, each once."""

    files: Sequence[str]
    pages: Sequence[Page]


@dataclass(frozen=True, slots=True)
class AddedPages:
    """The counts of what `add` has done, in pages."""

    read: int  # pages in the archives
    fit: int  # of these, as many as fit the filters
    added: int
    there: int  # chosen, but in the store already
    resources: int  # copied for them

    def __str__(self) -> str:
        added = f"{counted(self.added, 'page')} added of {self.fit:,} that fit and {self.read:,} in the archives"
        there = f"; {self.there:,} were there already" if self.there else ""
        return f"{added}{there}; {self.resources:,} images, style sheets and frames copied with them"


def read(arguments: Sequence[str], config: DbceConfig) -> ReadArchives:
    """Read all pages of the archives that some arguments name.

    Raises:
        InputError: an argument names nothing that can be read.
    """
    files = sources.expand(arguments, config.input.patterns)
    found = (one for path in files for one in pages.read(path, config) if isinstance(one, Page))
    return ReadArchives(files, pages.unique(found))


def add(
    path: str, archives: ReadArchives, wanted: WantedPages, config: DbceConfig, settings: WorkbenchSettings
) -> AddedPages:
    """Add the wanted pages of these archives to a store, which is created if it is missing.

    Raises:
        InputError: a page that is listed is in none, or none fits.
    """
    chosen = wanted_pages.choose(archives.pages, wanted)
    wanted_pages.refuse_lack(archives.pages, chosen, wanted)
    workbench_store.create(path)
    with closing(workbench_store.open_store(path)) as opened:
        there = {*stored_pages.ids(opened, stored_pages.CORPUS)}
        new = _extract([page for page in chosen if page.capture_id not in there], archives.pages, config)
        index = resource_index.build_index(archives.files if new else (), config.input)
        copied = 0
        left = iter(sorted(new.items()))
        for some in iter(lambda: [*islice(left, settings.pages_at_once)], []):
            made = _store_pages(dict(some), config)
            needs = [need for page in made for need in page_resources.needed(page.html, page.url, page.timestamp)]
            copied += page_resources.copy(opened, index, needs, config.input, settings)
            with workbench_store.transaction(opened):
                for page in made:
                    stored_pages.add(opened, replace(page, corpus=settings.corpus), added=workbench_store.now())
    fit = sum(wanted_pages.fits(page, wanted) for page in archives.pages)
    return AddedPages(len(archives.pages), fit, len(new), len(chosen) - len(new), copied)


def _extract(chosen: Sequence[Page], read: Sequence[Page], config: DbceConfig) -> dict[Place, Extraction]:
    """Run the method on the chosen pages beside all others of their sites; return extractions by place."""
    sites = {page.capture.site for page in chosen}
    places = {page.capture_id: _place(page.capture) for page in chosen}
    beside = [page for page in read if page.capture.site in sites]
    extractions = (one for one in local.extract_pages(beside, config) if one.page.capture_id in places)
    return {places[extraction.page.capture_id]: extraction for extraction in extractions}


def _store_pages(extractions: Mapping[Place, Extraction], config: DbceConfig) -> list[StoredPage]:
    """Make the stored form of extracted pages, reading them once more for their HTML and their records."""
    records: dict[Place, tuple[str, bytes]] = {}
    html: dict[Place, bytes] = {}
    for path in sorted({path for path, _, _ in extractions}):
        for record in resource_index.read_records(path, config.input):
            if (place := (path, record.within, record.offset)) in extractions:
                records[place] = json.dumps(dict(record.headers)), record.block or b""
        for found in pages.fetches(path, config):
            if isinstance(found, warc.Fetch) and (place := _place(found.capture)) in extractions:
                html[place] = found.html
    return [make_stored(extraction, *records[place], html[place], config) for place, extraction in extractions.items()]


def _place(capture: Capture) -> Place:
    path, _, within = capture.warc_file.partition(MEMBER)
    return path, within, capture.warc_offset
