"""A stage as a person sees it: its name, how far it is, how fast, what it has seen, how long it took."""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.accumulators import AccumulatorParam

from dbce_spark import pace
from dbce_spark.log import Log, every
from dbce_spark.pace import Pace
from dbce_spark.spark import metrics, state
from dbce_spark.spark.run import checkpoints, staging
from dbce_spark.spark.run.record_counts import REJECTS

_TICK_SECONDS = 0.5
"""Between two looks at what a stage has done."""
_LINE_SECONDS = 30.0
"""Between two lines in a log."""


class _Sum(AccumulatorParam[Counter[str]]):
    """Counts of tasks that have ended, added up. A new sum each time: another thread may be reading the old one."""

    def zero(self, value: Counter[str]) -> Counter[str]:
        return Counter()

    def addInPlace(self, value1: Counter[str], value2: Counter[str]) -> Counter[str]:  # noqa: N802
        return value1 + value2


@dataclass(frozen=True, slots=True)
class Steps:
    """What a stage is known to consist of before it begins: `of` steps, each of a `unit`, counted under `name`.

    The counts of `pages` are what its speed is told in. With `is_last` nothing comes behind it that takes long.
    """

    unit: str
    name: str
    of: int
    pages: tuple[str, ...] = ()
    is_last: bool = False


class Progress:
    """Runs stages one after the other, and keeps their wall-clock seconds, with those of earlier runs that this one
    goes on from. How far each is it tells to the log, to Spark's metrics, and to whoever looks into the staging folder.

    Tasks add to `counted` what they have seen when they end.
    """

    def __init__(self, context: SparkContext, output: str, log: Log):
        self._kept_at = staging.path(output, staging.SECONDS)
        self.seconds = checkpoints.read(self._kept_at, dict[str, float]) or {}
        self.log = log
        self.counted = context.accumulator(Counter[str](), _Sum())
        self._context = context
        self._output = output
        self._gauges = metrics.of(context)
        self._state = state.begin(log)
        self._write_state()

    def know(self, counts: Mapping[str, int]) -> None:
        """Sets counts that are known now, whatever was counted under their names."""
        self.counted.value = Counter({**self.counted.value, **counts})
        self._gauges.show(metrics.values(self.counted.value, self._state.pages_per_second))

    def spent(self, name: str, seconds: float) -> None:
        """Adds to what a stage has taken."""
        self.seconds[name] = round(self.seconds.get(name, 0.0) + seconds, 3)
        checkpoints.write(self._kept_at, self.seconds)

    @contextmanager
    def stage(self, name: str, steps: Steps | None = None) -> Iterator[None]:
        """Everything Spark does inside belongs to the stage."""
        self._context.setJobGroup(name, f"dbce: {name}")
        self._context.setJobDescription(f"dbce: {name}")
        self.log.stage = name
        self._state = replace(self._state, stage=name, stage_began=state.now(), unit=steps.unit if steps else "tasks")
        of_what = f": {steps.of:,} {steps.unit}" if steps else ""
        self.log.tell("stage_begin", f"{name} begins{of_what}", _known(steps))
        watch = _Watch(self, name, steps)
        watch.tick()
        with every(_TICK_SECONDS, watch.tick):
            yield
        seconds = round(watch.seconds, 3)
        watch.look()
        told = ", ".join([f"{seconds:,.1f} s", *_seen(self.counted.value, steps)])
        figures = {"seconds": seconds, "pages_per_second": watch.speed, "counts": self.counted.value}
        self.log.tell("stage_end", f"{name}: {told}", figures)
        self.log.stage = ""
        self.spent(name, seconds)

    def show(self, done: int, total: int, seconds_to_go: float | None, pages_per_second: float) -> None:
        """Sets Spark's metrics, and what is known of the stage at work."""
        self._gauges.show(metrics.values(self.counted.value, pages_per_second))
        self._state = replace(
            self._state, done=done, total=total, seconds_to_go=seconds_to_go, pages_per_second=pages_per_second
        )

    def keep(self) -> None:
        """Writes what is known of the stage at work for whoever asks from outside."""
        self._write_state()

    def _write_state(self) -> None:
        with suppress(OSError):  # whom it is told to is no reason to end; a full disk is told by what is written there
            state.write(self._output, self._state)

    def tasks(self, group: str) -> tuple[int, int]:
        """Finished and all tasks of a stage's jobs, as far as Spark has planned them."""
        tracker = self._context.statusTracker()
        done = total = 0
        for job_id in tracker.getJobIdsForGroup(group):
            job = tracker.getJobInfo(job_id)
            for stage_id in job.stageIds if job else []:
                stage = tracker.getStageInfo(stage_id)
                if stage is not None:
                    done, total = done + stage.numCompletedTasks, total + stage.numTasks
        return done, total


