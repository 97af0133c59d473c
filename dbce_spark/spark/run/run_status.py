"""Show how far a run is, by its report, or by what it has staged and its heartbeat. Needs neither Spark nor Java."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import fsspec

from dbce_spark.archive import failed_files
from dbce_spark.errors import BudgetError, OutputError, denied
from dbce_spark.files import storage
from dbce_spark.files.sources import is_remote
from dbce_spark.log import clock, counted
from dbce_spark.output import output_reader
from dbce_spark.output.collection import EXTRACTIONS, RUN_FILE, RUNS, Collection, Version
from dbce_spark.spark.engine import merge_tasks
from dbce_spark.spark.run import checkpoints, heartbeat, run_lock, staging, status_lines
from dbce_spark.spark.run.condition import Condition, is_at_work
from dbce_spark.spark.run.heartbeat import Heartbeat
from dbce_spark.spark.run.plan import STAGING_VERSION, Plan
from dbce_spark.spark.run.record_counts import ReadSource, RecordCounts
from dbce_spark.spark.run.status_lines import ago, line

T = TypeVar("T")

_WRITTEN = ("extractions", "crossed", "single", "flags", "duplicates", "seconds", "engine")
"""Fields in which a finished run tells of its output, and of how it was made."""
_OF_CORPUS = ("output", "in", "removed", "left")
_OF_PROCESS = ("process", "began", "updated", "command")
"""Fields that tell of the process that ended it; missing where its heartbeat could not be written."""
_NEXT_STEPS = {
    Condition.FINISHED: "nothing; --overwrite would start afresh",
    Condition.RUNNING: "wait, or stop it: what is finished is kept",
    Condition.DEAD: "the same command goes on from there, --overwrite starts afresh",
    Condition.NONE: "give `dbce extract`; with --staging elsewhere, name that folder here, too",
}
_OF_OTHERS = {"export.json": "dbce export", ".dbce-report": "dbce report", "redesigns": "dbce changes"}
"""Names that only these commands write, which are no runs."""
_NOTHING_KEPT = {  # of a run without Spark, or before its first file
    Condition.RUNNING: "wait, or stop it: nothing of it is kept yet",
    Condition.DEAD: "the same command starts anew: nothing is kept of this run",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneShare:
    """A count of what is done, and of all; `of` is None as long as that is not known."""

    done: int
    of: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedFiles:
    """The number of files that failed, of how many in all, and how many may. `first` has reasons by path.

    `exceeds_limit`: more failed than `input.max_failed_files` allows.
    """

    count: int
    of: int
    allowed: int
    exceeds_limit: bool
    first: Mapping[str, str]

    def lines(self) -> list[str]:
        """Render it for a person, with the first three."""
        limit = "too many" if self.exceeds_limit else f"{self.allowed:,} may fail"
        total = line("failed files", f"{self.count:,} of {self.of:,}; {limit} (input.max_failed_files)")
        return [total, *(line("", f"{path}: {why}") for path, why in [*self.first.items()][:3])]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIncrement:
    """The increment that a status is of, beside the version that readers have, None before the first, and the crawls
    of that."""

    version: Version | None
    crawls: int
    increment: int

    def text(self) -> str:
        """Render it for a person."""
        if self.version is None:
            return f"no version yet; below, increment {self.increment}"
        return (
            f"version {self.version.number} of {self.version.made} counts: {counted(self.crawls, 'crawl')},"
            f" {counted(self.version.captures, 'capture')}; below, increment {self.increment}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Render it for programs."""
        if self.version is None:
            return dict.fromkeys(("version", "made", "crawls", "captures")) | {"increment": self.increment}
        return {
            "version": self.version.number,
            "made": self.version.made,
            "crawls": self.crawls,
            "captures": self.version.captures,
            "increment": self.increment,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """Describe how far the run of an output is, or of the increment of a collection that was begun last.

    The counts from `records` to `rejects` are None for an unfinished run without Spark, which stages nothing.
    """

    output: str
    condition: Condition
    run_id: str = ""
    attempts: int = 0
    heartbeat: Heartbeat | None = None  # the last of its process; None if the run has ended
    stages: tuple[str, ...] = ()  # that have ended
    files: DoneShare | None = None  # that are read, and parts of what indexes name
    parts: DoneShare | None = None  # of `extractions`, that are written
    records: int | None = 0
    captures: int | None = 0
    revisits: int | None = 0
    skipped: Mapping[str, int] | None = field(default_factory=dict)
    rejects: Mapping[str, int] | None = field(default_factory=dict)
    written: Mapping[str, Any] = field(default_factory=dict)  # of run.json, by its names
    failed_files: FailedFiles | None = None
    collection: OpenIncrement | None = None

    @property
    def corpus(self) -> Mapping[str, Any] | None:
        """Return the counts of `dbce corpus`, if that wrote the output; the rest is then of the run that it was made
        of."""
        return self.written.get("corpus")

    @property
    def exit_status(self) -> int:
        """Return 0: finished, 3: finished with more failed files than may be, 4: running, 5: dead, 6: never begun."""
        if self.condition is Condition.FINISHED and self.failed_files and self.failed_files.exceeds_limit:
            return BudgetError.exit_status
        return self.condition.exit_status

    @property
    def next_step(self) -> str:
        """Advise what to do now."""
        if self.corpus:
            return "nothing; `dbce corpus ... --overwrite` would replace it"
        if self.condition is Condition.FINISHED and self.collection:
            return "nothing; `dbce extract ... --collection` with more archives extends it"
        if not self._keeps_something and self.condition in _NOTHING_KEPT:
            return _NOTHING_KEPT[self.condition]
        return _NEXT_STEPS[self.condition]

    @property
    def _keeps_something(self) -> bool:
        """Return whether something of an unfinished run is done that need not be done again."""
        if self.heartbeat and not self.heartbeat.keeps:
            return False
        return bool(self.stages) or self.files is None or self.files.of is None or self.files.done > 0

    def as_dict(self) -> dict[str, Any]:
        """Render it for programs; null is what is not known."""
        return {
            "kind": "collection" if self.collection else "corpus" if self.corpus else "run",
            "output": self.output,
            "condition": str(self.condition),
            "exit_status": self.exit_status,
            "error": None,
            "run_id": self.run_id or None,
            "attempts": self.attempts,
            **status_lines.process_fields(self.heartbeat),
            **{name: self.written[name] for name in _OF_PROCESS if name in self.written},
            "stages_ended": list(self.stages),
            "files": asdict(self.files) if self.files else None,
            "parts": asdict(self.parts) if self.parts else None,
            "records": self.records,
            "captures": self.captures,
            "revisits": self.revisits,
            "skipped": None if self.skipped is None else dict(self.skipped),
            "rejects": None if self.rejects is None else dict(self.rejects),
            **{name: self.written.get(name) for name in _WRITTEN},
            "failed_files": asdict(self.failed_files) if self.failed_files else None,
            "collection": self.collection.as_dict() if self.collection else None,
            "corpus": self.corpus,
            "next_step": self.next_step,
        }

    def text(self) -> str:
        """Render it for a person."""
        lines = [f"{self.output}: {self._headline()}"]
        lines += [line("collection", self.collection.text())] if self.collection else []
        if self.corpus:
            lines += [*_corpus_lines(self.corpus), line("next", self.next_step)]
        else:
            lines += [*self._run_lines(), *status_lines.next_lines(self.next_step, self.heartbeat, self.condition)]
        return "\n".join(lines)

    def _run_lines(self) -> list[str]:
        """Render for a person what the run has done."""
        lines = status_lines.process_lines(self.run_id, self.attempts, self.heartbeat)
        lines += [line("stages ended", ", ".join(self.stages))] if self.stages else []
        for name, one, what in (("files", self.files, "read"), ("extractions", self.parts, "parts written")):
            if one is not None:
                lines.append(line(name, f"{one.done:,}{'' if one.of is None else f' of {one.of:,}'} {what}"))
        for name, count in (self.written.get("flags") or {}).items():
            lines.append(line("flag", f"{counted(count, 'extraction')} {name}"))
        if self.records is not None and self.captures is not None and self.failed_files:
            lines.append(line("records", f"{self.records:,} read, {counted(self.captures, 'capture')}"))
            lines += [*status_lines.reject_lines(self.rejects or {}), *self.failed_files.lines()]
        return lines

    def _headline(self) -> str:
        beat = self.heartbeat
        if self.condition is Condition.NONE:
            return "no run was begun there"
        if self.condition is Condition.FINISHED:
            return "finished"
        if beat is None:
            return status_lines.without_heartbeat(self.condition)
        stage = f"in stage {beat.stage}" if beat.stage else "before its first stage"
        if self.condition is Condition.DEAD:
            return f"dead since {beat.updated} ({ago(beat.updated)}), {stage}; it was process {beat.pid} on {beat.host}"
        # Of files and parts there is a count below, of what lies there now.
        has_tasks = beat.total and not beat.is_all_planned
        how_far = f", {beat.done:,} of {counted(beat.total, 'task')} so far" if has_tasks else ""
        to_go = f", {clock(beat.seconds_to_go)} to go" if beat.seconds_to_go else ""
        since = f" since {beat.stage_began}" if beat.stage_began else ""
        return f"running, {stage}{since}{how_far}{to_go}; process {beat.pid} on {beat.host}, begun {ago(beat.began)}"


def _corpus_lines(corpus: Mapping[str, Any]) -> list[str]:
    """Render for a person what `dbce corpus` has left and removed."""
    left, whole = corpus["left"], corpus["in"]
    return [
        line("corpus", f"{left:,} of {whole:,} extractions of {corpus['output']}"),
        *(line("", f"{count:,} removed by {name}") for name, count in corpus["removed"].items()),
    ]


def inspect_run(output: str, staging_in: str = "") -> RunStatus:
    """Look how far the run of an output, or of a collection, is. `staging_in` is what its `--staging` was, "" without.

    Raises:
        OutputError: it holds something that no run of this version has written, or its storage cannot be reached.
    """
    if not is_remote(output) and Path(Collection(output).increment(1)).parent.is_dir():
        return _of_collection(Collection(output))
    names = storage.list_names(output)
    if others := [command for name, command in _OF_OTHERS.items() if name in names]:
        raise OutputError(f"{output} is what `{others[0]}` wrote, which is no run and has no status")
    if RUN_FILE in names:
        return _finished(output)
    work = staging_in or output
    if is_remote(work):
        raise OutputError(
            f"{output}: not finished; give --staging DIR, as the run had it, to see whether one was begun"
        )
    return _unfinished(output, work)


def _unfinished(output: str, work: str) -> RunStatus:
    """Look at the lock, the heartbeat and the plan of a run that has not ended, and at what it has staged."""
    is_held = run_lock.is_held(work)
    beat = heartbeat.read(work)
    plan = _read_plan(work)
    if plan is None:
        if RUN_FILE in storage.list_names(output):  # it has ended while we looked
            return _finished(output)
        return RunStatus(output=output, condition=Condition.RUNNING if is_held else Condition.NONE)
    condition = Condition.RUNNING if is_held or is_at_work(beat, is_held) else Condition.DEAD
    begun = RunStatus(output=output, condition=condition, heartbeat=beat)
    if beat:
        begun = replace(begun, run_id=beat.run_id, attempts=beat.attempt)
    if beat and not beat.keeps:
        return replace(begun, records=None, captures=None, revisits=None, skipped=None, rejects=None)
    return _with_staged(begun, work, plan)


def _read_plan(work: str) -> Plan | None:
    """Read the plan of a run; None: none was begun there.

    Raises:
        OutputError: another version of this program wrote it.
    """
    path = staging.path(work, staging.PLAN)
    try:
        plan = checkpoints.read(path, Plan)
    except checkpoints.BrokenCheckpoint as error:
        raise OutputError(f"{path} is no plan of this version") from error
    if plan is not None and plan.staging_version != STAGING_VERSION:
        raise OutputError(f"{work} holds a run of another version of this program; ask that version for its status")
    return plan


def _of_collection(collection: Collection) -> RunStatus:
    """Look at the increment that is written, or was when its run died; where none is, at the last that counts."""
    latest = collection.latest()
    number = latest.number + 1 if latest else 1
    status = inspect_run(collection.increment(number))
    if status.condition is Condition.FINISHED:
        latest = collection.latest()
        if latest is None or latest.number < number:  # all is written but the manifest; the next run makes it a version
            status = replace(status, condition=Condition.DEAD)
    elif status.condition is Condition.NONE and latest:
        number = latest.increments[-1].number
        status = _finished(collection.increment(number))
    has_begun = status.condition is not Condition.NONE
    crawls = len(collection.run_files(latest)) if latest else 0
    open_increment = OpenIncrement(version=latest, crawls=crawls, increment=number) if has_begun else None
    return replace(status, output=collection.folder, collection=open_increment)


def _finished(output: str) -> RunStatus:
    """Read the report of a run; of increments that were compacted that of the last run among them."""
    compacted = sorted(str(one) for one in Path(output, RUNS).glob("[0-9]*.json"))
    path = [f"{output.rstrip('/')}/{RUN_FILE}", *compacted][-1]
    try:
        with fsspec.open(path, "rb") as file:
            report = json.load(file)
        output_reader.check_form(report)
        return RunStatus(
            output=output,
            condition=Condition.FINISHED,
            run_id=report.get("run_id", ""),
            attempts=report.get("attempts", 1),
            stages=tuple(name for name in report["seconds"] if name != "start"),
            files=DoneShare(done=report["files"], of=report["files"]),
            records=report["records_read"],
            captures=report["captures"],
            revisits=report.get("revisits"),
            skipped=report.get("skipped"),
            rejects=report["rejects"],
            written={name: report[name] for name in (*_WRITTEN, *_OF_PROCESS) if name in report} | _of_corpus(report),
            failed_files=_failed_files(report["failed_files"], report["config"]),
        )
    except PermissionError as error:
        raise denied(path, error) from error
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error}; {output_reader.remedy(output)}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise OutputError(f"{path} is no report of a run of this version") from error


