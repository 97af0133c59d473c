"""Extract the main content of pages that are at hand, in plain Python: what `import dbce_spark` gives.

It is `dbce.local` for pages from anywhere, and gives objects that stand by themselves. All functions may be called from
several threads or processes at once; neither PySpark nor pandas is imported.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date as calendar_day
from datetime import datetime, time
from functools import cached_property, partial
from hashlib import blake2b
from os import PathLike, fsdecode
from typing import Unpack

import numpy as np

from dbce_spark import config
from dbce_spark.archive import mime, warc
from dbce_spark.archive.record_date import parse_record_date
from dbce_spark.config import DbceConfig, FormatsConfig
from dbce_spark.dbce import local
from dbce_spark.dbce.extract_options import ExtractOptions, with_options
from dbce_spark.dbce.kept_formats import ABOUT, HTML, MARKDOWN, Formats, KeptPage
from dbce_spark.dbce.pages import TOGETHER, parse_fetches, unique
from dbce_spark.errors import InputError
from dbce_spark.files import sources, timestamps
from dbce_spark.html.about import NOTHING, About
from dbce_spark.model import Capture, Extraction, Label, Page, Reject, RejectReason, RejectStage

Html = str | bytes
Date = calendar_day | np.datetime64 | str | None
"""A time, or one as ISO 8601 or an index (14 digits) has it; without a zone it is UTC, and a day is its midnight."""
PageInput = Html | tuple[Html] | tuple[Html, str | None] | tuple[Html, str | None, Date]
"""The HTML of a page; with the URL that it was fetched from; and with the time."""
Parse = Callable[[Sequence[warc.Fetch]], list[Page | Reject]]
"""Parses some captures to pages, in their order."""

_UNDATED = timestamps.from_datetime(datetime.fromisoformat("9000-01-01"))
"""The time of pages without one: behind all others, so that no date that a page declares is later."""
_PLACE = re.compile(rb"\w+://\S+|[^\s<>]*/[^\s<>]*|[^\n<>]*\.\w{2,5}")
"""A URL or a path, as it is sometimes given in place of HTML; a sentence is none."""
_LONGEST_PLACE = 2000
_LABELS = tuple(label.word for label in Label)
_OF_FILE = (RejectReason.FILE_UNREADABLE, RejectReason.NOT_AN_ARCHIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedBlock:
    """A block of a page, in the order of the page: text between two block-level tags.

    `siblings` are the pages of the same template that it was compared with, `snapshots` the other captures of the same
    URL; beside each, how many of these hold all of the block.
    """

    text: str
    label: str  # "content" or "boilerplate"
    score: float  # 0 to 1: how likely it is content
    siblings: int
    siblings_with: int
    snapshots: int
    snapshots_with: int


@dataclass(frozen=True, kw_only=True)
class ExtractedPage:
    """A page with its main content.

    `error` is empty, or the reason why there is no page in the input, in one line; then it has no text and no blocks.
    `extract` raises that reason.
    """

    url: str | None
    date: datetime | None  # UTC
    title: str  # as the page declares it, "" if it does not
    text: str  # main content, a line a block, a tab between cells of a row
    page_text: str  # all of the page, in the same way
    blocks: tuple[ExtractedBlock, ...]
    confidence: float | None = None  # the F1 that the text is expected to reach, 0 to 1; None with an error
    page_type: str | None = None  # such as "article" or "listing"; None with an error
    error: str = ""
    _kept: KeptPage | None = field(default=None, repr=False, compare=False)

    @cached_property
    def markdown(self) -> str:
        """The main content as Markdown: headings, lists, tables, code, links and images; written at the first look."""
        return self._write(MARKDOWN).markdown or ""

    @cached_property
    def html(self) -> str:
        """The main content as clean HTML, an <article>. Written at the first look."""
        return self._write(HTML).html or ""

    @cached_property
    def about(self) -> About:
        """The page's own words about itself: author, date, description, and so on; read at the first look."""
        return self._write(ABOUT).about or NOTHING

    @cached_property
    def language(self) -> str:
        """The language of the text: its tag in BCP 47, "zxx" for text in none, "" if unknown. The first look loads the
        detector: half a second."""
        from dbce_spark.html.language import detect

        given = config.default().language
        (found,) = detect([self.text], min_words=given.min_words, sample_chars=given.sample_chars)
        return found.tag

    def _write(self, column: str) -> Formats:
        return Formats() if self._kept is None else self._kept.write(column)


