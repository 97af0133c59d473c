"""Moments from and to dates and texts."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.files import timestamps


@given(st.datetimes(timezones=st.just(UTC)))
def test_dates_come_back(when: datetime) -> None:
    """To the microsecond, of any year."""
    assert when == timestamps.to_datetime(timestamps.from_datetime(when))


def test_zones() -> None:
    """A date without a zone is UTC; others are counted by theirs."""
    noon = datetime(2020, 1, 2, 12)

    assert timestamps.from_datetime(noon) == timestamps.from_datetime(noon.replace(tzinfo=UTC)) == 1_577_966_400_000_000
    assert timestamps.from_datetime(noon.replace(tzinfo=timezone(timedelta(hours=2)))) == 1_577_959_200_000_000


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-00:01"])
def test_dates_that_no_year_of_four_digits_has(date: str) -> None:
    """Their zone takes them out of what Python and Arrow can give back: they are no dates."""
    assert None is timestamps.parse_date(date)

    with pytest.raises(OverflowError):
        timestamps.from_datetime(datetime.fromisoformat(date))


def test_leap_second_is_the_last_before_it() -> None:
    """No other second beyond the 59th is one."""
    last, leap, none = (timestamps.parse_date(f"2016-12-31T23:59:{second}Z") for second in ("59", "60", "61"))

    assert last == leap is not None
    assert None is none


def test_texts() -> None:
    """Each is cut, and none rounded."""
    last = timestamps.from_datetime(datetime(2020, 1, 2, 12, 59, 59, 999_999))

    assert "20200102125959" == timestamps.digits(last)
    assert "2020-01-02T12:59:59.999999Z" == timestamps.warc_date(timestamps.to_datetime(last))
    assert ("2020-01-02", "2020-01-02 12:59") == (timestamps.day(last), timestamps.minute(last))


def test_years_before_1000() -> None:
    """They have their zeros, wherever they are written."""
    early = timestamps.from_datetime(datetime(999, 12, 31, 23, 59, 59))

    assert "09991231235959" == timestamps.digits(early)
    assert "0999-12-31T23:59:59.000000Z" == timestamps.warc_date(timestamps.to_datetime(early))
    assert ("0999-12-31", "0999-12-31 23:59") == (timestamps.day(early), timestamps.minute(early))
