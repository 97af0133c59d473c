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

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 and C1 but tab and newline, overrides of direction, and halves of characters."""
DIM, PLAIN = "\x1b[2m", "\x1b[0m"


def without_controls(text: str) -> str:
    """Remove all that a terminal obeys, or that could hide what stands there."""
    return _CONTROLS.sub("", text)


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
    """Write a value as JSON, its letters as they are if standard output has them all."""
    has_all = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    return json.dumps(value, indent=indent, ensure_ascii=not has_all)
