"""What became of a process that was begun on an output, and how that is told."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from dbce_spark import pace
from dbce_spark.spark.state import State

_FRESH = timedelta(seconds=60)
"""How long ago a run on another host has said something at most, if it is taken to be at work: it does every 5 s."""


class Condition(StrEnum):
    """What became of a run, or of a stream."""

    FINISHED = "finished"  # of a stream: all that was there is read
    RUNNING = "running"
    STOPPED = "stopped"  # a stream that somebody has ended
    DEAD = "dead"  # begun, not finished, and nobody works on it
    NONE = "none"  # never begun


EXIT = {Condition.FINISHED: 0, Condition.RUNNING: 4, Condition.STOPPED: 5, Condition.DEAD: 5, Condition.NONE: 6}


def is_at_work(last: State | None, is_held: bool | None) -> bool:
    """Whether a run that holds no lock that is seen here is at work all the same: by what it says of itself."""
    if last is None or last.failure or datetime.now(UTC) - datetime.fromisoformat(last.updated) > _FRESH:
        return False
    if not last.is_of_this_host:
        return True
    if is_held is not None:
        return False
    try:
        os.kill(last.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is somebody else's
    return True


def line(name: str, told: str, *, width: int = 14) -> str:
    return f"  {name:{width}}{told}".rstrip()


def reject_lines(rejects: Mapping[str, int]) -> list[str]:
    """How many there are, and of each reason, the most frequent first."""
    ordered = sorted(rejects.items(), key=lambda item: (-item[1], item[0]))
    all_of_them = line("rejects", f"{sum(rejects.values()):,}")
    return [all_of_them, *(line(f"  {reason}", f"{count:,}", width=24) for reason, count in ordered)]


def ago(when: str) -> str:
    return f"{pace.clock((datetime.now(UTC) - datetime.fromisoformat(when)).total_seconds())} ago"
