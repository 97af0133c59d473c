"""Model how far a run or a stream is, and keep that as a file beside what it stages, for whoever looks from outside."""

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import uuid4

from dbce_spark.files import timestamps
from dbce_spark.log import Log, reason, repeat
from dbce_spark.spark.run import checkpoints, staging

SECONDS = 5.0
"""Seconds between two writes while a run or a stream works."""
TASKS = "tasks"
"""The unit of a stage of which only Spark knows how much there is to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """Describe how far a run or a stream is, and its last sign of life: what log, metrics and status render.

    Times are UTC, as ISO 8601 has them. `done` of `total` are counts of `unit`; tasks are those of the steps that Spark
    has begun. `counts` are of the whole run, `pages` of the stage; None: it counts none. `seconds_to_go` are of the
    stage, None as long as nothing is known (of tasks always), and of the whole run where the stage `is_last`. `failure`
    is what ended the run, if it could still be written; `is_ended`: a stream has read all that was there. The mark of a
    run's end is run.json. `keeps` is false of a run that keeps nothing before its end, as one without Spark.
    """

    run_id: str
    attempt: int
    command: str
    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)
    began: str = field(default_factory=timestamps.now)
    updated: str = field(default_factory=timestamps.now)
    stage: str = ""
    stage_began: str = ""
    stage_seconds: float = 0.0
    unit: str = TASKS
    is_last: bool = False
    done: int = 0
    total: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    pages: int | None = None
    pages_per_second: float = 0.0
    seconds_to_go: float | None = None
    failure: str = ""
    is_ended: bool = False
    keeps: bool = True

    @property
    def is_all_planned(self) -> bool:
        """Return whether `total` is all that there is to do in the stage."""
        return self.unit != TASKS

    @property
    def is_of_this_host(self) -> bool:
        """Return whether the process is, or was, one of this machine."""
        return self.host == socket.gethostname()


def begin(log: Log) -> Heartbeat:
    """Make the first heartbeat of this process."""
    began = log.began.isoformat(timespec="seconds")
    return Heartbeat(run_id=log.run_id, attempt=log.attempt, command=log.command, began=began)


def next_attempt(work: str, *, goes_on: bool) -> tuple[str, int]:
    """Return the id of a run that begins there, or goes on after it was ended, and the number of its attempt."""
    before = read(work) if goes_on else None
    if before is None:
        return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid4().hex[:8]}", 1
    return before.run_id, before.attempt + 1


def read(work: str) -> Heartbeat | None:
    """Read what was last written there; None: nothing, or what another version has written."""
    try:
        return checkpoints.read(staging.path(work, staging.STATE), Heartbeat)
    except checkpoints.BrokenCheckpoint:
        return None


def write(work: str, beat: Heartbeat) -> None:
    """Write a heartbeat as that of now; one that cannot be written is left out, since that is no reason to end."""
    with suppress(OSError):  # a full disk shows where tables have to be written
        checkpoints.write(staging.path(work, staging.STATE), replace(beat, updated=timestamps.now()))


def of_process(work: str) -> dict[str, object]:
    """Return what run.json holds of the process that ends a run now: who it was, since when, and by what command."""
    beat = read(work)
    if beat is None:  # it could not be written
        return {}
    own = {"host": beat.host, "pid": beat.pid}
    return {"process": own, "began": beat.began, "updated": timestamps.now(), "command": beat.command or None}


@contextmanager
def beating(work: str, log: Log) -> Iterator[None]:
    """Write a heartbeat every few seconds while the block runs, and that all is read when it ends well."""
    beat = replace(begin(log), stage=log.stage, stage_began=timestamps.now())
    write(work, beat)
    with repeat(SECONDS, lambda: write(work, beat)):
        yield
    write(work, replace(beat, is_ended=True))


@contextmanager
def keeping_failure(work: str) -> Iterator[None]:
    """Write what ends the block into the last heartbeat there, if this process has written that."""
    try:
        yield
    except BaseException as error:
        last = read(work)
        if last is not None and last.is_of_this_host and last.pid == os.getpid():
            write(work, replace(last, failure=reason(error)))
        raise
