"""Run stages on Spark, measure how far each is, and show that in the log, in Spark's metrics and as a heartbeat."""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.accumulators import AccumulatorParam

from dbce_spark.files import timestamps
from dbce_spark.log import Log, Rate, clock, counted, repeat
from dbce_spark.spark.run import checkpoints, heartbeat, run_metrics, staging
from dbce_spark.spark.run.heartbeat import Heartbeat
from dbce_spark.spark.run.record_counts import rejects_by_reason

_TICK_SECONDS = 0.5
"""Between two measurements of a stage."""
_LINE_SECONDS = 30.0
"""Between two lines in a log."""
STAGE_PROPERTY = "spark.dbce.stage"
"""The property of Spark's jobs and tasks that names the stage of the main job that they belong to."""
_GROUP_PROPERTY, _TEXT_PROPERTY = "spark.jobGroup.id", "spark.job.description"
"""Spark's own properties of jobs: their group, by which they are found again, and what its web page shows."""
_RUNNING = "RUNNING"
"""Spark's name of the state of a job that has not ended."""


class _Sum(AccumulatorParam[Counter[str]]):
    """Add up the counts of tasks that have ended, as a new sum each time: another thread may be reading the old one."""

    def zero(self, value: Counter[str]) -> Counter[str]:
        return Counter()

    def addInPlace(self, value1: Counter[str], value2: Counter[str]) -> Counter[str]:  # noqa: N802
        return value1 + value2


@dataclass(frozen=True, slots=True)
class Steps:
    """List what a stage consists of where that is clear before it begins: `of` steps, each a `unit`.

    They are counted under `name`; the rate of the stage is that of the counts of `pages`. With `is_last` nothing comes
    behind it that takes long.
    """

    unit: str
    name: str
    of: int
    pages: tuple[str, ...] = ()
    is_last: bool = False


def job_group(stage: str, run_id: str, attempt: int) -> str:
    """Name the group of the jobs of a stage of one attempt at a run: a session may have made other runs."""
    return f"{stage} of {run_id}, attempt {attempt}"


class Progress:
    """Run stages one after the other, and keep their wall-clock seconds, with those of earlier attempts.

    Tasks add to `counted` what they have seen when they end.
    """

    def __init__(self, context: SparkContext, work: str, log: Log):
        self._kept_at = staging.path(work, staging.SECONDS)
        self.seconds = checkpoints.kept(self._kept_at, dict[str, float]) or {}
        self.log = log
        self.counted = context.accumulator(Counter[str](), _Sum())
        self._context = context
        self._work = work
        self._group = ""
        self._ended_jobs: dict[int, tuple[int, int]] = {}
        self._gauges = run_metrics.gauges_of(context)
        self._beat = heartbeat.begin(log)
        heartbeat.write(work, self._beat)

    def set_counts(self, counts: Mapping[str, int]) -> None:
        """Set counts, whatever tasks have counted under their names."""
        self.counted.value = Counter({**self.counted.value, **counts})
        self._show(replace(self._beat, counts=self.counted.value))

    def spent(self, name: str, seconds: float) -> None:
        """Add to the seconds of a stage."""
        self.seconds[name] = round(self.seconds.get(name, 0.0) + seconds, 3)
        checkpoints.write(self._kept_at, self.seconds)

    @contextmanager
    def stage(self, name: str, steps: Steps | None = None) -> Iterator[None]:
        """Count everything that Spark does within the block as of the stage."""
        self._group = job_group(name, self.log.run_id, self.log.attempt)
        self.log.stage = name
        unit, is_last = (steps.unit, steps.is_last) if steps else (heartbeat.TASKS, False)
        began = timestamps.now()
        self._beat = replace(self._beat, stage=name, stage_began=began, stage_seconds=0.0, unit=unit, is_last=is_last)
        of_what = f": {counted(steps.of, unit.removesuffix('s'))}" if steps else ""
        self.log.write("stage_begin", f"{name} begins{of_what}", _plan(self._beat))
        meter = _Meter(steps, self.counted.value)
        self._tick(meter)
        heartbeat.write(self._work, self._beat)
        with _named_jobs(self._context, self._group, name), repeat(_TICK_SECONDS, partial(self._tick, meter)):
            yield
        beat = self._measured(meter)
        seconds = round(beat.stage_seconds, 3)
        figures = {"seconds": seconds, "pages_per_second": beat.pages_per_second, "counts": beat.counts}
        self.log.write("stage_end", f"{name}: {', '.join([f'{seconds:,.1f} s', *_seen(beat)])}", figures)
        self.log.stage = ""
        self.spent(name, seconds)

    def _tick(self, meter: "_Meter") -> None:
        """Measure the stage, and show it: to a terminal each time, in a log and as a file now and then."""
        before = self._beat.stage_seconds
        try:
            beat = self._measured(meter)
        except (Py4JError, ConnectionError):  # Java is gone: the thread that waits for its work raises the error
            return
        level = logging.INFO if _has_passed(_LINE_SECONDS, before, beat.stage_seconds) else logging.DEBUG
        self.log.write("progress", line(beat), figures(beat), level=level)
        if _has_passed(heartbeat.SECONDS, before, beat.stage_seconds):
            heartbeat.write(self._work, beat)

    def _measured(self, meter: "_Meter") -> Heartbeat:
        tasks = (0, 0) if meter.steps else self._tasks(self._group)
        self._show(meter.measured(self._beat, self.counted.value, tasks))
        return self._beat

    def _show(self, beat: Heartbeat) -> None:
        self._beat = beat
        self._gauges.show(run_metrics.values(beat.counts, beat.pages_per_second))

    def _tasks(self, group: str) -> tuple[int, int]:
        """Count the finished and all tasks of a stage's jobs, of the steps that Spark has begun."""
        jobs = [self._tasks_of_job(one) for one in self._context.statusTracker().getJobIdsForGroup(group)]
        return sum(done for done, _ in jobs), sum(total for _, total in jobs)

    def _tasks_of_job(self, job_id: int) -> tuple[int, int]:
        """Count the finished and all tasks of a job, of its stages that have begun: others may be skipped, as what they
        would do is done. Of a job that has ended this is done once: each stage takes ten calls into Java."""
        if job_id in self._ended_jobs:
            return self._ended_jobs[job_id]
        tracker = self._context.statusTracker()
        job = tracker.getJobInfo(job_id)
        found = [*filter(None, map(tracker.getStageInfo, job.stageIds))] if job else []
        stages = [stage for stage in found if stage.numActiveTasks or stage.numCompletedTasks]
        tasks = sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
        if job and job.status != _RUNNING:
            self._ended_jobs[job_id] = tasks
        return tasks


