"""Run the simulated day with a few documents."""

from itertools import pairwise

from benchmarks.programs import published_day, urltree_day
from tests.support.urltree_documents import config


def test_what_trees_hold_stops_growing_when_their_windows_are_full() -> None:
    """Five windows of 30 documents are full at half of the day; from then on blocks come and go, but do not grow in
    number."""
    marks = list(urltree_day.marks(300, config("window.max_documents=30", "window.min_documents=10")))
    full = marks[len(marks) // 2 :]

    assert [15 * (at + 1) for at in range(published_day.LINES)] == [mark.documents for mark in marks]
    assert [150] * 10 == [mark.held for mark in full[: published_day.LINES // 2]]
    assert all(earlier.held <= later.held for earlier, later in pairwise(marks))
    assert max(mark.blocks for mark in full) < 1.5 * full[0].blocks
