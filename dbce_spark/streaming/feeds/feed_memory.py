"""Remember the items of feeds, their status, and how many bytes of the open WARC file are noted.

It is one SQLite file. All that one call notes is written or none of it, also after a kill.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Self

from dbce_spark.errors import OutputError
from dbce_spark.files.sqlite_transaction import make_tables, remedy, transaction
from dbce_spark.streaming.feeds.feed_item import Item

VERSION = 5
"""Version of the tables below; a file of another is refused."""
_TABLES = """
CREATE TABLE feeds (url TEXT PRIMARY KEY, etag TEXT, modified TEXT, next_at REAL, failures INTEGER, is_gone INTEGER,
  answered_at REAL, rest REAL);
CREATE TABLE items (
  item_id TEXT PRIMARY KEY, feed TEXT, link TEXT, title TEXT, description TEXT, date TEXT,
  status TEXT, detail TEXT, attempts INTEGER, next_at REAL, seen_at REAL, page TEXT
);
CREATE INDEX items_by_status ON items (status);
CREATE INDEX items_by_feed ON items (feed);
CREATE TABLE files (name TEXT PRIMARY KEY, bytes INTEGER);
"""


class ItemStatus(StrEnum):
    """The status of an item."""

    WAITING = "waiting"  # its page is to be fetched
    KEPT = "kept"  # its page is in a WARC file
    FAILED = "failed"  # its page could not be fetched, and is not tried any more
    REFUSED = "refused"  # robots.txt forbids it, or it is no page


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedState:
    """The state of a feed. Times are seconds since 1970."""

    url: str
    etag: str = ""
    modified: str = ""
    next_at: float = 0.0
    failures: int = 0  # in a row
    is_gone: bool = False
    answered_at: float = 0.0  # when its server last sent it
    rest: float = 0.0  # seconds that it is not to be polled, as it last said


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingItem:
    """An item whose page is to be fetched, not before `next_at`, seconds since 1970."""

    item: Item
    attempts: int = 0
    next_at: float = 0.0


class Memory:
    """The SQLite file, held by one process at a time.

    What cannot be noted, since the disk is full or broken, is an OutputError.
    """

    def __init__(self, path: Path):
        """Open or create the file; raise OutputError if it cannot be opened, is held by another process, or is of
        another version."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._store = sqlite3.connect(path, isolation_level=None, timeout=0)
            try:
                self._begin(path)
            except BaseException:
                self._store.close()
                raise
        except (sqlite3.DatabaseError, OSError) as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                raise OutputError(f"{path}: {error}; is another `dbce acquire` at work with this --state?") from error
            advice = remedy(error) if isinstance(error, sqlite3.Error) else "give another --state, or make it writable"
            raise OutputError(f"{path}: cannot be the memory of `dbce acquire`: {error}; {advice}") from error

    def _begin(self, path: Path) -> None:
        self._store.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._store.execute("BEGIN EXCLUSIVE")
        version = self._store.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise OutputError(f"{path} is of version {version}, this program has {VERSION}: give another --state")
        if not version and self._store.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise OutputError(f"{path} is an SQLite file of another program: give another --state")
        if not version:
            make_tables(self._store, _TABLES, VERSION)
        self._store.execute("COMMIT")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def feed(self, url: str) -> FeedState:
        """Return the state of a feed; a new one if nothing was noted of it."""
        names = [field.name for field in fields(FeedState)]
        with transaction(self._store) as store:
            row = store.execute(f"SELECT {', '.join(names)} FROM feeds WHERE url = ?", (url,)).fetchone()
        if row is None:
            return FeedState(url=url)
        values = dict(zip(names, row, strict=True))
        return FeedState(**values | {"is_gone": bool(values["is_gone"])})

    def note_poll(self, feed: FeedState, items: Iterable[Item], now: float) -> list[Item]:
        """Note a feed as it is now, and those of its items that are new. Return these, in their order.

        One that is as it was shows the items of its last answer again.
        """
        with transaction(self._store) as store:
            store.execute(f"INSERT OR REPLACE INTO feeds VALUES ({', '.join('?' * len(fields(feed)))})", astuple(feed))
            if not feed.failures:
                seen = "UPDATE items SET seen_at = ? WHERE feed = ? AND seen_at >= ?"
                store.execute(seen, (now, feed.url, feed.answered_at))
            return [item for item in items if self._note(store, item, now)]

    def note_listed(self, links: Iterable[str], now: float, page: str = "") -> list[Item]:
        """Note the pages that a list names, or the requisites of a page. Return those that are new, in their order."""
        items = (Item(feed="", link=link, title="", description="", date="", page=page) for link in links)
        with transaction(self._store) as store:
            return [item for item in items if self._note(store, item, now)]

    def _note(self, store: sqlite3.Connection, item: Item, now: float) -> bool:
        """Note an item as shown now; return whether it is new."""
        if store.execute("UPDATE items SET seen_at = ? WHERE item_id = ?", (now, item.item_id)).rowcount:
            return False
        columns = (item.item_id, item.feed, item.link, item.title, item.description, item.date)
        values = (*columns, ItemStatus.WAITING, "", 0, now, now, item.page)
        store.execute(f"INSERT INTO items VALUES ({', '.join('?' * len(values))})", values)
        return True

    def waiting(self) -> list[WaitingItem]:
        """Return all items whose pages are to be fetched, in the order in which they were noted."""
        names = [field.name for field in fields(Item)]
        query = f"SELECT attempts, next_at, {', '.join(names)} FROM items WHERE status = ? ORDER BY rowid"
        with transaction(self._store) as store:
            return [
                WaitingItem(item=Item(**dict(zip(names, of_item, strict=True))), attempts=attempts, next_at=next_at)
                for attempts, next_at, *of_item in store.execute(query, (ItemStatus.WAITING,))
            ]

    def note_page(self, item: Item, file: str, size: int) -> None:
        """Note that the page of an item is in a file, and that the file holds up to `size` bytes."""
        with transaction(self._store) as store:
            store.execute("UPDATE items SET status = ? WHERE item_id = ?", (ItemStatus.KEPT, item.item_id))
            store.execute("INSERT OR REPLACE INTO files VALUES (?, ?)", (file, size))

    def note_end(self, item: Item, status: ItemStatus, detail: str) -> None:
        """Note that the page of an item will not be fetched any more."""
        with transaction(self._store) as store:
            store.execute("UPDATE items SET status = ?, detail = ? WHERE item_id = ?", (status, detail, item.item_id))

    def note_retry(self, waiting: WaitingItem, detail: str) -> None:
        """Note how often a page was tried, and when it is tried again."""
        with transaction(self._store) as store:
            store.execute(
                "UPDATE items SET attempts = ?, next_at = ?, detail = ? WHERE item_id = ?",
                (waiting.attempts, waiting.next_at, detail, waiting.item.item_id),
            )

    def files(self) -> dict[str, int]:
        """Return the WARC files that are not handed over, with the number of bytes noted of each."""
        with transaction(self._store) as store:
            return dict(store.execute("SELECT name, bytes FROM files ORDER BY name"))

    def drop_file(self, file: str) -> None:
        """Note that a WARC file was handed over."""
        with transaction(self._store) as store:
            store.execute("DELETE FROM files WHERE name = ?", (file,))

    def forget(self, before: float) -> int:
        """Forget the items that no feed has shown since then, but those that wait; return how many."""
        with transaction(self._store) as store:
            return store.execute(
                "DELETE FROM items WHERE seen_at < ? AND status != ?", (before, ItemStatus.WAITING)
            ).rowcount

    def counts(self) -> dict[str, int]:
        """Count items by status."""
        with transaction(self._store) as store:
            return dict(store.execute("SELECT status, count(*) FROM items GROUP BY status ORDER BY status"))
