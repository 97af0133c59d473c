"""Check that the tutorial has pages of every kind, each with an answer."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from dbce_spark.annotation.store import (
    labelling_progress,
    page_choice,
    stored_pages,
    stored_submissions,
    tutorial,
    workbench_store,
)
from dbce_spark.annotation.store.drafts import Draft
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.model import Label
from tests.support.annotation_stores import with_people
from tests.support.builders import CONFIG


@cache
def made() -> tuple[StoredPage, ...]:
    return tuple(tutorial.make_pages(CONFIG))


def test_there_are_eleven_pages_and_each_has_an_answer_for_each_segment() -> None:
    """No page contains its answer."""
    assert tutorial.PAGES == len(made())
    for page in made():
        assert len(page.units) == len(page.reference)
        assert {*page.reference} <= {*Label}
        assert "data-gold" not in page.html


def test_every_tag_is_to_be_learnt() -> None:
    """All three tags occur in the answers, the rare one twice."""
    found = Counter(tag for page in made() for tag in page.reference)

    assert found[Label.UNDECIDED] == 2
    assert min(found[Label.CONTENT], found[Label.BOILERPLATE]) > 30


@pytest.mark.parametrize(
    ("position", "text", "tag"),
    [
        (3, "The ferry on its afternoon run, seen from the eastern bank.", Label.UNDECIDED),
        (3, "14 September, by our river correspondent", Label.BOILERPLATE),
        (7, "lol", Label.BOILERPLATE),
        (9, "A word from the editor", Label.CONTENT),
    ],
)
def test_an_answer_is_that_of_the_nearest_element_that_says_one(position: int, text: str, tag: Label) -> None:
    """The answers of pieces that the guidelines name are as they explain."""
    page = made()[position - 1]
    (at,) = [at for at, unit in enumerate(page.units) if page.text[unit.start : unit.end] == text]

    assert tag == page.reference[at]


def test_the_tutorial_goes_on_where_it_was_left(tmp_path: Path) -> None:
    """It begins again when it is restarted, and does not touch the corpus."""
    opened = workbench_store.open_store(with_people(tmp_path, "ada"))
    tutorial.add(opened, CONFIG)
    tutorial.add(opened, CONFIG)
    order = [*stored_pages.read_kind(opened, stored_pages.TUTORIAL)]
    for page in order[:2]:
        stored_submissions.submit(opened, 1, page, Draft(revision=1))
    left = page_choice.next_of_tutorial(opened, 1)
    progress, done = labelling_progress.measure(opened), labelling_progress.list_pages(opened, 1)
    stored_submissions.restart_tutorial(opened, 1)
    again = page_choice.next_of_tutorial(opened, 1)
    opened.close()

    assert [*range(1, 12)] == [page.position for page in order]
    assert (order[2].page, order[0].page) == (left, again)
    assert (4, 0, []) == (progress.pages, progress.submissions, done)
