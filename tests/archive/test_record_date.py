"""Dates of records."""

import tracemalloc
from datetime import UTC, datetime

from dbce_spark.archive.record_date import parse_record_date


def test_long_dates_are_not_remembered() -> None:
    """A megabyte that a head calls its date is not held when it is read."""
    tracemalloc.start()
    found = {parse_record_date(f"20200102030405{nth}".ljust(1 << 20)) for nth in range(20)}
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert {int(datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()) * 1_000_000} == found
    assert held < 1 << 20
