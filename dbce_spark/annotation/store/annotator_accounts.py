"""Keep the accounts of annotators: names, hashed passwords, and a limit on failed logins."""

import secrets
from base64 import b64encode
from dataclasses import dataclass
from sqlite3 import Row

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION

from dbce_spark.annotation.markup.submission import annotator_name
from dbce_spark.annotation.store.workbench_settings import WorkbenchSettings
from dbce_spark.annotation.store.workbench_store import Connection, now, transaction
from dbce_spark.errors import InputError
from dbce_spark.files.timestamps import MINUTE

_MAX_NAME = 60
_MAX_PASSWORD = 1000
"""Characters that are hashed at most: longer ones would keep the server busy."""
_GENERATED_BYTES = 15
_HASHER = PasswordHasher()
"""Argon2id with the parameters of the library, which are those of RFC 9106 for little memory (64 MiB)."""


class TooManyTries(Exception):
    """A name has failed to log in too often recently."""


@dataclass(frozen=True, slots=True)
class UserAccount:
    """The account of an annotator. `stamp` changes with the password: a session signed with an older one is void."""

    number: int
    name: str
    stamp: str
    is_admin: bool
    is_active: bool

    @property
    def annotator(self) -> str:
        """Return the name under which the account appears in exports."""
        return annotator_name(self.number)


def add(
    store: Connection, name: str, settings: WorkbenchSettings, *, password: str = "", is_admin: bool = False
) -> str:
    """Add an account, and return its password, a generated one where none is given.

    Raises:
        InputError: the name or the password will not do, or the name is taken.
    """
    name = name.strip()
    if not name or len(name) > _MAX_NAME or not name.isprintable():
        raise InputError(f"{name!r} is no name; it must have 1 to {_MAX_NAME} printable characters")
    password = password or secrets.token_urlsafe(_GENERATED_BYTES)
    hashed = _hashed(password, settings)
    with transaction(store):
        if store.execute("SELECT 1 FROM accounts WHERE name = ?", (name,)).fetchone():
            raise InputError(f"there is an account {name} already")
        store.execute(
            "INSERT INTO accounts (name, password, stamp, is_admin, is_active, created) VALUES (?, ?, ?, ?, 1, ?)",
            (name, hashed, secrets.token_urlsafe(9), int(is_admin), now()),
        )
    return password


def set_password(store: Connection, number: int, settings: WorkbenchSettings, password: str = "") -> str:
    """Set the password of an account, which logs it out everywhere. Return it, a generated one where none is given.

    Raises:
        InputError: the password will not do.
    """
    password = password or secrets.token_urlsafe(_GENERATED_BYTES)
    hashed = _hashed(password, settings)
    with transaction(store):
        store.execute("UPDATE accounts SET password = ? WHERE id = ?", (hashed, number))
        _renew_stamp(store, number)
    return password


def set_active(store: Connection, number: int, is_active: bool) -> None:
    """Open an account, or shut it at once, with all its sessions. Its submissions stay."""
    with transaction(store):
        store.execute("UPDATE accounts SET is_active = ? WHERE id = ?", (int(is_active), number))
        _renew_stamp(store, number)


def end_sessions(store: Connection, number: int) -> None:
    """Log an account out everywhere: a cookie that somebody has kept is void."""
    with transaction(store):
        _renew_stamp(store, number)


def _renew_stamp(store: Connection, number: int) -> None:
    store.execute("UPDATE accounts SET stamp = ? WHERE id = ?", (secrets.token_urlsafe(9), number))


def login(
    store: Connection, name: str, password: str, settings: WorkbenchSettings, client: str = ""
) -> UserAccount | None:
    """Return the account of a name and its password; None if one of them is wrong, or the account is shut.

    A try counts before the password is looked at, so that many at once are not more than one after the other. They are
    counted for each `client`, a network address: nobody locks the account of another.

    Raises:
        TooManyTries: the name has failed `login_tries` times within `login_minutes`.
    """
    name, since = name.strip()[:_MAX_NAME], now() - settings.login_minutes * MINUTE
    tried = f"{name}\n{client}"
    with transaction(store):
        store.execute("DELETE FROM failures WHERE at < ?", (since,))
        failed = store.execute("SELECT count(*) FROM failures WHERE name = ?", (tried,)).fetchone()[0]
        if failed >= settings.login_tries:
            raise TooManyTries
        store.execute("INSERT INTO failures VALUES (?, ?)", (tried, now()))
    row = store.execute("SELECT * FROM accounts WHERE name = ?", (name,)).fetchone()
    is_right = _is_right(row["password"] if row else _hash_of_nobody(), password)
    if row is None or not is_right or not row["is_active"]:
        return None
    rehashed = _HASHER.hash(password) if _HASHER.check_needs_rehash(row["password"]) else row["password"]
    with transaction(store):
        store.execute("DELETE FROM failures WHERE name = ?", (tried,))
        if rehashed != row["password"]:
            store.execute("UPDATE accounts SET password = ? WHERE id = ?", (rehashed, row["id"]))
    return get(store, row["id"])


def get(store: Connection, number: int) -> UserAccount | None:
    """Return the account with this number; None if there is none."""
    row = store.execute("SELECT * FROM accounts WHERE id = ?", (number,)).fetchone()
    return None if row is None else _account(row)


def list_accounts(store: Connection) -> list[UserAccount]:
    """Return all accounts, in the order in which they were added."""
    return [_account(row) for row in store.execute("SELECT * FROM accounts ORDER BY id")]


def _account(row: Row) -> UserAccount:
    return UserAccount(row["id"], row["name"], row["stamp"], bool(row["is_admin"]), bool(row["is_active"]))


def _hashed(password: str, settings: WorkbenchSettings) -> str:
    """Hash a password."""
    if not settings.min_password <= len(password) <= _MAX_PASSWORD:
        raise InputError(f"a password has at least {settings.min_password} characters, and at most {_MAX_PASSWORD}")
    return _HASHER.hash(password)


def _hash_of_nobody() -> str:
    """Make a hash that no password has, to compare one with where the name is unknown: both answers take as long."""
    salt, digest = (
        b64encode(secrets.token_bytes(size)).decode().rstrip("=") for size in (_HASHER.salt_len, _HASHER.hash_len)
    )
    strength = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    return f"$argon2id$v={ARGON2_VERSION}${strength}${salt}${digest}"


def _is_right(hashed: str, password: str) -> bool:
    try:
        return _HASHER.verify(hashed, password[:_MAX_PASSWORD])
    except (VerificationError, InvalidHashError):
        return False
