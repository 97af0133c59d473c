"""Hand pages out, those that were begun first and all evenly."""

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.annotation.store import (
    drafts,
    labelling_progress,
    page_choice,
    stored_pages,
    stored_submissions,
    workbench_store,
)
from dbce_spark.annotation.store.drafts import Draft
from dbce_spark.annotation.store.page_choice import Order
from dbce_spark.annotation.store.workbench_store import Connection
from tests.support.annotation_stores import ADA, BOB, EVE, with_people


def test_a_page_that_was_begun_comes_first(opened: Connection) -> None:
    """A page that was begun is handed out until it is submitted."""
    begun = stored_pages.ids(opened, stored_pages.CORPUS)[2]
    drafts.keep(opened, ADA, begun, Draft(revision=1))

    assert begun == page_choice.next_page(opened, ADA, Order.CHANCE)


@hypothesis.settings(max_examples=25)  # each writes twelve submissions to a disk
@given(people=st.permutations([ADA, BOB, EVE] * 4))
def test_pages_are_handed_out_evenly(tmp_path_factory: pytest.TempPathFactory, people: list[int]) -> None:
    """In every order of annotators, no page gets two submissions more than another, nobody gets one twice, and all are
    done."""
    opened = workbench_store.open_store(_shared(tmp_path_factory))
    opened.execute("DELETE FROM submissions")
    opened.execute("DELETE FROM drafts")
    seen = []
    for account in people:
        number = page_choice.next_page(opened, account, Order.CHANCE)
        assert number is not None
        seen.append((account, number))
        found = stored_pages.get(opened, number)
        assert found is not None
        stored_submissions.submit(opened, account, found, Draft(revision=1))
        counts = labelling_progress.measure(opened).pages_by_submissions
        # Somebody may have done the rarer pages already.
        assert max(counts) - min(counts) <= 2
    rest = [page_choice.next_page(opened, account, Order.CHANCE) for account in (ADA, BOB, EVE)]
    opened.close()

    assert len({*seen}) == len(seen) == 12
    assert [None] * 3 == rest


_SHARED: list[str] = []


def _shared(factory: pytest.TempPathFactory) -> str:
    """Make one store for all examples."""
    if not _SHARED:
        _SHARED.append(with_people(factory.mktemp("desk"), "ada", "bob", "eve"))
    return _SHARED[0]


def test_the_page_that_the_model_is_least_certain_of_comes_first_if_asked_for(opened: Connection) -> None:
    """In this order, doubt decides among the pages with the fewest submissions."""
    doubts = {one.page: one.doubt for one in stored_pages.read_kind(opened, stored_pages.CORPUS)}
    first = page_choice.next_page(opened, ADA, Order.DOUBT)

    assert first is not None
    assert max(doubts.values()) == doubts[first]
