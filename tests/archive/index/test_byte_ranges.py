"""Neighbours are read together, and nothing is lost or requested in vain."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.byte_ranges import group_by_file, spans
from tests.support.indexes import entry

places = st.lists(st.tuples(st.integers(0, 1000), st.integers(-1, 300)), max_size=15).map(sorted)


@given(places, st.integers(0, 200), st.integers(1, 500))
def test_spans_cover_what_is_wanted(wanted: list[tuple[int, int]], gap: int, most: int) -> None:
    """Each entry lies in exactly one span, whole; a span begins and ends with entries and has no hole above the gap."""
    found = list(spans([entry(offset=offset, length=length) for offset, length in wanted], gap, most))

    assert wanted == [(one.offset, one.length) for span in found for one in span.entries]
    for span in found:
        if span.length < 0:
            assert [(span.offset, True)] == [(one.offset, one.length <= 0) for one in span.entries]
            continue
        ends = [one.offset + one.length for one in span.entries]
        assert (span.offset, span.length) == (span.entries[0].offset, max(ends) - span.offset)
        assert span.length <= most or len(span.entries) == 1
        reached = span.offset
        for one, end in zip(span.entries, ends, strict=True):
            assert one.offset - reached <= gap
            reached = max(reached, end)


@given(places, st.integers(0, 200), st.integers(1, 500))
def test_spans_are_as_few_as_can_be(wanted: list[tuple[int, int]], gap: int, most: int) -> None:
    """Two spans one behind the other could not be one."""
    found = list(spans([entry(offset=offset, length=length) for offset, length in wanted], gap, most))
    for one, other in pairwise(found):
        if one.length > 0 and other.length > 0:
            first = other.entries[0]
            end = max(one.offset + one.length, first.offset + first.length)
            assert first.offset - one.offset - one.length > gap or end - one.offset > most


@pytest.mark.parametrize(
    ("second", "gap", "most", "expected"),
    [(20, 10, 21, 1), (20, 9, 21, 2), (20, 10, 20, 2), (21, 10, 99, 2), (10, 0, 11, 1), (5, 0, 10, 1)],
)
def test_limits_are_reached_and_not_passed(second: int, gap: int, most: int, expected: int) -> None:
    """Ten bytes from 0 and one from `second`: together with exactly that gap, and in exactly that many bytes."""
    actual = list(spans([entry(offset=0, length=10), entry(offset=second, length=1)], gap, most))

    assert expected == len(actual)


def test_files_and_places_come_in_order() -> None:
    """By path, then by offset; a place that is named twice is read once, and counted."""
    given_entries = [
        entry(path="b", offset=9),
        entry(path="a", offset=5, length=-1),
        entry(path="a", offset=5, length=7, urlkey="z"),
        entry(path="a", offset=1),
    ]
    files, duplicates = group_by_file(given_entries)
    actual = {path: [(one.offset, one.length) for one in found] for path, found in files.items()}

    assert ({"a": [(1, 50), (5, 7)], "b": [(9, 50)]}, 1) == (actual, duplicates)
    assert ["a", "b"] == list(files)


@given(st.permutations(range(6)))
def test_order_of_an_index_does_not_matter(order: list[int]) -> None:
    """One of two entries that name one place is kept, always the same."""
    pool = [entry(offset=nth % 3, url=f"http://example.org/{nth}", urlkey=f"k{nth}") for nth in range(6)]
    expected, _ = group_by_file(pool)

    assert expected == group_by_file(pool[nth] for nth in order)[0]
