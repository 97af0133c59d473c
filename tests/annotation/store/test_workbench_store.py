"""Keep a store as one file that nothing damages."""

import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dbce_spark.annotation.store import (
    annotator_accounts,
    page_choice,
    stored_pages,
    stored_submissions,
    workbench_store,
)
from dbce_spark.annotation.store.drafts import Draft
from dbce_spark.annotation.store.workbench_store import VERSION, Connection
from dbce_spark.errors import InputError, OutputError
from tests.support.annotation_stores import SETTINGS, with_people
from tests.support.full_disks import full_disk


def test_a_new_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    """A store holds hashed passwords, and the key that cookies are signed with, so only its owner may read it."""
    workbench_store.create(str(tmp_path / "new" / "labels.db"))

    assert 0o600 == stat.S_IMODE((tmp_path / "new" / "labels.db").stat().st_mode)


def test_a_store_keeps_its_secret(tmp_path: Path) -> None:
    """Cookies stay valid over a restart, and no two stores share one."""
    secrets = []
    for name in ("a.db", "b.db", "a.db"):
        workbench_store.create(str(tmp_path / name))
        opened = workbench_store.open_store(str(tmp_path / name))
        secrets.append(workbench_store.secret(opened))
        opened.close()

    assert (True, False) == (secrets[0] == secrets[2], secrets[0] == secrets[1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no database", "not a store"),
        ("CREATE TABLE t (a)", "not a store"),
        ("PRAGMA user_version = 1000", "of version 1000; this program reads version"),
    ],
)
def test_what_is_no_store_of_this_program_is_refused(tmp_path: Path, content: bytes | str, message: str) -> None:
    """The file is named in the error, and left as it is."""
    path = tmp_path / "labels.db"
    if isinstance(content, bytes):
        path.write_bytes(content * 100)
    else:
        other = sqlite3.connect(path)
        other.executescript(content)
        other.close()
    before = path.read_bytes()

    with pytest.raises(InputError, match=message):
        workbench_store.open_store(str(path))
    assert before == path.read_bytes()


@pytest.mark.parametrize("version", [0, -3, VERSION - 1, VERSION + 1])
def test_a_store_of_another_version_is_refused(tmp_path: Path, version: int) -> None:
    """Also where the number is damaged: no table is made where some are."""
    path = str(tmp_path / "labels.db")
    workbench_store.create(path)
    with closing(sqlite3.connect(path)) as store:
        store.execute(f"PRAGMA user_version = {version}")

    with pytest.raises(InputError, match=rf"of version {version}; this program reads version {VERSION}: .* a copy"):
        workbench_store.open_store(path)


def test_an_emptied_store_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    """A crash can leave a file of no bytes: whoever reads it reads that nothing is there, and not 0 labels."""
    path = tmp_path / "labels.db"
    path.touch()

    with pytest.raises(InputError, match="there is no store"):
        workbench_store.open_store(str(path))
    assert b"" == path.read_bytes()


def test_a_store_that_others_lock_is_called_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error advises to wait; the file is a store all the same."""
    monkeypatch.setattr(workbench_store, "_WAIT_SECONDS", 0.0)
    path = str(tmp_path / "labels.db")
    workbench_store.create(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OutputError, match=f"^{path}: database is locked; wait until nobody else writes there"):
            workbench_store.open_store(path)


def test_what_fails_within_a_transaction_leaves_nothing(tmp_path: Path) -> None:
    """A failed transaction writes nothing."""
    workbench_store.create(str(tmp_path / "labels.db"))
    opened = workbench_store.open_store(str(tmp_path / "labels.db"))

    def fail() -> None:
        with workbench_store.transaction(opened):
            opened.execute("INSERT INTO settings VALUES ('a', 'b')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert 1 == opened.execute("SELECT count(*) FROM settings").fetchone()[0]
    opened.close()


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    """The error names the store. What was written before it is gone, and can be written again when there is room."""
    path = str(tmp_path / "labels.db")
    workbench_store.create(path)

    def fill() -> None:
        with workbench_store.transaction(opened):
            for number in range(99):
                opened.execute("INSERT INTO bodies VALUES (?, ?)", (str(number), bytes(50_000)))

    with closing(workbench_store.open_store(path)) as opened:
        with full_disk(500_000), pytest.raises(OutputError, match=f"^{path}: .*; make room"):
            fill()
        left = opened.execute("SELECT count(*) FROM bodies").fetchone()[0]
        fill()

        assert 0 == left
        assert 99 == opened.execute("SELECT count(*) FROM bodies").fetchone()[0]


@pytest.mark.parametrize(
    "write",
    [
        lambda store: annotator_accounts.set_active(store, 1, is_active=False),
        lambda store: annotator_accounts.end_sessions(store, 1),
        lambda store: annotator_accounts.set_password(store, 1, SETTINGS),
        lambda store: page_choice.skip(store, 1, stored_pages.ids(store, stored_pages.CORPUS)[1]),
        lambda store: stored_submissions.withdraw(store, 1, stored_pages.ids(store, stored_pages.CORPUS)[0], 1),
    ],
    ids=["shut", "log out", "password", "skip", "withdraw"],
)
def test_each_write_on_a_full_disk_names_the_store(tmp_path: Path, write: Callable[[Connection], object]) -> None:
    """Also one of a single statement."""
    path = with_people(tmp_path, "ada")
    with closing(workbench_store.open_store(path)) as opened:
        page = stored_pages.get(opened, stored_pages.ids(opened, stored_pages.CORPUS)[0])
        assert page is not None
        stored_submissions.submit(opened, 1, page, Draft(revision=1))
        before = [*opened.iterdump()]
        with full_disk(100), pytest.raises(OutputError, match=f"^{path}: .*; make room"):
            write(opened)

        assert before == [*opened.iterdump()]


def test_a_backup_is_whole_while_others_write(tmp_path: Path) -> None:
    """A backup has the content of the moment it was made, and never replaces a file."""
    path, copy = str(tmp_path / "labels.db"), str(tmp_path / "copy.db")
    workbench_store.create(path)
    writer = workbench_store.open_store(path)
    writer.execute("INSERT INTO settings VALUES ('before', '1')")
    workbench_store.backup(path, copy)
    writer.execute("INSERT INTO settings VALUES ('after', '1')")
    writer.close()
    copied = workbench_store.open_store(copy)

    assert ["before", "secret"] == sorted(row[0] for row in copied.execute("SELECT name FROM settings"))
    copied.close()
    with pytest.raises(OutputError, match="is there already"):
        workbench_store.backup(path, copy)


def test_a_backup_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Half a store is no backup; its name can be given again when there is room."""
    path, copy = str(tmp_path / "labels.db"), tmp_path / "copy.db"
    workbench_store.create(path)
    with full_disk(10_000), pytest.raises(OutputError, match=f"^{copy}: cannot be written: .*; make room"):
        workbench_store.backup(path, str(copy))

    assert [Path(path)] == [*tmp_path.iterdir()]


def test_a_backup_has_its_name_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill while it is written leaves no file that could be taken for one."""
    path, copy = str(tmp_path / "labels.db"), tmp_path / "copy.db"
    workbench_store.create(path)
    there: list[bool] = []
    connect = sqlite3.connect

    def connected(*given: Any, **options: Any) -> Connection:
        there.append(copy.exists())
        made: Connection = connect(*given, **options)
        return made

    monkeypatch.setattr(sqlite3, "connect", connected)
    workbench_store.backup(path, str(copy))

    assert ([False, False], True) == (there, copy.exists())
