"""The keys of URLs."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = "from dbce_spark.archive.index.urls import url_key; print(url_key('http://www.example.org/a?b=1'))"


def test_a_library_that_is_compiled_first_warns_of_nothing(tmp_path: Path) -> None:
    """Its source has escapes that Python warns of, and some installers compile nothing."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env={**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ("org,example)/a?b=1\n", "") == (done.stdout, done.stderr)
