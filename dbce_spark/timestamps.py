"""Moments as this program counts them, in microseconds since 1970 UTC, from and to dates and texts."""

from datetime import UTC, datetime, timedelta

SECOND = 1_000_000
"""Microseconds."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def of_date(when: datetime) -> int:
    """Count the microseconds to a date, exactly; one without a zone is UTC."""
    since = (when if when.tzinfo else when.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def date(timestamp: int) -> datetime:
    """Return the date in UTC, to the microsecond."""
    return _EPOCH + timedelta(microseconds=timestamp)


def digits(timestamp: int) -> str:
    """Write the 14 digits of a second, as indexes of archives have them: 20051230052639."""
    return f"{date(timestamp):%Y%m%d%H%M%S}".rjust(14, "0")


def warc_date(when: datetime) -> str:
    """Write a date as WARC 1.1 has it, with microseconds: 2005-12-30T05:26:39.000000Z."""
    return f"{when:%Y-%m-%dT%H:%M:%S.%f}Z"


def day(timestamp: int) -> str:
    """Write 2005-12-30."""
    return f"{date(timestamp):%Y-%m-%d}"


def minute(timestamp: int) -> str:
    """Write 2005-12-30 05:26."""
    return f"{date(timestamp):%Y-%m-%d %H:%M}"


def now() -> str:
    """Write this second in UTC, in ISO 8601: 2005-12-30T05:26:39+00:00."""
    return datetime.now(UTC).isoformat(timespec="seconds")
