"""Import pages from web archives into a store: chosen by filters, by a sample or by a list, with all that they load.

The segments to tag are those that the method cuts: of a page whose siblings or snapshots are in the same archives, runs
of its blocks that these share or lack; of one alone, its blocks. They are fixed here, once, and so is what the model
makes of them.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from dbce_spark.annotation import numbered_markup, page_resources, workbench_store
from dbce_spark.annotation import stored_pages as stored
from dbce_spark.annotation.page_resources import Place
from dbce_spark.annotation.stored_pages import StoredPage, Unit
from dbce_spark.annotation.submission import text_digest
from dbce_spark.annotation.workbench_settings import WorkbenchSettings
from dbce_spark.archive import warc
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages
from dbce_spark.dbce.classifier_file import load_classifier
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from dbce_spark.files.sources import MEMBER
from dbce_spark.html.charset import decode
from dbce_spark.log import counted
from dbce_spark.model import Capture, Extraction, Label, Page, Reject, digest


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPages:
    """The choice of pages to label. Each filter passes pages that fit one of its values; an empty one passes all."""

    sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()  # as the page declares
    urls: tuple[str, ...] = ()  # regular expressions that are looked for in the URL
    listed: frozenset[str] = frozenset()  # SURT keys; all captures of these are taken, whatever the filters
    capture_ids: frozenset[str] = frozenset()  # these captures are taken, whatever the filters
    min_words: int
    max_words: int
    one_per_site: bool = False
    whole_sites: bool = False  # of a site with a page that fits, all pages with so many words, and their snapshots
    sample: int | None = None  # so many of them, or so many sites where these are taken whole
    seed: int


@dataclass(frozen=True, slots=True)
class AddedPages:
    """The counts of what `add` has done, in pages and records."""

    read: int  # pages in the archives
    fit: int  # of these, as many as fit the filters
    added: int
    there: int  # chosen, but in the store already
    resources: int  # copied for them
    rejects: int  # records that are no page

    def __str__(self) -> str:
        added = f"{counted(self.added, 'page')} added of {self.fit:,} that fit and {self.read:,} in the archives"
        there = f"; {self.there:,} were there already" if self.there else ""
        return f"{added}{there}; {self.resources:,} images, style sheets and frames copied with them"


def add(
    path: str, arguments: Sequence[str], wanted: WantedPages, config: DbceConfig, settings: WorkbenchSettings
) -> AddedPages:
    """Add the wanted pages of these archives to a store, which is created if it is missing.

    Raises:
        InputError: an argument names nothing that can be read, a page that is listed is in none, or none fits.
    """
    files = sources.expand(arguments, config.input.patterns)
    read, rejects = _read(files, config)
    chosen = choose(read, wanted)
    _refuse_lack(read, chosen, wanted)
    workbench_store.create(path)
    opened = workbench_store.open_store(path)
    try:
        there = {*stored.ids(opened, stored.CORPUS)}
        new = _extract([page for page in chosen if page.capture_id not in there], read, config)
        index = page_resources.build_index(files if new else (), config.input)
        copied = 0
        left = iter(sorted(new.items()))
        for some in iter(lambda: [*islice(left, settings.pages_at_once)], []):
            made = _store_pages(dict(some), config)
            needs = [need for page in made for need in page_resources.needed(page.html, page.url, page.timestamp)]
            copied += page_resources.copy(opened, index, needs, config.input, settings)
            with workbench_store.transaction(opened):
                for page in made:
                    stored.add(opened, replace(page, corpus=settings.corpus), added=workbench_store.now())
    finally:
        opened.close()
    fit = sum(fits(page, wanted) for page in read)
    return AddedPages(len(read), fit, len(new), len(chosen) - len(new), copied, rejects)


def count_words(page: Page) -> int:
    """Count the words of a page's text, as `wc` does: between white space (Stemle 2009, 3.2.2)."""
    return len(page.blocks.text.split())


def fits(page: Page, wanted: WantedPages) -> bool:
    """Return whether a page passes the filters."""
    capture = page.capture
    return (
        _is_worth_it(page, wanted)
        and (not wanted.sites or capture.site in wanted.sites)
        and (not wanted.languages or page.metadata.declared_language in wanted.languages)
        and (not wanted.urls or any(re.search(one, capture.url) for one in wanted.urls))
    )


def _is_worth_it(page: Page, wanted: WantedPages) -> bool:
    return wanted.min_words <= count_words(page) <= wanted.max_words


