"""A Java that takes long to start, and is ended by who stops the run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.builders import archive, http, record

ROOT = Path(__file__).parents[3]
SLOW_JAVA = """\
#!/bin/sh
touch "$BEGUN"
exec sleep 300
"""
SECONDS = 60.0


@pytest.fixture
def starting(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Begin a run on Spark whose Java does not start for minutes."""
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(SLOW_JAVA)
    java.chmod(0o755)
    (tmp_path / "java" / "release").write_text('JAVA_VERSION="21"\nMODULES="java.base"\n')
    archive(tmp_path / "input.warc", record(http("<p>A page.</p>"), url="http://a.example/"))
    words = ["extract", str(tmp_path / "input.warc"), "--output", str(tmp_path / "out"), "--engine", "spark"]
    given = {"JAVA_HOME": str(tmp_path / "java"), "BEGUN": str(tmp_path / "begun"), "PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **given, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "dbce_spark", *words]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        until = time.monotonic() + SECONDS
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.05)
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_does_not_wait_for_java(
    starting: "subprocess.Popen[str]", number: signal.Signals
) -> None:
    """The run ends with one line, and as it does when it is stopped later."""
    starting.send_signal(number)
    _, printed = starting.communicate(timeout=SECONDS)
    _, *lines = printed.splitlines()  # the first is of the run

    assert (130, ["dbce: stopped before the end; the same command resumes it"]) == (starting.returncode, lines)
