"""The errors that Spark gives up with, in one line of ours."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from subprocess import TimeoutExpired

from py4j import java_gateway
from py4j.protocol import Py4JError, Py4JJavaError, get_return_value
from pyspark import SparkContext
from pyspark.errors import PySparkException

from dbce_spark.errors import FULL, JobError
from dbce_spark.files.storage import REFUSED

_EXCEPTION = re.compile(r"[\w.]*(Error|Exception)\b.*: \S")
_OURS = re.compile(r"^dbce_spark\.errors\.\w+: (.+)$", re.MULTILINE)
_JAVA_GONE = "Spark's Java has ended, killed or for want of memory (spark.driver.memory)"
_OF_FILE = re.compile(
    rf"^\s*\w*Error: \[Errno ({'|'.join(map(str, (*FULL, *REFUSED)))})\] ([^:\n]+): '(/.*)'$", re.MULTILINE
)
"""The last line of a Python worker's trace that could not write a file."""
_LONGEST = 300
_END_SECONDS = 5.0
"""A process that was killed closes its connections before it is gone."""
_POLL_SECONDS = 0.1
_PARENT = os.getppid()
"""Under spark-submit, the Java that this process works with."""


@contextmanager
def as_job_errors(advice: str) -> Iterator[None]:
    """Turn what Spark raises within the block into a `JobError` that ends in some advice; the cause is Spark's own.

    Raises:
        JobError: Spark gave up, or its Java has ended.
    """
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        raise JobError(f"{_gave_up(error)}; {advice}") from error
    except (Py4JError, ConnectionError) as error:
        if _is_java_gone():
            raise JobError(f"{_JAVA_GONE}; {advice}") from error
        if isinstance(error, ConnectionError):
            raise
        raise JobError(f"{_gave_up(error)}; {advice}") from error


@contextmanager
def as_java_gives_them() -> Iterator[None]:
    """Leave Java's errors within the block as they are.

    PySpark reads the session's settings to turn one into its own. Where these are what is wrong it fails at that again
    and again, for ten seconds.
    """
    turning = java_gateway.get_return_value
    java_gateway.get_return_value = get_return_value
    try:
        yield
    finally:
        java_gateway.get_return_value = turning


def first_cause(error: Py4JError | PySparkException) -> str:
    """Return in one line what lies behind an error of Spark's."""
    java = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    try:
        while java is not None and java.getCause() is not None:
            java = java.getCause()
        text = str(java.toString()) if java is not None else str(error)
    except Py4JError:  # Java is gone, too
        text = str(error)
    return (text.strip().splitlines() or [type(error).__name__])[0][:_LONGEST]


def _is_java_gone() -> bool:
    """Return whether the Java has ended that this process started, or that started this process (spark-submit)."""
    gateway = SparkContext._gateway
    if gateway is None:
        return False
    process = vars(gateway).get("proc")  # a gateway that somebody else made asks Java for what it lacks
    if process is None:
        return _has_lost_parent()
    with suppress(TimeoutExpired):
        return process.wait(_END_SECONDS) is not None
    return False


def _has_lost_parent() -> bool:
    deadline = time.monotonic() + _END_SECONDS
    while os.getppid() == _PARENT:
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _gave_up(error: Exception) -> str:
    text = str(error) or type(error).__name__
    if of_worker := _OF_FILE.search(text):
        number, why, file = int(of_worker[1]), of_worker[2], of_worker[3]
        if number in FULL:
            return f"no space is left for {file}; make room"
        return f"the workers cannot open {file} ({why}); let the user as whom they run read and write its folder"
    if "No space left on device" in text:
        return "no space is left in Spark's own folders (SPARK_LOCAL_DIRS), or for what it stages; make room"
    return f"Spark gave up: {_cause(text)}; --log FILE keeps its stack"


def _cause(text: str) -> str:
    """Return the line that names the cause in Spark's long message; an error of ours in a worker in its own words."""
    if ours := _OURS.search(text):
        return ours[1]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if _EXCEPTION.match(line)), lines[0])[:_LONGEST]
