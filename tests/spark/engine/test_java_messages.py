"""Lines of a Java, and of its workers, on their way to the terminal."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dbce_spark import log
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


FAILED_TASKS = """\
13:04:23 ERROR Executor: Exception in task 1.0 in stage 0.0 (TID 1)
\torg.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown
  File "read_pages.py", line 22, in run
\tOSError: [Errno 28] No space left on device
13:04:23 WARN TaskSetManager: Lost task 1.0 in stage 0.0 (TID 1) (localhost executor driver): TaskKilled
13:04:23 ERROR TaskSetManager: Task 1 in stage 0.0 failed 4 times; aborting job
13:04:24 ERROR TaskSchedulerImpl: Lost executor 1 on 10.0.0.1: worker lost
\tat org.apache.spark.A.b(A.scala:1)
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


def test_stacks_and_failed_tasks_are_for_the_log_alone(tmp_path: Path) -> None:
    """A task that fails is tried again, and the last failure is the run's, which has a line of its own."""
    printed, path = Printed(FAILED_TASKS, tmp_path), tmp_path / "run.jsonl"
    with log.write_to(io.StringIO(), "text", str(path)):
        printed.messages.pass_on()
    logged = [json.loads(line) for line in path.read_text().splitlines()]

    assert "13:04:24 ERROR TaskSchedulerImpl: Lost executor 1 on 10.0.0.1: worker lost\n" == printed.text()
    assert FAILED_TASKS.splitlines() == [one["message"] for one in logged]
    assert {"java"} == {one["event"] for one in logged}


def test_lines_of_java_are_not_shown_twice(tmp_path: Path) -> None:
    """Messages for a person come from Java alone."""
    stream = io.StringIO()
    with log.write_to(stream, "text"):
        Printed(FAILED_TASKS, tmp_path).messages.pass_on()

    assert "" == stream.getvalue()


def test_nothing_is_printed_of_a_run_that_is_stopped(of_workers: Printed) -> None:
    """Spark complains of its end in stacks, while the command has a line of its own."""
    of_workers.messages.drop()

    assert "" == of_workers.text()
