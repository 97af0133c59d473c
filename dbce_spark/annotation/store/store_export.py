"""Export the pages and submissions of a store as JSON lines."""

from contextlib import closing

from dbce_spark.annotation.markup import page_file, submission
from dbce_spark.annotation.store import corpora, stored_pages, stored_submissions, workbench_store
from dbce_spark.annotation.store.stored_submissions import WithdrawnSubmission
from dbce_spark.config import DbceConfig
from dbce_spark.files import jsonl, storage
from dbce_spark.files.jsonl import Fields
from dbce_spark.log import counted

PAGES, SUBMISSIONS, WITHDRAWN = "pages.jsonl", "submissions.jsonl", "withdrawn.jsonl"


def export(path: str, target: str, corpus: str, config: DbceConfig) -> str:
    """Write the pages of a store, or of one corpus in it, the last submission of each annotator and page, and the
    withdrawn ones. Return a line that counts them.

    Raises:
        InputError: there is no such store, or no page of that corpus in it.
        OutputError: the target is a file.
    """
    folder = target.rstrip("/")
    storage.list_names(folder)
    with closing(workbench_store.open_store(path)) as opened:
        if corpus:
            corpora.refuse_unknown(opened, path, corpus)
        ids = {*stored_pages.ids(opened, stored_pages.CORPUS, corpus)}
        submitted = [one for one in stored_submissions.read_submissions(opened) if one.page in ids]
        withdrawn = (one for one in stored_submissions.read_withdrawn(opened) if one.submission.page in ids)
        sheets = (
            stored_pages.sheet(page, stored_pages.archived_html(page, config).decode("utf-8", "replace"))
            for page in stored_pages.read_kind(opened, stored_pages.CORPUS, corpus)
        )
        page_file.write(f"{folder}/{PAGES}", sheets)
        submission.write(f"{folder}/{SUBMISSIONS}", submitted)
        jsonl.write(f"{folder}/{WITHDRAWN}", map(_withdrawn_fields, withdrawn))
    return f"{counted(len(ids), 'page')} and {counted(len(submitted), 'submission')} in {folder}"


def _withdrawn_fields(withdrawn: WithdrawnSubmission) -> Fields:
    return {**submission.as_fields(withdrawn.submission), "withdrawn": withdrawn.withdrawn, "by": withdrawn.by}
