"""The help of long-running programs."""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.code_blocks import ROOT

FOLDER = ROOT / "benchmarks/programs"
PROGRAMS = sorted(
    path.relative_to(FOLDER).parts[0].removesuffix(".py")
    for path in [*FOLDER.glob("*.py"), *FOLDER.glob("*/__main__.py")]
    if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_says_what_it_takes_and_does_nothing(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Asked for help, it prints its usage, ends with 0 and writes no folder."""
    if program == "fuzz" and find_spec("atheris") is None:
        pytest.skip("needs atheris, which `make fuzz` installs")
    name = f"benchmarks.programs.{program}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "argv", [program, "--help"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(name, run_name="__main__", alter_sys=True)

    assert 0 == ended.value.code
    assert capsys.readouterr().out.startswith(f"usage: python -m {name} [-h]")
    assert [] == [*tmp_path.iterdir()]
