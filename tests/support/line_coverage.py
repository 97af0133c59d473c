"""Watch which lines and branches of the package the tests run, in all processes that share them (`--coverage`).

By SlipCover (Altmayer Pizzorno and Berger, *SlipCover: Near Zero-Overhead Code Coverage for Python*, 2023), which takes
its probes out again once they have been passed: Python's own tracing doubled the time of what it watched.
"""

import copyreg
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import slipcover

PACKAGE = "dbce_spark"
LEAST = 95
"""Percent of lines and branches that have to be run."""
OMITTED = (f"{PACKAGE}/evaluation/node/__main__.py", f"{PACKAGE}/report/*")
"""What needs a browser, or Node."""
EXCLUDED = (
    r"# pragma: no cover",
    r"if TYPE_CHECKING:",
    r"if __name__ == .__main__.:",
    # What Spark hands to its Python workers runs in processes that are not watched.
    r"def \w+\(batches: Iterator\[pa\.RecordBatch\]",
)
"""Patterns of lines that are not counted, with all that belongs to them."""
_KEY = "line_coverage"


class LineCoverage:
    """The plugin of one process: it watches, or adds up what the processes that it has started have seen."""

    def __init__(self) -> None:
        if PACKAGE in sys.modules:
            raise pytest.UsageError(
                f"{PACKAGE} was imported before it could be watched; name no folder with a conftest.py"
            )
        folder = Path(__file__).parents[2]
        sources, omitted = [str(folder / PACKAGE)], [str(folder / one) for one in OMITTED]
        self._watched = slipcover.Slipcover(branch=True, source=sources, omit=omitted, exclude_lines=[*EXCLUDED])
        matcher = slipcover.FileMatcher(sources=sources, omit=omitted)
        if sys.version_info < (3, 12):  # in later versions it changes no code
            copyreg.pickle(type(slipcover.probe.new(self._watched, "", 0, 0)), _unheard)
        self._imports = slipcover.ImportManager(self._watched, matcher)
        self._imports.__enter__()
        self._of_others: list[dict[str, Any]] = []

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand over what was seen, or fail where it is too little."""
        self._imports.__exit__()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_KEY] = json.dumps(self._watched.get_coverage())
        elif _percent(self._seen) < LEAST and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a process has seen. One that crashed gives nothing, and its tests fail."""
        if seen := getattr(node, "workeroutput", {}).get(_KEY):
            self._of_others.append(json.loads(seen))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        seen = self._seen
        terminalreporter.section("coverage")
        printed = StringIO()
        slipcover.print_coverage(seen, outfile=printed, skip_covered=True)
        terminalreporter.write(printed.getvalue())
        verdict = "" if _percent(seen) >= LEAST else f", under the {LEAST} % that are asked for"
        terminalreporter.write_line(f"Lines and branches that were run: {_percent(seen):.2f} %{verdict}")

    @cached_property
    def _seen(self) -> dict[str, Any]:
        """Add up all that was seen, once no test is left; a process that shares them out has seen next to nothing."""
        seen: dict[str, Any] = self._watched.get_coverage()
        for of_other in self._of_others:
            slipcover.merge_coverage(seen, of_other)
        return seen


def _unheard(_: object) -> tuple[Any, ...]:
    """Reduce a probe to one that nobody listens to, for the functions that Spark sends to its workers."""
    return slipcover.probe.new, (SimpleNamespace(newly_seen=defaultdict(set)), "", 0, -1)


def _percent(seen: Mapping[str, Any]) -> float:
    found: float = seen["summary"]["percent_covered"]
    return found
