"""The Java that starts for Spark: a run that is stopped does not wait for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from threading import Event
from typing import Any

_processes: list[Popen[bytes]] = []
_is_ended = Event()


def allow() -> None:
    """Let a Java start, also after one was ended."""
    _is_ended.clear()
    _processes.clear()


def end() -> None:
    """End the Java that starts, and let none start that was to."""
    _is_ended.set()
    for process in _processes:
        process.terminate()


@contextmanager
def watched() -> Iterator[None]:
    """Keep the process by which PySpark starts its Java within the block: PySpark gives it when it has started only.

    Raises:
        KeyboardInterrupt: it was ended.
    """
    from pyspark import java_gateway

    java_gateway.Popen = _begin  # type: ignore[attr-defined,assignment]
    try:
        yield
    except Exception as error:
        if _is_ended.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        java_gateway.Popen = Popen  # type: ignore[attr-defined]


def _begin(*arguments: Any, **options: Any) -> Popen[bytes]:
    if _is_ended.is_set():
        raise KeyboardInterrupt
    process = Popen(*arguments, **options)
    _processes.append(process)
    if _is_ended.is_set():  # meanwhile
        process.terminate()
    return process
