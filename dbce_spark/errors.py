"""The errors that end a run. Bad data never does: it becomes a reject (see `model.py`).

DbceError
├── BudgetError     so many files could not be read, or all pages failed, that the output says little of its input
├── ConfigError     a parameter is unknown, of the wrong type or out of its range
├── EvaluationError a score is under its floor, or a floor would sink without permission
├── InputError      an input argument names nothing that can be read
├── JobError        Spark gave up on a stage
├── OutputError     the output exists, cannot be written, or is not an output of ours
└── PlatformError   this machine lacks something the program needs to run
"""

import errno
from collections.abc import Mapping
from signal import SIGINT, Signals
from typing import Self

_SIGPIPE = 13  # which Windows has no name for
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk, quota or limit that is reached: Python gives them no path, as it has only a stream then."""


class DbceError(Exception):
    """Base of all errors that end a run. The message is one line and says what to do."""

    exit_status = 2


class BudgetError(DbceError):
    """More files or inputs failed than may be lost (`input.max_failed_files`), or every page did. All that could be
    read is written."""

    exit_status = 3


class Parameter(str):
    """The name of a parameter, as a part of the message of a ConfigError."""

    __slots__ = ()


class ConfigError(DbceError):
    """A parameter is unknown, of the wrong type or out of its range. The parts of its message are texts, and names of
    parameters."""

    def __init__(self, *parts: str) -> None:
        super().__init__(*parts)

    def __str__(self) -> str:
        return "".join(self.args)

    def naming(self, names: Mapping[str, str]) -> Self:
        """Return this error with other names for parameters, such as those of the options that gave them."""
        return type(self)(*(names.get(part, part) if isinstance(part, Parameter) else part for part in self.args))


class EvaluationError(DbceError):
    """A score is under its floor, or a floor would sink although nobody allowed it."""


class InputError(DbceError):
    """An input argument names nothing that can be read."""


class JobError(DbceError):
    """Spark gave up on a stage: not on a bad record, which is a reject, but on its machines or on a fault of ours."""


class OutputError(DbceError):
    """The output exists already, cannot be written, or was not written by this program."""


class PlatformError(DbceError):
    """This machine lacks something the program needs to run, such as Java."""


def denied(path: str, error: PermissionError) -> OutputError:
    """Build the error where a part of an output may not be read: nothing is wrong with it."""
    return OutputError(
        f"{error.filename or path}: {error.strerror or error}; let this user read it, and give the same command again"
    )


def installs(extra: str) -> str:
    """Write the command that installs an extra: in a checkout, as no index has the package."""
    return f"pip install '.[{extra}]' in the checkout of dbce-spark"


def exit_status(error: BaseException) -> int:
    """Return the status that a command ends with by an error; those of a stop and of a closed pipe are a shell's."""
    if isinstance(error, DbceError):
        return error.exit_status
    if isinstance(error, KeyboardInterrupt):
        return 128 + SIGINT
    if isinstance(error, BrokenPipeError):
        return 128 + _SIGPIPE
    return DbceError.exit_status if isinstance(error, OSError) else 1


def exit_name(code: int | None) -> str:
    """Name the exit code of a process by the signal that ended it, or as its status."""
    return Signals(-code).name if code is not None and code < 0 else f"status {code}"


def is_full(error: OSError) -> bool:
    """Return whether the disk is full, or what may be used of it."""
    return error.errno in FULL