def extract(
    html: Html, url: str | None = None, *, date: Date = None, **options: Unpack[ExtractOptions]
) -> ExtractedPage:
    """Extract the main content of one page, by itself alone.

    Raises:
        InputError: there is no page in it, or no text in that; `extract_pages([html])` gives a page with that `error`
            instead. Or something is of the wrong type, or there is no such option.
        ConfigError: `classifier` is no file that `dbce train` wrote.
    """
    settings = with_options(options)
    (page,) = _extract([_checked((html, url, date))], partial(parse_fetches, config=settings), settings)
    if page.error:
        raise InputError(page.error)
    return page


def extract_pages(pages: Iterable[PageInput], **options: Unpack[ExtractOptions]) -> list[ExtractedPage]:
    """Extract the main content of some pages, in their order, each compared with the others.

    Pages of a site are siblings, those of one URL snapshots, in order of their dates, or as they come if they have
    none; pages without a URL are taken to be of one site. An input that is no page has its `error`, and does not count
    for the others. All pages are held in memory: above some ten thousand use `dbce extract`.

    Raises:
        InputError: something is of the wrong type, or there is no such option.
        ConfigError: as by `extract`.
    """
    settings = with_options(options)
    return extract_parsed(pages, partial(parse_fetches, config=settings), settings)


def extract_parsed(pages: Iterable[PageInput], parse: Parse, settings: DbceConfig) -> list[ExtractedPage]:
    """Extract some pages as `extract_pages` does, which `parse` parses: in another process, or for so long."""
    return _extract(_all_checked(pages), parse, settings)


def _extract(pages: Iterable["_Input"], parse: Parse, settings: DbceConfig) -> list[ExtractedPage]:
    given = _each_once(pages)
    keys_of = _keys if len(given) > 1 else _keys_alone
    parsed = [
        page
        for start in range(0, len(given), TOGETHER)
        for page in _parsed(
            [_fetch(one, number, keys_of(one)) for one, number in given[start : start + TOGETHER]], parse
        )
    ]
    read = unique(page for page in parsed if isinstance(page, Page))
    compared, _ = local.compare_pages(read, settings)
    labelled = local.label_or_reject(compared, settings.label)
    by_id = {page.capture_id: one for page, one in zip(read, labelled, strict=True)}
    return [
        _result(one, page if isinstance(page, Reject) else by_id[page.capture_id], settings.formats)
        for (one, _), page in zip(given, parsed, strict=True)
    ]


def extract_archive(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]], **options: Unpack[ExtractOptions]
) -> list[ExtractedPage]:
    """Extract the main content of all pages in WARC, ARC and WACZ files, each compared with the others.

    `paths` are files, folders, globs, @manifests, or URLs that fsspec supports. In order of URL and time; behind them
    the records that could not be read, or are no page, with their `error`. Revisits are left out, as they have no text
    of their own. All pages are held in memory: above some ten thousand use `dbce extract`.

    Raises:
        InputError: one of them names no archive, or a file cannot be read, or there is no such option.
        ConfigError: as by `extract`.
    """
    pages, unread = extract_readable(paths, with_options(options))
    if unread:
        raise InputError(unread[0])
    return pages


def extract_readable(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]], settings: DbceConfig
) -> tuple[list[ExtractedPage], list[str]]:
    """Extract pages as `extract_archive` does from the files that can be read; also say why the others cannot.

    Raises:
        InputError: a path names no archive.
    """
    named = [paths] if isinstance(paths, str | PathLike) else _list(paths)
    htmls: dict[str, bytes] = {}

    def keep(fetch: warc.Fetch) -> None:
        htmls.setdefault(fetch.capture.capture_id, fetch.html)

    found = local.extract(sources.expand([_path(one) for one in named], settings.input.patterns), settings, keep=keep)
    pages = [(one.page.capture, one) for one in found.extractions]
    pages.sort(key=lambda page: (page[0].url_key, page[0].timestamp, page[1].page.capture_id))
    of_files = [one for one in found.rejects if one.reason in _OF_FILE]
    extracted = [
        *(_with_text(_of_capture(of, htmls), one, settings.formats) for of, one in pages),
        *(_without_text(one.url or None, None, one) for one in found.rejects if one.reason not in _OF_FILE),
    ]
    return extracted, [f"{one.warc_file}: {one.reason}: {one.detail}" for one in of_files]


