"""Extract the main content of pages that a program holds, in plain Python: the functions of `import dbce_spark`.

They run `dbce.local` on pages from anywhere, and return objects that need no files. Several threads or processes may
call all functions at once; neither PySpark nor pandas is imported.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property, partial
from hashlib import blake2b
from os import PathLike, fsdecode
from typing import Any, Unpack

import numpy as np

from dbce_spark.archive import mime, warc
from dbce_spark.archive.index.urls import url_key
from dbce_spark.config import DbceConfig, LanguageConfig
from dbce_spark.dbce import local, page_labels, sites
from dbce_spark.dbce.extraction.extract_options import ExtractOptions, chosen_formats, with_options
from dbce_spark.dbce.extraction.page_input import Date, GivenPage, Html, PageInput, check_page, check_pages
from dbce_spark.dbce.kept.kept_formats import ABOUT, FORMATS, HTML, MARKDOWN, Formats, KeptPage
from dbce_spark.dbce.page_lots import TOGETHER
from dbce_spark.dbce.pages import parse_fetches, unique
from dbce_spark.errors import InputError
from dbce_spark.files import sources, timestamps
from dbce_spark.html.about import NOTHING, About
from dbce_spark.html.tokens import tokens
from dbce_spark.model import Blocks, Capture, Extraction, Label, Page, Reject, RejectReason, RejectStage, Segments

Parse = Callable[[Sequence[warc.Fetch]], list[Page | Reject]]
"""Parses some captures to pages, in their order."""

_UNDATED = timestamps.from_datetime(datetime.fromisoformat("2400-01-01"))
"""The time of pages without one: behind all others, so that no date that a page declares is later, but those of the
Buddhist era, in which the year 1990 is 2533."""
_PLACE = re.compile(rb"\w+://\S+|[^\s<>\"{}]*/[^\s<>\"{}]*|[^\n<>]*\.[a-zA-Z]\w{1,4}")
"""A URL or a path, as it is sometimes given in place of HTML; a sentence is none, nor is JSON, or a price."""
_LONGEST_PLACE = 2000
"""Bytes."""
_LABELS = tuple(label.word for label in Label)
_OF_FILE = (RejectReason.FILE_UNREADABLE, RejectReason.NOT_AN_ARCHIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedBlock:
    """A block of a page, in the order of the page: text between two block-level tags.

    Attributes:
        text: all of it.
        label: "content" or "boilerplate".
        score: how likely it is content, 0 to 1.
        siblings: how many pages of the same template it was compared with.
        siblings_with: how many of these contain the part of the block that fewest of them contain.
        snapshots: how many other captures of the same URL it was compared with.
        snapshots_with: how many of these contain the part of the block that fewest of them contain.
    """

    text: str
    label: str
    score: float
    siblings: int
    siblings_with: int
    snapshots: int
    snapshots_with: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """The record of an archive that a page was read from, by the columns of `extractions` (docs/tables.md).

    Attributes:
        capture_id: the key of its row there, if the same file is extracted; "" for a record that is no page.
        warc_file: the file.
        warc_offset: bytes from its start, as stored; -1 where that is not known.
        record_id: its WARC-Record-ID, with the brackets; "" if there is none.
        http_status: the status of the answer, such as 200; 0 if there is none, and for a record that is no page.
    """

    capture_id: str
    warc_file: str
    warc_offset: int
    record_id: str
    http_status: int


@dataclass(frozen=True, repr=False, kw_only=True)
class ExtractedPage:
    """A page with its main content. `to_dict` gives it as plain values, without `page_text` and `blocks`.

    Attributes:
        url: as it was given, or as the archive has it; None without one.
        date: when it was fetched, in UTC; None if that is not known.
        title: the title that the page declares, "" if it declares none.
        text: the main content, one line per block, with tabs between the cells of a row; "" if nothing is kept.
        markdown: the main content as Markdown: headings, lists, tables, code, links, images. Made at the first access.
        html: the main content as clean HTML, an <article>. Made at the first access.
        about: the page's own words about itself: author, date, description, and so on. Read at the first access.
        language: of the text, as a BCP 47 tag; "zxx" if it is in no language, "" if unknown. The first access loads
            the detector, which takes half a second.
        page_text: all text of the page, in lines like those of `text`.
        blocks: the blocks of `page_text` in order, each with its label. Gathered at the first access.
        confidence: how sure the labels are: the F1 that `text` is expected to reach, 0 to 1; None with an error.
        page_type: the kind of page, such as "article" or "listing"; None with an error.
        flags: what is wrong with it, such as "truncated": its record is cut (docs/tables.md); often none.
        record: the record of the archive that it was read from; None for a page given as HTML.
        error: "", or one line that says why the input is no page, the reason in front (docs/tables.md); then it has no
            text and no blocks. `extract` raises an error with this line instead.
    """

    url: str | None
    date: datetime | None
    title: str
    text: str
    page_text: str
    confidence: float | None = None
    page_type: str | None = None
    flags: tuple[str, ...] = ()
    record: PageRecord | None = None
    error: str = ""
    _kept: KeptPage | None = field(default=None, compare=False)
    _language: LanguageConfig | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        date = self.date and self.date.isoformat()
        of_input = f"<ExtractedPage url={_start(self.url)} date={date!r}"
        if self.error:
            file = f" warc_file={self.record.warc_file!r}" if self.record else ""
            return f"{of_input} error={_start(self.error, 200)}{file}>"
        confidence = self.confidence if self.confidence is None else f"{self.confidence:.2f}"
        return (
            f"{of_input} title={_start(self.title)} text={_start(self.text)} ({len(tokens(self.text))} words)"
            f" blocks={len(self.blocks)} confidence={confidence} page_type={self.page_type!r}>"
        )

    def to_dict(self, formats: Sequence[str] = FORMATS) -> dict[str, Any]:
        """Return the page as plain values for JSON, as `dbce text --format json` prints it.

        The keys are `url`, `date` (ISO 8601), `title`, `language`, `confidence`, `page_type`, `flags`, `text`, those
        of "markdown", "html" and "about" that `formats` names ("text" too, which is always there), `record` and
        `error`.

        Raises:
            InputError: there is no such format.
        """
        chosen = chosen_formats(formats)
        self._write_together(chosen)
        plain = {name: getattr(self, name) for name in ("title", "language", "confidence", "page_type")}
        kept = {name: getattr(self, name) for name in chosen}
        if ABOUT in kept:
            about = asdict(self.about)
            kept[ABOUT] = {name: [*value] if isinstance(value, tuple) else value for name, value in about.items()}
        place = {"url": self.url, "date": self.date and self.date.isoformat()}
        found = {"flags": [*self.flags], "text": self.text, **kept}
        return {**place, **plain, **found, "record": self.record and asdict(self.record), "error": self.error}

    @cached_property
    def blocks(self) -> tuple[ExtractedBlock, ...]:
        """The blocks of all text of the page."""
        return () if self._kept is None else _blocks(self._kept.blocks, self._kept.segments)

    @cached_property
    def markdown(self) -> str:
        """The main content as Markdown."""
        return self._write(MARKDOWN).markdown or ""

    @cached_property
    def html(self) -> str:
        """The main content as clean HTML."""
        return self._write(HTML).html or ""

    @cached_property
    def about(self) -> About:
        """The page's own words about itself."""
        return self._write(ABOUT).about or NOTHING

    @cached_property
    def language(self) -> str:
        """The language of the text."""
        if self._language is None:
            return ""
        from dbce_spark.html.language import detect_languages

        (found,) = detect_languages([self.text], self._language)
        return found.tag

    def _write(self, column: str) -> Formats:
        return Formats() if self._kept is None else self._kept.write(column)

    def _write_together(self, columns: Sequence[str]) -> None:
        """Write those formats of some that are not written yet at once, as the page is parsed and cut for each call."""
        missing = [column for column in columns if column not in vars(self)]
        if len(missing) > 1 and self._kept is not None:
            written = self._kept.write(*missing)
            vars(self).update({column: getattr(written, column) for column in missing})


