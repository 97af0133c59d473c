"""What leaves a store: its pages, and what was submitted of them, as JSON lines."""

from contextlib import closing

from dbce_spark.config import DbceConfig
from dbce_spark.groundtruth import desk, pages, sheet, store, submission

PAGES, SUBMISSIONS = "pages.jsonl", "submissions.jsonl"


def export(path: str, target: str, config: DbceConfig) -> str:
    """Writes the pages of a store and the last submission of each annotator and page. Returns what was written.

    Raises:
        InputError: there is no such store.
    """
    folder = target.rstrip("/")
    with closing(store.opened(path)) as opened:
        ids = pages.ids(opened, pages.CORPUS)
        submitted = [*desk.submissions(opened)]
        sheets = (
            pages.sheet(page, pages.archived_html(page, config).decode("utf-8", "replace"))
            for page in pages.of_kind(opened, pages.CORPUS)
        )
        sheet.write(f"{folder}/{PAGES}", sheets)
        submission.write(f"{folder}/{SUBMISSIONS}", submitted)
    return f"{len(ids):,} pages and {len(submitted):,} submissions in {folder}"
