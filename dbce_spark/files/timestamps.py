"""Convert moments, which this program counts in microseconds since 1970 UTC, from and to dates and texts."""

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

SECOND = 1_000_000
"""In microseconds, as are the longer ones."""
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_DATE = re.compile(
    r"(?P<year>\d{4})(?:(?:(?P<dash>-)|(?=\d{4}\b|\d{4}T))(?P<month>\d\d)(?:(?(dash)-)(?P<day>\d\d)"
    r"(?:[T ]\s*(?P<hour>\d\d):?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.IGNORECASE | re.ASCII,
)
"""ISO 8601 as HTML, W3CDTF and schema.org take it: a date, from the year alone to fractions of a second."""


def from_datetime(when: datetime) -> int:
    """Count the microseconds to a date, exactly; one without a zone is UTC.

    Raises:
        OverflowError: in UTC it is before the year 1 or behind 9999, which neither Python nor Arrow can give back.
    """
    since = (when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def to_datetime(timestamp: int) -> datetime:
    """Return the date in UTC, to the microsecond."""
    return _EPOCH + timedelta(microseconds=timestamp)


def digits(timestamp: int) -> str:
    """Write the 14 digits of a second, as indexes of archives have them: 20051230052639."""
    return f"{to_datetime(timestamp):%Y%m%d%H%M%S}".rjust(14, "0")


def warc_date(when: datetime) -> str:
    """Write a date as WARC 1.1 has it, with microseconds: 2005-12-30T05:26:39.000000Z."""
    return f"{when.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def day(timestamp: int) -> str:
    """Write the day of a moment: 2005-12-30."""
    return to_datetime(timestamp).date().isoformat()


def minute(timestamp: int) -> str:
    """Write the minute of a moment: 2005-12-30 05:26."""
    return to_datetime(timestamp).replace(tzinfo=None).isoformat(" ", "minutes")


def now() -> str:
    """Write this second in UTC, in ISO 8601: 2005-12-30T05:26:39+00:00."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def parse_date(text: str) -> int | None:
    """Return the microseconds to a date in ISO 8601 or as mail has it (RFC 5322); None for anything else.

    What a date leaves out is the first of its kind: the first of the month, midnight. Without a zone it is UTC.
    """
    try:
        return from_datetime(_moment(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def written_day(text: str) -> str:
    """Return the day of a date that `parse_date` reads, as YYYY-MM-DD in the zone that it is written in."""
    return _moment(text).date().isoformat()


def _moment(text: str) -> datetime:
    text = text.strip()
    match = _DATE.fullmatch(text)
    return _from_iso(match) if match else parsedate_to_datetime(text)


def _from_iso(match: re.Match[str]) -> datetime:
    parts = match.groupdict()
    year, month, day = (int(parts[name] or 1) for name in ("year", "month", "day"))
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    micros = int((parts["fraction"] or "0").ljust(6, "0")[:6])
    is_midnight = (hour, minute, second) == (24, 0, 0)  # of the end of the day
    second = 59 if second == 60 else second  # a leap second
    moment = datetime(year, month, day, 0 if is_midnight else hour, minute, second, micros)
    return (moment + timedelta(days=is_midnight)).replace(tzinfo=_zone(parts["zone"] or "Z"))


def _zone(text: str) -> timezone:
    if text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


EARLIEST = from_datetime(datetime(1990, 1, 1, tzinfo=UTC))
"""Microseconds. There was no page before, and what programs write for "no date" lies there (1970-01-01)."""
