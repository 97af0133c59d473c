"""Log a run while it works: lines for a person, or for programs one JSON object a line.

All of it goes through Python's `logging`, to the logger `dbce_spark`: a program that calls a run has it where its own
log goes.
"""

import json
import logging
import os
import re
import shutil
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, TextIO

from dbce_spark.errors import DbceError, OutputError, exit_status

Event = Literal[
    "start", "resume", "spark", "stage_begin", "progress", "stage_end", "warning", "rejects", "end", "failure", "java"
]
Shown = Literal["text", "json", "warnings"]
"""The part of a log that is written to a stream: all, as lines for a person or of JSON, or warnings alone."""

LOGGER = logging.getLogger("dbce_spark")
STOPPED = "stopped by Ctrl-C or SIGTERM"
"""The reason of a run that was stopped from outside."""

_TICK_SECONDS = 0.5
"""Between two updates of the clock while a block runs."""
_FIELDS = ("run_id", "attempt", "stage", "event")
_BEGIN = b'{"time": "'
"""The first bytes of a line of JSON, as `JsonLines` writes it."""
_ONLY_IN_FILES = ("stage_begin", "rejects", "end")
"""Events that a terminal shows by the line that changes, or by the summary."""
_CREDENTIAL = re.compile(
    # A user; a secret may have slashes, a port none. The next URL ends it: to look further for each takes time by the
    # square of their number.
    r"(?<=://)(?:[^/@?\s'\"]+|[^/@:\s'\"]+:(?!\d+/)(?:[^@?\s'\":]|:(?!//))+)@"
    # What gives access in the query of a presigned URL, or of one with a token.
    r"|(?<=[?&])((?:X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)|AWSAccessKeyId|GoogleAccessId|Signature|sig"
    r"|(?:access_?|api_?|auth_?)?(?:token|key)|password|passwd|pwd|secret)=)[^&#\s'\"]*",
    re.IGNORECASE,
)


OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and newline, other ends of lines, halves of characters, and what turns the direction of
writing, by which a line says something else."""
_OBEYED_BUT_COLOURS = re.compile(rf"(?!\x1b\[[0-9;]{{0,9}}m){OBEYED.pattern}")


def without_credentials(text: str) -> str:
    """Cut user names, passwords and access tokens out of a text's URLs: s3://key:secret@bucket/a -> s3://bucket/a."""
    return _CREDENTIAL.sub(lambda match: f"{match[1]}..." if match[1] else "", text)


def printable(text: str, *, coloured: bool = False) -> str:
    """Put U+FFFD for each control character that a terminal would obey; lines and tabs stay.

    URLs, titles and texts of archives get into errors and histories. `coloured`: colours stay, too.
    """
    return (_OBEYED_BUT_COLOURS if coloured else OBEYED).sub("\ufffd", text)


@dataclass(slots=True)
class Log:
    """The log of one run.

    `run_id` is that of the run, also when the run was interrupted and goes on, and "" until its output is decided;
    `attempt` counts how often it was begun, from 1. `command` is the command line as a shell has it, `stage` the stage
    at work, `began` when the process began with it.
    """

    run_id: str = ""
    attempt: int = 1
    command: str = ""
    stage: str = ""
    began: datetime = field(default_factory=partial(datetime.now, UTC))

    def write(
        self, event: Event, text: str = "", figures: Mapping[str, object] | None = None, *, level: int = logging.INFO
    ) -> None:
        """Log an event: a text for a person, and for programs also figures by their names."""
        own = {"run_id": self.run_id, "attempt": self.attempt, "stage": self.stage, "event": event}
        LOGGER.log(level, printable(without_credentials(text)), extra={**own, "figures": figures or {}})

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Log the error that ends the block, if one does: all of a command is such a block."""
        try:
            yield
        except BaseException as error:
            why, trace = reason(error), "" if is_stop(error) else "".join(traceback.format_exception(error))
            figures = {"error": type(error).__name__, "reason": why, "exit_status": exit_status(error), "trace": trace}
            self.write("failure", f"failed: {why}", figures, level=logging.ERROR)
            raise

    @contextmanager
    def waiting(self, for_what: str) -> Iterator[None]:
        """Show on a terminal how long the block takes."""
        began = time.monotonic()

        def tick() -> None:
            text = f"{for_what:12} {clock(time.monotonic() - began)}"
            self.write("progress", text, level=logging.DEBUG)

        with repeat(_TICK_SECONDS, tick):
            yield


def is_stop(error: BaseException) -> bool:
    """Return whether a person or the system stopped the run."""
    return isinstance(error, KeyboardInterrupt)


def reason(error: BaseException) -> str:
    """Return in one line why a run ended with this error."""
    if is_stop(error):
        return STOPPED
    lines = str(error).strip().splitlines()
    first = lines[0] if lines else ""
    return without_credentials(first if isinstance(error, DbceError) else f"{type(error).__name__}: {first}"[:300])


@contextmanager
def repeat(seconds: float, work: Callable[[], object]) -> Iterator[None]:
    """Call `work` every `seconds` while the block runs, in a thread of its own."""
    stop = threading.Event()

    def again() -> None:
        while not stop.wait(seconds):
            work()

    thread = threading.Thread(target=again, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def counted(count: int, noun: str) -> str:
    """Write how many there are: 1 file, 2 files."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """Format a share in percent, to a tenth."""
    return f"{100 * share:.1f} %"


def clock(seconds: float) -> str:
    """Format seconds as 4:05, or 1:04:05."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Rate:
    """Measures how fast a count grows that is noted with the time now and then.

    The rate is that of the later half of the time: work that an earlier run finished is passed over in no time, and
    must not count as speed for long.
    """

    def __init__(self, began: float, count: int = 0):
        self._began = began
        self._noted = deque([(began, count)])

    def note(self, now: float, count: int) -> None:
        """Note the count at a time in seconds, which is no earlier than the one before."""
        self._noted.append((now, count))
        half = (self._began + now) / 2
        while len(self._noted) > 2 and self._noted[1][0] <= half:
            self._noted.popleft()

    @property
    def per_second(self) -> float:
        """Return the growth in a second; 0.0 as long as it cannot be measured."""
        (since, before), (now, count) = self._noted[0], self._noted[-1]
        return max(0.0, (count - before) / (now - since)) if now > since else 0.0

    def seconds_to(self, total: int) -> float | None:
        """Return the seconds until the count reaches `total`; None as long as it does not grow."""
        left = total - self._noted[-1][1]
        if left <= 0:
            return 0.0
        return left / self.per_second if self.per_second else None


