"""How far a run is: by its report, or by the ledger of what it has staged."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import fsspec

from dbce_spark import pace, storage
from dbce_spark.archive import failed_files
from dbce_spark.errors import OutputError
from dbce_spark.output.collection import Collection, Version
from dbce_spark.spark import state
from dbce_spark.spark.engine import merge_tasks
from dbce_spark.spark.run import checkpoints, staging
from dbce_spark.spark.run.plan import STAGING_VERSION, Plan
from dbce_spark.spark.run.record_counts import ReadSource, RecordCounts
from dbce_spark.spark.state import State
from dbce_spark.status.condition import EXIT, Condition, ago, is_at_work, line, reject_lines

T = TypeVar("T")

_RUN_FILE = "run.json"


_TOO_MANY_FAILED = 3
"""As `dbce extract` ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How many of how many; `of` is None as long as that is not known."""

    done: int
    of: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Files that failed, of how many in all, and how many may."""

    failed: int
    of: int
    allowed: int
    first: Mapping[str, str]

    @property
    def is_spent(self) -> bool:
        return self.failed > self.allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a collection holds beside what is being written: the version that counts, None before the first; `increment`
    is the number of the one that all else of a status is about."""

    version: Version | None
    increment: int

    def text(self) -> str:
        if self.version is None:
            return f"no version yet; below, increment {self.increment}"
        captures = sum(one.captures for one in self.version.increments)
        return (
            f"version {self.version.number} of {self.version.made} counts: {len(self.version.increments):,} crawls,"
            f" {captures:,} captures; below, increment {self.increment}"
        )

    def as_dict(self) -> dict[str, Any]:
        one = self.version
        return {
            "version": one.number if one else None,
            "made": one.made if one else None,
            "increment": self.increment,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What can be said of an output, or of the increment of a collection that was begun last. `state` is what its run
    said of itself last, if it has; `stages` are those that have ended; `files` are input files, and parts of what
    indexes name, that are read; `parts` those of `extractions` that are written."""

    output: str
    condition: Condition
    run_id: str = ""
    attempts: int = 0
    state: State | None = None
    stages: tuple[str, ...] = ()
    files: Done | None = None
    parts: Done | None = None
    records: int = 0
    captures: int = 0
    rejects: Mapping[str, int] | None = None
    budget: Budget | None = None
    collection: Held | None = None

    @property
    def exit_status(self) -> int:
        """0 finished, 3 finished with more failed files than may be, 4 running, 5 dead, 6 never begun."""
        if self.condition is Condition.FINISHED and self.budget and self.budget.is_spent:
            return _TOO_MANY_FAILED
        return EXIT[self.condition]

    @property
    def next_step(self) -> str:
        """What to do now."""
        if self.condition is Condition.FINISHED and self.collection:
            return "nothing; `dbce extract ... --collection` with more archives extends it"
        if self.condition is Condition.FINISHED:
            return "nothing; --overwrite would start afresh"
        if self.condition is Condition.RUNNING:
            return "wait, or stop it: what is finished is kept"
        if self.condition is Condition.NONE:
            return "give `dbce extract`; with --staging elsewhere, name that folder here, too"
        return "the same command goes on from there, --overwrite starts afresh"

    def as_dict(self) -> dict[str, Any]:
        """For programs; null is what is not known."""
        one = self.state
        is_at_work = one is not None and self.condition is not Condition.FINISHED
        return {
            "output": self.output,
            "condition": str(self.condition),
            "exit_status": self.exit_status,
            "run_id": self.run_id or None,
            "attempts": self.attempts,
            "process": {"host": one.host, "pid": one.pid} if one else None,
            "began": one.began if one else None,
            "updated": one.updated if one else None,
            "stage": _stage(one) if one and is_at_work else None,
            "failure": (one.failure or None) if one else None,
            "command": (one.command or None) if one else None,
            "stages_ended": list(self.stages),
            "files": _done(self.files),
            "parts": _done(self.parts),
            "records": self.records,
            "captures": self.captures,
            "rejects": dict(self.rejects or {}),
            "failed_files": _budget(self.budget),
            "collection": self.collection.as_dict() if self.collection else None,
            "next_step": self.next_step,
        }

    def text(self) -> str:
        """For a person."""
        lines = [f"{self.output}: {self._told()}"]
        if self.collection:
            lines.append(line("collection", self.collection.text()))
        if self.run_id:
            lines.append(line("run", f"{self.run_id}, attempt {self.attempts}"))
        if self.state and self.state.failure:
            lines.append(line("ended by", self.state.failure))
        if self.stages:
            lines.append(line("stages ended", ", ".join(self.stages)))
        for name, done, what in (("files", self.files, "read"), ("extractions", self.parts, "parts written")):
            if done is not None:
                lines.append(line(name, f"{done.done:,}{'' if done.of is None else f' of {done.of:,}'} {what}"))
        if self.rejects is not None:
            lines.append(line("records", f"{self.records:,} read, {self.captures:,} captures"))
            lines += reject_lines(self.rejects)
        if self.budget:
            lines += self._budget_lines(self.budget)
        lines.append(line("next", self.next_step))
        if self.state and self.state.command and self.condition is Condition.DEAD:
            lines.append(line("", self.state.command))
        return "\n".join(lines)

    def _told(self) -> str:
        one = self.state
        if self.condition is Condition.NONE:
            return "no run was begun there"
        if self.condition is Condition.FINISHED:
            return "finished"
        if one is None:
            return "running" if self.condition is Condition.RUNNING else "dead, and has left no word of when"
        stage = f"in stage {one.stage}" if one.stage else "before its first stage"
        if self.condition is Condition.DEAD:
            return f"dead since {one.updated} ({ago(one.updated)}), {stage}; it was process {one.pid} on {one.host}"
        # Of files and parts there is a count below, of what lies there now.
        is_of_spark = one.total and one.unit == "tasks"
        how_far = f", {one.done:,} of {one.total:,} tasks planned so far" if is_of_spark else ""
        to_go = f", {pace.clock(one.seconds_to_go)} to go" if one.seconds_to_go else ""
        since = f" since {one.stage_began}" if one.stage_began else ""
        return f"running, {stage}{since}{how_far}{to_go}; process {one.pid} on {one.host}, begun {ago(one.began)}"

    @staticmethod
    def _budget_lines(one: Budget) -> list[str]:
        state = "too many" if one.is_spent else f"{one.allowed:,} may fail"
        lines = [line("failed files", f"{one.failed:,} of {one.of:,}; {state} (input.max_failed_files)")]
        return lines + [line("", f"{path}: {why}") for path, why in [*one.first.items()][:3]]


