"""Count what is labelled: by one annotator, page by page, and of a whole store."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbce_spark.annotation.markup.submission import COMMENT
from dbce_spark.annotation.store import stored_pages
from dbce_spark.annotation.store.workbench_store import SUBMITTERS, Connection
from dbce_spark.model import Label


@dataclass(frozen=True, slots=True)
class SubmittedPage:
    """A page that an annotator has submitted or begun."""

    page: str
    title: str
    url: str
    submitted: int | None  # microseconds since 1970, the last time; None: only begun
    times: int
    seconds: float
    tags: Mapping[str, int]  # segments by tag, "none" for those without; readers' comments apart
    prelabelled: str


def list_pages(store: Connection, account: int) -> list[SubmittedPage]:
    """Return the pages of the corpus that an annotator has submitted, or begun and not skipped, the latest first."""
    rows = store.execute(
        "SELECT p.id AS page, p.title, p.url, d.seconds, d.prelabelled, max(s.submitted) AS submitted,"
        " count(s.submitted) AS times, s.tags, s.comments FROM drafts d JOIN pages p ON p.id = d.page"
        " LEFT JOIN current_submissions s ON s.page = d.page AND s.account = d.account"
        " WHERE d.account = ? AND p.kind = 'corpus' AND (s.submitted IS NOT NULL"
        " OR NOT EXISTS (SELECT 1 FROM skips k WHERE k.account = d.account AND k.page = d.page))"
        " GROUP BY p.id ORDER BY d.changed DESC, p.id",
        (account,),
    )
    return [_submitted(**row) for row in rows]


def _submitted(*, tags: str | None, comments: str | None, **fields: Any) -> SubmittedPage:
    counts, of_readers = _counts(tags or ""), len(json.loads(comments or "[]"))
    if of_readers:
        counts |= {COMMENT: of_readers, Label.CONTENT.word: counts[Label.CONTENT.word] - of_readers}
    return SubmittedPage(tags=counts, **fields)


@dataclass(frozen=True, slots=True)
class LabellingProgress:
    """The progress of labelling a corpus, in pages and submissions."""

    pages: int
    submissions: int  # a page that an annotator has submitted twice counts once
    pages_by_submissions: Mapping[int, int]
    by_account: Mapping[int, tuple[int, float]]  # pages submitted, seconds
    skips: int  # a page that two annotators have skipped counts twice


def measure(store: Connection) -> LabellingProgress:
    """Count the pages and submissions of the corpus of a store."""
    counts = [row[0] for row in store.execute(f"SELECT {SUBMITTERS} FROM pages WHERE kind = 'corpus'")]
    people = store.execute(
        "SELECT d.account, count(*), sum(d.seconds) FROM drafts d JOIN pages p ON p.id = d.page"
        " WHERE kind = 'corpus' AND EXISTS"
        " (SELECT 1 FROM current_submissions s WHERE s.account = d.account AND s.page = d.page) GROUP BY d.account"
    )
    return LabellingProgress(
        pages=len(counts),
        submissions=sum(counts),
        pages_by_submissions=dict(sorted(Counter(counts).items())),
        by_account={row[0]: (row[1], row[2]) for row in people},
        skips=store.execute("SELECT count(*) FROM skips").fetchone()[0],
    )


def _counts(letters: str) -> dict[str, int]:
    """Count segments by tag."""
    return dict(Counter("none" if tag is None else tag.word for tag in stored_pages.decode_tags(letters)))
