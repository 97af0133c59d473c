"""Ends of a run under test: killed in the midst of its work, or with all its tables written."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dbce_spark.output.collection import RUN_FILE

_ROOT = Path(__file__).parents[2]


def extract_command(words: Sequence[str], settings: Sequence[object]) -> "subprocess.Popen[bytes]":
    """Begin `dbce extract`, with settings as of `--set`, in processes of its own."""
    program = "import sys; from dbce_spark.commands.cli import entry; entry()"
    given = [str(text) for setting in settings for text in ("--set", setting)]
    return subprocess.Popen(
        [sys.executable, "-c", program, "extract", *words, "--master", "local[1]", *given],
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill_at(mark: Path, driver: "subprocess.Popen[bytes]", patience: float) -> None:
    """Kills all processes of a run as soon as a file is there, for which it has so many seconds."""
    until = time.monotonic() + patience
    while not mark.exists():
        assert driver.poll() is None, "it ended before it was killed"
        assert time.monotonic() < until
        time.sleep(0.01)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()


def tables_below(output: Path) -> dict[str, bytes]:
    """All files of an output that is finished, but for run.json."""
    assert (output / RUN_FILE).exists()
    files = [one for one in output.rglob("*") if one.is_file() and one.name != RUN_FILE]
    return {str(one.relative_to(output)): one.read_bytes() for one in files}
