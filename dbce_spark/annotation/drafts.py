"""Keep the work of annotators: drafts as they grow, and submissions."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from sqlite3 import Row

from dbce_spark.annotation import stored_pages
from dbce_spark.annotation.outline import Marks
from dbce_spark.annotation.stored_pages import StoredPage
from dbce_spark.annotation.submission import COMMENT, LABELS, Submission, Tags
from dbce_spark.annotation.workbench_store import SUBMITTERS, Connection, now, transaction
from dbce_spark.model import Label


class StaleDraft(Exception):
    """A draft was changed in another window, or on another machine, since this one was loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The tags that an annotator has given to a page until now.

    `hidden` are segments that the browser does not show: they are boilerplate, unless tagged themselves. `revision`
    counts the changes.
    """

    marks: Marks = field(default_factory=dict)
    comments: frozenset[int] = frozenset()  # nodes that are marked as content which readers wrote below it
    hidden: frozenset[int] = frozenset()
    revision: int = 0
    seconds: float = 0.0  # with the page in front of somebody
    prelabelled: str = ""  # the model whose labels were requested, "" if none


def resolve_tags(page: StoredPage, draft: Draft) -> Tags:
    """Resolve a draft into tags, one a segment. Labels of the model fill the gaps, if the annotator has requested
    them."""
    found = page.outline.tags(_all_marks(page, draft))
    if not draft.prelabelled:
        return found
    return tuple(label if tag is None else tag for tag, label in zip(found, page.labels, strict=True))


def resolve_comments(page: StoredPage, draft: Draft) -> tuple[int, ...]:
    """Resolve a draft into the segments that readers wrote below the content: those whose nearest mark says so."""
    nodes = page.outline.nearest(_all_marks(page, draft))
    return tuple(at for at, node in enumerate(nodes) if node in draft.comments)


def _all_marks(page: StoredPage, draft: Draft) -> Marks:
    unseen = {page.outline.leaves[at]: Label.BOILERPLATE for at in draft.hidden if at < len(page.outline.leaves)}
    return {**unseen, **draft.marks}


def read_draft(store: Connection, account: int, page: str) -> Draft:
    """Return the draft of an annotator and a page, an empty one where nothing was tagged yet."""
    row = store.execute("SELECT * FROM drafts WHERE account = ? AND page = ?", (account, page)).fetchone()
    if row is None:
        return Draft()
    marks, comments = parse_marks({int(node): word for node, word in json.loads(row["marks"]).items()})
    return Draft(
        marks=marks,
        comments=comments,
        hidden=frozenset(json.loads(row["hidden"])),
        revision=row["revision"],
        seconds=row["seconds"],
        prelabelled=row["prelabelled"],
    )


def parse_marks(words: Mapping[int, str]) -> tuple[Marks, frozenset[int]]:
    """Return the tag of each node, and the nodes that are marked as readers' comments.

    Raises:
        KeyError: a word is no mark.
    """
    comments = frozenset(node for node, word in words.items() if word == COMMENT)
    return {node: Label.CONTENT if node in comments else LABELS[word] for node, word in words.items()}, comments


def mark_words(draft: Draft) -> dict[int, str]:
    """Return the word of each mark, in order of its node."""
    return {node: COMMENT if node in draft.comments else tag.word for node, tag in sorted(draft.marks.items())}


def keep(store: Connection, account: int, page: str, given: Draft) -> Draft:
    """Keep a draft; its time and its model are checked against the store.

    Raises:
        StaleDraft: the store has this revision already, or a later one.
    """
    with transaction(store):
        return _keep(store, account, page, given)


def prelabel(store: Connection, account: int, page: StoredPage) -> Draft:
    """Note that an annotator has requested the model's labels; later submissions of the page record it."""
    with transaction(store):
        before = read_draft(store, account, page.page)
        after = replace(before, prelabelled=before.prelabelled or page.model)
        _write(store, account, page.page, after)
    return after


def submit(store: Connection, account: int, page: StoredPage, given: Draft) -> Submission:
    """Submit a page, or submit it again.

    Raises:
        StaleDraft: as for `keep`.
    """
    with transaction(store):
        kept = _keep(store, account, page.page, given)
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


@dataclass(frozen=True, slots=True)
class SubmittedPage:
    """A page that an annotator has submitted or begun."""

    page: str
    title: str
    url: str
    submitted: int | None  # microseconds since 1970, the last time; None: only begun
    times: int
    seconds: float
    tags: Mapping[str, int]  # segments by tag, "none" for those without
    prelabelled: str


