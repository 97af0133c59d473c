"""Choose the pages of archives that are to be labelled: by filters, by a sample or by a list."""

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbce_spark.annotation.store.stored_extraction import count_words
from dbce_spark.archive.index.language_codes import three_letters
from dbce_spark.archive.index.urls import sent_host, url_key
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from dbce_spark.model import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPages:
    """The choice of pages to label. Each filter passes pages that fit one of its values; an empty one passes all.

    Raises:
        InputError: one of `urls` is no regular expression.
    """

    sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()  # that the page declares, by whatever code
    urls: tuple[str, ...] = ()  # regular expressions that are looked for in the URL
    listed: Mapping[str, str] = field(default_factory=dict)  # URLs by key; all their captures are taken, unfiltered
    capture_ids: frozenset[str] = frozenset()  # these captures are taken, whatever the filters
    min_words: int
    max_words: int
    one_per_site: bool = False
    whole_sites: bool = False  # of a site with a page that fits, all pages with so many words, and their snapshots
    sample: int | None = None  # so many of them, or so many sites where these are taken whole
    seed: int

    @property
    def is_list(self) -> bool:
        """Tell whether the pages are named, and no filter or sample chooses them."""
        return bool(self.listed or self.capture_ids)

    def __post_init__(self) -> None:
        for one in self.urls:
            try:
                re.compile(one)
            except re.error as error:
                raise InputError(f"--url-pattern {one!r} is no regular expression: {error}") from error


def fits(page: Page, wanted: WantedPages) -> bool:
    """Return whether a page is listed; without a list, whether it passes the filters."""
    capture, language = page.capture, page.metadata.declared_language
    if wanted.is_list:
        return capture.url_key in wanted.listed or page.capture_id in wanted.capture_ids
    return (
        _has_wanted_length(page, wanted)
        and (not wanted.sites or capture.site in map(sent_host, wanted.sites))
        and (not wanted.languages or three_letters(language) in map(three_letters, wanted.languages))
        and (not wanted.urls or any(re.search(one, capture.url) for one in wanted.urls))
    )


def _has_wanted_length(page: Page, wanted: WantedPages) -> bool:
    return wanted.min_words <= count_words(page) <= wanted.max_words


def choose(pages: Sequence[Page], wanted: WantedPages) -> list[Page]:
    """Return the wanted pages, in order of capture id. The result does not depend on the order of `pages`."""
    ordered = sorted(pages, key=lambda page: page.capture_id)
    fitting = [page for page in ordered if fits(page, wanted)]
    if wanted.is_list:
        return fitting
    dice = random.Random(wanted.seed)
    if wanted.whole_sites:
        names = sorted({page.capture.site for page in fitting})
        taken = {*(names if wanted.sample is None else dice.sample(names, min(wanted.sample, len(names))))}
        return [page for page in ordered if page.capture.site in taken and _has_wanted_length(page, wanted)]
    if wanted.one_per_site:
        by_site: dict[str, list[Page]] = defaultdict(list)
        for page in fitting:
            by_site[page.capture.site].append(page)
        fitting = [dice.choice(by_site[site]) for site in sorted(by_site)]
    if wanted.sample is not None and wanted.sample < len(fitting):
        fitting = dice.sample(fitting, wanted.sample)
    return sorted(fitting, key=lambda page: page.capture_id)


def read_list(path: str) -> dict[str, str]:
    """Return the URLs in a file, one a line, by their SURT keys; lines that begin with # are comments.

    Raises:
        InputError: it cannot be read, or has no URL.
    """
    try:
        with sources.open_binary(path) as file:
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    listed = {url_key(line): line for line in lines if line and not line.startswith("#")}
    if not listed:
        raise InputError(f"{path}: no URL in it; write one a line")
    return listed


def refuse_lack(read: Sequence[Page], chosen: Sequence[Page], wanted: WantedPages) -> None:
    """Raise InputError if no page was read, a listed URL is in no archive, or no page was chosen."""
    if not read:
        raise InputError("no page is in the archives; give others")
    missing = wanted.listed.keys() - {page.capture.url_key for page in read}
    if missing:
        such = wanted.listed[min(missing)]
        raise InputError(f"{len(missing)} of the listed URLs are in no archive, such as {such}")
    gone = wanted.capture_ids - {page.capture_id for page in read}
    if gone:
        raise InputError(f"{len(gone)} of the wanted captures are in no archive, such as {min(gone)}")
    if not chosen:
        filters = {"--site": wanted.sites, "--language": wanted.languages, "--url-pattern": wanted.urls}
        options = ["--min-words", "--max-words", *(option for option, values in filters.items() if values)]
        of_length = sum(_has_wanted_length(page, wanted) for page in read)
        raise InputError(
            f"none of the {len(read):,} pages fits; {of_length:,} of them have {wanted.min_words} to"
            f" {wanted.max_words} words; change {', '.join(options[:-1])} or {options[-1]}"
        )
