"""The date of a record: parsed as archives write it, and found elsewhere where a record has none."""

import re
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

from dbce_spark.files import timestamps

_REPLAYED = re.compile(r"/((?:19|20)\d{12})(?:[a-z]{2}_)?/[a-z0-9.-]+[:.]", re.IGNORECASE)
# ClueWeb09 writes the day of the year behind the month: 2008-10-294T05:21:46-0700, 2009-03-67T15:35:40-0700.
_DAY_OF_YEAR = re.compile(r"\d{4}-\d\d-(?:\d{3}|3[2-9]|[4-9]\d|\d)T")
_LONGEST_REMEMBERED = 64
"""Characters of a date that is remembered: a head may have a megabyte of them."""


class DateSource(StrEnum):
    """The source of a capture's timestamp where its record has no readable date."""

    URL = "dated_by_url"  # the 14 digits of an archive's replay: ".../web/20110111145835/http://..."
    HTTP = "dated_by_http"  # the Date of the response: when the server sent it (RFC 9110 6.6.1)
    FILE = "dated_by_file"  # when the file was begun, by its warcinfo or ARC header; or what the index says


def parse_record_date(written: str) -> int | None:
    """Parse a WARC date (ISO 8601, any precision) or an ARC date (8 to 14 digits, and the rest does not count) to
    microseconds since 1970; None for anything else. What is no ISO 8601 to Python, such as a year or a month, may be to
    `timestamps.parse_date`."""
    return _remembered_date(written) if len(written) <= _LONGEST_REMEMBERED else _parsed_date(written)


def _parsed_date(written: str) -> int | None:
    try:
        if written[:14].isdigit():
            moment = datetime.strptime(written.ljust(14, "0")[:14], "%Y%m%d%H%M%S")
        elif _DAY_OF_YEAR.match(written):
            moment = datetime.strptime(written[:5] + written[8:], "%Y-%jT%H:%M:%S%z")
        else:
            moment = datetime.fromisoformat(written)
        return timestamps.from_datetime(moment)
    except (ValueError, OverflowError):
        return timestamps.parse_date(written) if len(written) <= _LONGEST_REMEMBERED else None


_remembered_date = lru_cache(maxsize=1024)(_parsed_date)  # a selection asks for a record's up to four times


def replayed_date(url: str) -> int | None:
    """Return the moment that the URL of an archive's replay names; None for any other URL."""
    replayed = _REPLAYED.search(url)
    return parse_record_date(replayed[1]) if replayed else None
