"""What several commands ask of their arguments, and do around their work."""

import argparse
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from dbce_spark import log
from dbce_spark.errors import ConfigError
from dbce_spark.log import Log

INPUT_HELP = (
    "read a WARC, ARC or WACZ file, a folder (searched at every depth), a glob in quotes, or @FILE with one of these"
    " on each line; local, or any URL that fsspec supports (s3://, http://, hdfs://)"
)

_IS_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""What spark-submit sets in the environment of the script that it runs."""


def add_version(command: argparse.ArgumentParser) -> None:
    """Adds the option that says which version of a collection is read."""
    command.add_argument(
        "--version", type=count, metavar="N", help="read this version of a collection (default: the last)"
    )


def add_spark(command: argparse.ArgumentParser) -> None:
    """Adds the options that say where and how Spark runs."""
    command.add_argument(
        "--master",
        metavar="URL",
        help="connect to this Spark master (default: that of the active session, or local[*])",
    )
    command.add_argument(
        "--spark", action="append", default=[], metavar="KEY=VALUE", dest="spark",
        help="set a property of Spark, such as spark.ui.enabled=true; may be repeated (under spark-submit give it"
        " --conf KEY=VALUE instead)",
    )  # fmt: skip


def add_log(command: argparse.ArgumentParser) -> None:
    """Adds the options that say where it is told what happens."""
    command.add_argument(
        "--log", default="", metavar="FILE", help="append all log messages to this file, as JSON lines"
    )
    command.add_argument(
        "--log-format", choices=("text", "json"), default="text",
        help="write log messages on stderr as text or as JSON lines (default: %(default)s)",
    )  # fmt: skip


def command_line() -> str:
    """What was asked for, as a shell has it; of what spark-submit was told only the script and its arguments."""
    words = ["spark-submit", *sys.argv] if _IS_SUBMITTED in os.environ else ["dbce", *sys.argv[1:]]
    return log.without_credentials(f"cd {shlex.quote(str(Path.cwd()))} && {shlex.join(words)}")


@contextmanager
def told_to(arguments: argparse.Namespace, told: Log) -> Iterator[None]:
    """Within the block what happens is told where these options say, and last how it failed."""
    with log.write_to(sys.stderr, as_json=arguments.log_format == "json", file=arguments.log), told.failing():
        yield


def count(text: str) -> int:
    """A number from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def counts(text: str) -> list[int]:
    """Such numbers, with commas between them."""
    return [count(one) for one in names(text)]


def seconds(text: str) -> float:
    """A time, more than none."""
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return value


def names(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def spark_settings(given: Sequence[str]) -> dict[str, str]:
    """The settings of `--spark` by their keys."""
    if given and _IS_SUBMITTED in os.environ:
        raise ConfigError("--spark has no effect under spark-submit; give it --conf KEY=VALUE")
    pairs = [one.partition("=") for one in given]
    if wrong := next((one for one, (key, is_one, _) in zip(given, pairs, strict=True) if not (key and is_one)), None):
        raise ConfigError(f"--spark {wrong}: write KEY=VALUE, such as spark.ui.enabled=true")
    return {key: value for key, _, value in pairs}


@contextmanager
def stoppable() -> Iterator[None]:
    """Within the block SIGTERM, by which schedulers stop a job, ends it as Ctrl-C does: with a word."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def started_whole() -> Iterator[None]:
    """Within the block a signal to stop waits for its end: a Java that is left when it has half started stays behind.
    A second signal does not wait."""
    waiting: list[int] = []

    def wait(number: int, _: FrameType | None) -> None:
        if waiting:
            raise KeyboardInterrupt
        waiting.append(number)

    # What a shell has made deaf to Ctrl-C, as it does in the background, stays so.
    heard = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) is not signal.SIG_IGN]
    before = [(number, signal.signal(number, wait)) for number in heard]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    if waiting:
        raise KeyboardInterrupt