def _start(text: str | None, longest: int = 60) -> str:
    """Write how a text begins, as Python does."""
    return repr(text if text is None or len(text) <= longest else f"{text[:longest]}…")


def extract(
    html: Html, url: str | None = None, *, date: Date = None, **options: Unpack[ExtractOptions]
) -> ExtractedPage:
    """Extract the main content of one page, without comparing it with others.

    `html` is text, or bytes in any charset. `url` is the address that it was fetched from; links are resolved by it, or
    else by the one that the page declares; where there is none, relative ones stay as written.
    `date` is the time of the fetch: a datetime, a date, or text: ISO 8601, 14 digits, or as e-mail has it; "" is none.

    Options, with their defaults:
        content="whole": everything that the page exists to tell; "article": only the main text of an article.
        favor="balanced": "precision" keeps less of doubtful text, "recall" more.
        title="keep": "drop" leaves the title heading out of the content.
        comments=False: True keeps readers' comments below the content, too.
        classifier="": the path of a file that `dbce train` wrote, in place of the package's own.
        links="keep": "drop" leaves the addresses of links out of `markdown` and `html`; their words stay.
        tables="keep": "drop" writes each row of a table as a line in `markdown` and `html`.
        images="keep": "drop" leaves images out of `markdown` and `html`.

    Raises:
        InputError: the input is no page, or the page has no text, or the date cannot be read (`extract_pages([html])`
            gives a page with that `error` instead); or something is of the wrong type, or there is no such option.
        ConfigError: `classifier` is no file that `dbce train` wrote.
    """
    settings = with_options(options)
    (page,) = _extract([check_page((html, url, date))], partial(parse_fetches, config=settings), settings)
    if page.error:
        raise InputError(page.error)
    return page


