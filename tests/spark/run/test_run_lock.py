"""The lock of a run on the folder in which it works. No Spark is started."""

import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from dbce_spark.errors import OutputError
from dbce_spark.log import Log
from dbce_spark.spark.run import heartbeat, run_lock, staging


def test_two_runs_do_not_work_on_one_output(tmp_path: Path) -> None:
    """While another process holds it the output is refused; when that is killed it is free."""
    hold = "import sys, time; from dbce_spark.spark.run import run_lock\n"
    hold += "with run_lock.hold(sys.argv[1]): print('held', flush=True); time.sleep(600)"
    other = subprocess.Popen([sys.executable, "-c", hold, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert "held\n" == other.stdout.readline()
    with pytest.raises(OutputError, match="another run is at work"), run_lock.hold(str(tmp_path)):
        pass
    other.kill()
    other.communicate()

    with run_lock.hold(str(tmp_path)):
        pass


def test_a_process_that_a_killed_run_has_forked_holds_no_lock(tmp_path: Path) -> None:
    """One that parses a page lives until it is done with that; the output is free, and its run is not at work."""
    hold = "import os, sys, time; from dbce_spark.spark.run import run_lock\n"
    hold += "with run_lock.hold(sys.argv[1]): os.fork() or print(os.getpid(), flush=True); time.sleep(600)"
    run = subprocess.Popen([sys.executable, "-c", hold, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    forked = int(run.stdout.readline())
    try:
        is_held = [run_lock.is_held(str(tmp_path))]
        run.kill()
        run.wait()
        is_held.append(run_lock.is_held(str(tmp_path)))
    finally:
        os.kill(forked, signal.SIGKILL)
        run.stdout.close()

    assert [True, False] == is_held


def test_a_lock_that_its_run_has_removed_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that waits for the end of another holds a lock that a third one sees, and not the file that is gone."""
    first = ExitStack()
    first.enter_context(run_lock.hold(str(tmp_path)))

    opened = run_lock._opened

    def open_late(work: str, lock: Path) -> BinaryIO:
        file = opened(work, lock)
        staging.remove(work)
        first.close()
        return file

    with monkeypatch.context() as patch:
        patch.setattr(run_lock, "_opened", open_late)
        patch.setattr(time, "sleep", lambda seconds: patch.setattr(run_lock, "_opened", opened))
        second = ExitStack()
        second.enter_context(run_lock.hold(str(tmp_path)))
    with second:
        assert run_lock.is_held(str(tmp_path))


@pytest.mark.parametrize(
    ("changes", "is_refused"),
    [
        ({"host": "another"}, True),
        ({"pid": os.getppid()}, True),
        ({}, False),
        ({"host": "another", "failure": "the disk is full"}, False),
        ({"host": "another", "is_ended": True}, False),
    ],
    ids=["on another host", "another process", "this process", "failed", "ended"],
)
def test_without_locks_a_heartbeat_keeps_other_runs_off(
    changes: dict[str, Any], is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `dbce status` takes it, which has nothing else there either."""
    heartbeat.write(str(tmp_path), replace(heartbeat.begin(Log("a run")), **changes))

    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", none)
    monkeypatch.setattr(run_lock, "_SECONDS", 0.0)
    refused = "another run is at work there; wait for its end, or stop it and wait a minute"
    with pytest.raises(OutputError, match=refused) if is_refused else nullcontext(), run_lock.hold(str(tmp_path)):
        pass


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """With what to do about it."""
    (tmp_path / "file").touch()

    with pytest.raises(OutputError, match=r"file/out: .*; make it writable"), run_lock.hold(f"{tmp_path}/file/out"):
        pass
