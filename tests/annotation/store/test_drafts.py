"""Keep drafts as they grow."""

from contextlib import nullcontext

import pytest

from dbce_spark.annotation.store import drafts
from dbce_spark.annotation.store.drafts import Draft, StaleDraft
from dbce_spark.annotation.store.workbench_store import Connection
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


@pytest.mark.parametrize(("revision", "replaces", "is_kept"), [(9, {0}, False), (1, {0, 2}, True), (2, {2}, True)])
def test_a_draft_replaces_what_it_was_made_from_alone(
    opened: Connection, revision: int, replaces: set[int], is_kept: bool
) -> None:
    """A draft of more changes is not newer; one whose answer was lost is kept again."""
    number = first_page(opened).page
    drafts.keep(opened, ADA, number, Draft(marks={0: CONTENT}, revision=2))
    given = Draft(marks={0: BOILERPLATE}, revision=revision, replaces=frozenset(replaces))
    with nullcontext() if is_kept else pytest.raises(StaleDraft):
        drafts.keep(opened, ADA, number, given)

    assert is_kept is (drafts.read_draft(opened, ADA, number).marks == given.marks)


def test_time_is_not_longer_than_what_has_passed(opened: Connection) -> None:
    """The time of a draft never runs backwards either, whatever a browser sends."""
    number = first_page(opened).page
    seconds = [
        drafts.keep(opened, ADA, number, Draft(revision=at, seconds=of)).seconds
        for at, of in ((1, 5), (2, 4), (3, 1e9))
    ]

    assert [5, 5] == seconds[:2]
    assert 5 <= seconds[2] < 1000


def test_time_before_the_model_was_asked_counts(opened: Connection) -> None:
    """A minute with the page, before the model is asked for its labels, is a minute of its time."""
    page = first_page(opened)
    drafts.prelabel(opened, ADA, page)
    first = drafts.keep(opened, ADA, page.page, Draft(revision=1, seconds=60))
    later = drafts.keep(opened, ADA, page.page, Draft(revision=2, seconds=1e9))

    assert 60 == first.seconds
    assert 60 <= later.seconds < 1000
    assert page.model == later.prelabelled


def test_what_is_hidden_is_boilerplate_unless_it_is_tagged_itself(opened: Connection) -> None:
    """A tag on a container does not reach a hidden segment."""
    found = first_page(opened)
    second = found.outline.leaves[1]
    tags = drafts.resolve_tags(found, Draft(marks={0: CONTENT, second: UNDECIDED}, hidden=frozenset({0, 1})))

    assert (BOILERPLATE, UNDECIDED, CONTENT) == tags[:3]
