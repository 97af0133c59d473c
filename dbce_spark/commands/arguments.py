"""Arguments that several commands have, and what they do around their work: logging, signals, settings of Spark."""

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
from dbce_spark.errors import ConfigError, InputError
from dbce_spark.files import sources
from dbce_spark.log import Log
from dbce_spark.output.collection import Collection, Version

INPUT_HELP = (
    "read a WARC, ARC or WACZ file, a folder (searched at every depth), a glob in quotes, or @FILE with one of these"
    " on each line; local, or any URL that fsspec supports (s3://, http://, hdfs://)"
)

_IS_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable that spark-submit sets in the environment of the script that it runs."""
_STOPS = (signal.SIGINT, signal.SIGTERM)


def add_config(command: argparse.ArgumentParser, defaults: str = "conf/dbce.toml") -> None:
    """Add the option for a file of parameters."""
    command.add_argument(
        "--config",
        metavar="FILE",
        help=f"read parameters from this TOML file; those that it leaves out keep their values in {defaults}",
    )


def add_settings(command: argparse.ArgumentParser, example: str) -> None:
    """Add the option for single parameters."""
    command.add_argument(
        "--set", action="append", default=[], metavar="SECTION.NAME=VALUE", dest="settings",
        help=f"set one parameter of {example}; may be repeated",
    )  # fmt: skip


def add_version(command: argparse.ArgumentParser) -> None:
    """Add the option for the version of a collection that is read."""
    command.add_argument(
        "--version", type=count, metavar="N", help="read this version of a collection (default: the last)"
    )


def chosen_version(collection: Collection, arguments: argparse.Namespace) -> Version:
    """Return the version of `--version`, or the last.

    Raises:
        InputError: there is no collection, or no such version.
    """
    last = collection.current()
    return last if arguments.version is None else collection.version(arguments.version)


def add_spark(command: argparse.ArgumentParser) -> None:
    """Add the options for where and how Spark runs."""
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
    """Add the options for where log messages go."""
    command.add_argument(
        "--log", default="", metavar="FILE", help="append all log messages to this file, as JSON lines"
    )
    command.add_argument(
        "--log-format", choices=("text", "json"), default="text",
        help="write log messages on stderr as text or as JSON lines (default: %(default)s)",
    )  # fmt: skip


def is_submitted() -> bool:
    """Return whether spark-submit runs this command."""
    return _IS_SUBMITTED in os.environ


def command_line() -> str:
    """Return this command as a shell has it; of a spark-submit only the script and its arguments."""
    words = ["spark-submit", *sys.argv] if is_submitted() else ["dbce", *sys.argv[1:]]
    return log.without_credentials(f"cd {shlex.quote(str(Path.cwd()))} && {shlex.join(words)}")


@contextmanager
def logged(arguments: argparse.Namespace, to: Log) -> Iterator[None]:
    """Send log messages of the block where the options of `add_log` want them, and last how the block failed."""
    with log.write_to(sys.stderr, as_json=arguments.log_format == "json", file=arguments.log), to.failing():
        yield


def count(text: str) -> int:
    """Parse a number from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def counts(text: str) -> list[int]:
    """Parse numbers from 1 on, with commas between them."""
    return [count(one) for one in names(text)]


def seconds(text: str) -> float:
    """Parse a time in seconds, more than none."""
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return value


def names(text: str) -> list[str]:
    """Parse names with commas between them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def spark_settings(given: Sequence[str]) -> dict[str, str]:
    """Return the settings of `--spark` by their keys.

    Raises:
        ConfigError: one is not KEY=VALUE, or spark-submit would ignore it.
    """
    if given and is_submitted():
        raise ConfigError("--spark has no effect under spark-submit; give it --conf KEY=VALUE")
    pairs = [one.partition("=") for one in given]
    if wrong := next((one for one, (key, is_one, _) in zip(given, pairs, strict=True) if not (key and is_one)), None):
        raise ConfigError(f"--spark {wrong}: write KEY=VALUE, such as spark.ui.enabled=true")
    return {key: value for key, _, value in pairs}


def check_fits(archives: Sequence[str], most: int) -> None:
    """Check that one process can hold all pages of some archives: up to so many stored bytes.

    Raises:
        InputError: they are larger, or their size is not known.
    """
    try:
        sizes = [sources.size(path) for path in archives]
    except (OSError, ValueError) as error:
        raise InputError(f"{archives[0]}: cannot be read: {error}") from error
    if sizes and (min(sizes) < 0 or sum(sizes) > most):
        raise InputError(
            f"{archives[0]}: more than {most:,} bytes of archives (engine.local_bytes of conf/dbce.toml) are too much"
            " at once; run `dbce extract` on them, then `dbce show` and `dbce export` read its output"
        )


@contextmanager
def stoppable() -> Iterator[None]:
    """End the block by SIGTERM, by which schedulers stop a job, as Ctrl-C does: with a message."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def noted_signals(numbers: Sequence[signal.Signals] = _STOPS) -> Iterator[list[int]]:
    """Collect signals to stop within the block instead of obeying them; a second one is obeyed."""
    noted: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    before = [(number, signal.signal(number, note)) for number in numbers]
    try:
        yield noted
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def started_whole() -> Iterator[None]:
    """Delay a signal to stop to the end of the block: a Java that is stopped when half started is left behind.

    A second signal does not wait.
    """
    # A shell starts jobs in the background deaf to Ctrl-C, and so they stay.
    obeyed = [one for one in _STOPS if signal.getsignal(one) is not signal.SIG_IGN]
    with noted_signals(obeyed) as noted:
        yield
    if noted:
        raise KeyboardInterrupt