def extract_pages(pages: Iterable[PageInput], **options: Unpack[ExtractOptions]) -> list[ExtractedPage]:
    """Extract the main content of some pages, in their order, each compared with the others.

    Only pages of one site are compared; pages without a URL count as one site. Pages with the same URL are snapshots,
    in the order of their dates; undated ones are taken in the order in which they are given. An input that is no page,
    or whose date cannot be read, gives a page with an `error`, and has no effect on the others. All pages are held in
    memory: for more than about ten thousand, use `dbce extract`.

    `pages` are HTML, `(html, url)` or `(html, url, date)`; the options are those of `extract`.

    Raises:
        InputError: something is of the wrong type, or there is no such option.
        ConfigError: as by `extract`.
    """
    settings = with_options(options)
    return extract_parsed(pages, partial(parse_fetches, config=settings), settings)


def extract_parsed(pages: Iterable[PageInput], parse: Parse, settings: DbceConfig) -> list[ExtractedPage]:
    """Extract some pages as `extract_pages` does. `parse` may parse them in another process, or within a time limit."""
    return _extract(check_pages(pages), parse, settings)


def _extract(pages: Iterable[GivenPage], parse: Parse, settings: DbceConfig) -> list[ExtractedPage]:
    """Extract the pages whose date is none or can be read; each other one has an error, and no effect on them."""
    given = [*pages]
    extracted = iter(_compared([one for one in given if not one.bad_date], parse, settings))
    return [_undated(one) if one.bad_date else next(extracted) for one in given]


def _undated(one: GivenPage) -> ExtractedPage:
    """Make the result of an input whose date cannot be read."""
    reject = Reject(warc_file="", stage=RejectStage.READ, reason=RejectReason.BAD_TIMESTAMP, detail=one.bad_date)
    return _without_text(one.url, None, reject)


def _compared(pages: Iterable[GivenPage], parse: Parse, settings: DbceConfig) -> list[ExtractedPage]:
    given = _numbered(pages)
    is_alone = len(given) < 2 and not settings.label.classifier  # the file of one may have corrections of the site
    keys_of = _keys_alone if is_alone else partial(_keys, site=settings.input.site)
    parsed = [
        page
        for start in range(0, len(given), TOGETHER.pages)
        for page in _parsed(
            [_fetch(one, number, keys_of(one)) for one, number in given[start : start + TOGETHER.pages]], parse
        )
    ]
    read = unique(page for page in parsed if isinstance(page, Page))
    compared, _ = sites.compare_pages(read, settings)
    labelled = page_labels.label_or_reject(compared, settings.label)
    by_id = {page.capture_id: one for page, one in zip(read, labelled, strict=True)}
    return [
        _result(one, page if isinstance(page, Reject) else by_id[page.capture_id], settings)
        for (one, _), page in zip(given, parsed, strict=True)
    ]


def extract_archive(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]], **options: Unpack[ExtractOptions]
) -> list[ExtractedPage]:
    """Extract the main content of all pages in WARC, ARC and WACZ files, each compared with the others.

    `paths` are files, folders, globs, @manifests, or URLs that fsspec supports. Pages are returned in the order of URL
    and time. After them come the records that are no page or could not be read, and then the files that could not be
    read, each with its `error`. Revisits are left out, as they have no text of their own. Each page has its `record`.
    All pages are held in memory: for more than about ten thousand, use `dbce extract`. The options are those of
    `extract`.

    Raises:
        InputError: a path names nothing, although others may be good (then nothing is read); or a file cannot be read,
            and no other gives a page or a record with an `error`; or there is no such option.
        ConfigError: as by `extract`.
    """
    pages, unread = extract_readable(paths, with_options(options))
    if unread and not pages:
        raise InputError(error_in_file(unread[0]))
    return [*pages, *unread]


def error_in_file(page: ExtractedPage) -> str:
    """Write the error of a page behind the archive that it was read from, if it is from one."""
    return f"{page.record.warc_file}: {page.error}" if page.record else page.error


