"""A page that is in no archive, as a store has it: of the tutorial, or of a file of pages."""

import dataclasses
from typing import Any

import numpy as np

from dbce_spark.annotation import page_import
from dbce_spark.annotation.page_file import Sheet
from dbce_spark.annotation.stored_pages import StoredPage
from dbce_spark.archive.index.urls import url_key
from dbce_spark.archive.warc import Fetch, microseconds, site_of
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages, single
from dbce_spark.errors import InputError
from dbce_spark.model import Capture, Extraction, Label, Page, digest

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def of_html(html: bytes, url: str, name: str, config: DbceConfig) -> StoredPage:
    """A page in UTF-8 whose segments are its blocks. `name` says where it is from.

    Raises:
        InputError: it is no page.
    """
    return page_import.stored_page(_judged(html, url, name, "", config), "{}", _HEAD + html, html, config)


def of_sheet(one: Sheet, config: DbceConfig) -> StoredPage:
    """A page with the segments that a file says, such as those of a cross. What it loads is not there.

    Raises:
        InputError: it is no page, or its text is not what this program makes of its HTML.
    """
    html, url = one.html.encode("utf-8", "replace"), one.url or f"http://{digest(one.page)}.invalid/"
    judged = _judged(html, url, one.page, one.date, config)
    blocks = judged.page.blocks
    if blocks.text != one.text:
        raise InputError(
            f"page {one.page}: its text differs from its HTML, so its segments cannot be located; export it again"
        )
    starts = np.array([span.start for span in one.segments], np.int32)
    ends = np.array([span.end for span in one.segments], np.int32)
    of = (np.searchsorted(blocks.starts, starts, side="right") - 1).astype(np.int32)
    bare = single.without_evidence(of, starts, ends, Label.UNDECIDED)
    by_block = judged.segments
    segments = dataclasses.replace(bare, labels=by_block.labels[of], scores=by_block.scores[of])
    made = page_import.stored_page(dataclasses.replace(judged, segments=segments), "{}", _HEAD + html, html, config)
    return dataclasses.replace(made, page=one.page, site=one.site or made.site, language=one.lang or made.language)


def _judged(html: bytes, url: str, name: str, date: str, config: DbceConfig) -> Extraction:
    """What the method makes of a page by itself: a segment a block."""
    capture: dict[str, Any] = {
        "url": url,
        "url_key": url_key(url),
        "site": site_of(url, config.input.site),
        "timestamp": (microseconds(date) if date else None) or 0,
        "warc_file": name,
        "warc_offset": 0,
        "warc_length": len(html),
        "record_id": name,
        "payload_digest": digest(html.decode("utf-8", "replace")),
        "http_status": 200,
        "mime": "text/html",
        "declared_charset": "utf-8",
        "truncated": False,
    }
    page = pages.parse_fetch(Fetch(Capture(**capture), html), config)
    if not isinstance(page, Page):
        raise InputError(f"page {name}: {page.detail or page.reason}")
    (judged,) = local.extract_pages([page], config)
    return judged
