"""The choice of the page that an annotator gets next, and the pages that he has skipped."""

from dataclasses import dataclass
from enum import StrEnum

from dbce_spark.annotation.store.workbench_store import IN_CORPUS, SUBMITTERS, Connection, now, transaction
from dbce_spark.model import digest

_NOT_DONE = (
    "id NOT IN (SELECT page FROM current_submissions WHERE account = :account"
    " UNION ALL SELECT page FROM skips WHERE account = :account)"
)
"""The condition of `pages` that an annotator has not done or skipped."""


class Order(StrEnum):
    """The order in which pages with equally few submissions are handed out."""

    CHANCE = "chance"
    DOUBT = "doubt"  # the one that the model is least certain of


def next_page(store: Connection, account: int, order: Order, corpus: str = "") -> str | None:
    """Choose the page that an annotator does next, of one corpus or of all; None: all are done or skipped.

    It is a page that the annotator has begun, or else one with the fewest submissions. A draft counts as a submission,
    so that two who begin at once get different pages.
    """
    wanted = {"account": account, "corpus": corpus}
    begun = store.execute(
        "SELECT page FROM drafts JOIN pages ON id = page WHERE account = :account AND kind = 'corpus'"
        f" AND {IN_CORPUS} AND {_NOT_DONE} ORDER BY changed DESC LIMIT 1",
        wanted,
    ).fetchone()
    if begun:
        return str(begun["page"])
    rows = store.execute(
        f"SELECT id, doubt, {SUBMITTERS} AS done, (SELECT count(*) FROM drafts WHERE page = id) AS begun FROM pages"
        f" WHERE kind = 'corpus' AND {IN_CORPUS} AND {_NOT_DONE}",
        wanted,
    ).fetchall()
    if not rows:
        return None
    doubt = -1 if order is Order.DOUBT else 0
    # What was submitted has a draft as well, and so counts twice. A digest is chance that stays when one looks again.
    best = min(
        rows, key=lambda row: (row["done"] + row["begun"], doubt * row["doubt"], digest(str(account), row["id"]))
    )
    return str(best["id"])


def next_of_tutorial(store: Connection, account: int) -> str | None:
    """Return the first page of the tutorial that an annotator has not submitted; None if all are done."""
    row = store.execute(
        "SELECT id FROM pages WHERE kind = 'tutorial'"
        " AND id NOT IN (SELECT page FROM current_submissions WHERE account = ?) ORDER BY position LIMIT 1",
        (account,),
    ).fetchone()
    return None if row is None else str(row["id"])


def skip(store: Connection, account: int, page: str) -> bool:
    """Skip a page of the corpus: it is given to others, and to this annotator only on request. Its draft stays. Return
    False if the annotator has submitted it."""
    submitted = "SELECT 1 FROM current_submissions WHERE account = ? AND page = ?"
    with transaction(store):
        if store.execute(submitted, (account, page)).fetchone():
            return False
        store.execute("INSERT OR IGNORE INTO skips VALUES (?, ?, ?)", (account, page, now()))
    return True


@dataclass(frozen=True, slots=True)
class SkippedPage:
    """A page that an annotator has skipped and not submitted since."""

    page: str
    title: str
    url: str


def list_skipped(store: Connection, account: int) -> list[SkippedPage]:
    """Return the pages that an annotator has skipped, the latest first."""
    rows = store.execute(
        "SELECT id AS page, title, url FROM skips JOIN pages ON id = page WHERE account = ? ORDER BY skipped DESC, id",
        (account,),
    )
    return [SkippedPage(**row) for row in rows]