def extract_readable(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]], settings: DbceConfig
) -> tuple[list[ExtractedPage], list[ExtractedPage]]:
    """Extract pages as `extract_archive` does from the files that can be read; also, for each other one, its error.

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
    extracted = [_with_text(_of_capture(of, htmls), one, settings) for of, one in pages]
    unread: list[ExtractedPage] = []
    for one in found.rejects:
        (unread if one.reason in _OF_FILE else extracted).append(_without_text(one.url or None, None, one))
    return extracted, unread


def _of_capture(capture: Capture, htmls: Mapping[str, bytes]) -> GivenPage:
    """Return an archived page as if it had been handed over."""
    moment = timestamps.to_datetime(capture.timestamp)
    return GivenPage(htmls[capture.capture_id], capture.declared_charset, capture.url, moment)


def _list(paths: object) -> list[object]:
    if not isinstance(paths, Iterable) or isinstance(paths, bytes):
        raise InputError(f"paths are str, or several of them, not {type(paths).__name__}")
    return [*paths]


def _path(path: object) -> str:
    if not isinstance(path, str | PathLike):
        raise InputError(f"a path is str or PathLike, not {type(path).__name__}")
    return fsdecode(path)


def _numbered(inputs: Iterable[GivenPage]) -> list[tuple[GivenPage, int]]:
    """Number the undated captures of each URL in the order in which they come; the same page twice has one number.

    Nothing else of the order counts, so that a page's result does not depend on it.
    """
    numbers: dict[GivenPage, int] = {}
    of_url: Counter[str | None] = Counter()
    numbered = []
    for one in inputs:
        if one not in numbers:
            numbers[one] = of_url[one.url] if one.url and one.date is None else 0
            of_url[one.url] += one.date is None
        numbered.append((one, numbers[one]))
    return numbered


def _keys(one: GivenPage, *, site: str) -> tuple[str, str]:
    """Return the key of an input's URL, and its site; "" without a URL: such pages are no snapshots of each other."""
    return (url_key(one.url), warc.site_of(one.url, site)) if one.url else ("", "")


def _keys_alone(one: GivenPage) -> tuple[str, str]:
    """Return keys of an input whose site and neighbours do not count: surt's take a seventh of a cold start."""
    return one.url or "", ""


def _fetch(one: GivenPage, number: int, keys: tuple[str, str]) -> warc.Fetch:
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
    essence = ""
    if not fetch.html.strip():
        reason, detail = RejectReason.EMPTY_PAYLOAD, "there is no HTML"
    elif essence := _foreign_type(fetch.html):
        reason, detail = RejectReason.NOT_HTML, f"is {essence}"
    else:
        return None
    return Reject.of_record(fetch.capture, RejectStage.READ, reason, detail + _hint(fetch, essence))


def _foreign_type(html: bytes) -> str:
    """Return the type of what is given as HTML and is none, "" for a page. Text that is the name of a place was given
    by mistake."""
    if essence := mime.foreign_type(html):
        return essence
    place = html.strip()
    return mime.PLAIN if len(place) <= _LONGEST_PLACE and _PLACE.fullmatch(place) else ""


def _hint(fetch: warc.Fetch, essence: str) -> str:
    """Return what to give in place of what is no HTML, "" if that is not known."""
    if fetch.capture.url.lstrip().startswith("<"):
        return "; the HTML is in the place of the URL: HTML comes first, (html, url)"
    if essence == mime.PLAIN:
        return "; this names a place, and is no HTML: read what is there first, or give it to `dbce text`"
    return ""


def _result(one: GivenPage, outcome: Extraction | Reject, settings: DbceConfig) -> ExtractedPage:
    if isinstance(outcome, Reject):
        return _without_text(one.url, one.date, outcome)
    return _with_text(one, outcome, settings)


def _without_text(url: str | None, date: datetime | None, reject: Reject) -> ExtractedPage:
    """Make the result of an input that is no page."""
    error = ": ".join(filter(None, (reject.reason, " ".join(reject.detail.split()))))
    record = _record(reject)
    return ExtractedPage(url=url, date=date, title="", text="", page_text="", record=record, error=error)


def _with_text(one: GivenPage, extraction: Extraction, settings: DbceConfig) -> ExtractedPage:
    return ExtractedPage(
        url=one.url,
        date=one.date,
        title=extraction.page.metadata.title,
        text=extraction.text,
        page_text=extraction.page.blocks.text,
        confidence=extraction.confidence,
        page_type=extraction.page_type,
        flags=extraction.page.flags,
        record=_record(extraction.page.capture),
        _kept=KeptPage(
            one.html, extraction.page.blocks, extraction.segments, extraction.page.capture, settings.formats
        ),
        _language=settings.language,
    )


def _record(of: Capture | Reject) -> PageRecord | None:
    """Return the record of an archive that a page was read from; None for a page that was handed over."""
    if not of.warc_file:
        return None
    capture_id, http_status = ("", 0) if isinstance(of, Reject) else (of.capture_id, of.http_status)
    return PageRecord(
        capture_id=capture_id,
        warc_file=of.warc_file,
        warc_offset=of.warc_offset,
        record_id=of.record_id,
        http_status=http_status,
    )


def _blocks(blocks: Blocks, segments: Segments) -> tuple[ExtractedBlock, ...]:
    """Gather the segments of each block. Label and score are the block's, and so the same in all of them."""
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
