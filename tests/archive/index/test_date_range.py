"""Dates as a person writes them."""

import re

import pytest

from dbce_spark.archive.index import date_range
from tests.support.indexes import micros


@pytest.mark.parametrize(
    ("written", "first", "behind"),
    [
        ("2010", "2010-01-01T00:00:00", "2011-01-01T00:00:00"),
        ("2012", "2012-01-01T00:00:00", "2013-01-01T00:00:00"),
        ("201003", "2010-03-01T00:00:00", "2010-04-01T00:00:00"),
        ("2012-02", "2012-02-01T00:00:00", "2012-03-01T00:00:00"),
        ("201012", "2010-12-01T00:00:00", "2011-01-01T00:00:00"),
        ("20101231", "2010-12-31T00:00:00", "2011-01-01T00:00:00"),
        ("2010-03-05", "2010-03-05T00:00:00", "2010-03-06T00:00:00"),
        ("2010030523", "2010-03-05T23:00:00", "2010-03-06T00:00:00"),
        ("2010-03-05 23:59", "2010-03-05T23:59:00", "2010-03-06T00:00:00"),
        ("20100305235959", "2010-03-05T23:59:59", "2010-03-06T00:00:00"),
        ("2010-03-05T12:00:00Z", "2010-03-05T12:00:00", "2010-03-05T12:00:01"),
    ],
)
def test_range_of_a_date(written: str, first: str, behind: str) -> None:
    """A date of any precision is a range: from its first moment to the first behind it."""
    assert (micros(first), micros(behind)) == (date_range.since(written), date_range.until(written))


@pytest.mark.parametrize(
    "written", ["", "201", "20101", "2010-13", "2010-02-30", "05.03.2010", "2010-03-05T25", "today"]
)
@pytest.mark.parametrize("read", [date_range.since, date_range.until])
def test_what_is_no_date(read: object, written: str) -> None:
    """It is refused as it was written, and never guessed; the message has the forms that are taken."""
    assert callable(read)
    with pytest.raises(ValueError, match=f"^'{re.escape(written)}' is no date; write 2010, 201003, 20100305 or 2010-"):
        read(written)
