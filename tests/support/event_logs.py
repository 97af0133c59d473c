"""Event logs, by which Spark keeps what it did: folders with a file `events_*` or several for each run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard


def logged(events: Path) -> Iterator[dict[str, Any]]:
    """Read all events below a folder, in the order of each file."""
    for log in sorted(events.rglob("events_*")):
        with zstandard.open(log, "rt") as lines:
            yield from map(json.loads, lines)