def _of_capture(capture: Capture, htmls: Mapping[str, bytes]) -> "_Input":
    """Return an archived page as if it had been handed over."""
    moment = timestamps.to_datetime(capture.timestamp)
    return _Input(htmls[capture.capture_id], capture.declared_charset, capture.url, moment)


def _list(paths: object) -> list[object]:
    if not isinstance(paths, Iterable) or isinstance(paths, bytes):
        raise InputError(f"paths are str, or several of them, not {type(paths).__name__}")
    return [*paths]


def _path(path: object) -> str:
    if not isinstance(path, str | PathLike):
        raise InputError(f"a path is str or PathLike, not {type(path).__name__}")
    return fsdecode(path)


@dataclass(frozen=True, slots=True)
class _Input:
    """A page as it was handed over."""

    html: bytes
    charset: str  # "": not known
    url: str | None
    date: datetime | None


def _all_checked(pages: Iterable[PageInput]) -> Iterator[_Input]:
    """Check pages one after the other; an error names the place of its page."""
    if hasattr(type(pages), "columns"):
        kind = type(pages).__name__
        raise InputError(f"pages are several, such as a list of them, and this {kind} is a table: use `extract_table`")
    if isinstance(pages, str | bytes | Mapping) or not isinstance(pages, Iterable):
        raise InputError(f"pages are several, such as a list of them, not {type(pages).__name__}; `extract` takes one")
    for place, page in enumerate(pages):
        try:
            yield _checked(page)
        except InputError as error:
            raise InputError(f"pages[{place}]: {error}") from error


def _checked(page: PageInput) -> _Input:
    parts = page if isinstance(page, tuple) else (page,)
    if not 1 <= len(parts) <= 3:
        raise InputError(f"a page is HTML, (html, url) or (html, url, date), not a tuple of {len(parts)}")
    html, url, date = (*parts, None, None)[:3]
    if not isinstance(html, str | bytes):
        raise InputError(f"a page is str or bytes, not {type(html).__name__}{_hint(html)}")
    if not isinstance(url, str | None):
        raise InputError(f"a URL is str, not {type(url).__name__}")
    if isinstance(html, bytes):
        return _Input(html, "", url or None, _moment(date))
    return _Input(html.encode("utf-8", "replace"), "utf-8", url or None, _moment(date))  # half a surrogate pair is none


def _hint(html: object) -> str:
    """Return what to write in place of what is no HTML, "" if that is not known."""
    if isinstance(html, list):
        return "; one with its URL is a tuple: (html, url) or (html, url, date)"
    return "; give what is in the file: .read_bytes()" if isinstance(html, PathLike) else ""


def _moment(date: Date) -> datetime | None:
    timestamp = None
    with suppress(OverflowError):  # in UTC it is of no year that there is
        given = date.astype("datetime64[us]").item() if isinstance(date, np.datetime64) else date
        if given is None or (isinstance(given, float | calendar_day) and given != given):  # NaN, the NaT of pandas
            return None
        if isinstance(given, str):
            timestamp = parse_date(given)
        elif isinstance(given, calendar_day):
            at_time = given if isinstance(given, datetime) else datetime.combine(given, time())
            timestamp = timestamps.from_datetime(at_time)
    if timestamp is None:
        raise InputError(f"a date is a datetime, a date, or a str as ISO 8601 has it, not {date!r}")
    return timestamps.to_datetime(timestamp)


def parse_date(text: str) -> int | None:
    """Return the microseconds to a date in ISO 8601, as mail has it, or in 14 digits, as indexes have it."""
    text = text.strip()
    return parse_record_date(text) if len(text) == 14 and text.isdigit() else timestamps.parse_date(text)


def _each_once(inputs: Iterable[_Input]) -> list[tuple[_Input, int]]:
    """Number the undated captures of each URL in the order in which they come; the same page twice is one.

    Nothing else of the order counts, so that a page's result does not depend on it.
    """
    numbers: dict[_Input, int] = {}
    of_url: Counter[str | None] = Counter()
    numbered = []
    for one in inputs:
        if one not in numbers:
            numbers[one] = of_url[one.url] if one.url and one.date is None else 0
            of_url[one.url] += one.date is None
        numbered.append((one, numbers[one]))
    return numbered


def _keys(one: _Input) -> tuple[str, str]:
    """Return the key of an input's URL, and its site; "" without a URL: such pages are no snapshots of each other."""
    return (warc.url_key(one.url), warc.site_of(one.url, config.default().input.site)) if one.url else ("", "")


