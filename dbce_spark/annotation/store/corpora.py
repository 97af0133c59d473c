"""The corpora of a store: pages that are handed out, counted and exported apart (Stemle 2009, B.2.3)."""

from dataclasses import dataclass

from dbce_spark.annotation.store.workbench_store import SUBMITTERS, Connection
from dbce_spark.errors import InputError


@dataclass(frozen=True, slots=True)
class StoredCorpus:
    """A corpus, and how far it is labelled."""

    name: str
    pages: int
    submissions: int  # a page that an annotator has submitted twice counts once
    own: int  # pages that the annotator who asks has submitted


def names(store: Connection) -> list[str]:
    """Return the names of the corpora of a store, in order."""
    rows = store.execute("SELECT DISTINCT corpus FROM pages WHERE kind = 'corpus' ORDER BY corpus")
    return [row["corpus"] for row in rows]


def refuse_unknown(store: Connection, path: str, name: str) -> None:
    """Raise InputError if a store has no page of a corpus."""
    there = names(store)
    if name not in there:
        raise InputError(f"{path}: no page of the corpus {name!r} is in it; it has: {', '.join(there) or 'none'}")


def list_corpora(store: Connection, account: int = 0) -> list[StoredCorpus]:
    """Return the corpora of a store by name, with what an account has done of each."""
    rows = store.execute(
        f"SELECT corpus AS name, count(*) AS pages, sum({SUBMITTERS}) AS submissions,"
        " sum(EXISTS (SELECT 1 FROM current_submissions WHERE page = id AND account = ?)) AS own"
        " FROM pages WHERE kind = 'corpus' GROUP BY corpus ORDER BY corpus",
        (account,),
    )
    return [StoredCorpus(**row) for row in rows]
