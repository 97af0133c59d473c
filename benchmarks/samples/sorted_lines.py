"""More lines than memory holds, sorted: runs on disk, merged at the end."""

import heapq
from contextlib import ExitStack
from pathlib import Path

RUN = 100_000
"""Lines sorted in memory at once (about 30 MB of index lines)."""


class SortedLines:
    """Takes lines in any order and writes them sorted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[str] = []
        self._runs: list[Path] = []

    def add(self, line: str) -> None:
        self._lines.append(line)
        if len(self._lines) == RUN:
            self._spill()

    def write(self, path: Path) -> None:
        """Write all lines to `path` and forget them."""
        self._spill()
        with ExitStack() as stack, path.open("w", encoding="utf-8", newline="\n") as out:
            runs = [stack.enter_context(run.open(encoding="utf-8", newline="\n")) for run in self._runs]
            out.writelines(heapq.merge(*runs))
        for run in self._runs:
            run.unlink()
        self._runs.clear()

    def _spill(self) -> None:
        run = self._folder / f".run-{len(self._runs):05d}"
        with run.open("w", encoding="utf-8", newline="\n") as out:
            out.writelines(line + "\n" for line in sorted(self._lines))
        self._runs.append(run)
        self._lines.clear()
