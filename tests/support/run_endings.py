"""Ends of a run under test: killed in the midst of its work, or with all its tables written."""

import os
import signal
import subprocess
import time
from pathlib import Path

from dbce_spark.output.collection import RUN_FILE


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
