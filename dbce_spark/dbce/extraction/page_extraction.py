"""Extract the main content of pages that a program holds, in plain Python: the functions of `import dbce_spark`.

They run `dbce.local` on pages from anywhere, and return objects that need no files. Several threads or processes may
call all functions at once; neither PySpark nor pandas is imported.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from hashlib import blake2b
from os import PathLike, fsdecode
from typing import Unpack

from dbce_spark.archive import mime, warc
from dbce_spark.archive.index.urls import url_key
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, page_labels, sites
from dbce_spark.dbce.extraction.extract_options import ExtractOptions, with_options
from dbce_spark.dbce.extraction.extracted_page import ExtractedPage, error_in_file, with_text, without_text
from dbce_spark.dbce.extraction.page_input import Date, GivenPage, Html, PageInput, check_page, check_pages
from dbce_spark.dbce.page_lots import TOGETHER
from dbce_spark.dbce.pages import parse_fetches, unique
from dbce_spark.errors import InputError
from dbce_spark.files import sources, timestamps
from dbce_spark.model import Capture, Extraction, Page, Reject, RejectReason, RejectStage

Parse = Callable[[Sequence[warc.Fetch]], list[Page | Reject]]
"""Parses some captures to pages, in their order."""

_UNDATED = timestamps.from_datetime(datetime.fromisoformat("2400-01-01"))
"""The time of pages without one: behind all others, so that no date that a page declares is later, but those of the
Buddhist era, in which the year 1990 is 2533."""
_PLACE = re.compile(rb"\w+://\S+|[^\s<>\"{}]*/[^\s<>\"{}]*|[^\n<>]*\.[a-zA-Z]\w{1,4}")
"""A URL or a path, as it is sometimes given in place of HTML; a sentence is none, nor is JSON, or a price."""
_LONGEST_PLACE = 2000
"""Bytes."""
_OF_FILE = (RejectReason.FILE_UNREADABLE, RejectReason.NOT_AN_ARCHIVE)


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
    return without_text(one.url, None, reject)


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


def extract_readable(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]], settings: DbceConfig
) -> tuple[list[ExtractedPage], list[ExtractedPage]]:
    """Extract pages as `extract_archive` does from the files that can be read; also, for each other one, its error.

    Raises:
        InputError: a path names no archive.
    """
    named = [paths] if isinstance(paths, str | PathLike) else _list(paths)
    htmls: dict[str, bytes] = {}

    def keep_html(fetch: warc.Fetch) -> None:
        htmls.setdefault(fetch.capture.capture_id, fetch.html)

    files = sources.expand([_path(one) for one in named], settings.input.patterns)
    found = local.extract(files, settings, on_fetch=keep_html)
    pages = [(one.page.capture, one) for one in found.extractions]
    pages.sort(key=lambda page: (page[0].url_key, page[0].timestamp, page[1].page.capture_id))
    extracted = [with_text(_of_capture(of, htmls), one, settings) for of, one in pages]
    unread: list[ExtractedPage] = []
    for one in found.rejects:
        (unread if one.reason in _OF_FILE else extracted).append(without_text(one.url or None, None, one))
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
        return without_text(one.url, one.date, outcome)
    return with_text(one, outcome, settings)
