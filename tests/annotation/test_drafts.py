"""Keep drafts as they grow, and take submissions."""

import pytest

from dbce_spark.annotation import (
    drafts,
)
from dbce_spark.annotation.drafts import Draft, StaleDraft
from dbce_spark.annotation.workbench_store import Connection
from dbce_spark.model import Label
from tests.support.annotation_stores import ADA, BOB, first_page

CONTENT, BOILERPLATE, UNDECIDED = Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED


def test_a_draft_is_read_as_it_was_kept(opened: Connection) -> None:
    """Marks, hidden segments and time are read back for their annotator alone."""
    given = Draft(marks={0: BOILERPLATE, 3: CONTENT}, hidden=frozenset({1}), revision=4, seconds=12.5)
    drafts.keep(opened, ADA, first_page(opened).page, given)

    assert given == drafts.read_draft(opened, ADA, first_page(opened).page)
    assert Draft() == drafts.read_draft(opened, BOB, first_page(opened).page)


def test_a_draft_that_was_changed_elsewhere_is_not_overwritten(opened: Connection) -> None:
    """A second window that comes too late gets an error."""
    number = first_page(opened).page
    drafts.keep(opened, ADA, number, Draft(marks={0: CONTENT}, revision=2))

    with pytest.raises(StaleDraft):
        drafts.keep(opened, ADA, number, Draft(marks={0: BOILERPLATE}, revision=2))
    assert {0: CONTENT} == drafts.read_draft(opened, ADA, number).marks


def test_time_is_not_longer_than_what_has_passed(opened: Connection) -> None:
    """The time of a draft never runs backwards either, whatever a browser sends."""
    number = first_page(opened).page
    seconds = [
        drafts.keep(opened, ADA, number, Draft(revision=at, seconds=of)).seconds
        for at, of in ((1, 5), (2, 4), (3, 1e9))
    ]

    assert [5, 5] == seconds[:2]
    assert 5 <= seconds[2] < 1000


def test_what_is_hidden_is_boilerplate_unless_it_is_tagged_itself(opened: Connection) -> None:
    """A tag on a container does not reach a hidden segment."""
    found = first_page(opened)
    second = found.outline.leaves[1]
    tags = drafts.resolve_tags(found, Draft(marks={0: CONTENT, second: UNDECIDED}, hidden=frozenset({0, 1})))

    assert (BOILERPLATE, UNDECIDED, CONTENT) == tags[:3]


def test_a_mark_of_comments_reaches_what_has_no_tag_of_its_own(opened: Connection) -> None:
    """It is content below its node, but for what is tagged or hidden there; the draft keeps it, and so does what leaves
    the store."""
    found = first_page(opened)
    leaves = found.outline.leaves
    given = Draft(
        marks={0: CONTENT, leaves[1]: BOILERPLATE}, comments=frozenset({0}), hidden=frozenset({2}), revision=1
    )
    made = drafts.submit(opened, ADA, found, given)
    comments = {*range(len(leaves))} - {1, 2}

    assert (CONTENT, BOILERPLATE, BOILERPLATE) == made.tags[:3]
    assert tuple(sorted(comments)) == made.comments
    assert given.comments == drafts.read_draft(opened, ADA, found.page).comments
    assert [made] == [*drafts.read_submissions(opened)]


def test_the_models_labels_stand_where_nothing_else_does_and_are_noted(opened: Connection) -> None:
    """The model's labels fill gaps only for an annotator who has requested them, and the submission records it."""
    found = first_page(opened)
    drafts.prelabel(opened, ADA, found)
    mine = drafts.submit(opened, ADA, found, Draft(marks={found.outline.leaves[0]: UNDECIDED}, revision=1))
    bobs = drafts.submit(opened, BOB, found, Draft(marks={found.outline.leaves[0]: UNDECIDED}, revision=1))

    assert (UNDECIDED, *found.labels[1:]) == mine.tags
    assert (UNDECIDED, *[None] * (len(found.units) - 1)) == bobs.tags
    assert (found.model, "") == (mine.prelabelled, bobs.prelabelled)


def test_a_submission_names_no_name_and_the_text_it_is_of(opened: Connection) -> None:
    """A submission has the digest of its text, since merging refuses one of another text."""
    found = first_page(opened)
    made = drafts.submit(opened, ADA, found, Draft(marks={0: CONTENT}, revision=1))

    assert ("annotator-1", found.page, found.text_digest) == (made.annotator, made.page, made.text_digest)
    assert (CONTENT,) * len(found.units) == made.tags


def test_of_submissions_of_one_page_the_last_counts(opened: Connection) -> None:
    """Earlier submissions of a page stay in the store."""
    found = first_page(opened)
    for revision, label in enumerate((CONTENT, BOILERPLATE), start=1):
        drafts.submit(opened, ADA, found, Draft(marks={0: label}, revision=revision))

    assert [(BOILERPLATE,) * len(found.units)] == [one.tags for one in drafts.read_submissions(opened)]
    assert 2 == opened.execute("SELECT count(*) FROM submissions").fetchone()[0]
    assert [2] == [one.times for one in drafts.list_pages(opened, ADA)]
