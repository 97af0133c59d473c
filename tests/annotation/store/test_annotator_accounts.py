"""Let in the owners of accounts, and nobody else."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import VerifyMismatchError

from dbce_spark.annotation.store import annotator_accounts, workbench_store
from dbce_spark.annotation.store.annotator_accounts import TooManyTries
from dbce_spark.annotation.store.workbench_store import Connection, now
from dbce_spark.errors import InputError
from tests.support.annotation_stores import PASSWORD, SETTINGS


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Connection]:
    """Open a store with an account of ada's."""
    workbench_store.create(str(tmp_path / "labels.db"))
    found = workbench_store.open_store(str(tmp_path / "labels.db"))
    annotator_accounts.add(found, "ada", SETTINGS, password=PASSWORD)
    yield found
    found.close()


def test_a_name_and_its_password_belong_together(opened: Connection) -> None:
    """Another password, another name or none are refused; case in a name does not matter."""
    tries = [("ada", PASSWORD), ("Ada", PASSWORD), ("ada", PASSWORD + "x"), ("bob", PASSWORD), ("ada", "")]

    assert [True, True, False, False, False] == [
        annotator_accounts.login(opened, *one, SETTINGS) is not None for one in tries
    ]


def test_a_password_is_not_in_the_store(opened: Connection, tmp_path: Path) -> None:
    """The store has only the hash of a password by Argon2id."""
    assert PASSWORD.encode() not in (tmp_path / "labels.db").read_bytes()
    assert opened.execute("SELECT password FROM accounts").fetchone()[0].startswith("$argon2id$")


def test_a_made_password_is_long_enough_and_lets_in(opened: Connection) -> None:
    """A generated password is long enough, and lets in; one that is set anew ends what was before."""
    made = annotator_accounts.add(opened, "bob", SETTINGS)
    before = annotator_accounts.get(opened, 2)
    anew = annotator_accounts.set_password(opened, 2, SETTINGS)
    after = annotator_accounts.get(opened, 2)

    assert before is not None
    assert after is not None
    assert (True, True) == (before.stamp != after.stamp, made != anew)
    assert [20, 20] == [len(made), len(anew)]
    assert [True, False] == [annotator_accounts.login(opened, "bob", one, SETTINGS) is None for one in (made, anew)]


@pytest.mark.parametrize(
    ("name", "password"),
    [
        *(("", PASSWORD), ("x" * 61, PASSWORD), ("a\nb", PASSWORD), ("ADA", PASSWORD), (" ada ", PASSWORD)),
        *(("bob", "short"), ("bob", "x" * (SETTINGS.min_password - 1)), ("bob", "x" * 1001)),
    ],
)
def test_a_name_or_password_that_will_not_do_is_refused(opened: Connection, name: str, password: str) -> None:
    """A name that exists in other letters is refused as well."""
    with pytest.raises(InputError):
        annotator_accounts.add(opened, name, SETTINGS, password=password)


@pytest.mark.parametrize(
    ("name", "password"), [("b", PASSWORD), ("x" * 60, "x" * SETTINGS.min_password), (" bob ", "x" * 1000)]
)
def test_a_name_and_a_password_up_to_the_bounds_will_do(opened: Connection, name: str, password: str) -> None:
    """The shortest and the longest of each; space around a name does not count."""
    annotator_accounts.add(opened, name, SETTINGS, password=password)
    found = annotator_accounts.login(opened, name.strip(), password, SETTINGS)

    assert found is not None
    assert (name.strip(), "annotator-2", False, True) == (found.name, found.annotator, found.is_admin, found.is_active)


