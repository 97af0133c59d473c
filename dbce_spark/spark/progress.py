"""A stage as a person sees it: its name, how far it is, what it has seen, how long it took."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark import SparkContext
from tqdm import tqdm

_POLL_SECONDS = 0.3


class Progress:
    """Runs stages one after the other, and keeps their wall-clock seconds. Each has a bar on a terminal, and a line
    in a log."""

    def __init__(self, context: SparkContext):
        self.seconds: dict[str, float] = {}
        self._context = context
        self._on_terminal = sys.stderr.isatty()

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
            self.seconds[name] = round(time.monotonic() - started, 3)
            stop.set()
            watch.join()
            if not self._on_terminal:
                print(f"{name}: {self.seconds[name]} s {count()}".rstrip(), file=sys.stderr)

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
