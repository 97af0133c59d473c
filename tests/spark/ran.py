"""A run that several tests look at, and leave as it is."""

from pathlib import Path
from typing import Any, NamedTuple


class Ran(NamedTuple):
    """What it wrote, and what it said."""

    output: Path
    report: dict[str, Any]
