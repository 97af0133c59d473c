"""Render what the status of a run and that of a stream share: their process, rejects and the next step."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from dbce_spark.log import clock
from dbce_spark.spark.run.condition import Condition
from dbce_spark.spark.run.heartbeat import Heartbeat


def process_fields(beat: Heartbeat | None) -> dict[str, Any]:
    """Render a heartbeat for programs; null is what is not known."""
    if beat is None:
        return dict.fromkeys(("process", "began", "updated", "stage", "failure", "command"))
    return {
        "process": {"host": beat.host, "pid": beat.pid},
        "began": beat.began,
        "updated": beat.updated,
        "stage": {
            "name": beat.stage,
            "began": beat.stage_began,
            "done": beat.done,
            "of": beat.total,
            "unit": beat.unit,
            "pages_per_second": beat.pages_per_second,
            "seconds_to_go": beat.seconds_to_go,
        },
        "failure": beat.failure or None,
        "command": beat.command or None,
    }


def process_lines(run_id: str, attempt: int, beat: Heartbeat | None) -> list[str]:
    """Render which run it is, and what ended it if it could still say so."""
    run = [line("run", f"{run_id}, attempt {attempt}")] if run_id else []
    return [*run, *([line("ended by", beat.failure)] if beat and beat.failure else [])]


def next_lines(step: str, beat: Heartbeat | None, condition: Condition) -> list[str]:
    """Render what to do now, with the command where that is to be given again, or may be."""
    command = beat.command if beat and condition is not Condition.RUNNING else ""
    return [line("next", step), *([line("", command)] if command else [])]


def without_heartbeat(condition: Condition) -> str:
    """Render the condition of a run or a stream that has left no heartbeat."""
    return "running" if condition is Condition.RUNNING else "dead; it left no heartbeat"


def line(name: str, value: str, *, width: int = 14) -> str:
    """Render a figure by its name."""
    return f"  {name:{width}}{value}".rstrip()


def by_frequency(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Sort counts, the largest first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def reject_lines(rejects: Mapping[str, int]) -> list[str]:
    """Render how many rejects there are, and how many of each reason, the most frequent first."""
    sum_of_all = line("rejects", f"{sum(rejects.values()):,}")
    return [sum_of_all, *(line(f"  {reason}", f"{count:,}", width=24) for reason, count in by_frequency(rejects))]


def ago(when: str) -> str:
    """Render how long ago a time was, which is given as ISO 8601."""
    return f"{clock((datetime.now(UTC) - datetime.fromisoformat(when)).total_seconds())} ago"
