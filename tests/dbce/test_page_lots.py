"""Lots of pages: whole, in order, and no larger than they may be."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from dbce_spark.dbce.page_lots import LotSize, cut_lots

sizes = st.builds(LotSize, st.integers(1, 5), st.integers(0, 9))


@given(st.lists(st.integers(0, 12)), sizes)
def test_each_page_is_in_one_lot(pages: list[int], size: LotSize) -> None:
    """In the order in which pages come; a page is given by its blocks."""
    assert pages == [one for lot in cut_lots(pages, int, size) for one in lot]


@given(st.lists(st.integers(0, 12)), sizes)
@example([1, 0], LotSize(2, 1))
def test_a_lot_is_as_large_as_it_may_be(pages: list[int], size: LotSize) -> None:
    """No larger, but where one page is; and with the first page of the next, or one block, it would be too large."""
    lots = [*cut_lots(pages, int, size)]

    assert all(lot for lot in lots)
    assert all(len(lot) == 1 or (len(lot) <= size.pages and sum(lot) <= size.blocks) for lot in lots)
    for lot, following in pairwise(lots):
        assert len(lot) == size.pages or sum(lot) + max(1, following[0]) > size.blocks


def test_no_more_pages_are_taken_than_a_lot_needs() -> None:
    """A lot that is full by number comes without waiting for the next page."""
    pages = iter([7, 8, 9])

    assert [7, 8] == next(cut_lots(pages, int, LotSize(2, 99)))
    assert 9 == next(pages)