def of(output: str, staging_in: str = "") -> Status:
    """What can be said of an output, or of a collection. `staging_in` is what `--staging` of its run was, "" without.

    Raises:
        OutputError: it holds something that no run of this version has written, or its storage cannot be reached.
    """
    if "://" not in output and Path(Collection(output).increment(1)).parent.is_dir():
        return _of_collection(Collection(output))
    if _RUN_FILE in storage.names(output):
        return _finished(output)
    work = staging_in or output
    if "://" in work:
        raise OutputError(
            f"{output}: not finished; give --staging DIR, as the run had it, to see whether one was begun"
        )
    is_held = staging.is_held(work)
    last = state.read(work)
    try:
        plan = checkpoints.read(staging.path(work, staging.PLAN), Plan)
    except (ValueError, TypeError, KeyError) as error:
        raise OutputError(f"{staging.path(work, staging.PLAN)} is no plan of this version") from error
    if plan is None:
        if _RUN_FILE in storage.names(output):  # it has ended while we looked
            return _finished(output)
        return Status(output=output, condition=Condition.RUNNING if is_held else Condition.NONE)
    if plan.staging_version != STAGING_VERSION:
        raise OutputError(f"{work} holds a run of another version of this program; that one can tell how far it is")
    condition = Condition.RUNNING if is_held or is_at_work(last, is_held) else Condition.DEAD
    return _unfinished(output, work, condition, plan, last)


