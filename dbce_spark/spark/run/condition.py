"""Infer from its lock and its heartbeat the condition of a process that was begun on an output."""

import os
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from dbce_spark.spark.run.heartbeat import Heartbeat

_FRESH = timedelta(seconds=60)
"""The greatest age of the heartbeat of a run on another host that is taken to be at work: it writes one every 5 s."""


class Condition(StrEnum):
    """Name what became of a run, or of a stream."""

    FINISHED = "finished"  # of a stream: all that was there is read
    RUNNING = "running"
    STOPPED = "stopped"  # a stream that somebody has ended
    DEAD = "dead"  # begun, not finished, and nobody works on it
    NONE = "none"  # never begun

    @property
    def exit_status(self) -> int:
        """Return how `dbce status` ends."""
        return _EXIT[self]


_EXIT = {Condition.FINISHED: 0, Condition.RUNNING: 4, Condition.STOPPED: 5, Condition.DEAD: 5, Condition.NONE: 6}


def is_at_work(beat: Heartbeat | None, is_held: bool | None) -> bool:
    """Return whether a run that holds no lock that is seen here is at work all the same, by its last heartbeat."""
    if beat is None or beat.failure or beat.is_ended:
        return False
    if datetime.now(UTC) - datetime.fromisoformat(beat.updated) > _FRESH:
        return False
    if not beat.is_of_this_host:
        return True
    if is_held is not None:
        return False
    try:
        os.kill(beat.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is somebody else's
    return True
