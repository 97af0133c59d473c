"""End work on a page that computes for too long, and not the process that does it.

What is done with a page once it is parsed is mostly Python's own, which a signal can stop between any two steps. C code
is not stopped: pages are parsed where their process can be spared (spark/engine/sandbox.py).
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class OutOfTime(Exception):
    """The work has computed for longer than a page may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop the block once this process has computed for so many seconds. Threads but the main one get no signals, and
    there is no limit.

    Raises:
        OutOfTime: it took longer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise OutOfTime(f"more than {seconds:g} s of computing, which is page.max_seconds")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