def _of_collection(of_all: Collection) -> Status:
    """Of the increment that is written, or was when its run died; where none is, of the last that counts."""
    latest = of_all.latest()
    number = latest.number + 1 if latest else 1
    found = of(of_all.increment(number))
    if found.condition is Condition.FINISHED:
        latest = of_all.latest()
        if latest is None or latest.number < number:  # all is written but the manifest; the next run makes it a version
            found = replace(found, condition=Condition.DEAD)
    elif found.condition is Condition.NONE and latest:
        number = latest.increments[-1].number
        found = _finished(of_all.increment(number))
    held = Held(version=latest, increment=number) if found.condition is not Condition.NONE else None
    return replace(found, output=of_all.folder, collection=held)


def _finished(output: str) -> Status:
    with fsspec.open(f"{output.rstrip('/')}/{_RUN_FILE}", "rb") as file:
        try:
            report = json.load(file)
            failed, share = report["failed_files"], report["config"]["input"]["max_failed_files"]
            return Status(
                output=output,
                condition=Condition.FINISHED,
                run_id=report.get("run_id", ""),
                attempts=report.get("attempts", 1),
                stages=tuple(name for name in report["seconds"] if name != "start"),
                files=Done(done=report["files"], of=report["files"]),
                records=report["records_read"],
                captures=report["captures"],
                rejects=report["rejects"],
                budget=_spent(failed, share),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(f"{output}/{_RUN_FILE} is no report of a run of this version") from error


def _unfinished(output: str, work: str, condition: Condition, plan: Plan, last: State | None) -> Status:
    selected: dict[str, Any] = checkpoints.read(staging.done(work, staging.SELECTION), dict[str, Any]) or {}
    read, tallies, is_all_read = _tallies(work)
    losses = [failed_files.Loss(**one) for one in selected.get("losses", [])]
    tally = sum(tallies, RecordCounts(losses=losses, rejects=Counter(selected.get("rejects", {}))))
    archives: dict[str, int] = selected.get("archives", {})
    # With an index it is not known how much there is to read before that is read.
    is_known = not plan.indexes or bool(selected)
    originals = _each(work, "originals", RecordCounts)
    captures = [one.captures for one in (*tallies, *originals)]
    written = len(staging.done_tasks(work, "extractions"))
    cut = merge_tasks.cut(captures, plan.config["output"]["rows_per_file"]).count if is_all_read else None
    share = plan.config["input"]["max_failed_files"]
    files = len(plan.files) + len(plan.indexes) + len(archives)
    return Status(
        output=output,
        condition=condition,
        run_id=last.run_id if last else "",
        attempts=last.attempt if last else 0,
        state=last,
        stages=tuple(staging.ended_stages(work)),
        files=Done(done=read, of=len(plan.files) + selected.get("parts", 0) if is_known else None),
        parts=Done(done=written, of=cut) if is_all_read else None,
        records=tally.records,
        captures=tally.captures,
        rejects=dict(tally.rejects),
        budget=_spent(failed_files.report(failed_files.joined(tally.losses, archives), files), share),
    )


def _tallies(work: str) -> tuple[int, list[RecordCounts], bool]:
    """How many sources are read, what came of them, and whether that is all of them."""
    whole = checkpoints.read(staging.done(work, staging.PAGES), list[RecordCounts])
    if whole is not None:
        return len(whole), whole, True
    some = [one.counts for one in _each(work, staging.PAGES, ReadSource)]
    return len(some), some, False


def _each(work: str, stage: str, kind: type[T]) -> list[T]:
    """What came of those tasks of a stage that have ended."""
    found = (checkpoints.read(path, kind) for path in staging.done_tasks(work, stage))
    return [one for one in found if one is not None]


def _spent(failed: Mapping[str, Any], share: float) -> Budget:
    return Budget(failed=failed["count"], of=failed["of"], allowed=int(share * failed["of"]), first=failed["first"])


def _stage(one: State) -> dict[str, Any]:
    return {
        "name": one.stage,
        "began": one.stage_began,
        "done": one.done,
        "of": one.total,
        "unit": one.unit,
        "pages_per_second": one.pages_per_second,
        "seconds_to_go": one.seconds_to_go,
    }


def _done(one: Done | None) -> dict[str, int | None] | None:
    return None if one is None else {"done": one.done, "of": one.of}


def _budget(one: Budget | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "count": one.failed,
        "of": one.of,
        "allowed": one.allowed,
        "is_spent": one.is_spent,
        "first": dict(one.first),
    }
