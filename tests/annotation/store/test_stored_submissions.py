"""Take submissions, of which the last of a page counts."""

from dbce_spark.annotation.store import drafts, labelling_progress, stored_submissions
from dbce_spark.annotation.store.drafts import Draft
from dbce_spark.annotation.store.workbench_store import Connection
from dbce_spark.model import Label
from tests.support.annotation_stores import ADA, BOB, first_page

CONTENT, BOILERPLATE, UNDECIDED = Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED


def test_a_mark_of_comments_reaches_what_has_no_tag_of_its_own(opened: Connection) -> None:
    """It is content below its node, but for what is tagged or hidden there; the draft keeps it, and so does what leaves
    the store."""
    found = first_page(opened)
    leaves = found.outline.leaves
    given = Draft(
        marks={0: CONTENT, leaves[1]: BOILERPLATE}, comments=frozenset({0}), hidden=frozenset({2}), revision=1
    )
    made = stored_submissions.submit(opened, ADA, found, given)
    comments = {*range(len(leaves))} - {1, 2}

    assert (CONTENT, BOILERPLATE, BOILERPLATE) == made.tags[:3]
    assert tuple(sorted(comments)) == made.comments
    assert given.comments == drafts.read_draft(opened, ADA, found.page).comments
    assert [made] == [*stored_submissions.read_submissions(opened)]


def test_the_models_labels_stand_where_nothing_else_does_and_are_noted(opened: Connection) -> None:
    """The model's labels fill gaps only for an annotator who has requested them, and the submission records it."""
    found = first_page(opened)
    drafts.prelabel(opened, ADA, found)
    mine = stored_submissions.submit(opened, ADA, found, Draft(marks={found.outline.leaves[0]: UNDECIDED}, revision=1))
    bobs = stored_submissions.submit(opened, BOB, found, Draft(marks={found.outline.leaves[0]: UNDECIDED}, revision=1))

    assert (UNDECIDED, *found.labels[1:]) == mine.tags
    assert (UNDECIDED, *[None] * (len(found.units) - 1)) == bobs.tags
    assert (found.model, "") == (mine.prelabelled, bobs.prelabelled)


def test_a_submission_names_no_name_and_the_text_it_is_of(opened: Connection) -> None:
    """A submission has the digest of its text, since merging refuses one of another text."""
    found = first_page(opened)
    made = stored_submissions.submit(opened, ADA, found, Draft(marks={0: CONTENT}, revision=1))

    assert ("annotator-1", found.page, found.text_digest) == (made.annotator, made.page, made.text_digest)
    assert (CONTENT,) * len(found.units) == made.tags


def test_of_submissions_of_one_page_the_last_counts(opened: Connection) -> None:
    """Earlier submissions of a page stay in the store."""
    found = first_page(opened)
    for revision, label in enumerate((CONTENT, BOILERPLATE), start=1):
        stored_submissions.submit(opened, ADA, found, Draft(marks={0: label}, revision=revision))

    assert [(BOILERPLATE,) * len(found.units)] == [one.tags for one in stored_submissions.read_submissions(opened)]
    assert 2 == opened.execute("SELECT count(*) FROM submissions").fetchone()[0]
    assert [2] == [one.times for one in labelling_progress.list_pages(opened, ADA)]
