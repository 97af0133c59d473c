"""Take pages and submissions out of a store, and pages into another."""

from pathlib import Path

import pytest

from dbce_spark.annotation import (
    drafts,
    import_export,
    page_file,
    stored_pages,
    submission,
    workbench_store,
)
from dbce_spark.annotation.drafts import Draft
from dbce_spark.annotation.workbench_store import Connection
from dbce_spark.errors import InputError
from dbce_spark.model import Label
from tests.support.annotation_stores import BOB, SETTINGS, first_page
from tests.support.builders import CONFIG

CONTENT = Label.CONTENT


def test_what_leaves_the_store_is_what_merging_reads(opened: Connection, tmp_path: Path) -> None:
    """Pages and submissions are exported as JSON lines that fit each other."""
    found = first_page(opened)
    made = drafts.submit(opened, BOB, found, Draft(marks={0: CONTENT}, revision=1))
    summary = import_export.export(str(tmp_path / "labels.db"), str(tmp_path / "out"), "", CONFIG)
    sheets = {one.page: one for one in page_file.read(str(tmp_path / "out" / "pages.jsonl"))}

    assert f"4 pages and 1 submission in {tmp_path / 'out'}" == summary
    assert [made] == [*submission.read(str(tmp_path / "out" / "submissions.jsonl"))]
    assert [] == [*submission.read(str(tmp_path / "out" / "withdrawn.jsonl"))]
    assert made.text_digest == sheets[found.page].text_digest


def test_pages_that_left_a_store_can_come_into_another(opened: Connection, tmp_path: Path) -> None:
    """Imported pages have the same segments, so that submissions of them are of the same text."""
    import_export.export(str(tmp_path / "labels.db"), str(tmp_path / "out"), "", CONFIG)
    other = str(tmp_path / "other.db")
    taken = [
        import_export.import_pages(other, [str(tmp_path / "out" / "pages.jsonl")], [], CONFIG, SETTINGS).pages
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
        import_export.import_pages(str(tmp_path / "labels.db"), [str(tmp_path / "pages.jsonl")], [], CONFIG, SETTINGS)
