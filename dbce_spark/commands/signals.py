"""Signals that stop a command: obeyed at once, noted, or delayed for what must not be cut."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

from dbce_spark.spark.engine import java_messages, starting_java

_STOPS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stoppable() -> Iterator[None]:
    """End the block by SIGTERM, by which schedulers stop a job, as Ctrl-C does: with a message, and none of Java's.

    An error behind that is one of the stop: it may reach what the block works with, such as a Java, before the block.
    """
    stops: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        stops.append(number)
        java_messages.drop()
        raise KeyboardInterrupt

    with _handled(stop):
        try:
            yield
        except Exception as error:
            if stops:
                raise KeyboardInterrupt from error
            raise


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle the signals to stop by a function within the block."""
    before = {one: signal.signal(one, handler) for one in _obeyed()}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _obeyed() -> list[signal.Signals]:
    """List the signals to stop that this process obeys: a shell starts jobs in the background deaf to Ctrl-C. Only the
    main thread may handle any."""
    if current_thread() is not main_thread():
        return []
    return [one for one in _STOPS if signal.getsignal(one) is not signal.SIG_IGN]


@contextmanager
def noted_signals(on_first: Callable[[], object] | None = None) -> Iterator[list[int]]:
    """Collect signals to stop within the block instead of obeying them: the first calls a function, a second one is
    obeyed."""
    noted: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)
        if on_first is not None:
            on_first()

    with _handled(note):
        yield noted


@contextmanager
def started_whole() -> Iterator[None]:
    """Delay a signal to stop to the end of the block, which comes soon, as the signal ends the Java that starts.

    Libraries are loaded in the block too: compiled ones swallow an interrupt that meets them while they start, and the
    run would go on. A second signal does not wait.
    """
    starting_java.allow()
    with noted_signals(starting_java.end) as noted:
        try:
            yield
        except Exception:  # so ends a start without its Java
            if not noted:
                raise
    if noted:
        signal.raise_signal(signal.Signals(noted[0]))
