"""Text of pages on a terminal: nothing in it can move the cursor, change a title, or turn the line around."""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable
from io import FileIO, TextIOWrapper
from typing import Any, TextIO

from dbce_spark.errors import InputError
from dbce_spark.log import OBEYED

_LINE_ENDS = re.compile("[\x0b-\r\x85\u2028\u2029]")
"""Ends of lines that are none on a terminal."""
DIM, PLAIN = "\x1b[2m", "\x1b[0m"


def without_controls(text: str) -> str:
    """Remove all that a terminal obeys, or that could hide what stands there; a space stands for the end of a line."""
    return OBEYED.sub("", _LINE_ENDS.sub(" ", text))


def add_color(command: argparse.ArgumentParser, help: str) -> None:
    """Add the option that colours what is printed."""
    command.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto",
        help=f"{help}; auto: on a terminal, unless NO_COLOR is set (default: %(default)s)",
    )  # fmt: skip


def is_coloured(wanted: str) -> bool:
    """Return whether what is printed has colours, by the value of the option (https://no-color.org)."""
    return wanted == "always" or (wanted == "auto" and sys.stdout.isatty() and not os.environ.get("NO_COLOR"))


def prepare_output() -> None:
    """Let what is printed go nowhere where it has no place, and lose no character that the encoding there lacks."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name) or TextIOWrapper(FileIO(os.devnull, "w"), "utf-8")
        stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, stream)


def standard_input() -> TextIO:
    """Return standard input.

    Raises:
        InputError: it is closed.
    """
    given: TextIO | None = sys.stdin
    if given is None:
        raise InputError("standard input is closed; send something to it, such as < FILE")
    return given


def write_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def as_json(value: object, *, indent: int | None = None) -> str:
    """Write a value as JSON, its letters as they are if standard output has them all and a terminal obeys none."""
    has_all = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    written = json.dumps(value, indent=indent, ensure_ascii=not has_all)
    return OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
