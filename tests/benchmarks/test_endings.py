"""How commands end, counted."""

import sys
from pathlib import Path

from benchmarks.programs import endings

KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGABRT)"
FAILED = "import sys; sys.exit(3)"


def python(program: str, *words: str) -> list[str]:
    return [sys.executable, "-c", program, *words]


def test_an_abort_and_an_error_are_counted_apart(tmp_path: Path) -> None:
    """By exit status; a signal is below 0."""
    found = endings.count({"abort": python(KILLED), "error": python(FAILED), "good": python("")}, 2, str(tmp_path))

    assert {"abort": {-6: 2}, "error": {3: 2}, "good": {0: 2}} == found


def test_what_a_command_writes_is_new_each_time(tmp_path: Path) -> None:
    """Nothing of it is left."""
    command = python("import os, sys; os.mkdir(sys.argv[1])", "{new}")

    assert {"writes": {0: 3}} == endings.count({"writes": command}, 3, str(tmp_path))
    assert [] == [*tmp_path.iterdir()]
