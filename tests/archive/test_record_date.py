"""Dates of records."""

import tracemalloc
from datetime import UTC, datetime

import pytest

from dbce_spark.archive.record_date import parse_record_date
from dbce_spark.files import timestamps


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2016", "20160101000000"),
        ("2016-09", "20160901000000"),
        ("2016-09-19", "20160919000000"),
        ("2016-09-19T17:20Z", "20160919172000"),
        ("2016-12-31T23:59:60Z", "20161231235959"),
        ("2016-12-31T24:00:00Z", "20170101000000"),
        ("2016-12-31T24:00:01Z", None),
        ("2016-12-31T23:59:59z", "20161231235959"),
        ("2016-12-31T23:59:60.5+01:00", "20161231225959"),
        ("2016-13", None),
        ("201609", None),
    ],
)
def test_dates_of_any_precision(written: str, expected: str | None) -> None:
    """A year and a month are dates of WARC 1.1, which begin with their first day."""
    found = parse_record_date(written)

    assert expected == (None if found is None else timestamps.digits(found))


def test_long_dates_are_not_remembered() -> None:
    """A megabyte that a head calls its date is not held when it is read."""
    tracemalloc.start()
    found = {parse_record_date(f"20200102030405{nth}".ljust(1 << 20)) for nth in range(20)}
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert {int(datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()) * 1_000_000} == found
    assert held < 1 << 20
