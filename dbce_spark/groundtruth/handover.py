"""What leaves a store, and may come into one, as JSON lines: pages, and what was submitted of them."""

from collections.abc import Sequence
from contextlib import closing

from dbce_spark.config import DbceConfig
from dbce_spark.groundtruth import alone, desk, pages, sheet, store, submission

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


def take(path: str, files: Sequence[str], config: DbceConfig) -> int:
    """Puts pages that are JSON lines into a store, which is made if it is not there: crosses, or gold pages of others.
    Returns how many are new.

    Raises:
        InputError: a file cannot be read, a line is no page, or its text is not that of its HTML.
    """
    made = [alone.of_sheet(one, config) for file in files for one in sheet.read(file)]
    store.create(path)
    with closing(store.opened(path)) as opened, store.transaction(opened):
        there = {*pages.ids(opened, pages.CORPUS)}
        for page in made:
            pages.add(opened, page, added=store.now())
        return len({*pages.ids(opened, pages.CORPUS)} - there)
