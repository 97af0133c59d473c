"""Import pages from JSON lines into a store: crosses with their neighbours, exports of other stores, gold pages."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

from dbce_spark.annotation.markup import cross_tasks, page_file
from dbce_spark.annotation.store import (
    neighbours,
    page_resources,
    resource_index,
    single_page,
    stored_pages,
    workbench_store,
)
from dbce_spark.annotation.store.neighbours import StoredNeighbour
from dbce_spark.annotation.store.page_resources import Need
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings
from dbce_spark.annotation.store.workbench_store import Connection
from dbce_spark.config import DbceConfig
from dbce_spark.errors import InputError
from dbce_spark.files import jsonl, sources
from dbce_spark.files.jsonl import Fields
from dbce_spark.html.dom import PageError
from dbce_spark.log import counted


@dataclass(frozen=True, slots=True)
class ImportedPages:
    """The counts of what `import_pages` has added to a store."""

    pages: int  # that are new
    there: int  # that were in the store already
    neighbours: int  # that stand beside them
    resources: int  # copied for them

    def __str__(self) -> str:
        beside = f" with {counted(self.neighbours, 'neighbour')}" if self.neighbours else ""
        copied = f"; {self.resources:,} images, style sheets and frames copied with them" if self.resources else ""
        there = f"; {self.there:,} were there already" if self.there else ""
        return f"{counted(self.pages, 'page')} added{beside}{there}{copied}"


@dataclass(frozen=True, slots=True)
class _Made:
    """A line as a store has it: the page, and its neighbours."""

    page: StoredPage
    neighbours: Sequence[StoredNeighbour]


def import_pages(
    path: str, files: Sequence[str], archives: Sequence[str], config: DbceConfig, settings: WorkbenchSettings
) -> ImportedPages:
    """Import pages from JSON lines into a store, which is created if it is missing: crosses, with their neighbours, or
    gold pages of other projects.

    archives: where what they load is copied from; none: they are shown without.

    Raises:
        InputError: a file cannot be read, a line is no page, its text is not that of its HTML, or it has neighbours and
            is there with other segments. The pages before it may be in the store.
    """
    index = resource_index.build_index(
        sources.expand(archives, config.input.patterns) if archives else (), config.input
    )
    added = there = beside = copied = 0
    made = (_made(fields, place, config) for file in files for place, fields in jsonl.read(file))
    for some in iter(lambda: [*islice(made, settings.pages_at_once)], []):
        workbench_store.create(path)
        with closing(workbench_store.open_store(path)) as opened:
            needs = [need for one in some for need in _needs(one)]
            copied += page_resources.copy(opened, index, needs, config.input, settings)
            with workbench_store.transaction(opened):
                for one in some:
                    added_page, added_beside = _add(opened, one, settings.corpus)
                    added += added_page
                    there += not added_page
                    beside += added_beside
    return ImportedPages(added, there, beside, copied)


def _add(opened: Connection, one: _Made, corpus: str) -> tuple[int, int]:
    """Add a page and its neighbours to a store; return how many of each are new."""
    try:
        page = replace(one.page, corpus=corpus)
        is_new = stored_pages.add(opened, page, added=workbench_store.now())
        stored = None if is_new or not one.neighbours else stored_pages.get(opened, page.page)
        if stored and stored.text_digest != page.text_digest:
            raise InputError(
                f"the page {page.page!r} is in the store with other segments, which its neighbours do not fit; take it"
                " into another store"
            )
        return is_new, neighbours.add(opened, page.page, one.neighbours)
    except UnicodeEncodeError as error:  # JSON can have half of a character, and no store can
        raise InputError(
            f"the page {one.page.page!r} cannot be stored: {error}; correct its line, or leave it out"
        ) from error


def _made(fields: Fields, place: str, config: DbceConfig) -> _Made:
    page = single_page.make_from_sheet(page_file.from_fields(fields, place), config)
    near = cross_tasks.parse_neighbours(fields, place) if "neighbours" in fields else {}
    try:
        return _Made(page, [neighbours.make_neighbour(page, arm, one) for arm, one in near.items()])
    except PageError as error:
        raise InputError(f"{place}: a neighbour is no page: {error}") from error


def _needs(line: _Made) -> Iterator[Need]:
    """Yield the URLs that a page and its neighbours load."""
    for html, url, timestamp in (
        (line.page.html, line.page.url, line.page.timestamp),
        *((near.html, near.url, near.timestamp) for near in line.neighbours),
    ):
        yield from page_resources.needed(html, url, timestamp)
