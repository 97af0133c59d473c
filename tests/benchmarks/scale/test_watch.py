"""A command is looked at from outside: real processes, which take time and memory."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.scale.watch import DRIVER, JAVA, WORKER, Watch, folder_bytes
from dbce_spark.log import Log
from dbce_spark.spark.run import heartbeat, staging

# Works until it has taken so many seconds of processor time; then waits for its end.
_WORKS = (
    "import time\nheld = bytearray({size})\nwhile time.process_time() < {seconds}: pass\nprint(flush=True)\ninput()"
)


@contextmanager
def one_below(program: str) -> Iterator[int]:
    """A process, by its id, and one below it that has worked and waits until the block ends."""
    command = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {program!r}])"
    with subprocess.Popen([sys.executable, "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.communicate(b"\n")


def test_processes_are_distinguished_and_added_up(tmp_path: Path) -> None:
    """The command is the driver, what runs below it a worker: each with its processor time and its largest memory."""
    with one_below(_WORKS.format(size=200_000_000, seconds=0.6)) as pid:
        watch = Watch(pid, tmp_path)
        watch.look()

    assert 0.5 < watch.cpu_seconds(WORKER)
    assert watch.cpu_seconds(DRIVER) < watch.cpu_seconds(WORKER)
    assert 200_000_000 < watch.peak_bytes(WORKER)
    assert 0 < watch.peak_bytes(DRIVER) < 100_000_000
    assert (0, 0) == (watch.cpu_seconds(JAVA), watch.peak_bytes(JAVA))


def test_a_watch_looks_until_its_block_ends(tmp_path: Path) -> None:
    """The resources of a process are there after the block, though the process is gone, and so is the folder's size."""
    (tmp_path / "staged").write_bytes(b"x" * 1000)
    program = _WORKS.format(size=1, seconds=1.5)
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with Watch(process.pid, tmp_path) as watch:
        process.wait()

    assert watch.cpu_seconds(DRIVER) > 0.5
    assert 1000 == watch.peak_folder_bytes


def test_a_watch_waits_for_what_a_command_leaves_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that outlives its command has ended when the block has."""
    begun, seen, gone, done = (tmp_path / name for name in ("begun", "seen", "gone", "done"))
    look = Watch.look

    def note(watch: Watch) -> None:
        is_begun = begun.exists()
        look(watch)
        if is_begun:
            seen.touch()

    monkeypatch.setattr(Watch, "look", note)
    left = f"{_touches(begun)}; {_waits_for(gone)}; time.sleep(1); {_touches(done)}"
    command = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {left!r}]); {_waits_for(seen)}"
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", command])
    with Watch(process.pid, tmp_path):
        process.wait()
        gone.touch()

    assert done.exists()


def _touches(path: Path) -> str:
    return f"import pathlib, time; pathlib.Path({str(path)!r}).touch()"


def _waits_for(path: Path) -> str:
    return f"import pathlib, time; [*iter(lambda: time.sleep(0.01) or pathlib.Path({str(path)!r}).exists(), True)]"


def test_a_folder_weighs_what_is_below_it(tmp_path: Path) -> None:
    """Files at every depth; a folder that is not there weighs nothing."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_bytes(b"123")
    (tmp_path / "d").write_bytes(b"4567")

    assert 7 == folder_bytes(tmp_path)
    assert 0 == folder_bytes(tmp_path / "none")


def test_workers_are_distinguished_by_stage(tmp_path: Path) -> None:
    """A worker's memory is counted under the stage that the run's folder shows."""
    folder = tmp_path / staging.FOLDER
    folder.mkdir()
    with one_below(_WORKS.format(size=100_000_000, seconds=0.1)) as pid:
        watch = Watch(pid, folder)
        watch.look()
        heartbeat.write(str(tmp_path), replace(heartbeat.begin(Log()), stage="sites"))
        watch.look()

    assert ["sites"] == [*watch.worker_peaks]
    assert 100_000_000 < watch.worker_peaks["sites"] <= watch.peak_bytes(WORKER)
