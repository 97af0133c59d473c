"""How far a stream is: by its last commit, and by what its process said of itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbce_spark.errors import OutputError
from dbce_spark.log import STOPPED
from dbce_spark.spark import state
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.record_counts import REJECTS
from dbce_spark.spark.state import State
from dbce_spark.status.condition import EXIT, Condition, ago, is_at_work, line, reject_lines
from dbce_spark.streaming.stream.domain import LABELS, LATE_LABELS, REPEATS
from dbce_spark.streaming.stream.stream_tables import Commit, last_commit

_COUNTED = ("files", "records", "captures", "revisits", LABELS, LATE_LABELS, REPEATS)

_WORDS = {"captures": "pages", LATE_LABELS: "late labels"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStatus:
    """What can be said of the output of a stream. `state` is what its process said of itself last, `last` the batch
    that was committed last; None: nothing was."""

    output: str
    condition: Condition
    state: State | None
    last: Commit | None

    @property
    def exit_status(self) -> int:
        """0 all that was there is read, 4 running, 5 stopped or dead."""
        return EXIT[self.condition]

    @property
    def next_step(self) -> str:
        """What to do now."""
        if self.condition is Condition.FINISHED:
            return "nothing; the same command takes what has come since"
        if self.condition is Condition.RUNNING:
            return "wait, or stop it: what is committed is kept"
        return "the same command goes on from there"

    @property
    def rejects(self) -> Mapping[str, int]:
        """By reason."""
        totals = self.last.totals if self.last else {}
        return {name.removeprefix(REJECTS): n for name, n in totals.items() if name.startswith(REJECTS)}

    def as_dict(self) -> dict[str, Any]:
        """For programs; null is what is not known. Counts are those of all committed batches."""
        one, last, counts = self.state, self.last, self._counts()
        return {
            "output": self.output,
            "condition": str(self.condition),
            "exit_status": self.exit_status,
            "run_id": one.run_id if one else None,
            "attempts": one.attempt if one else None,
            "process": {"host": one.host, "pid": one.pid} if one else None,
            "began": one.began if one else None,
            "updated": one.updated if one else None,
            "failure": (one.failure or None) if one else None,
            "command": (one.command or None) if one else None,
            "batches": last.batch + 1 if last else 0,
            "last_batch": _batch(last) if last else None,
            **counts,
            "rejects": dict(self.rejects),
            "next_step": self.next_step,
        }

    def text(self) -> str:
        """For a person."""
        lines, one, last = [f"{self.output}: {self._told()}"], self.state, self.last
        if one:
            lines.append(line("run", f"{one.run_id}, attempt {one.attempt}"))
        if one and one.failure:
            lines.append(line("ended by", one.failure))
        lines.append(line("batches", _batches(last) if last else "none is committed yet"))
        counts = self._counts()
        lines.append(line("files", f"{counts.pop('files'):,}"))
        lines.append(line("records", f"{counts.pop('records'):,} read, {counts.pop('revisits'):,} revisits"))
        lines += [line(_WORDS.get(name, name), f"{count:,}") for name, count in counts.items()]
        lines += [*reject_lines(self.rejects), line("next", self.next_step)]
        if one and one.command and self.condition is not Condition.RUNNING:
            lines.append(line("", one.command))
        return "\n".join(lines)

    def _counts(self) -> dict[str, int]:
        totals = self.last.totals if self.last else {}
        return {name: totals.get(name, 0) for name in _COUNTED}

    def _told(self) -> str:
        one = self.state
        if one is None:
            return "running" if self.condition is Condition.RUNNING else "dead, and has left no word of when"
        process = f"process {one.pid} on {one.host}"
        if self.condition is Condition.RUNNING:
            return f"running, {process}, begun {ago(one.began)}"
        what = "all that was there is read" if self.condition is Condition.FINISHED else str(self.condition)
        return f"{what}, since {one.updated} ({ago(one.updated)}); it was {process}"


def of(output: str) -> StreamStatus:
    """What can be said of the output of a stream.

    Raises:
        OutputError: a commit cannot be read.
    """
    is_held = None if "://" in output else staging.is_held(output)
    said = state.read(output)
    try:
        last = last_commit(output)
    except (ValueError, TypeError) as error:
        raise OutputError(f"{output}: its last commit is none of this version") from error
    return StreamStatus(output=output, condition=_condition(said, is_held), state=said, last=last)


def _condition(said: State | None, is_held: bool | None) -> Condition:
    if is_held:
        return Condition.RUNNING
    if said is not None and said.is_ended:
        return Condition.FINISHED
    if said is not None and said.failure == STOPPED:
        return Condition.STOPPED
    return Condition.RUNNING if is_at_work(said, is_held) else Condition.DEAD


def _batch(last: Commit) -> dict[str, Any]:
    return {
        "batch": last.batch,
        "committed": last.committed,
        "seconds": last.seconds,
        "captures": last.captures,
        "pages_per_second": last.pages_per_second,
    }


def _batches(last: Commit) -> str:
    pages = f"{last.captures:,} pages in {last.seconds:,.1f} s ({last.pages_per_second:,.1f}/s)"
    return f"{last.batch + 1:,}; the last {last.committed} ({ago(last.committed)}): {pages}"
