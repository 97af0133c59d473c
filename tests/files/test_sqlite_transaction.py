"""Write all of a transaction or none of it, and name the file that cannot be written."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dbce_spark.errors import OutputError
from dbce_spark.files.sqlite_transaction import transaction


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as opened:
        opened.execute("CREATE TABLE pages (url TEXT PRIMARY KEY)")
        yield opened


def test_a_store_that_another_process_writes_to_is_named(store: sqlite3.Connection, path: Path) -> None:
    """Nothing is broken, so the advice is to wait."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as other:
        with (
            transaction(store, "BEGIN IMMEDIATE"),
            pytest.raises(OutputError, match=f"^{path}: .*; wait until nobody else writes there"),
            transaction(other, "BEGIN IMMEDIATE"),
        ):
            pass
        with transaction(other, "BEGIN IMMEDIATE") as free:
            free.execute("INSERT INTO pages VALUES ('a')")

    assert [("a",)] == store.execute("SELECT url FROM pages").fetchall()


def test_a_row_that_is_there_twice_is_no_fault_of_the_disk(store: sqlite3.Connection) -> None:
    """The error stays what it is, and what was written before it is taken back."""
    with pytest.raises(sqlite3.IntegrityError), transaction(store) as begun:
        begun.executemany("INSERT INTO pages VALUES (?)", [("a",), ("b",), ("a",)])

    assert [] == store.execute("SELECT url FROM pages").fetchall()