def _of_corpus(report: Mapping[str, Any]) -> dict[str, Any]:
    """Take the counts of `dbce corpus` from a report that has them. Raises KeyError if one is not there."""
    return {"corpus": {name: report["corpus"][name] for name in _OF_CORPUS}} if "corpus" in report else {}


def _with_staged(begun: RunStatus, work: str, plan: Plan) -> RunStatus:
    """Add to the status of an unfinished run what lies in its staging folder."""
    selected: dict[str, Any] = checkpoints.kept(staging.done(work, staging.SELECTION), dict[str, Any]) or {}
    read, by_source, is_all_read = _source_counts(work)
    losses = [failed_files.Loss(**one) for one in selected.get("losses", [])]
    counts = sum(by_source, RecordCounts(losses=losses, rejects=Counter(selected.get("rejects", {}))))
    archives: dict[str, int] = selected.get("archives", {})
    # With an index it is not known how much there is to read before that is read.
    is_known = not plan.indexes or bool(selected)
    captures = [one.captures for one in (*by_source, *_each(work, staging.ORIGINALS, RecordCounts))]
    written = len(staging.done_tasks(work, EXTRACTIONS))
    cut = merge_tasks.cut(captures, plan.config["output"]["rows_per_file"]).count if is_all_read else None
    files = len(plan.files) + len(plan.indexes) + len(archives)
    return replace(
        begun,
        stages=tuple(staging.ended_stages(work)),
        files=DoneShare(done=read, of=len(plan.files) + selected.get("parts", 0) if is_known else None),
        parts=DoneShare(done=written, of=cut) if is_all_read else None,
        records=counts.records,
        captures=counts.captures,
        revisits=counts.revisits,
        skipped=dict(counts.skipped),
        rejects=dict(counts.rejects),
        failed_files=_failed_files(
            failed_files.report(failed_files.join_losses(counts.losses, archives), files), plan.config
        ),
    )


def _source_counts(work: str) -> tuple[int, list[RecordCounts], bool]:
    """Count the sources that are read; return also what came of them, and whether that is all of them."""
    whole = checkpoints.kept(staging.done(work, staging.PAGES), list[RecordCounts])
    if whole is not None:
        return len(whole), whole, True
    counts = [one.counts for one in _each(work, staging.PAGES, ReadSource)]
    return len(counts), counts, False


def _each(work: str, stage: str, kind: type[T]) -> list[T]:
    """Read what came of those tasks of a stage that have ended."""
    results = (checkpoints.kept(path, kind) for path in staging.done_tasks(work, stage))
    return [result for result in results if result is not None]


def _failed_files(failed: Mapping[str, Any], config: Mapping[str, Any]) -> FailedFiles:
    """Set the figures of `failed_files.report` beside the share of files that may fail."""
    count, of, first = failed["count"], failed["of"], failed["first"]
    allowed = failed_files.allowed(config["input"]["max_failed_files"], of)
    return FailedFiles(count=count, of=of, allowed=allowed, exceeds_limit=count > allowed, first=first)
