"""The errors that Spark gives up with, without a Spark."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from dbce_spark.errors import JobError
from dbce_spark.spark.engine import spark_errors
from dbce_spark.spark.engine.spark_errors import as_job_errors


@pytest.mark.parametrize(
    "error", [ConnectionRefusedError(111, "refused"), Py4JNetworkError("empty"), Py4JError("oops")]
)
def test_a_java_that_was_killed_is_named(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection is refused or broken then: no words for a person."""
    with subprocess.Popen([sys.executable, "-c", ""]) as java:
        monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=java))
        with pytest.raises(JobError, match=r"^Spark's Java has ended, killed or .*; go on$"), as_job_errors("go on"):
            raise error


@pytest.mark.parametrize("gateway", [SimpleNamespace(proc=None), JavaGateway()], ids=["PySpark's", "made elsewhere"])
def test_a_java_that_was_killed_under_spark_submit_is_named(gateway: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """It started this process, and the gateway has no handle of it: another parent tells."""
    monkeypatch.setattr(SparkContext, "_gateway", gateway)
    monkeypatch.setattr(spark_errors, "_END_SECONDS", 0.01)
    with pytest.raises(ConnectionRefusedError), as_job_errors("go on"):
        raise ConnectionRefusedError(111, "refused")
    monkeypatch.setattr(spark_errors, "_PARENT", -1)
    with pytest.raises(JobError, match=r"^Spark's Java has ended, killed or .*; go on$"), as_job_errors("go on"):
        raise ConnectionRefusedError(111, "refused")


def test_a_java_that_works_is_not_called_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to something else, and an error that Spark explains."""
    monkeypatch.setattr(spark_errors, "_END_SECONDS", 0.01)
    with subprocess.Popen(["sleep", "60"]) as java:
        monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=java))
        with pytest.raises(ConnectionResetError), as_job_errors("go on"):
            raise ConnectionResetError
        with (
            pytest.raises(JobError, match=r"^Spark gave up: oops; --log FILE keeps its stack; go on$"),
            as_job_errors("go on"),
        ):
            raise Py4JError("oops")
        java.kill()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Job aborted.\n  at a\njava.io.IOException: broken\n",
            "Spark gave up: java.io.IOException: broken; --log FILE",
        ),
        ("Traceback\ndbce_spark.errors.InputError: no such page\n", "Spark gave up: no such page; --log FILE"),
        ("java.io.IOException: No space left on device", "no space is left in Spark's own folders .SPARK_LOCAL_DIRS."),
        (
            "Traceback\n\tOSError: [Errno 28] No space left on device: '/a b/c'\n SQLSTATE",
            "no space is left for /a b/c;",
        ),
        ("Traceback\nOSError: [Errno 122] Disk quota exceeded: '/a'\n", "no space is left for /a; make room"),
        ("Traceback\nOSError: [Errno 27] File too large: '/a'\n", "no space is left for /a; make room"),
        (
            "Traceback\nPermissionError: [Errno 13] Permission denied: '/a/_b.f0'\n",
            "the workers cannot open /a/_b.f0 .Permission denied.; let",
        ),
        ("", "Spark gave up: PySparkException; --log FILE"),
    ],
)
def test_a_long_message_is_one_line(text: str, expected: str) -> None:
    """The one that names the cause; an error of ours in a worker has its own words."""
    with pytest.raises(JobError, match=f"^{expected}[^\n]*; go on$"), as_job_errors("go on"):
        raise PySparkException(text)
