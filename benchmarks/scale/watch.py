"""Measure a command and all processes below it from outside while it runs."""

import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from dbce_spark.errors import PlatformError, installs
from dbce_spark.spark.run import heartbeat, staging

try:
    import psutil
except ImportError as error:
    raise PlatformError(f"psutil is not installed; run: {installs('bench')}") from error

KINDS = DRIVER, JAVA, WORKER = "driver", "java", "worker"
"""Kinds of processes: the command itself, any Java, and any other: Python workers and the daemon that forks them."""

SECONDS = 0.2
"""Between two looks at the processes. What one takes behind the last look at it is not seen."""
PATIENCE = 60.0
"""Seconds that processes may take to end behind the command."""
_LOOKS_PER_WEIGHING = 10
"""Looks at processes for each look at the folder, which takes longer."""


@dataclass(slots=True)
class _Seen:
    """A process, as it was when it was last looked at, and the most it held."""

    kind: str = ""
    cpu_seconds: float = 0.0
    peak_bytes: int = 0


@dataclass(slots=True)
class Watch:
    """A thread that looks at the process `pid`, at those below it, and at the size of a folder, until it is ended."""

    pid: int
    folder: Path
    peak_folder_bytes: int = 0
    seconds: float = 0.0  # by the clock, of the process itself
    worker_peaks: dict[str, int] = field(default_factory=dict)
    """Resident memory of the largest worker in each stage, as far as the folder shows which one runs."""
    _seen: dict[psutil.Process, _Seen] = field(default_factory=dict)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> "Watch":
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Wait for the processes that outlive the command: Java tidies up when the command has ended."""
        self._ended.set()
        assert self._thread is not None
        self._thread.join()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not all(map(_is_gone, self._seen)):
            time.sleep(SECONDS)

    def cpu_seconds(self, kind: str) -> float:
        """Sum the seconds of all processes of a kind."""
        return sum(one.cpu_seconds for one in self._seen.values() if one.kind == kind)

    def peak_bytes(self, kind: str) -> int:
        """Return the resident memory of the process of a kind that held most."""
        return max((one.peak_bytes for one in self._seen.values() if one.kind == kind), default=0)

    def look(self) -> None:
        """Take note of all processes as they are now."""
        stage = _stage(self.folder)
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(self.pid)
            for process in (root, *root.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    self._note(process, stage)

    def _note(self, process: psutil.Process, stage: str) -> None:
        with process.oneshot():
            name, times, memory = process.name(), process.cpu_times(), process.memory_info()
            seen = self._seen.setdefault(process, _Seen())
        if not memory.rss:  # it has ended and waits for its parent to collect it; its times can be gone already
            return
        seen.kind = DRIVER if process.pid == self.pid else JAVA if name == JAVA else WORKER
        seen.cpu_seconds = times.user + times.system
        seen.peak_bytes = max(seen.peak_bytes, memory.rss)
        if stage and seen.kind == WORKER:
            self.worker_peaks[stage] = max(self.worker_peaks.get(stage, 0), memory.rss)

    def _run(self) -> None:
        looks = 0
        while not self._ended.wait(SECONDS):
            self.look()
            if looks % _LOOKS_PER_WEIGHING == 0:
                self.peak_folder_bytes = max(self.peak_folder_bytes, folder_bytes(self.folder))
            looks += 1


def _stage(folder: Path) -> str:
    """Return the stage of the run that stages in a folder; "" before the first one, and behind the last."""
    found = heartbeat.read(str(folder.parent)) if folder.name == staging.FOLDER else None
    return found.stage if found else ""


def _is_gone(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        # One whose parent has ended before it may never be collected.
        return process.status() == psutil.STATUS_ZOMBIE
    return True


def machine_seconds() -> float:
    """Sum the processor seconds of everything on this machine since it was started."""
    times = psutil.cpu_times()
    return float(times.user + times.system + getattr(times, "nice", 0.0))  # Windows knows no niceness


def folder_bytes(folder: Path) -> int:
    """Sum the bytes of all files below a folder, while others may come and go; 0 if there is none."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += (Path(parent) / name).stat().st_size
    return total
