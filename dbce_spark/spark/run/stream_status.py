"""Show how far a stream is, by its last commit and by the heartbeat of its process. Needs neither Spark nor Java."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbce_spark.files.sources import is_remote
from dbce_spark.log import STOPPED, counted
from dbce_spark.spark.run import heartbeat, run_lock, status_lines
from dbce_spark.spark.run.condition import Condition, is_at_work
from dbce_spark.spark.run.heartbeat import Heartbeat
from dbce_spark.spark.run.record_counts import rejects_by_reason, skipped_by_filter
from dbce_spark.spark.run.status_lines import ago, line
from dbce_spark.streaming.stream.outcomes import LABELS, LATE_LABELS, REPEATS
from dbce_spark.streaming.stream.stream_tables import Commit, last_commit

_COUNTED = ("files", "records", "captures", "revisits", LABELS, LATE_LABELS, REPEATS)
_OF_BATCH = ("batch", "committed", "seconds", "captures", "pages_per_second")
_WORDS = {"captures": "pages", LATE_LABELS: "late labels"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStatus:
    """Describe how far a stream is, by the last heartbeat of its process and its last commit; None: there is none."""

    output: str
    condition: Condition
    heartbeat: Heartbeat | None
    last: Commit | None

    @property
    def exit_status(self) -> int:
        """Return 0 if all that was there is read, 4: running, 5: stopped or dead."""
        return self.condition.exit_status

    @property
    def next_step(self) -> str:
        """Advise what to do now."""
        if self.condition is Condition.FINISHED:
            return "nothing; the same command takes what has come since"
        if self.condition is Condition.RUNNING:
            return "wait, or stop it: what is committed is kept"
        return "the same command goes on from there"

    @property
    def rejects(self) -> Mapping[str, int]:
        """Count the rejects of all committed batches, by reason."""
        return rejects_by_reason(self.last.totals if self.last else {})

    @property
    def skipped(self) -> Mapping[str, int]:
        """Count the skipped records of all committed batches, by filter."""
        return skipped_by_filter(self.last.totals if self.last else {})

    def as_dict(self) -> dict[str, Any]:
        """Render it for programs; null is what is not known. Counts are those of all committed batches."""
        beat, last = self.heartbeat, self.last
        process = status_lines.process_fields(beat)
        del process["stage"]  # a stream has only one
        return {
            "kind": "stream",
            "output": self.output,
            "condition": str(self.condition),
            "exit_status": self.exit_status,
            "error": None,
            "run_id": beat.run_id if beat else None,
            "attempts": beat.attempt if beat else None,
            **process,
            "batches": last.batch + 1 if last else 0,
            "last_batch": {name: getattr(last, name) for name in _OF_BATCH} if last else None,
            **self._counts(),
            "rejects": dict(self.rejects),
            "skipped": dict(self.skipped),
            "next_step": self.next_step,
        }

    def text(self) -> str:
        """Render it for a person."""
        beat, counts = self.heartbeat, self._counts()
        lines = [f"{self.output}: {self._headline()}"]
        lines += status_lines.process_lines(beat.run_id, beat.attempt, beat) if beat else []
        lines.append(line("batches", _batches(self.last) if self.last else "none is committed yet"))
        lines.append(line("files", f"{counts.pop('files'):,}"))
        lines.append(line("records", f"{counts.pop('records'):,} read, {counted(counts.pop('revisits'), 'revisit')}"))
        lines += [line(_WORDS.get(name, name), f"{count:,}") for name, count in counts.items()]
        lines += status_lines.reject_lines(self.rejects)
        lines.append(line("skipped", f"{sum(self.skipped.values()):,}"))
        return "\n".join([*lines, *status_lines.next_lines(self.next_step, beat, self.condition)])

    def _counts(self) -> dict[str, int]:
        totals = self.last.totals if self.last else {}
        return {name: totals.get(name, 0) for name in _COUNTED}

    def _headline(self) -> str:
        beat = self.heartbeat
        if beat is None:
            return status_lines.without_heartbeat(self.condition)
        process = f"process {beat.pid} on {beat.host}"
        if self.condition is Condition.RUNNING:
            return f"running, {process}, begun {ago(beat.began)}"
        how = "all that was there is read" if self.condition is Condition.FINISHED else str(self.condition)
        return f"{how}, since {beat.updated} ({ago(beat.updated)}); it was {process}"


def inspect_stream(output: str) -> StreamStatus:
    """Look how far the output of a stream is.

    Raises:
        OutputError: a commit cannot be read.
    """
    is_held = None if is_remote(output) else run_lock.is_held(output)
    beat = heartbeat.read(output)
    return StreamStatus(output=output, condition=_condition(beat, is_held), heartbeat=beat, last=last_commit(output))


def _condition(beat: Heartbeat | None, is_held: bool | None) -> Condition:
    if is_held:
        return Condition.RUNNING
    if beat is not None and beat.is_ended:
        return Condition.FINISHED
    if beat is not None and beat.failure == STOPPED:
        return Condition.STOPPED
    return Condition.RUNNING if is_at_work(beat, is_held) else Condition.DEAD


def _batches(last: Commit) -> str:
    pages = f"{counted(last.captures, 'page')} in {last.seconds:,.1f} s ({last.pages_per_second:,.1f}/s)"
    return f"{last.batch + 1:,}; the last {last.committed} ({ago(last.committed)}): {pages}"
