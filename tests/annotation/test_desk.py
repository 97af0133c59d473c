"""Keep drafts as they grow, take submissions, and hand pages out evenly."""

from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.annotation import (
    drafts,
    labelling_progress,
    page_choice,
    page_file,
    sheet_import,
    store_export,
    stored_pages,
    stored_submissions,
    submission,
    workbench_store,
)
from dbce_spark.annotation.drafts import Draft, StaleDraft
from dbce_spark.annotation.page_choice import Order
from dbce_spark.annotation.stored_pages import StoredPage
from dbce_spark.annotation.workbench_store import Connection
from dbce_spark.errors import InputError
from dbce_spark.model import Label
from tests.support.annotation_stores import SETTINGS, with_people
from tests.support.builders import CONFIG

CONTENT, BOILERPLATE, UNDECIDED = Label.CONTENT, Label.BOILERPLATE, Label.UNDECIDED
ADA, BOB, EVE = 1, 2, 3


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Connection]:
    """Open a store of four pages and three people."""
    found = workbench_store.open_store(with_people(tmp_path, "ada", "bob", "eve"))
    yield found
    found.close()


def page(opened: Connection) -> StoredPage:
    """Return the first page of a store."""
    return next(stored_pages.read_kind(opened, stored_pages.CORPUS))


def test_a_draft_is_read_as_it_was_kept(opened: Connection) -> None:
    """Marks, hidden segments and time are read back for their annotator alone."""
    given = Draft(marks={0: BOILERPLATE, 3: CONTENT}, hidden=frozenset({1}), revision=4, seconds=12.5)
    drafts.keep(opened, ADA, page(opened).page, given)

    assert given == drafts.read_draft(opened, ADA, page(opened).page)
    assert Draft() == drafts.read_draft(opened, BOB, page(opened).page)


def test_a_draft_that_was_changed_elsewhere_is_not_overwritten(opened: Connection) -> None:
    """A second window that comes too late gets an error."""
    number = page(opened).page
    drafts.keep(opened, ADA, number, Draft(marks={0: CONTENT}, revision=2))

    with pytest.raises(StaleDraft):
        drafts.keep(opened, ADA, number, Draft(marks={0: BOILERPLATE}, revision=2))
    assert {0: CONTENT} == drafts.read_draft(opened, ADA, number).marks


def test_time_is_not_longer_than_what_has_passed(opened: Connection) -> None:
    """The time of a draft never runs backwards either, whatever a browser sends."""
    number = page(opened).page
    seconds = [
        drafts.keep(opened, ADA, number, Draft(revision=at, seconds=of)).seconds
        for at, of in ((1, 5), (2, 4), (3, 1e9))
    ]

    assert [5, 5] == seconds[:2]
    assert 5 <= seconds[2] < 1000


def test_what_is_hidden_is_boilerplate_unless_it_is_tagged_itself(opened: Connection) -> None:
    """A tag on a container does not reach a hidden segment."""
    found = page(opened)
    second = found.outline.leaves[1]
    tags = drafts.resolve_tags(found, Draft(marks={0: CONTENT, second: UNDECIDED}, hidden=frozenset({0, 1})))

    assert (BOILERPLATE, UNDECIDED, CONTENT) == tags[:3]


def test_a_mark_of_comments_reaches_what_has_no_tag_of_its_own(opened: Connection) -> None:
    """It is content below its node, but for what is tagged or hidden there; the draft keeps it, and so does what leaves
    the store."""
    found = page(opened)
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
    found = page(opened)
    drafts.prelabel(opened, ADA, found)
    mine = stored_submissions.submit(opened, ADA, found, Draft(marks={found.outline.leaves[0]: UNDECIDED}, revision=1))
    bobs = stored_submissions.submit(opened, BOB, found, Draft(marks={found.outline.leaves[0]: UNDECIDED}, revision=1))

    assert (UNDECIDED, *found.labels[1:]) == mine.tags
    assert (UNDECIDED, *[None] * (len(found.units) - 1)) == bobs.tags
    assert (found.model, "") == (mine.prelabelled, bobs.prelabelled)


def test_a_submission_names_no_name_and_the_text_it_is_of(opened: Connection) -> None:
    """A submission has the digest of its text, since merging refuses one of another text."""
    found = page(opened)
    made = stored_submissions.submit(opened, ADA, found, Draft(marks={0: CONTENT}, revision=1))

    assert ("annotator-1", found.page, found.text_digest) == (made.annotator, made.page, made.text_digest)
    assert (CONTENT,) * len(found.units) == made.tags


def test_of_submissions_of_one_page_the_last_counts(opened: Connection) -> None:
    """Earlier submissions of a page stay in the store."""
    found = page(opened)
    for revision, label in enumerate((CONTENT, BOILERPLATE), start=1):
        stored_submissions.submit(opened, ADA, found, Draft(marks={0: label}, revision=revision))

    assert [(BOILERPLATE,) * len(found.units)] == [one.tags for one in stored_submissions.read_submissions(opened)]
    assert 2 == opened.execute("SELECT count(*) FROM submissions").fetchone()[0]
    assert [2] == [one.times for one in labelling_progress.list_pages(opened, ADA)]


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


def test_what_leaves_the_store_is_what_merging_reads(opened: Connection, tmp_path: Path) -> None:
    """Pages and submissions are exported as JSON lines that fit each other."""
    found = page(opened)
    made = stored_submissions.submit(opened, BOB, found, Draft(marks={0: CONTENT}, revision=1))
    summary = store_export.export(str(tmp_path / "labels.db"), str(tmp_path / "out"), "", CONFIG)
    sheets = {one.page: one for one in page_file.read(str(tmp_path / "out" / "pages.jsonl"))}

    assert f"4 pages and 1 submission in {tmp_path / 'out'}" == summary
    assert [made] == [*submission.read(str(tmp_path / "out" / "submissions.jsonl"))]
    assert [] == [*submission.read(str(tmp_path / "out" / "withdrawn.jsonl"))]
    assert made.text_digest == sheets[found.page].text_digest


def test_pages_that_left_a_store_can_come_into_another(opened: Connection, tmp_path: Path) -> None:
    """Imported pages have the same segments, so that submissions of them are of the same text."""
    store_export.export(str(tmp_path / "labels.db"), str(tmp_path / "out"), "", CONFIG)
    other = str(tmp_path / "other.db")
    taken = [
        sheet_import.import_pages(other, [str(tmp_path / "out" / "pages.jsonl")], [], CONFIG, SETTINGS).pages
        for _ in range(2)
    ]
    there = workbench_store.open_store(other)
    digests = [
        {one.page: one.text_digest for one in stored_pages.read_kind(each, stored_pages.CORPUS)}
        for each in (opened, there)
    ]
    outlines = [
        {one.page: one.outline for one in stored_pages.read_kind(each, stored_pages.CORPUS)} for each in (opened, there)
    ]
    there.close()

    assert [4, 0] == taken
    assert digests[0] == digests[1]
    assert outlines[0] == outlines[1]


def test_a_page_whose_text_is_not_its_own_is_refused(tmp_path: Path) -> None:
    """A page whose segments have no place in its text is refused."""
    wrong = page_file.Sheet(page="one", html="<p>One</p>", text="Two", segments=())
    page_file.write(str(tmp_path / "pages.jsonl"), [wrong])

    with pytest.raises(InputError, match="page one: its text differs from its HTML"):
        sheet_import.import_pages(str(tmp_path / "labels.db"), [str(tmp_path / "pages.jsonl")], [], CONFIG, SETTINGS)
