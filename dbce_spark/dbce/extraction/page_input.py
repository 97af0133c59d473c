"""Pages as they are handed over, before anything is read of them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date as calendar_day
from datetime import datetime, time
from os import PathLike

import numpy as np

from dbce_spark.archive.record_date import parse_record_date
from dbce_spark.errors import InputError
from dbce_spark.files import timestamps

Html = str | bytes
Date = calendar_day | np.datetime64 | str | None
"""A time, or a text of one of `DATE_FORMATS`; without a zone it is UTC, and a day is its midnight. "" is no date."""
DATE_FORMATS = "ISO 8601 (2026-07-01), 14 digits (20260701093000), or as e-mail has it (Wed, 1 Jul 2026 09:30:00 +0000)"
"""The formats that a date is read in where it is text."""
PageInput = Html | tuple[Html] | tuple[Html, str | None] | tuple[Html, str | None, Date]
"""The HTML of a page; with the URL that it was fetched from; and with the time."""

_WRITTEN = {"bs4": "str(...)", "lxml": "lxml.html.tostring(...)"}
"""The HTML of the trees that libraries make."""
_SHOWN = 60
"""Characters of a date that a message shows."""


@dataclass(frozen=True, slots=True)
class GivenPage:
    """A page as it was handed over."""

    html: bytes
    charset: str  # "": not known
    url: str | None
    date: datetime | None
    bad_date: str = ""  # why its date cannot be read: such a page is not extracted


def check_pages(pages: Iterable[PageInput]) -> Iterator[GivenPage]:
    """Check pages one after the other.

    Raises:
        InputError: they are none, or one is of the wrong type; it is named by its place.
    """
    if hasattr(type(pages), "columns"):
        kind = type(pages).__name__
        raise InputError(f"pages are several, such as a list of them, and this {kind} is a table: use `extract_table`")
    if isinstance(pages, str | bytes | Mapping) or not isinstance(pages, Iterable):
        raise InputError(f"pages are several, such as a list of them, not {type(pages).__name__}; `extract` takes one")
    for place, page in enumerate(pages):
        try:
            yield check_page(page)
        except InputError as error:
            raise InputError(f"pages[{place}]: {error}") from error


def check_page(page: PageInput) -> GivenPage:
    """Check a page. One whose date cannot be read is returned with the cause, as it is one of many.

    Raises:
        InputError: it is of the wrong type.
    """
    parts = page if isinstance(page, tuple) else (page,)
    if not 1 <= len(parts) <= 3:
        raise InputError(f"a page is HTML, (html, url) or (html, url, date), not a tuple of {len(parts)}")
    html, url, date = (*parts, None, None)[:3]
    if not isinstance(html, str | bytes):
        raise InputError(f"a page is str or bytes, not {type(html).__name__}{_hint(html)}")
    if not isinstance(url, str | None):
        swapped = "; HTML comes first: (html, url)" if isinstance(url, bytes) else ""
        raise InputError(f"a URL is str, not {type(url).__name__}{swapped}")
    moment, bad_date = _moment(date)
    if isinstance(html, bytes):
        return GivenPage(html, "", url or None, moment, bad_date)
    return GivenPage(_encoded(html), "utf-8", url or None, moment, bad_date)


def _encoded(html: str) -> bytes:
    """Encode a text as UTF-8: two halves of a surrogate pair as the character that they are, one alone as U+FFFD."""
    try:
        return html.encode()
    except UnicodeEncodeError:
        return html.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _hint(given: object) -> str:
    """Return what to write in place of what is no HTML, "" if that is not known."""
    if isinstance(given, list):
        return "; one with its URL is a tuple: (html, url) or (html, url, date)"
    if isinstance(given, bytearray | memoryview):
        return "; give it as bytes(...)"
    library = type(given).__module__.partition(".")[0]
    if library in _WRITTEN:
        return f"; give it as {_WRITTEN[library]}"
    way = "read_bytes" if isinstance(given, PathLike) else "read"
    return f"; give its .{way}()" if hasattr(given, way) else ""


def _moment(date: Date) -> tuple[datetime | None, str]:
    """Return the moment of a date, None without one; and why it cannot be read, "" if it can.

    Raises:
        InputError: it is of the wrong type.
    """
    if _is_none(date):
        return None, ""
    timestamp = None
    with suppress(OverflowError):  # in UTC it is of no year that there is
        given = date.astype("datetime64[us]").item() if isinstance(date, np.datetime64) else date
        if isinstance(given, str):
            timestamp = parse_date(given)
        elif isinstance(given, calendar_day):
            at_time = given if isinstance(given, datetime) else datetime.combine(given, time())
            timestamp = timestamps.from_datetime(at_time)
        elif not isinstance(date, np.datetime64):
            raise InputError(f"a date is a datetime, a date, or text, not {type(date).__name__}: {_shown(date)}")
    if timestamp is None:
        lack = f"is not in {DATE_FORMATS}" if isinstance(date, str) else "is in no year from 1 to 9999 in UTC"
        return None, f"the date {_shown(date)} {lack}"
    return timestamps.to_datetime(timestamp), ""


def _is_none(date: object) -> bool:
    """Test for no date: None, a text without a character, NaN, and the NaT of NumPy and of pandas."""
    if isinstance(date, str):
        return not date.strip()
    return date is None or (isinstance(date, float | calendar_day | np.datetime64) and bool(date != date))


def _shown(date: object) -> str:
    """Write a date as Python does, in part if that is long."""
    written = repr(date)
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"


def parse_date(text: str) -> int | None:
    """Return the microseconds to a date in ISO 8601, as mail has it, or in 14 digits, as indexes have it."""
    text = text.strip()
    return parse_record_date(text) if len(text) == 14 and text.isdigit() else timestamps.parse_date(text)