def _keys_alone(one: _Input) -> tuple[str, str]:
    """Return keys of an input that is compared with no other: surt's take a seventh of a cold start."""
    return one.url or "", ""


def _fetch(one: _Input, number: int, keys: tuple[str, str]) -> warc.Fetch:
    """Make the capture that an input is, the nth undated one of its URL."""
    url_key, site = keys
    payload_digest = f"blake2b:{blake2b(one.html, digest_size=16).hexdigest()}"
    capture = Capture(
        url=one.url or "",
        url_key=url_key or payload_digest,
        site=site,
        timestamp=_UNDATED + number if one.date is None else timestamps.from_datetime(one.date),
        warc_file="",
        warc_offset=-1,
        warc_length=len(one.html),
        record_id="",
        payload_digest=payload_digest,
        http_status=0,
        mime="text/html",
        declared_charset=one.charset,
        truncated=False,
    )
    return warc.Fetch(capture, one.html)


def _parsed(fetches: Sequence[warc.Fetch], parse: Parse) -> list[Page | Reject]:
    """Parse captures, but for those that are no HTML by their bytes: such a record of an archive is rejected, too."""
    rejects = [*map(_refused, fetches)]
    pages = iter(parse([fetch for fetch, reject in zip(fetches, rejects, strict=True) if reject is None]))
    return [reject or next(pages) for reject in rejects]


def _refused(fetch: warc.Fetch) -> Reject | None:
    """Return the reject of a capture that is empty or no HTML; None for any other."""
    if not fetch.html.strip():
        return Reject.of_record(fetch.capture, RejectStage.READ, RejectReason.EMPTY_PAYLOAD, "there is no HTML")
    essence = mime.foreign_type(fetch.html)
    if not essence:
        return None
    names_place = essence == mime.PLAIN and _PLACE.fullmatch(fetch.html[:_LONGEST_PLACE].strip())
    hint = "; HTML is wanted, not where it is: `dbce text PATH|URL` reads files and addresses" if names_place else ""
    return Reject.of_record(fetch.capture, RejectStage.READ, RejectReason.NOT_HTML, f"is {essence}{hint}")


def _result(one: _Input, outcome: Extraction | Reject, formats: FormatsConfig) -> ExtractedPage:
    if isinstance(outcome, Reject):
        return _without_text(one.url, one.date, outcome)
    return _with_text(one, outcome, formats)


def _without_text(url: str | None, date: datetime | None, reject: Reject) -> ExtractedPage:
    """Make the result of an input that is no page."""
    error = ": ".join(filter(None, (reject.warc_file, reject.reason, " ".join(reject.detail.split()))))
    return ExtractedPage(url=url, date=date, title="", text="", page_text="", blocks=(), error=error)


def _with_text(one: _Input, extraction: Extraction, formats: FormatsConfig) -> ExtractedPage:
    return ExtractedPage(
        url=one.url,
        date=one.date,
        title=extraction.page.metadata.title,
        text=extraction.text,
        page_text=extraction.page.blocks.text,
        blocks=_blocks(extraction),
        confidence=extraction.confidence,
        page_type=extraction.page_type,
        _kept=KeptPage(one.html, extraction.page.blocks, extraction.segments, extraction.page.capture, formats),
    )


def _blocks(extraction: Extraction) -> tuple[ExtractedBlock, ...]:
    """Gather the segments of each block. Label and score are the block's, and so the same in all of them."""
    blocks, segments = extraction.page.blocks, extraction.segments
    firsts = np.flatnonzero(np.diff(segments.blocks, prepend=-1))
    scores = segments.scores.astype(np.float64).round(4)
    of_all = (segments.siblings_with, segments.snapshots_with)
    columns = (
        *(column[segments.blocks[firsts]] for column in (blocks.starts, blocks.ends)),
        *(column[firsts] for column in (segments.labels, scores, segments.siblings, segments.snapshots)),
        *(np.minimum.reduceat(column, firsts) for column in of_all),
    )
    return tuple(
        ExtractedBlock(
            text=blocks.text[start:end],
            label=_LABELS[label],
            score=score,
            siblings=siblings,
            siblings_with=siblings_with,
            snapshots=snapshots,
            snapshots_with=snapshots_with,
        )
        for start, end, label, score, siblings, snapshots, siblings_with, snapshots_with in zip(
            *(column.tolist() for column in columns), strict=True
        )
    )