def choose(pages: Sequence[Page], wanted: WantedPages) -> list[Page]:
    """Return the wanted pages, in order of capture id. The result does not depend on the order of `pages`."""
    ordered = sorted(pages, key=lambda page: page.capture_id)
    if wanted.listed:
        return [page for page in ordered if page.capture.url_key in wanted.listed]
    if wanted.capture_ids:
        return [page for page in ordered if page.capture_id in wanted.capture_ids]
    fitting = [page for page in ordered if fits(page, wanted)]
    dice = random.Random(wanted.seed)
    if wanted.whole_sites:
        names = sorted({page.capture.site for page in fitting})
        taken = {*(names if wanted.sample is None else dice.sample(names, min(wanted.sample, len(names))))}
        return [page for page in ordered if page.capture.site in taken and _is_worth_it(page, wanted)]
    if wanted.one_per_site:
        by_site: dict[str, list[Page]] = defaultdict(list)
        for page in fitting:
            by_site[page.capture.site].append(page)
        fitting = [dice.choice(by_site[site]) for site in sorted(by_site)]
    if wanted.sample is not None and wanted.sample < len(fitting):
        fitting = dice.sample(fitting, wanted.sample)
    return sorted(fitting, key=lambda page: page.capture_id)


def read_list(path: str) -> frozenset[str]:
    """Return the SURT keys of the URLs in a file, one a line; lines that begin with # are comments.

    Raises:
        InputError: it cannot be read, or has no URL.
    """
    try:
        with sources.open_binary(path) as file:
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    keys = frozenset(warc.url_key(line) for line in lines if line and not line.startswith("#"))
    if not keys:
        raise InputError(f"{path}: no URL in it; write one a line")
    return keys


def _read(files: Sequence[str], config: DbceConfig) -> tuple[list[Page], int]:
    """Read all pages of these archives without their HTML, each once, and count the records that were rejected."""
    found: list[Page] = []
    rejects = 0
    for path in files:
        for one in pages.read(path, config):
            rejects += isinstance(one, Reject)
            if isinstance(one, Page):
                found.append(one)
    return pages.unique(found), rejects


def _refuse_lack(read: Sequence[Page], chosen: Sequence[Page], wanted: WantedPages) -> None:
    """Raise InputError if a listed URL is in no archive, or no page was chosen."""
    missing = wanted.listed - {page.capture.url_key for page in read}
    if missing:
        raise InputError(f"{len(missing)} of the listed URLs are in no archive, such as {min(missing)}")
    gone = wanted.capture_ids - {page.capture_id for page in read}
    if gone:
        raise InputError(f"{len(gone)} of the wanted captures are in no archive, such as {min(gone)}")
    if not chosen:
        raise InputError(
            f"none of the {len(read):,} pages fits; a page has {wanted.min_words} to {wanted.max_words} words;"
            " change --min-words or --max-words"
        )


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
        for record in page_resources.read_records(path, config.input):
            if (place := (path, record.within, record.offset)) in extractions:
                records[place] = json.dumps(dict(record.headers)), record.block or b""
        for found in pages.fetches(path, config):
            if isinstance(found, warc.Fetch) and (place := _place(found.capture)) in extractions:
                html[place] = found.html
    return [stored_page(extraction, *records[place], html[place], config) for place, extraction in extractions.items()]


def _place(capture: Capture) -> Place:
    path, _, within = capture.warc_file.partition(MEMBER)
    return path, within, capture.warc_offset


def stored_page(extraction: Extraction, head: str, record: bytes, html: bytes, config: DbceConfig) -> StoredPage:
    """Make the stored form of an extracted page. html: its HTML, the encodings of HTTP undone."""
    page, segments = extraction.page, extraction.segments
    capture, text = page.capture, page.blocks.text
    marked = numbered_markup.number_nodes(decode(html, capture.declared_charset).html, text, segments)
    spans = zip(segments.blocks.tolist(), segments.starts.tolist(), segments.ends.tolist(), strict=True)
    labelled = zip(segments.labels.tolist(), segments.scores.tolist(), strict=True)
    units = tuple(
        Unit(page.blocks.xpaths[block], start, end, Label(label), round(score, 4))
        for (block, start, end), (label, score) in zip(spans, labelled, strict=True)
    )
    return StoredPage(
        page=page.capture_id,
        url=capture.url,
        url_key=capture.url_key,
        site=capture.site,
        timestamp=capture.timestamp,
        archive=capture.warc_file,
        record_id=capture.record_id,
        head=head,
        record=record,
        charset=page.charset,
        title=page.metadata.title,
        language=page.metadata.declared_language,
        words=count_words(page),
        html=marked.html,
        text=text,
        text_digest=text_digest(text[unit.start : unit.end] for unit in units),
        units=units,
        outline=marked.outline,
        model=model_name(config),
        doubt=doubt(units),
    )


def doubt(units: Iterable[Unit]) -> float:
    """Measure how uncertain the model is of a page: how near its scores are to a half, by characters, 0 (sure) to 1."""
    lengths = np.array([unit.end - unit.start for unit in units], np.float64)
    scores = np.array([unit.score for unit in units], np.float64)
    return round(float((lengths * (1 - np.abs(2 * scores - 1))).sum() / max(lengths.sum(), 1)), 4)


def model_name(config: DbceConfig) -> str:
    """Name the source of a page's labels: the rule, or the classifier with a digest of the card that describes it."""
    if config.label.by != "classifier":
        return config.label.by
    card = load_classifier(config.label.classifier).card
    return f"classifier:{digest(json.dumps(dict(card), sort_keys=True))[:12]}"
