"""What a run that is at work says of itself, beside what it stages: for whoever asks from outside."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import uuid4

from dbce_spark.log import Log, reason
from dbce_spark.spark.run import checkpoints, staging

SECONDS = 5.0
"""How often it is written while a stage runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Times are UTC, as ISO 8601 has them. `done` of `total` are tasks, or what `unit` says; `seconds_to_go` are those
    of the stage. `failure` is what ended the run if that had a word to say; `is_ended`: a stream has read all that was
    there. A run's report says so of a run."""

    run_id: str
    attempt: int
    command: str
    host: str
    pid: int
    began: str
    updated: str
    stage: str = ""
    stage_began: str = ""
    done: int = 0
    total: int = 0
    unit: str = "tasks"
    pages_per_second: float = 0.0
    seconds_to_go: float | None = None
    failure: str = ""
    is_ended: bool = False

    @property
    def is_of_this_host(self) -> bool:
        return self.host == socket.gethostname()


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def begin(log: Log) -> State:
    """The state of this process when it begins."""
    return State(
        run_id=log.run_id,
        attempt=log.attempt,
        command=log.command,
        host=socket.gethostname(),
        pid=os.getpid(),
        began=now(),
        updated=now(),
    )


def next_run(output: str, *, goes_on: bool) -> tuple[str, int]:
    """The id of a run that begins there, or that goes on after it was ended, and how often that makes."""
    before = read(output) if goes_on else None
    if before is None:
        return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid4().hex[:8]}", 1
    return before.run_id, before.attempt + 1


def read(output: str) -> State | None:
    """What was last written there; None: nothing, or what another version has written."""
    try:
        return checkpoints.read(staging.path(output, staging.STATE), State)
    except (ValueError, TypeError):
        return None


def write(output: str, state: State) -> None:
    checkpoints.write(staging.path(output, staging.STATE), replace(state, updated=now()))


@contextmanager
def failure(output: str) -> Iterator[None]:
    """Keeps what ends the run that this process has begun there."""
    try:
        yield
    except BaseException as error:
        last = read(output)
        if last is not None and last.is_of_this_host and last.pid == os.getpid():
            with suppress(OSError):  # the disk may be what is full
                write(output, replace(last, failure=reason(error)))
        raise
