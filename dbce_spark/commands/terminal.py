"""Text of pages on a terminal: nothing in it can move the cursor, change a title, or turn the line around."""

import re
import sys
from collections.abc import Iterable

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 and C1 but tab and newline, overrides of direction, and halves of characters."""
DIM, PLAIN = "\x1b[2m", "\x1b[0m"


def without_controls(text: str) -> str:
    """Remove all that a terminal obeys, or that could hide what stands there."""
    return _CONTROLS.sub("", text)


def write_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output; a character that its encoding lacks becomes a question mark."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        sys.stdout.write(line.encode(encoding, "replace").decode(encoding) + "\n")
