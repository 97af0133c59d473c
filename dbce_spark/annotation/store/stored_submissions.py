"""Take, read and withdraw submissions in a store."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Row

from dbce_spark.annotation.markup.submission import Submission, Tags, annotator_name
from dbce_spark.annotation.store import drafts, stored_pages
from dbce_spark.annotation.store.drafts import Draft
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.store.workbench_store import Connection, now, transaction


def submit(store: Connection, account: int, page: StoredPage, given: Draft) -> Submission:
    """Submit a page, or submit it again.

    Raises:
        StaleDraft: as for `drafts.keep`.
    """
    with transaction(store):
        kept = drafts.write_newer(store, account, page.page, given)
        found = _submission(account, page, kept, now())
        store.execute(
            "INSERT INTO submissions (account, page, submitted, seconds, text_digest, tags, comments, prelabelled)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                account, page.page, found.submitted, found.seconds, found.text_digest,
                stored_pages.encode_tags(found.tags), json.dumps(found.comments), found.prelabelled,
            ),
        )  # fmt: skip
        store.execute("DELETE FROM skips WHERE account = ? AND page = ?", (account, page.page))
    return found


def restart_tutorial(store: Connection, account: int) -> None:
    """Delete the work of an annotator in the tutorial."""
    with transaction(store):
        for table in ("drafts", "submissions"):
            store.execute(
                f"DELETE FROM {table} WHERE account = ? AND page IN (SELECT id FROM pages WHERE kind = 'tutorial')",
                (account,),
            )


def last_tags(store: Connection, account: int, page: str) -> Tags | None:
    """Return the tags that an annotator has last submitted of a page; None if there are none."""
    row = store.execute(
        "SELECT tags FROM current_submissions WHERE account = ? AND page = ? ORDER BY submitted DESC LIMIT 1",
        (account, page),
    ).fetchone()
    return None if row is None else stored_pages.decode_tags(row["tags"])


def withdraw(store: Connection, account: int, page: str, by: int) -> bool:
    """Withdraw all that an annotator has submitted of a page: it is kept, with the account that withdrew it and the
    time, and counts no more. The draft stays, so that the page can be submitted again. Return False if nothing was
    submitted."""
    with transaction(store):
        done = store.execute(
            "UPDATE submissions SET withdrawn = ?, withdrawn_by = ?"
            " WHERE account = ? AND page = ? AND withdrawn IS NULL",
            (now(), by, account, page),
        )
    return done.rowcount > 0


def read_submissions(store: Connection) -> Iterator[Submission]:
    """Yield the last submission of each annotator and page of the corpus, in order of page and annotator."""
    rows = store.execute(
        "SELECT account, page, max(submitted) AS submitted, seconds, s.text_digest, tags, comments, prelabelled"
        " FROM current_submissions s JOIN pages p ON p.id = s.page WHERE p.kind = 'corpus'"
        " GROUP BY account, page ORDER BY page, account"
    )
    return map(_of_row, rows)


@dataclass(frozen=True, slots=True)
class WithdrawnSubmission:
    """A submission that was withdrawn."""

    submission: Submission
    withdrawn: int  # microseconds since 1970
    by: str  # an annotator, or an admin, as exports call them


def read_withdrawn(store: Connection) -> Iterator[WithdrawnSubmission]:
    """Yield the withdrawn submissions of the corpus, in order of page, annotator and time."""
    rows = store.execute(
        "SELECT s.* FROM submissions s JOIN pages p ON p.id = s.page WHERE p.kind = 'corpus' AND withdrawn IS NOT NULL"
        " ORDER BY page, account, submitted"
    )
    return (WithdrawnSubmission(_of_row(row), row["withdrawn"], annotator_name(row["withdrawn_by"])) for row in rows)


def _submission(account: int, page: StoredPage, kept: Draft, moment: int) -> Submission:
    return Submission(
        annotator=annotator_name(account),
        page=page.page,
        submitted=moment,
        seconds=round(kept.seconds, 1),
        text_digest=page.text_digest,
        tags=drafts.resolve_tags(page, kept),
        comments=drafts.resolve_comments(page, kept),
        prelabelled=kept.prelabelled,
    )


def _of_row(row: Row) -> Submission:
    return Submission(
        annotator=annotator_name(row["account"]),
        page=row["page"],
        submitted=row["submitted"],
        seconds=row["seconds"],
        text_digest=row["text_digest"],
        tags=stored_pages.decode_tags(row["tags"]),
        comments=tuple(json.loads(row["comments"])),
        prelabelled=row["prelabelled"],
    )
