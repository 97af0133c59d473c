"""Keep the drafts of annotators as they grow, and resolve them into tags."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dbce_spark.annotation.markup.outline import Marks
from dbce_spark.annotation.markup.submission import COMMENT, Tags
from dbce_spark.annotation.store.stored_pages import StoredPage
from dbce_spark.annotation.store.workbench_store import Connection, now, transaction
from dbce_spark.model import LABELS_BY_WORD, Label


class StaleDraft(Exception):
    """A draft was changed in another window, or on another machine, since this one was loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The tags that an annotator has given to a page until now.

    `hidden` are segments that the browser does not show: they are boilerplate, unless tagged themselves. `revision`
    names the last change: browsers add a random number to the one before, so that no two have the same.
    """

    marks: Marks = field(default_factory=dict)
    comments: frozenset[int] = frozenset()  # nodes that are marked as readers' comments
    hidden: frozenset[int] = frozenset()
    revision: int = 0
    replaces: frozenset[int] | None = None  # revisions of the store that it was made from; None: all lower ones
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
    """Resolve a draft into the segments that are readers' comments, ascending: those whose nearest mark says so."""
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
    return {node: Label.CONTENT if node in comments else LABELS_BY_WORD[word] for node, word in words.items()}, comments


def mark_words(draft: Draft) -> dict[int, str]:
    """Return the word of each mark, in order of its node."""
    return {node: COMMENT if node in draft.comments else tag.word for node, tag in sorted(draft.marks.items())}


def keep(store: Connection, account: int, page: str, given: Draft) -> Draft:
    """Keep a draft; its time and its model are checked against the store.

    Raises:
        StaleDraft: the store has a revision that the draft was not made from.
    """
    with transaction(store):
        return write_newer(store, account, page, given)


def write_newer(store: Connection, account: int, page: str, given: Draft) -> Draft:
    """Do what `keep` does, within a transaction of the caller's."""
    before = read_draft(store, account, page)
    is_stale = given.revision <= before.revision if given.replaces is None else before.revision not in given.replaces
    if is_stale:
        raise StaleDraft
    # Where the model was asked first, the row is as old as that, and the draft is older.
    kept_before = "SELECT begun FROM drafts WHERE account = ? AND page = ? AND revision > 0"
    row = store.execute(kept_before, (account, page)).fetchone()
    passed = (now() - row["begun"]) / 1e6 if row else given.seconds
    seconds = max(before.seconds, min(given.seconds, passed))
    kept = replace(given, seconds=seconds, prelabelled=before.prelabelled)
    _write(store, account, page, kept)
    return kept


def prelabel(store: Connection, account: int, page: StoredPage) -> Draft:
    """Note that an annotator has requested the model's labels; later submissions of the page record it."""
    with transaction(store):
        before = read_draft(store, account, page.page)
        after = replace(before, prelabelled=before.prelabelled or page.model)
        _write(store, account, page.page, after)
    return after


def _write(store: Connection, account: int, page: str, draft: Draft) -> None:
    moment = now()
    marks = json.dumps(mark_words(draft), separators=(",", ":"))
    store.execute(
        "INSERT INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account, page) DO UPDATE SET marks ="
        " excluded.marks, hidden = excluded.hidden, revision = excluded.revision, seconds = excluded.seconds,"
        " begun = iif(drafts.revision, drafts.begun, excluded.begun),"
        " prelabelled = excluded.prelabelled, changed = excluded.changed",
        (
            account, page, marks, json.dumps(sorted(draft.hidden), separators=(",", ":")), draft.revision,
            draft.seconds, draft.prelabelled, moment - int(draft.seconds * 1e6), moment,
        ),
    )  # fmt: skip
