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
from dbce_spark.annotation.store.workbench_settings import GUIDELINES, KRDWRD, WHOLE
from dbce_spark.model import Label
from tests.support.annotation_stores import with_people
from tests.support.builders import CONFIG


@cache
def made(guidelines: str) -> tuple[StoredPage, ...]:
    return tuple(tutorial.make_pages(CONFIG, guidelines))


@pytest.mark.parametrize("guidelines", GUIDELINES)
def test_there_are_eleven_pages_and_each_has_an_answer_for_each_segment(guidelines: str) -> None:
    """No page contains its answer."""
    assert tutorial.PAGES == len(made(guidelines))
    for page in made(guidelines):
        assert len(page.units) == len(page.reference)
        assert {*page.reference} <= {*Label}
        assert "data-gold" not in page.html
        assert "data-whole" not in page.html


def test_every_tag_is_to_be_learnt() -> None:
    """By KrdWrd's guidelines all three tags occur in the answers, the rare one twice; by those for whole pages only
    who labels can be undecided."""
    krdwrd, whole = (Counter(tag for page in made(one) for tag in page.reference) for one in (KRDWRD, WHOLE))

    assert krdwrd[Label.UNDECIDED] == 2
    assert whole[Label.UNDECIDED] == 0
    assert min(found[tag] for found in (krdwrd, whole) for tag in (Label.CONTENT, Label.BOILERPLATE)) > 30


@pytest.mark.parametrize(
    ("position", "text", "krdwrd", "whole"),
    [
        (3, "The ferry on its afternoon run, seen from the eastern bank.", Label.UNDECIDED, Label.CONTENT),
        (3, "14 September, by our river correspondent", Label.BOILERPLATE, Label.CONTENT),
        (4, "840 g", Label.BOILERPLATE, Label.CONTENT),
        (5, "Share: Mail · Print · Link", Label.BOILERPLATE, Label.BOILERPLATE),
        (6, "whistle", Label.BOILERPLATE, Label.CONTENT),
        (6, "Timetable of the cable car", Label.BOILERPLATE, Label.BOILERPLATE),
        (7, "lol", Label.BOILERPLATE, Label.CONTENT),
        (9, "Snow closes pass", Label.BOILERPLATE, Label.CONTENT),
        (9, "A word from the editor", Label.CONTENT, Label.CONTENT),
        (11, "smoulder wrote: it starts, coughs and goes out again", Label.CONTENT, Label.CONTENT),
        (11, "thx, will try :-)", Label.BOILERPLATE, Label.CONTENT),
    ],
)
def test_an_answer_is_that_of_the_nearest_element_that_says_one(
    position: int, text: str, krdwrd: Label, whole: Label
) -> None:
    """The answers of pieces that the guidelines name are as they explain."""
    page = made(WHOLE)[position - 1]
    (at,) = [at for at, unit in enumerate(page.units) if page.text[unit.start : unit.end] == text]

    assert [krdwrd, whole] == [made(one)[position - 1].reference[at] for one in (KRDWRD, WHOLE)]


def test_signatures_in_a_forum_are_no_content() -> None:
    """An element that says boilerplate counts, though content is around it."""
    page = made(WHOLE)[10]
    signed = [at for at, unit in enumerate(page.units) if page.text[unit.start : unit.end].startswith("-- 1952")]

    assert [Label.BOILERPLATE] * 2 == [page.reference[at] for at in signed]


def test_answers_follow_the_guidelines(tmp_path: Path) -> None:
    """A store that was served by others gets the answers of these, and no page twice."""
    opened = workbench_store.open_store(with_people(tmp_path, "ada"))
    stored = []
    for guidelines in (KRDWRD, WHOLE):
        tutorial.add(opened, CONFIG, guidelines)
        stored.append([one.reference for one in stored_pages.read_kind(opened, stored_pages.TUTORIAL)])
    opened.close()

    assert [[page.reference for page in made(one)] for one in (KRDWRD, WHOLE)] == stored


def test_pages_that_a_store_has_with_other_segments_keep_their_answers(tmp_path: Path) -> None:
    """An earlier version cut them otherwise: the answers of today are of other segments."""
    opened = workbench_store.open_store(with_people(tmp_path, "ada"))
    tutorial.add(opened, CONFIG, WHOLE)
    opened.execute("UPDATE pages SET text_digest = 'of an earlier version'")
    tutorial.add(opened, CONFIG, KRDWRD)
    stored = [one.reference for one in stored_pages.read_kind(opened, stored_pages.TUTORIAL)]
    opened.close()

    assert [page.reference for page in made(WHOLE)] == stored


def test_the_tutorial_goes_on_where_it_was_left(tmp_path: Path) -> None:
    """It begins again when it is restarted, and does not touch the corpus."""
    opened = workbench_store.open_store(with_people(tmp_path, "ada"))
    tutorial.add(opened, CONFIG, WHOLE)
    tutorial.add(opened, CONFIG, WHOLE)
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
