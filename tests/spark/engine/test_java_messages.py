"""Lines of a Java, and of its workers, on their way to the terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dbce_spark.spark.engine.java_messages import JavaMessages

NO_START = """\
NOTE: Picked up JDK_JAVA_OPTIONS: -Xint
Exception in thread "main" org.apache.spark.SparkException: Executor cores must be a positive number
\tat org.apache.spark.deploy.SparkSubmitArguments.error(SparkSubmitArguments.scala:670)
"""
WORKERS = """\
Current mem limits: -1 of max -1

Setting mem limits to 3221225472 of max 3221225472

Starting Streaming TransformWithStateInPandas Python worker.
Streaming TransformWithStateInPandas Python worker received parameters for UDF.
13:04:24 WARN Shell: a disk is full
"""


class Printed:
    """A process that has printed something, and ended; `messages` go to the file that `text` reads."""

    def __init__(self, text: str, folder: Path):
        self._path = folder / "terminal"
        self.messages = JavaMessages(os.open(self._path, os.O_WRONLY | os.O_CREAT))
        printing = [sys.executable, "-c", f"print({text!r}, end='')"]
        subprocess.run(printing, check=True, stdout=self.messages.streams()["stdout"])
        self.cause = self.messages.cause()

    def text(self) -> str:
        return self._path.read_text()


@pytest.fixture
def of_workers(tmp_path: Path) -> Printed:
    return Printed(WORKERS, tmp_path)


def test_a_java_that_has_ended_tells_its_cause_and_no_stack(tmp_path: Path) -> None:
    """In one line, without the remark that Java makes at every start."""
    printed = Printed(NO_START, tmp_path)

    assert "org.apache.spark.SparkException: Executor cores must be a positive number" == printed.cause
    assert "" == printed.text()


def test_what_was_held_is_passed_on_but_for_what_workers_always_print(of_workers: Printed) -> None:
    """A warning of Spark's is for the user, a worker's limits are not."""
    of_workers.messages.pass_on()

    assert "13:04:24 WARN Shell: a disk is full\n" == of_workers.text()


def test_nothing_is_printed_of_a_run_that_is_stopped(of_workers: Printed) -> None:
    """Spark complains of its end in stacks, while the command has a line of its own."""
    of_workers.messages.drop()

    assert "" == of_workers.text()
