"""Make the stored form of a page that is in no archive: of the tutorial, or of a file of pages."""

import dataclasses

import numpy as np

from dbce_spark.annotation.markup.page_file import Sheet
from dbce_spark.annotation.store import stored_extraction
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.archive.index.urls import url_key
from dbce_spark.archive.record_date import parse_record_date
from dbce_spark.archive.warc import Fetch, site_of
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages, single
from dbce_spark.errors import InputError
from dbce_spark.model import Capture, Extraction, Page, digest

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def make_from_html(html: bytes, url: str, name: str, config: DbceConfig) -> StoredPage:
    """Make the stored form of a page in UTF-8 whose segments are its blocks. `name` is its source.

    Raises:
        InputError: it is no page.
    """
    return stored_extraction.make_stored(_extract(html, url, name, "", config), "{}", _HEAD + html, html, config)


def make_from_sheet(sheet: Sheet, config: DbceConfig) -> StoredPage:
    """Make the stored form of a page with the segments of a file, such as those of a cross. What it loads is missing.

    Raises:
        InputError: it is no page, or its text is not what this program makes of its HTML.
    """
    html, url = sheet.html.encode("utf-8", "replace"), sheet.url or f"http://{digest(sheet.page)}.invalid/"
    extraction = _extract(html, url, sheet.page, sheet.date, config)
    blocks = extraction.page.blocks
    if blocks.text != sheet.text:
        raise InputError(
            f"page {sheet.page}: its text differs from its HTML, so its segments cannot be located; export it again"
        )
    bare, by_block = single.of_spans([(span.start, span.end) for span in sheet.segments]), extraction.segments
    at = (np.searchsorted(blocks.starts, bare.starts, side="right") - 1).astype(np.int32)
    segments = dataclasses.replace(bare, blocks=at, labels=by_block.labels[at], scores=by_block.scores[at])
    cut = dataclasses.replace(extraction, segments=segments)
    made = stored_extraction.make_stored(cut, "{}", _HEAD + html, html, config)
    return dataclasses.replace(
        made, page=sheet.page, site=sheet.site or made.site, language=sheet.lang or made.language
    )


def parse(html: bytes, url: str, name: str, date: str, config: DbceConfig) -> Page:
    """Parse a page in UTF-8. `name` is its source, `date` that of its capture in ISO 8601, "" if unknown.

    Raises:
        InputError: it is no page.
    """
    capture = Capture(
        url=url,
        url_key=url_key(url),
        site=site_of(url, config.input.site),
        timestamp=parse_record_date(date) or 0,
        warc_file=name,
        warc_offset=0,
        warc_length=len(html),
        record_id=name,
        payload_digest=digest(html.decode("utf-8", "replace")),
        http_status=200,
        mime="text/html",
        declared_charset="utf-8",
        truncated=False,
    )
    page = pages.parse_fetch(Fetch(capture, html), config)
    if not isinstance(page, Page):
        raise InputError(f"page {name}: {page.detail or page.reason}")
    return page


def _extract(html: bytes, url: str, name: str, date: str, config: DbceConfig) -> Extraction:
    """Run the method on a page by itself: a segment a block."""
    (extraction,) = local.extract_pages([parse(html, url, name, date, config)], config)
    return extraction
