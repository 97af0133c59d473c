"""The lock that keeps other runs off a folder while one works there. It ends with the process, however that ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dbce_spark.errors import OutputError
from dbce_spark.files import storage
from dbce_spark.spark.run import heartbeat, staging
from dbce_spark.spark.run.condition import is_at_work

_TRIES, _SECONDS = 5, 0.2
"""A process that checks whether a run is at work holds the lock for a moment, too."""

_AT_WORK = "{}: another run is at work there; wait for its end, or stop it"

_held: list[BinaryIO] = []
"""The locks of this process. One that it forks, and that may outlive it, closes them."""
os.register_at_fork(after_in_child=lambda: [file.close() for file in _held])


@contextmanager
def hold(work: str) -> Iterator[None]:
    """Keep other runs off this folder within the block.

    Raises:
        OutputError: another run does, or nothing can be written there.
    """
    lock = Path(staging.path(work, staging.LOCK))
    with _taken(work, lock) as held:
        _held.append(held)
        try:
            yield
        finally:
            _held.remove(held)
    with suppress(OSError):  # it holds anything, or is gone
        lock.parent.rmdir()


def _taken(work: str, lock: Path) -> BinaryIO:
    is_free: bool | None = False
    for _ in range(_TRIES):
        held = _opened(work, lock)
        is_free = _locked(held, fcntl.LOCK_EX)
        if (is_free or (is_free is None and not _is_another_at_work(work))) and _has_name(held, lock):
            return held
        held.close()
        time.sleep(_SECONDS)
    raise OutputError(_AT_WORK.format(work) + (" and wait a minute" if is_free is None else ""))


def check_free(work: str) -> None:
    """Check that no other run works in this folder, before anything is said of what it has written there.

    Raises:
        OutputError: one does.
    """
    if is_held(work):
        raise OutputError(_AT_WORK.format(work))


def _is_another_at_work(work: str) -> bool:
    """Return whether another process works there, where only the heartbeats tell."""
    beat = heartbeat.read(work)
    is_own = beat is not None and beat.is_of_this_host and beat.pid == os.getpid()
    return is_at_work(beat, is_held=None) and not is_own


def _opened(work: str, lock: Path) -> BinaryIO:
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        return lock.open("wb")
    except OSError as error:
        raise OutputError(f"{work}: {error}; {storage.remedy(error)}") from error


def _has_name(held: BinaryIO, lock: Path) -> bool:
    """Return whether a file that is open is still the one of that name: the run before removes it at its end."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(held.fileno()), lock.stat())
    return False


def is_held(work: str) -> bool | None:
    """Return whether a run on this host works in this folder; None on a file system without locks.

    Runs of other hosts are seen on some file systems only.
    """
    lock = staging.path(work, staging.LOCK)
    try:
        with Path(lock).open("rb") as file:
            is_free = _locked(file, fcntl.LOCK_SH)
            return None if is_free is None else not is_free
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise OutputError(f"{lock}: {error}") from error


def _locked(file: BinaryIO, kind: int) -> bool | None:
    """Lock a file unless another process has. None: the file system has no locks."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
