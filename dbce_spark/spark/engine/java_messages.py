"""Lines that the Java of this process and its workers print: held, logged, passed on, dropped."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Thread

from dbce_spark.log import Log

_STDERR = 2
_LONGEST = 300
_END_SECONDS = 2.0
_REMARKS = re.compile(
    r"\s|Caused by:|NOTE: |WARN|Warning: |\d\d:\d\d:\d\d (?:WARN|ERROR JavaUtils)|Error: A fatal exception"
)
"""Beginnings of lines that say nothing of why a Java has ended: a stack, remarks, what is said of every end."""
_CHATTER = re.compile(rb"\s*$|(Current|Setting) mem limits|(Starting )?Streaming \w+ Python worker")
"""Beginnings of lines that PySpark's workers always print, and that nobody needs."""
_FOR_THE_LOG = re.compile(
    rb"\s|\d\d:\d\d:\d\d \w+ (Executor: Exception in task|TaskSetManager: (Lost task|Task \d+ in stage))"
)
"""Beginnings of lines that nobody need see: a stack, and what is said of a task that failed. It is tried again, and the
error of the last try is that of the run."""


class JavaMessages:
    """The lines of one Java.

    While it starts they are held: one that does not start is an error, and that says what they say. While it works they
    are logged, and passed on to `to`, stacks and failures of tasks aside. When somebody has stopped the run they are
    dropped: Spark complains at length of its end.
    """

    def __init__(self, to: int = _STDERR):
        reader, self._writer = os.pipe()
        self._to = to
        self._held: list[bytes] = []
        self._is_held, self._is_dropped = True, False
        self._lock = Lock()
        self._thread = Thread(target=self._read, args=(reader,), daemon=True)
        self._thread.start()

    def streams(self) -> dict[str, int]:
        """Return where a process is to print, as `subprocess.Popen` takes it."""
        return {"stdout": self._writer, "stderr": self._writer}

    def end_own_writing(self) -> None:
        """Leave the writing to the processes that were begun; do nothing the second time."""
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1

    def pass_on(self) -> None:
        """Pass on what was held, and what comes."""
        with self._lock:
            self._is_held = self._is_dropped = False
            for line in self._held:
                self._pass(line)
            self._held.clear()

    def drop(self) -> None:
        """Drop what is held, and what comes."""
        self._is_dropped = True

    def cause(self) -> str:
        """Return in one line what a process has printed that has ended."""
        self.end_own_writing()
        self._thread.join(_END_SECONDS)
        with self._lock:
            lines = b"".join(self._held).decode("utf-8", "replace").splitlines()
        reasons = [one.removeprefix('Exception in thread "main" ') for one in lines if one and not _REMARKS.match(one)]
        return "; ".join(reasons)[:_LONGEST]

    def _read(self, reader: int) -> None:
        with open(reader, "rb") as lines:  # a descriptor
            for line in lines:
                if not _CHATTER.match(line):
                    self._take(line)

    def _take(self, line: bytes) -> None:
        with self._lock:
            if self._is_held:
                self._held.append(line)
            else:
                self._pass(line)

    def _pass(self, line: bytes) -> None:
        if not self._is_dropped:
            Log().write("java", line.decode("utf-8", "replace").rstrip())
            if not _FOR_THE_LOG.match(line):
                self._write(line)

    def _write(self, text: bytes) -> None:
        while text and not self._is_dropped:
            try:
                text = text[os.write(self._to, text) :]
            except OSError:  # nobody reads what we print
                self.drop()


_begun: list[JavaMessages] = []
"""Of the Java of this process, if it has started one."""


@contextmanager
def of_new_java() -> Iterator[JavaMessages]:
    """Make the messages of a Java that starts within the block."""
    messages = JavaMessages()
    _begun.append(messages)
    try:
        yield messages
    finally:
        messages.end_own_writing()


def cause() -> str:
    """Return in one line what this process's Java has printed that has ended; "" if it has not started one."""
    return _begun[-1].cause() if _begun else ""


def pass_on() -> None:
    """Pass on what this process's Java prints: Spark is there."""
    for one in _begun:
        one.pass_on()


def drop() -> None:
    """Drop what this process's Java prints: the run is stopped."""
    for one in _begun:
        one.drop()