class JsonLines(logging.Formatter):
    """Formats each record as one line of JSON; docs/operations.md lists its fields."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, Any] = {"time": at.replace("+00:00", "Z"), "level": record.levelname.lower()}
        fields |= {name: getattr(record, name) for name in _FIELDS if getattr(record, name, "") != ""}
        fields["message"] = record.getMessage()
        fields |= getattr(record, "figures", {})
        return without_credentials(json.dumps(fields, ensure_ascii=False, default=str))


class Lines(logging.Handler):
    """Writes lines for a person: on a terminal progress is one line that changes, in a file a line with the time.

    A failure is left to the command, which has a line of its own for that.
    """

    def __init__(self, stream: TextIO):
        is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        super().__init__(logging.DEBUG if is_terminal else logging.INFO)
        self._stream = stream
        self._is_terminal = is_terminal
        self._is_open = False

    def emit(self, record: logging.LogRecord) -> None:
        text, event = record.getMessage(), getattr(record, "event", "")
        if event == "java":
            return  # passes its own on
        try:
            self._show(text, event, record.created)
        except (OSError, ValueError):  # full, closed, or its reader is gone: the work goes on
            self.handleError(record)

    def _show(self, text: str, event: str, created: float) -> None:
        if event == "failure" or (self._is_terminal and event in _ONLY_IN_FILES):
            self.clear()
        elif not self._is_terminal:
            self._stream.write(f"{datetime.fromtimestamp(created):%H:%M:%S} {text}\n")
        elif event == "progress":
            self._stream.write(f"\r{text[: shutil.get_terminal_size().columns - 1]}\x1b[K")
            self._is_open = True
        else:
            self.clear()
            self._stream.write(f"{text}\n")
        self._stream.flush()

    def clear(self) -> None:
        """Remove the line that changes."""
        if self._is_open:
            self._is_open = False
            self._stream.write("\r\x1b[K")

    def close(self) -> None:
        """Remove the line that changes, where the stream still takes that."""
        with suppress(OSError, ValueError):
            self.clear()
        super().close()


class LogFile(logging.FileHandler):
    """Appends messages to a file. Where that fails, as on a full disk, a warning says so, and the work goes on."""

    def __init__(self, path: str):
        super().__init__(path, encoding="utf-8")
        self._path, self._has_failed = path, False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name that logging calls
        """Say once why messages are lost."""
        if not self._has_failed:
            self._has_failed = True
            LOGGER.warning("the log %s cannot be written: %s; messages are lost", self._path, sys.exc_info()[1])

    def close(self) -> None:
        """Close the file; what waits for it may not fit any more."""
        with suppress(OSError):
            super().close()


@contextmanager
def write_to(stream: TextIO, shown: Shown, file: str = "") -> Iterator[None]:
    """Write log messages within the block to the stream, and as JSON also to the end of a file; "": no file.

    Raises:
        OutputError: the file cannot be written, or holds something else.
    """
    handlers = [_HANDLERS[shown](stream)]
    if file:
        try:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            _check_file(Path(file))
            handlers.append(_json(LogFile(file)))
        except OSError as error:
            raise OutputError(f"the log {file} cannot be written: {error}") from error
    # Py4J logs at length, through the root logger, what its connection goes through when a run is stopped.
    of_others = logging.NullHandler()
    logging.root.addHandler(of_others)
    before = LOGGER.level, LOGGER.propagate
    LOGGER.propagate = False
    LOGGER.setLevel(min(handler.level for handler in handlers))
    for handler in handlers:
        LOGGER.addHandler(handler)
    try:
        yield
    finally:
        logging.root.removeHandler(of_others)
        LOGGER.propagate = before[1]
        LOGGER.setLevel(before[0])
        for handler in handlers:
            LOGGER.removeHandler(handler)
            handler.close()


def _check_file(path: Path) -> None:
    """Refuse to write a log behind anything but a log.

    Raises:
        OutputError: the file holds something else, such as an input, where the option was given without its value.
    """
    if not path.is_file():
        return  # a pipe has no beginning
    with path.open("rb") as file:
        start = file.read(len(_BEGIN))
    if start and start != _BEGIN:
        raise OutputError(f"{path} is no log, and none is written behind it; give --log a new file")


def _json(handler: logging.Handler) -> logging.Handler:
    handler.setLevel(logging.INFO)
    handler.setFormatter(JsonLines())
    return handler


def _warnings(stream: TextIO) -> logging.Handler:
    """Write warnings as they are; a failure is left to the command, as by `Lines`."""
    handler = logging.StreamHandler(stream)
    handler.setLevel(logging.WARNING)
    handler.addFilter(lambda record: getattr(record, "event", "") != "failure")
    return handler


_HANDLERS: Mapping[Shown, Callable[[TextIO], logging.Handler]] = {
    "text": Lines,
    "json": lambda stream: _json(logging.StreamHandler(stream)),
    "warnings": _warnings,
}
