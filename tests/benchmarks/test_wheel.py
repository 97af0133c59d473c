"""The trial of the built package; `make wheel` and CI run it."""

from configparser import ConfigParser
from pathlib import Path

import pytest

from benchmarks.programs import wheel

ROOT = Path(__file__).parents[2]


def test_every_extra_is_tried() -> None:
    """Each extra of setup.cfg is tried, and none of them."""
    parsed = ConfigParser()
    parsed.read(ROOT / "setup.cfg", encoding="utf-8")

    assert {wheel.PLAIN, *parsed["options.extras_require"]} == set(wheel.MODULES)


def test_what_is_no_extra_is_refused(tmp_path: Path) -> None:
    """Before anything is built."""
    with pytest.raises(SystemExit, match="there is no extra sparc"):
        wheel.main(tmp_path, ["sparc"])


def test_a_command_that_fails_is_named(tmp_path: Path) -> None:
    """With its status and its last line; one that prints something else, with that."""
    with pytest.raises(wheel.Failure, match=r"ended with 2: no good$"):
        wheel.run(["/bin/sh", "-c", "echo no good >&2; exit 2"], tmp_path)
    with pytest.raises(wheel.Failure, match="'good' is not in 'bad"):
        wheel.expect("good", wheel.run(["/bin/cat"], tmp_path, "bad"))