def list_pages(store: Connection, account: int) -> list[SubmittedPage]:
    """Return the pages of the corpus that an annotator has submitted or begun, the latest first."""
    rows = store.execute(
        "SELECT p.id AS page, p.title, p.url, d.seconds, d.prelabelled, max(s.submitted) AS submitted,"
        " count(s.submitted) AS times, s.tags FROM drafts d JOIN pages p ON p.id = d.page"
        " LEFT JOIN current_submissions s ON s.page = d.page AND s.account = d.account"
        " WHERE d.account = ? AND p.kind = 'corpus' GROUP BY p.id ORDER BY d.changed DESC, p.id",
        (account,),
    )
    return [SubmittedPage(**{**row, "tags": _counts(row["tags"] or "")}) for row in rows]


def read_submissions(store: Connection, excluded: Collection[int] = ()) -> Iterator[Submission]:
    """Yield the last submission of each annotator and page of the corpus, in order of page and annotator."""
    rows = store.execute(
        "SELECT account, page, max(submitted) AS submitted, seconds, s.text_digest, tags, comments, prelabelled"
        " FROM current_submissions s JOIN pages p ON p.id = s.page WHERE p.kind = 'corpus'"
        " GROUP BY account, page ORDER BY page, account"
    )
    return (_of_row(row) for row in rows if row["account"] not in excluded)


def withdraw(store: Connection, account: int, page: str, by: int) -> bool:
    """Withdraw all that an annotator has submitted of a page: it is kept, with the account that withdrew it and the
    time, and counts no more. The draft stays, so that the page can be submitted again. Return False if nothing was
    submitted."""
    done = store.execute(
        "UPDATE submissions SET withdrawn = ?, withdrawn_by = ? WHERE account = ? AND page = ? AND withdrawn IS NULL",
        (now(), by, account, page),
    )
    return done.rowcount > 0


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
    return (WithdrawnSubmission(_of_row(row), row["withdrawn"], f"annotator-{row['withdrawn_by']}") for row in rows)


def _of_row(row: Row) -> Submission:
    return Submission(
        annotator=f"annotator-{row['account']}",
        page=row["page"],
        submitted=row["submitted"],
        seconds=row["seconds"],
        text_digest=row["text_digest"],
        tags=stored_pages.decode_tags(row["tags"]),
        comments=tuple(json.loads(row["comments"])),
        prelabelled=row["prelabelled"],
    )


@dataclass(frozen=True, slots=True)
class LabellingProgress:
    """The progress of labelling a corpus, in pages and submissions."""

    pages: int
    submissions: int  # a page that an annotator has submitted twice counts once
    pages_by_submissions: Mapping[int, int]
    by_account: Mapping[int, tuple[int, float]]  # pages submitted, seconds
    skips: int  # a page that two annotators have skipped counts twice


def progress(store: Connection) -> LabellingProgress:
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


def _keep(store: Connection, account: int, page: str, given: Draft) -> Draft:
    before = read_draft(store, account, page)
    if given.revision <= before.revision:
        raise StaleDraft
    row = store.execute("SELECT begun FROM drafts WHERE account = ? AND page = ?", (account, page)).fetchone()
    passed = (now() - row["begun"]) / 1e6 if row else given.seconds
    seconds = max(before.seconds, min(given.seconds, passed))
    kept = replace(given, seconds=seconds, prelabelled=before.prelabelled)
    _write(store, account, page, kept)
    return kept


def _write(store: Connection, account: int, page: str, draft: Draft) -> None:
    moment = now()
    marks = json.dumps(mark_words(draft), separators=(",", ":"))
    store.execute(
        "INSERT INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account, page) DO UPDATE SET marks ="
        " excluded.marks, hidden = excluded.hidden, revision = excluded.revision, seconds = excluded.seconds,"
        " prelabelled = excluded.prelabelled, changed = excluded.changed",
        (
            account, page, marks, json.dumps(sorted(draft.hidden), separators=(",", ":")), draft.revision,
            draft.seconds, draft.prelabelled, moment - int(draft.seconds * 1e6), moment,
        ),
    )  # fmt: skip


def _submission(account: int, page: StoredPage, kept: Draft, moment: int) -> Submission:
    return Submission(
        annotator=f"annotator-{account}",
        page=page.page,
        submitted=moment,
        seconds=round(kept.seconds, 1),
        text_digest=page.text_digest,
        tags=resolve_tags(page, kept),
        comments=resolve_comments(page, kept),
        prelabelled=kept.prelabelled,
    )


def _counts(letters: str) -> dict[str, int]:
    """Count segments by tag."""
    found = Counter(
        "none" if tag is None else tag.word for tag in (stored_pages.decode_tags(letters) if letters else ())
    )
    return dict(found)
