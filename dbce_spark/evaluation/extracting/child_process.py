"""An extractor in a process of its own, so that a page it hangs or crashes on costs nothing but that page."""

import contextlib
import logging
import multiprocessing
import multiprocessing.connection
import os
import re
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

from dbce_spark.errors import PlatformError, exit_name

if sys.platform == "linux":
    import resource

Extract = Callable[[str, str], str | None]
"""The main text of a page from its HTML and its language ("" if unknown).

One that works in a process of its own has a `clock`: seconds of CPU spent there so far.
"""

Load = Callable[[], Extract]
"""Imports an extractor, in the child."""

START_LIMIT = 120.0
"""Seconds a child may take to start and import what it needs."""

MEMORY_LIMIT = 2 << 30
"""Bytes that a child may take beyond what it took to load its extractor.

The hungriest peer, a DOM in Node, takes 0.6 GB for the largest gold pages, of 5 MB; two children with three times as
much leave a laptop of 8 GB usable. Linux holds a child to it: heap and private mappings count (RLIMIT_DATA), reserved
addresses do not. macOS counts neither, so there nothing stops a Python extractor; Node, which counts its own heap, is
held to it on both.
"""

_OUT_OF_MEMORY = re.compile(
    r"MemoryError|out of memory|memory allocation of \d+|bad_alloc|Cannot allocate memory", re.I
)
"""Messages of Python, C, Rust, C++ and V8 before they end a process that gets no more memory."""

_ERROR_TAIL = 1 << 16
"""Bytes at the end of a process's errors that are searched when it has ended."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text that an extractor made of a page. With an error the text is empty: a miss, not a gap.

    An error begins with its kind: "timeout", "memory", "crash", or the name of the exception that was raised.
    """

    text: str
    seconds: float  # of CPU; the time limit where it was reached
    error: str
    confidence: float | None = None  # expected F1 of the text; None if the extractor estimates none
    page_type: str = ""  # as the extractor reads it; "" if it does not


@dataclass(frozen=True, slots=True)
class _Process:
    """A started child, the pipe to it, and the file it writes its errors to."""

    process: SpawnProcess
    pipe: Connection
    errors: Path

    def end(self) -> int | None:
        """Kill the process and all that it started; return its exit code."""
        # It may have ended before it had a group, or all of the group may have.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid or 0, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        self.pipe.close()
        self.errors.unlink(missing_ok=True)
        return code

    def error_output(self) -> str:
        """Wait for the end of the process and read the errors that it wrote about its last page."""
        multiprocessing.connection.wait([self.process.sentinel], timeout=5)
        with self.errors.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _ERROR_TAIL, 0))
            return file.read().decode("utf-8", "replace")


class Child:
    """A process that extracts page after page; started when first needed, and again after it was lost."""

    def __init__(self, load: Load, *, time_limit: float, memory_limit: int = MEMORY_LIMIT):
        self._load = load
        self._time_limit = time_limit
        self._memory_limit = memory_limit
        self._running: _Process | None = None

    def extract(self, html: str, lang: str) -> Extracted:
        """Extract the main text of one page.

        Raises:
            PlatformError: the extractor cannot be started at all.
        """
        running = self._running or self._start()
        started = time.monotonic()
        try:
            running.pipe.send((html, lang))
            if not running.pipe.poll(self._time_limit):
                self.close()
                return Extracted("", self._time_limit, f"timeout: no text after {self._time_limit:g} s")
            text, seconds, error = running.pipe.recv()
        except (EOFError, OSError):
            return Extracted("", time.monotonic() - started, self._lost(running))
        if error == MemoryError.__name__:
            self.close()  # what it still holds would be missing to the next page
            return Extracted("", seconds, self._memory())
        return Extracted(text, seconds, error)

    def close(self) -> None:
        """End the process, if there is one."""
        if self._running is not None:
            self._running.end()
        self._running = None

    def _start(self) -> _Process:
        # Not forked: the parent has threads, and what it has imported would be the extractor's too.
        context = multiprocessing.get_context("spawn")
        pipe, far_end = context.Pipe()
        handle, errors = tempfile.mkstemp(prefix="dbce-child-")
        os.close(handle)
        arguments = (self._load, far_end, errors, self._memory_limit)
        process = context.Process(target=_serve, args=arguments, daemon=True)
        process.start()
        far_end.close()
        self._running = running = _Process(process, pipe, Path(errors))
        try:
            failure = pipe.recv() if pipe.poll(START_LIMIT) else f"not ready after {START_LIMIT:g} s"
        except (EOFError, OSError):
            failure = self._lost(running)
        if failure:
            self.close()
            raise PlatformError(f"an extractor cannot be started: {failure}")
        return running

    def _lost(self, running: _Process) -> str:
        """Explain why the process at the other end of a closed pipe ended, and forget it."""
        errors = running.error_output()
        code = running.end()
        self._running = None
        if _OUT_OF_MEMORY.search(errors):
            return self._memory()
        return f"crash: the process ended with {exit_name(code)}"

    def _memory(self) -> str:
        return f"memory: more than {self._memory_limit / (1 << 30):g} GiB"


def _serve(load: Load, pipe: Connection, errors: str, memory_limit: int) -> None:
    """Run the child: report that it is ready, then answer page by page until the pipe is closed."""
    os.setpgid(0, 0)  # what it starts is in its group, and ends with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends its children
    warnings.simplefilter("ignore")
    logging.disable()
    _silence(errors)
    os.environ["NODE_OPTIONS"] = f"--max-old-space-size={memory_limit >> 20}"  # MiB
    try:
        extract = load()
    except ImportError as error:
        pipe.send(str(error))
        return
    _limit(memory_limit)
    pipe.send("")
    while True:
        try:
            html, lang = pipe.recv()
        except (EOFError, OSError):
            return
        os.ftruncate(2, 0)
        pipe.send(_answer(extract, html, lang))


def _answer(extract: Extract, html: str, lang: str) -> tuple[str, float, str]:
    """Extract the text of a page; return it with the seconds that it took, and an error, "" if there was none."""
    clock: Callable[[], float] = getattr(extract, "clock", time.process_time)
    started = clock()
    text, error_text = "", ""
    try:
        text = extract(html, lang) or ""
    except MemoryError:
        error_text = MemoryError.__name__
    except Exception as error:  # whatever a library raises is its miss
        message = f"{type(error).__name__}: {error}".encode("utf-8", "replace")  # it may quote half a character
        error_text = " ".join(message.decode().split())[:300]
    return text, clock() - started, error_text


def _silence(errors: str) -> None:
    """Send stdout nowhere, since the terminal belongs to the progress bar, and stderr to a file for the parent."""
    sys.stdout.flush()
    sys.stderr.flush()
    for path, number in ((os.devnull, 1), (errors, 2)):
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(file, number)
        os.close(file)


def _limit(memory: int) -> None:
    """Limit this process to `memory` bytes beyond what it has now, where the system can count them."""
    if sys.platform == "linux":
        fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        most = int(fields["VmData"].split()[0]) * 1024 + memory
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
