"""Open the store of a workbench: one SQLite file with its pages, its accounts and their submissions.

It is in one file whenever nobody writes, so a copy of that file is a backup; `backup` makes one while the server runs.
"""

import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from dbce_spark.errors import InputError, OutputError
from dbce_spark.files import sqlite_transaction, storage
from dbce_spark.model import digest

Connection = sqlite3.Connection

_APPLICATION_ID = 0x64626365  # "dbce"
_WAIT_SECONDS = 20.0

VERSION = 7
"""Version of the tables below; a store of another is refused."""
_TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    password TEXT NOT NULL,
    stamp TEXT NOT NULL,
    is_admin INTEGER NOT NULL,
    is_active INTEGER NOT NULL,
    created INTEGER NOT NULL
) STRICT;
CREATE TABLE failures (name TEXT NOT NULL COLLATE NOCASE, at INTEGER NOT NULL) STRICT;
CREATE INDEX failures_of_name ON failures (name, at);
CREATE TABLE pages (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('corpus', 'tutorial')),
    position INTEGER NOT NULL,
    url TEXT NOT NULL,
    url_key TEXT NOT NULL,
    site TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    archive TEXT NOT NULL,
    record_id TEXT NOT NULL,
    head TEXT NOT NULL,
    record BLOB NOT NULL,
    charset TEXT NOT NULL,
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    words INTEGER NOT NULL,
    html TEXT NOT NULL,
    text TEXT NOT NULL,
    text_digest TEXT NOT NULL,
    segments TEXT NOT NULL,
    outline TEXT NOT NULL,
    model TEXT NOT NULL,
    doubt REAL NOT NULL,
    reference TEXT NOT NULL,
    added INTEGER NOT NULL,
    corpus TEXT NOT NULL DEFAULT 'main'
) STRICT;
CREATE INDEX pages_of_corpus ON pages (kind, corpus, id);
CREATE TABLE neighbours (
    page TEXT NOT NULL REFERENCES pages (id),
    arm TEXT NOT NULL CHECK (arm IN ('up', 'down', 'prev', 'next')),
    url TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    html TEXT NOT NULL,
    PRIMARY KEY (page, arm)
) STRICT;
CREATE TABLE resources (
    url_key TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    mime TEXT NOT NULL,
    charset TEXT NOT NULL,
    location TEXT NOT NULL,
    body TEXT NOT NULL REFERENCES bodies (digest),
    PRIMARY KEY (url_key, timestamp)
) STRICT, WITHOUT ROWID;
CREATE TABLE bodies (digest TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE drafts (
    account INTEGER NOT NULL REFERENCES accounts (id),
    page TEXT NOT NULL REFERENCES pages (id),
    marks TEXT NOT NULL,
    hidden TEXT NOT NULL,
    revision INTEGER NOT NULL,
    seconds REAL NOT NULL,
    prelabelled TEXT NOT NULL,
    begun INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    PRIMARY KEY (account, page)
) STRICT, WITHOUT ROWID;
CREATE TABLE skips (
    account INTEGER NOT NULL REFERENCES accounts (id),
    page TEXT NOT NULL REFERENCES pages (id),
    skipped INTEGER NOT NULL,
    PRIMARY KEY (account, page)
) STRICT, WITHOUT ROWID;
CREATE TABLE submissions (
    account INTEGER NOT NULL REFERENCES accounts (id),
    page TEXT NOT NULL REFERENCES pages (id),
    submitted INTEGER NOT NULL,
    seconds REAL NOT NULL,
    text_digest TEXT NOT NULL,
    tags TEXT NOT NULL,
    prelabelled TEXT NOT NULL,
    withdrawn INTEGER,
    withdrawn_by INTEGER REFERENCES accounts (id),
    comments TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (account, page, submitted)
) STRICT, WITHOUT ROWID;
CREATE INDEX submissions_of_page ON submissions (page);
CREATE VIEW current_submissions AS SELECT * FROM submissions WHERE withdrawn IS NULL;
"""

SUBMITTERS = "(SELECT count(DISTINCT account) FROM current_submissions WHERE page = id)"
"""The number of annotators who have submitted a row of `pages`."""
IN_CORPUS = "(:corpus = '' OR corpus = :corpus)"
"""The condition of `pages` that are of a corpus; all are of ""."""


def create(path: str) -> None:
    """Create an empty store, where there is no file yet; leave an existing one as it is.

    Raises:
        InputError: the file is no store.
        OutputError: it cannot be written.
    """
    if not Path(path).exists():
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).touch(mode=0o600)  # it holds hashed passwords, and the key that cookies are signed with
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error}; {storage.remedy(error)}") from error
    with closing(_connected(path)) as store:
        _prepare(store, path)


def open_store(path: str) -> Connection:
    """Open an existing store.

    Raises:
        InputError: there is none, or it is of another version.
    """
    if Path(path).is_dir():
        raise InputError(f"{path} is a folder; a store is one file")
    # SQLite makes a new database of an empty file, and one that a crash has emptied would be one without labels.
    if not Path(path).is_file() or not Path(path).stat().st_size:
        raise InputError(f"{path}: there is no store; make one with `dbce annotate add {path} --archive FILE`")
    store = _connected(path)
    try:
        _prepare(store, path)
    except BaseException:
        store.close()
        raise
    return store


@contextmanager
def transaction(store: Connection) -> Iterator[None]:
    """Write all that the block writes, or none of it; other writers wait.

    Raises:
        OutputError: the disk is full or broken.
    """
    with sqlite_transaction.transaction(store, "BEGIN IMMEDIATE"):
        yield


def insert(store: Connection, table: str, row: Mapping[str, object]) -> bool:
    """Insert a row, given by its columns, unless there is one with its key. Return whether it is new."""
    values = ", ".join(f":{name}" for name in row)
    done = store.execute(f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({values})", row)
    return done.rowcount > 0


def backup(path: str, target: str) -> None:
    """Copy a store as it is now, even while others write to it.

    Raises:
        InputError: there is no store.
        OutputError: the target is there already, or cannot be written.
    """
    if Path(target).exists():
        raise OutputError(f"{target} is there already; give a new name")
    partial = Path(target).with_name(f"_{Path(target).name}.{secrets.token_hex(16)}")
    with closing(open_store(path)) as store:
        try:
            partial.parent.mkdir(parents=True, exist_ok=True)
            partial.touch(mode=0o600)
            with closing(sqlite3.connect(partial)) as copy:
                store.backup(copy)
            partial.rename(target)  # half a store, which a kill leaves, is no backup
            storage.sync(Path(target).parent)
        except (OSError, sqlite3.Error) as error:
            with suppress(OSError):
                partial.unlink()
            advice = storage.remedy(error) if isinstance(error, OSError) else sqlite_transaction.remedy(error)
            raise OutputError(f"{target}: cannot be written: {error}; {advice}") from error


def secret(store: Connection) -> str:
    """Return the key that this store's cookies and tickets are signed with."""
    found: str = store.execute("SELECT value FROM settings WHERE name = 'secret'").fetchone()[0]
    return found


def identity(store: Connection) -> str:
    """Return what tells this store, and copies of it, from others; it does not give its key away."""
    return digest("store", secret(store))


def now() -> int:
    """Return the microseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1000


def _connected(path: str) -> Connection:
    store = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    store.row_factory = sqlite3.Row
    store.execute("PRAGMA foreign_keys = ON")
    return store


def _prepare(store: Connection, path: str) -> None:
    """Check that this is a store of this version; make one of an empty file."""
    try:
        owner = store.execute("PRAGMA application_id").fetchone()[0]
        version = store.execute("PRAGMA user_version").fetchone()[0]
        tables = store.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise InputError(
                f"{path}: not a store of `dbce annotate`: {error}; {sqlite_transaction.remedy(error)}"
            ) from error
        raise OutputError(f"{path}: {error}; {sqlite_transaction.remedy(error)}") from error
    if tables and owner != _APPLICATION_ID:
        raise InputError(f"{path}: an SQLite file, but not a store of `dbce annotate`")
    if version != VERSION and (tables or version):
        raise InputError(
            f"{path}: of version {version}; this program reads version {VERSION}: open it with the program that made"
            " it, or put back a copy of the store"
        )
    if not tables:
        _make(store)


def _make(store: Connection) -> None:
    with transaction(store):
        if store.execute("PRAGMA user_version").fetchone()[0]:  # somebody else was faster
            return
        sqlite_transaction.make_tables(store, _TABLES, VERSION)
        store.execute("INSERT INTO settings VALUES ('secret', ?)", (secrets.token_urlsafe(32),))
        store.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
