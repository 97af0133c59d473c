"""Ranges of dates as a person writes them: 2010, 201003, 2010-03-05, 2010-03-05T12:00:00Z."""

import calendar
import re

from dbce_spark.archive.index.index_entry import NoEntry, moment
from dbce_spark.errors import ConfigError, Parameter
from dbce_spark.files import timestamps

_FORM = re.compile(r"\d{4}(?:-?\d{2}(?:-?\d{2}(?:[T ]?\d{2}(?::?\d{2}(?::?\d{2}Z?)?)?)?)?)?")


def since(written: str) -> int:
    """Return the first moment of a date, in microseconds since 1970.

    Raises:
        ValueError: it is no date.
    """
    return _start(written)[1]


def until(written: str) -> int:
    """Return the first moment behind a date: "2010" ends where 2011 begins.

    Raises:
        ValueError: it is no date.
    """
    digits, start = _start(written)
    year, month = int(digits[:4]), int(digits[4:6] or 1)
    days = {4: 366 if calendar.isleap(year) else 365, 6: calendar.monthrange(year, month)[1]}.get(len(digits), 1)
    seconds = {10: 3600, 12: 60, 14: 1}.get(len(digits), days * 86_400)
    return start + seconds * timestamps.SECOND


def moments(first: str, last: str, section: str) -> tuple[int | None, int | None]:
    """Return the first moment of the date `first` and that behind the date `last`; None for "", which is no bound.

    Raises:
        ConfigError: one is no date, or nothing is between them; `section` is that of the parameters since and until.
    """
    bounds: list[int | None] = []
    for name, written, read in (("since", first, since), ("until", last, until)):
        try:
            bounds.append(read(written) if written else None)
        except ValueError as error:
            raise ConfigError(Parameter(f"{section}.{name}"), f": {error}") from error
    low, high = bounds
    if low is not None and high is not None and low >= high:
        names = Parameter(f"{section}.since"), Parameter(f"{section}.until")
        raise ConfigError(names[0], f" {first} lies behind ", names[1], f" {last}: nothing can be between them")
    return low, high


def _start(written: str) -> tuple[str, int]:
    """Return the digits of a date, and its first moment.

    Raises:
        ValueError: it is no date.
    """
    digits = "".join(filter(str.isdigit, written))
    try:
        if _FORM.fullmatch(written.strip()):
            return digits, moment(digits)
    except NoEntry:
        pass  # it has the form of a date, but there is no such day or hour
    raise ValueError(f"{written!r} is no date; write 2010, 201003, 20100305 or 2010-03-05T12:00:00")
