"""A stage as a person sees it: its name, how far it is, what it has seen, how long it took."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark import SparkContext
from tqdm import tqdm

from dbce_spark.spark import ledger, staging

_POLL_SECONDS = 0.3


class Progress:
    """Runs stages one after the other, and keeps their wall-clock seconds, with those of earlier runs that this one
    goes on from. Each has a bar on a terminal, and a line in a log."""

    def __init__(self, context: SparkContext, output: str):
        self._kept_at = staging.path(output, "seconds.json")
        self.seconds = ledger.read(self._kept_at, dict[str, float]) or {}
        self._context = context
        self._on_terminal = sys.stderr.isatty()

    def tell(self, line: str) -> None:
        print(line, file=sys.stderr)

    def spent(self, name: str, seconds: float) -> None:
        """Adds to what a stage has taken."""
        self.seconds[name] = round(self.seconds.get(name, 0.0) + seconds, 3)
        ledger.write(self._kept_at, self.seconds)

    @contextmanager
    def stage(self, name: str, count: Callable[[], str] = str) -> Iterator[None]:
        """Everything Spark does inside belongs to the stage. `count` says what was seen so far ("1,200 captures")."""
        self._context.setJobGroup(name, f"dbce: {name}")
        self._context.setJobDescription(f"dbce: {name}")
        stop = threading.Event()
        watch = threading.Thread(target=self._watch, args=(name, count, stop), daemon=True)
        started = time.monotonic()
        watch.start()
        try:
            yield
        finally:
            seconds = round(time.monotonic() - started, 3)
            stop.set()
            watch.join()
            if not self._on_terminal:
                self.tell(f"{name}: {seconds} s {count()}".rstrip())
        self.spent(name, seconds)

    def _watch(self, name: str, count: Callable[[], str], stop: threading.Event) -> None:
        bar = tqdm(total=1, desc=f"{name:12}", unit="task", disable=not self._on_terminal)
        while True:
            stopped = stop.wait(_POLL_SECONDS)
            done, total = self._tasks(name)
            bar.total, bar.n = max(total, 1), done if not stopped else max(total, 1)
            bar.set_postfix_str(count(), refresh=False)
            bar.refresh()
            if stopped:
                bar.close()
                return

    def _tasks(self, name: str) -> tuple[int, int]:
        """Finished and all tasks of the stage's jobs, as far as Spark has planned them."""
        tracker = self._context.statusTracker()
        done = total = 0
        for job_id in tracker.getJobIdsForGroup(name):
            job = tracker.getJobInfo(job_id)
            for stage_id in job.stageIds if job else []:
                stage = tracker.getStageInfo(stage_id)
                if stage is not None:
                    done, total = done + stage.numCompletedTasks, total + stage.numTasks
        return done, total
