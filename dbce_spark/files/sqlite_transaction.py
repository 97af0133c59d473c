"""A transaction of an SQLite file, which a full or broken disk ends with an error that names the file."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from dbce_spark.errors import OutputError


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
            is_busy = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_BUSY
            advice = "wait until nobody else writes there" if is_busy else "make room, or mend the disk"
            raise OutputError(f"{path}: {error}; {advice}, and go on") from error
        raise
