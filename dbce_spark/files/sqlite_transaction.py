"""A transaction of an SQLite file, the tables that one makes, and the errors of SQLite, as ones that name the file and
say what to do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from dbce_spark.errors import OutputError

_REMEDIES = {
    sqlite3.SQLITE_BUSY: "wait until nobody else writes there, and go on",
    sqlite3.SQLITE_LOCKED: "wait until nobody else writes there, and go on",
    sqlite3.SQLITE_FULL: "make room, or repair the disk, and go on",
    sqlite3.SQLITE_IOERR: "make room, or repair the disk, and go on",
    sqlite3.SQLITE_READONLY: "let this user write the file and its folder, and go on",
    sqlite3.SQLITE_CANTOPEN: "give a file that this user can read and write, in a folder where it can write, too",
}
_KIND = 0xFF
"""The bits of an extended code that are the code."""


def remedy(error: sqlite3.Error) -> str:
    """Advise what to do where SQLite cannot read or write its file."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & _KIND
    return _REMEDIES.get(code, "the file is damaged, or another program's; put back a copy, or give another place")


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Name a file in the errors of SQLite within the block.

    Raises:
        OutputError: SQLite cannot read or write it.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise OutputError(f"{path}: {error}; {remedy(error)}") from error


@contextmanager
def transaction(store: sqlite3.Connection, begin: str = "BEGIN") -> Iterator[sqlite3.Connection]:
    """Write all that the block writes, or none of it. `begin` is the statement that begins it.

    Raises:
        OutputError: SQLite cannot read or write its file.
    """
    try:
        store.execute(begin)
        yield store
        store.execute("COMMIT")
    except BaseException as error:
        if store.in_transaction:  # SQLite itself ends one that a full disk has broken
            store.execute("ROLLBACK")
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.IntegrityError):
            path = store.execute("PRAGMA database_list").fetchone()[2]
            raise OutputError(f"{path}: {error}; {remedy(error)}") from error
        raise


def make_tables(store: sqlite3.Connection, script: str, version: int) -> None:
    """Make the tables of a script, within the transaction that is open, and note their version in the file."""
    for statement in script.split(";"):
        store.execute(statement)
    store.execute(f"PRAGMA user_version = {version}")
