"""One run of `dbce extract`, in processes of its own, and its measured resources."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.scale import events, watch
from benchmarks.scale.scale_archives import Archive
from benchmarks.scale.watch import Watch, folder_bytes, machine_seconds
from dbce_spark.errors import JobError
from dbce_spark.output.collection import Collection

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The resources of a run. Seconds of `stages` and the whole command (`wall`) by the clock, else of processors."""

    pages: int  # extractions
    input_bytes: int
    html_bytes: int
    output_bytes: int
    staging_peak_bytes: int
    wall_seconds: float
    stages: Mapping[str, float]
    java_cpu_seconds: float
    worker_cpu_seconds: float
    driver_cpu_seconds: float
    others_cpu_seconds: float  # of all else on the machine: the clock is worth little where they are many
    java_peak_bytes: int  # resident, of the largest Java
    worker_peak_bytes: int  # resident, of the largest Python worker
    worker_peaks: Mapping[str, int]  # the same by stage
    shuffle_bytes: int  # written
    spilled_bytes: int  # to disk
    tasks: Mapping[str, events.Tasks]
    largest_bucket: int
    relabelled: int = 0  # captures of earlier increments of a collection

    @property
    def cpu_seconds(self) -> float:
        return self.java_cpu_seconds + self.worker_cpu_seconds + self.driver_cpu_seconds


def extract(
    archive: Archive, work: Path, settings: Sequence[str], *, master: str = "", spark: Mapping[str, str] | None = None
) -> Run:
    """Extract an archive into the work folder, measure, and remove the output.

    `settings` are those of `--set`, `spark` Spark's own.

    Raises:
        JobError: the command ended with an error; its log stays.
    """
    output = work / "output"
    shutil.rmtree(output, ignore_errors=True)
    options = ["--output", str(output), *(["--master", master] if master else [])]
    run = _measured(archive, work, output, [*options, *_words("--set", settings)], spark or {})
    shutil.rmtree(output)
    return run


def extend(archive: Archive, work: Path, to: Collection, settings: Sequence[str]) -> Run:
    """Extend a collection by an archive.

    Raises:
        JobError: as `extract`.
    """
    numbers = to.numbers()
    increment = Path(to.increment(numbers[-1] + 1 if numbers else 1))
    return _measured(archive, work, increment, ["--collection", to.folder, *_words("--set", settings)], {})


def _words(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _measured(archive: Archive, work: Path, output: Path, options: Sequence[str], spark: Mapping[str, str]) -> Run:
    logs = work / "events"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    logged = {**events.SETTINGS, "spark.eventLog.dir": logs.as_uri(), **spark}
    command = [
        sys.executable,
        "-m",
        "dbce_spark.commands.cli",
        "extract",
        archive.folder,
        "--engine",
        "spark",
        *options,
        *_words("--spark", [f"{key}={value}" for key, value in logged.items()]),
    ]
    busy = machine_seconds()
    watched = _watched(command, output, work / "extract.log")
    run = _run(archive, output, logs, watched, machine_seconds() - busy)
    shutil.rmtree(logs)
    return run


def _watched(command: Sequence[str], output: Path, log: Path) -> Watch:
    # Executors in processes of their own stand elsewhere: a package in a checkout is found by its path only.
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path}
    started = time.monotonic()
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env=environment, stdout=stream, stderr=subprocess.STDOUT)
        with Watch(process.pid, output / "_staging") as watched:
            try:
                status = process.wait()
            except BaseException:
                process.terminate()
                raise
            watched.seconds = time.monotonic() - started
    if status:
        raise JobError(f"dbce extract ended with {status}; {log} says why")
    return watched


def _run(archive: Archive, output: Path, logs: Path, watched: Watch, busy: float) -> Run:
    log = next(logs.iterdir())
    with log.open(encoding="utf-8") as lines:
        tasks = events.tasks(lines)
    _forget_cluster(log.name)
    report = json.loads((output / "run.json").read_text())
    return Run(
        pages=report["extractions"],
        input_bytes=archive.input_bytes,
        html_bytes=archive.html_bytes,
        output_bytes=folder_bytes(output),
        staging_peak_bytes=watched.peak_folder_bytes,
        wall_seconds=round(watched.seconds, 2),
        stages=report["seconds"],
        java_cpu_seconds=round(watched.cpu_seconds(watch.JAVA), 2),
        worker_cpu_seconds=round(watched.cpu_seconds(watch.WORKER), 2),
        driver_cpu_seconds=round(watched.cpu_seconds(watch.DRIVER), 2),
        others_cpu_seconds=round(max(0.0, busy - sum(map(watched.cpu_seconds, watch.KINDS))), 2),
        java_peak_bytes=watched.peak_bytes(watch.JAVA),
        worker_peak_bytes=watched.peak_bytes(watch.WORKER),
        worker_peaks=watched.worker_peaks,
        shuffle_bytes=sum(some.shuffle_bytes for some in tasks.values()),
        spilled_bytes=sum(some.spilled_bytes for some in tasks.values()),
        tasks=tasks,
        largest_bucket=report["largest_bucket"],
        relabelled=report.get("relabelled", 0),
    )


def _forget_cluster(application: str) -> None:
    """Remove the folder that Spark gives the executors of a master `local-cluster` among its own files."""
    package = find_spec("pyspark")
    folders = [os.environ.get("SPARK_HOME", ""), *((package and package.submodule_search_locations) or [])]
    for folder in filter(None, folders):
        shutil.rmtree(Path(folder) / "work" / application, ignore_errors=True)
