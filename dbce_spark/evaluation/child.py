"""An extractor in a process of its own, so that a page it hangs or crashes on is lost to it, and to nobody else."""

import logging
import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from dbce_spark.errors import PlatformError

Extract = Callable[[str, str], str | None]
"""The main text of a page from its HTML and its language ("" if not known)."""

Load = Callable[[], Extract]
"""Imports an extractor, in the child."""

START_LIMIT = 120.0
"""Seconds a child may take to start and import what it needs."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an extractor made of a page. With an error the text is empty: a miss, not a gap."""

    text: str
    seconds: float  # of CPU; the time limit where it was reached
    error: str


class Child:
    """A process that extracts page after page; started when first needed, and again after it was lost."""

    def __init__(self, load: Load, *, time_limit: float):
        self._load = load
        self._time_limit = time_limit
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None

    def extract(self, html: str, lang: str) -> Extracted:
        """The main text of one page.

        Raises:
            PlatformError: the extractor cannot be started at all.
        """
        pipe = self._pipe or self._start()
        started = time.monotonic()
        try:
            pipe.send((html, lang))
            if not pipe.poll(self._time_limit):
                self.close()
                return Extracted("", self._time_limit, f"timeout: no text after {self._time_limit:g} s")
            return Extracted(*pipe.recv())
        except (EOFError, OSError):
            return Extracted("", time.monotonic() - started, f"crash: the process ended with {self._exit_code()}")

    def close(self) -> None:
        """Ends the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    def _start(self) -> Connection:
        # Not forked: the parent has threads, and what it has imported would be the extractor's too.
        context = multiprocessing.get_context("spawn")
        pipe, far_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(self._load, far_end), daemon=True)
        self._process.start()
        far_end.close()
        self._pipe = pipe
        try:
            failure = pipe.recv() if pipe.poll(START_LIMIT) else f"not ready after {START_LIMIT:g} s"
        except (EOFError, OSError):
            failure = f"the process ended with {self._exit_code()}"
        if failure:
            self.close()
            raise PlatformError(f"an extractor cannot be started: {failure}")
        return pipe

    def _exit_code(self) -> str:
        code: int | None = None
        if self._process is not None:
            self._process.join(5)
            code = self._process.exitcode
        self.close()
        return signal.Signals(-code).name if code is not None and code < 0 else f"status {code}"


def _serve(load: Load, pipe: Connection) -> None:
    """The child: says that it is ready, then answers page by page until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, and ends its children
    warnings.simplefilter("ignore")
    logging.disable()
    _silence()
    try:
        extract = load()
    except ImportError as error:
        pipe.send(str(error))
        return
    pipe.send("")
    while True:
        try:
            html, lang = pipe.recv()
        except (EOFError, OSError):
            return
        started = time.process_time()
        text, error_text = "", ""
        try:
            text = extract(html, lang) or ""
        except Exception as error:  # whatever a library raises is its miss
            error_text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        pipe.send((text, time.process_time() - started, error_text))


def _silence() -> None:
    """Libraries talk; the terminal belongs to the progress bar."""
    sys.stdout.flush()
    sys.stderr.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