class _Watch:
    """Looks at one stage again and again."""

    def __init__(self, progress: Progress, name: str, steps: Steps | None):
        self._progress = progress
        self._name = name
        self._steps = steps
        self._began = self._told = self._kept = time.monotonic()
        self._done = Pace(self._began)
        self._pages = Pace(self._began, self._seen())

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def speed(self) -> float:
        """Pages a second."""
        return round(self._pages.per_second, 2)

    def look(self) -> tuple[int, int, float | None]:
        """Notes how far the stage is; returns steps or tasks that are done, all of them, and the seconds to go."""
        now, counts = time.monotonic(), self._progress.counted.value
        done, total = self._progress.tasks(self._name)
        if self._steps:
            done, total = counts[self._steps.name], self._steps.of
        self._done.note(now, done)
        self._pages.note(now, self._seen())
        to_go = self._done.seconds_to(total) if total else None
        self._progress.show(done, total, to_go, self.speed)
        return done, total, to_go

    def tick(self) -> None:
        """Looks, and tells the log now and then; a terminal each time."""
        try:
            done, total, to_go = self.look()
        except Py4JError:  # Java is gone: whoever waits for what it does will say so
            return
        now = time.monotonic()
        is_line = now - self._told >= _LINE_SECONDS
        figures = {
            "done": done,
            "total": total,
            **_known(self._steps),
            "seconds_to_go": None if to_go is None else round(to_go, 1),
            "pages_per_second": self.speed,
            "counts": self._progress.counted.value,
        }
        level = logging.INFO if is_line else logging.DEBUG
        self._progress.log.tell("progress", self._line(done, total, to_go), figures, level=level)
        self._told = now if is_line else self._told
        if now - self._kept >= state.SECONDS or now - self._began < _TICK_SECONDS:
            self._kept = now
            self._progress.keep()

    def _seen(self) -> int:
        counts = self._progress.counted.value
        return sum(counts[name] for name in self._steps.pages) if self._steps else 0

    def _line(self, done: int, total: int, to_go: float | None) -> str:
        if self._steps is None:
            told = [f"{done:,} of {total:,} tasks planned so far"] if total else []
            # Spark plans the next tasks when it has done these.
            told += [f"at least {pace.clock(to_go)} to go"] if to_go else []
        else:
            told = [f"{100 * done // max(total, 1)} % ({done:,} of {total:,} {self._steps.unit})"]
            told += _seen(self._progress.counted.value, self._steps)
            told += [f"{self.speed:,.0f} pages/s"] if self.speed else []
            what = "until the run ends" if self._steps.is_last else "to go"
            told += [f"{pace.clock(to_go)} {what}"] if to_go else []
        return f"{self._name:12} {pace.clock(self.seconds)}  {', '.join(told)}".rstrip()


def _known(steps: Steps | None) -> dict[str, object]:
    return {"unit": steps.unit if steps else "tasks", "is_all_planned": steps is not None}


def _seen(counts: Counter[str], steps: Steps | None) -> list[str]:
    """What a stage that knows its steps has counted, as a person may read it."""
    if steps is None:
        return []
    rejects = sum(count for name, count in counts.items() if name.startswith(REJECTS))
    pages = [f"{sum(counts[name] for name in steps.pages):,} pages"] if steps.pages else []
    return [*pages, *([f"{rejects:,} rejects"] if rejects else [])]
