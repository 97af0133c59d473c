"""Try the package on the supported versions of Spark, Python and Java:
`python -m benchmarks.programs.matrix FOLDER [CELL...]`.

In each combination the built package is installed, and smoke.py runs. Prints a table, and writes it to
FOLDER/matrix.md. What cannot run on this machine is a line that says why; what fails ends the command with 1.
"""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.programs.matrix.cells import Cell, covering
from benchmarks.programs.matrix.environment import Environment, Missing, made, spark_wheel

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Outcome:
    """A line of the table: what a combination turned out to be, and how it went."""

    cell: Cell
    versions: dict[str, str]
    java: str
    result: str
    seconds: float = 0.0

    @property
    def is_failure(self) -> bool:
        return self.result.startswith("FAILED")

    def line(self) -> str:
        told = {"pyspark": self.cell.spark, "python": self.cell.python, "java": self.cell.java} | self.versions
        java = f"{told['java']}{f' ({self.java})' if self.java else ''}"
        libraries = ", ".join(told.get(name, "-") for name in ("pandas", "pyarrow", "numpy"))
        return f"| {told['pyspark']} | {told['python']} | {java} | {libraries} | {self.result} | {self.seconds:.0f} |"


HEAD = "| pyspark | Python | Java | pandas, pyarrow, numpy | outcome | seconds |\n|---|---|---|---|---|---|"


def main(folder: Path, names: list[str]) -> int:
    """Runs all combinations, or the named ones. Returns 1 if one failed."""
    cells = {cell.name: cell for cell in covering()}
    if unknown := sorted({*names} - {*cells}):
        raise SystemExit(f"no combination is called {unknown[0]}; there are {', '.join(cells)}")
    shutil.rmtree(folder, ignore_errors=True)
    wheel = built(folder / "wheel")
    outcomes = []
    print(HEAD, flush=True)
    for name in names or cells:
        outcomes.append(outcome(cells[name], wheel, folder / name))
        print(outcomes[-1].line(), flush=True)
    shutil.rmtree(wheel.parent)
    (folder / "matrix.md").write_text("\n".join([HEAD, *(one.line() for one in outcomes), ""]), encoding="utf-8")
    return int(any(one.is_failure for one in outcomes))


def built(folder: Path) -> Path:
    """The package as users install it."""
    subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


def outcome(cell: Cell, wheel: Path, folder: Path) -> Outcome:
    """Tries one combination. Its environment, half a gigabyte, is removed; what it told stays in `folder`."""
    started = time.monotonic()
    folder.mkdir(parents=True)
    try:
        spark = spark_wheel(cell.spark, wheel.parent)
        environment = made(cell, wheel, spark, folder / "venv")
        told = smoke(environment, folder)
        result = "passed" if told else f"FAILED, see {folder / 'log'}"
        return Outcome(cell, told, environment.java_origin, result, time.monotonic() - started)
    except Missing as missing:
        return Outcome(cell, {}, "", f"not run: {missing}")
    finally:
        shutil.rmtree(folder / "venv", ignore_errors=True)


def smoke(environment: Environment, folder: Path) -> dict[str, str]:
    """Versions of what ran, as it says itself; nothing, if it failed."""
    with (folder / "log").open("wb") as log:
        command = [str(environment.python), str(ROOT / "benchmarks/programs/matrix/smoke.py")]
        done = subprocess.run(
            command, cwd=folder, env=environment.variables(), stdout=log, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        return {}
    lines = (folder / "log").read_text(encoding="utf-8").splitlines()
    told: dict[str, str] = json.loads(next(line for line in reversed(lines) if line.startswith("{")))
    return told


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