def test_an_unknown_name_takes_as_long_as_a_known_one(opened: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password is hashed for both, so that no clock tells who has an account."""
    hashed: list[str] = []

    def looked_at(known: str, password: str) -> bool:
        hashed.append(known)
        return True

    monkeypatch.setattr(annotator_accounts, "_is_right", looked_at)
    found = [annotator_accounts.login(opened, name, PASSWORD, SETTINGS) is not None for name in ("ada", "bob")]

    assert [True, False] == found
    assert extract_parameters(hashed[0]) == extract_parameters(hashed[1])
    with pytest.raises(VerifyMismatchError):  # one that cannot be read would be refused without hashing
        PasswordHasher().verify(hashed[1], PASSWORD)


def test_who_has_logged_in_has_failed_no_more(opened: Connection) -> None:
    """A success takes the failures before it away."""
    few = replace(SETTINGS, login_tries=3)
    given = ["guessed", "guessed", PASSWORD] * 2

    assert [True, True, False] * 2 == [annotator_accounts.login(opened, "ada", one, few) is None for one in given]


def test_a_password_is_hashed_again_where_its_hash_is_of_another_strength(opened: Connection) -> None:
    """At a login, when the password is there to be hashed; its session is that of any other login."""
    weak = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1).hash(PASSWORD)
    opened.execute("UPDATE accounts SET password = ?", (weak,))
    annotator_accounts.login(opened, "ada", PASSWORD, SETTINGS)
    hashed = opened.execute("SELECT password FROM accounts").fetchone()[0]

    assert extract_parameters(weak) != extract_parameters(hashed) == annotator_accounts._HASHER._parameters
    assert annotator_accounts.login(opened, "ada", PASSWORD, SETTINGS) is not None


def test_a_password_that_is_given_is_the_one_that_is_set(opened: Connection) -> None:
    """It lets in, and the one before no more; one that will not do changes nothing."""
    given = "another long password"

    assert given == annotator_accounts.set_password(opened, 1, SETTINGS, given)
    with pytest.raises(InputError):
        annotator_accounts.set_password(opened, 1, SETTINGS, "short")
    assert [False, True] == [
        annotator_accounts.login(opened, "ada", one, SETTINGS) is None for one in (given, PASSWORD)
    ]


def test_who_guesses_has_to_wait(opened: Connection) -> None:
    """After too many failures even the right password is refused; another name is not affected."""
    few = replace(SETTINGS, login_tries=3)
    annotator_accounts.add(opened, "bob", SETTINGS, password=PASSWORD)
    for _ in range(3):
        annotator_accounts.login(opened, "ada", "guessed", few)

    with pytest.raises(TooManyTries):
        annotator_accounts.login(opened, "ada", PASSWORD, few)
    assert annotator_accounts.login(opened, "bob", PASSWORD, few) is not None


def test_a_shut_account_lets_nobody_in(opened: Connection) -> None:
    """A shut account refuses its password until it is opened again."""
    annotator_accounts.set_active(opened, 1, False)
    shut = annotator_accounts.login(opened, "ada", PASSWORD, SETTINGS)
    annotator_accounts.set_active(opened, 1, True)

    assert (True, False) == (shut is None, annotator_accounts.login(opened, "ada", PASSWORD, SETTINGS) is None)


def test_nobody_locks_the_account_of_another(opened: Connection) -> None:
    """Tries are counted for each address that they come from."""
    few = replace(SETTINGS, login_tries=3)
    for _ in range(5):
        with suppress(TooManyTries):
            annotator_accounts.login(opened, "ada", "guessed", few, "192.0.2.1")

    assert annotator_accounts.login(opened, "ada", PASSWORD, few, "192.0.2.2") is not None


def test_a_try_counts_before_the_password_is_looked_at(opened: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred at the same time are not more than a hundred one after the other: hashing takes long."""
    noted: list[int] = []

    def looked_at(hashed: str, password: str) -> bool:
        noted.append(opened.execute("SELECT count(*) FROM failures").fetchone()[0])
        return False

    monkeypatch.setattr(annotator_accounts, "_is_right", looked_at)
    annotator_accounts.login(opened, "ada", "guessed", SETTINGS)
    annotator_accounts.login(opened, "ada", "guessed", SETTINGS)

    assert [1, 2] == noted


def test_who_has_waited_may_try_again(opened: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures are forgotten after `login_minutes`, and no earlier."""
    few = replace(SETTINGS, login_tries=1, login_minutes=2)
    clock = [now()]
    monkeypatch.setattr("dbce_spark.annotation.store.annotator_accounts.now", lambda: clock[-1])
    annotator_accounts.login(opened, "ada", "guessed", few)
    clock.append(clock[0] + 120 * 1_000_000)
    with pytest.raises(TooManyTries):
        annotator_accounts.login(opened, "ada", PASSWORD, few)
    clock.append(clock[-1] + 1)

    assert annotator_accounts.login(opened, "ada", PASSWORD, few) is not None