@contextmanager
def _named_jobs(context: SparkContext, group: str, stage: str) -> Iterator[None]:
    """Name the jobs of a stage within the block; those of the caller's program have their own names again behind it."""
    names = {_GROUP_PROPERTY: group, _TEXT_PROPERTY: f"dbce: {stage}", STAGE_PROPERTY: stage}
    before = {name: context.getLocalProperty(name) for name in names}
    for name, value in names.items():
        context.setLocalProperty(name, value)
    try:
        yield
    finally:
        with suppress(Py4JError, ConnectionError):  # Java is gone: the block raises the error
            for name, own in before.items():
                context.setLocalProperty(name, own)  # type: ignore[arg-type]  # None removes it


def _has_passed(interval: float, before: float, now: float) -> bool:
    """Return whether a multiple of so many seconds lies between two times."""
    return now // interval > before // interval


class _Meter:
    """Measure one stage: the rates of its steps and of its pages, and its seconds."""

    def __init__(self, steps: Steps | None, counts: Counter[str]):
        self.steps = steps
        self._began = time.monotonic()
        self._done = Rate(self._began)
        self._pages = Rate(self._began, self._page_count(counts))

    def measured(self, beat: Heartbeat, counts: Counter[str], tasks: tuple[int, int]) -> Heartbeat:
        """Return the heartbeat of now, by the counts of the run and the finished and planned tasks of Spark."""
        now, pages = time.monotonic(), self._page_count(counts)
        done, total = (counts[self.steps.name], self.steps.of) if self.steps else tasks
        self._done.note(now, done)
        self._pages.note(now, pages)
        return replace(
            beat,
            stage_seconds=now - self._began,
            done=done,
            total=total,
            counts=counts,
            pages=pages if self.steps and self.steps.pages else None,
            pages_per_second=round(self._pages.per_second, 2),
            seconds_to_go=self._done.seconds_to(total) if self.steps and total else None,
        )

    def _page_count(self, counts: Counter[str]) -> int:
        return sum(counts[name] for name in self.steps.pages) if self.steps else 0


def figures(beat: Heartbeat) -> dict[str, Any]:
    """Render how far a stage is for programs, as a log has it."""
    return {
        "done": beat.done,
        "total": beat.total,
        **_plan(beat),
        "seconds_to_go": None if beat.seconds_to_go is None else round(beat.seconds_to_go, 1),
        "pages_per_second": beat.pages_per_second,
        "counts": beat.counts,
    }


def line(beat: Heartbeat) -> str:
    """Render how far a stage is for a person."""
    to_go = clock(beat.seconds_to_go) if beat.seconds_to_go else ""
    if beat.is_all_planned:
        seen = [f"{100 * beat.done // max(beat.total, 1)} % ({beat.done:,} of {beat.total:,} {beat.unit})"]
        seen += _seen(beat)
        seen += [f"{beat.pages_per_second:,.0f} pages/s"] if beat.pages_per_second else []
        seen += [f"{to_go} {'until the run ends' if beat.is_last else 'to go'}"] if to_go else []
    else:
        # Spark plans the next tasks when it has done these.
        seen = [f"{beat.done:,} of {counted(beat.total, 'task')} so far"] if beat.total else []
    return f"{beat.stage:12} {clock(beat.stage_seconds)}  {', '.join(seen)}".rstrip()


def _plan(beat: Heartbeat) -> dict[str, object]:
    return {"unit": beat.unit, "is_all_planned": beat.is_all_planned}


def _seen(beat: Heartbeat) -> list[str]:
    """Render pages and rejects, of a stage whose steps are clear before it begins."""
    rejects = sum(rejects_by_reason(beat.counts).values()) if beat.is_all_planned else 0
    pages = [] if beat.pages is None else [counted(beat.pages, "page")]
    return [*pages, *([counted(rejects, "reject")] if rejects else [])]
