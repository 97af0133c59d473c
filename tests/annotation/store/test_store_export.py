"""Take pages and submissions out of a store."""

from pathlib import Path

from dbce_spark.annotation.markup import page_file, submission
from dbce_spark.annotation.store import store_export, stored_submissions
from dbce_spark.annotation.store.drafts import Draft
from dbce_spark.annotation.store.workbench_store import Connection
from dbce_spark.model import Label
from tests.support.annotation_stores import BOB, first_page
from tests.support.builders import CONFIG

CONTENT = Label.CONTENT


def test_what_leaves_the_store_is_what_merging_reads(opened: Connection, tmp_path: Path) -> None:
    """Pages and submissions are exported as JSON lines that fit each other."""
    found = first_page(opened)
    made = stored_submissions.submit(opened, BOB, found, Draft(marks={0: CONTENT}, revision=1))
    summary = store_export.export(str(tmp_path / "labels.db"), str(tmp_path / "out"), "", CONFIG)
    sheets = {one.page: one for one in page_file.read(str(tmp_path / "out" / "pages.jsonl"))}

    assert f"4 pages and 1 submission in {tmp_path / 'out'}" == summary
    assert [made] == [*submission.read(str(tmp_path / "out" / "submissions.jsonl"))]
    assert [] == [*submission.read(str(tmp_path / "out" / "withdrawn.jsonl"))]
    assert made.text_digest == sheets[found.page].text_digest
