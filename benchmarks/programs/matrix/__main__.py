"""Try the package on the supported versions of Spark, Python and Java:
`python -m benchmarks.programs.matrix FOLDER [CELL...]`.

In each combination the built package is installed, and smoke.py runs on a small archive. Prints a table, and writes it
to FOLDER/matrix.md. A combination that cannot run on this machine is a line with the reason; one that fails ends the
command with 1.
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
from benchmarks.programs.program_parser import program_parser
from benchmarks.samples.sample_archive import write_archive

ROOT = Path(__file__).parents[3]
LIBRARIES = ("pandas", "pyarrow", "numpy")
PAGES, SEED = 16, 1
"""Size and seed of the archive that every combination reads."""


@dataclass(frozen=True)
class Outcome:
    """A line of the table: the versions of a combination, and its result."""

    cell: Cell
    versions: dict[str, str]
    java: str
    result: str
    seconds: float = 0.0

    @property
    def is_failure(self) -> bool:
        return self.result.startswith("FAILED")

    def line(self) -> str:
        row = {"pyspark": self.cell.spark, "python": self.cell.python, "java": self.cell.java} | self.versions
        java = f"{row['java']}{f' ({self.java})' if self.java else ''}"
        libraries = ", ".join(row.get(name, "-") for name in LIBRARIES)
        return f"| {row['pyspark']} | {row['python']} | {java} | {libraries} | {self.result} | {self.seconds:.0f} |"


HEAD = "| pyspark | Python | Java | pandas, pyarrow, numpy | outcome | seconds |\n|---|---|---|---|---|---|"


def main(folder: Path, names: list[str]) -> int:
    """Run all combinations, or the named ones; return 1 if one failed."""
    cells = {cell.name: cell for cell in covering()}
    if unknown := sorted({*names} - {*cells}):
        raise SystemExit(f"no combination is called {unknown[0]}; there are {', '.join(cells)}")
    shutil.rmtree(folder, ignore_errors=True)
    wheel, archive = built(folder / "wheel"), folder / "sample"
    write_archive(archive, pages=PAGES, seed=SEED)
    outcomes = []
    print(HEAD, flush=True)
    for name in names or cells:
        outcomes.append(outcome(cells[name], wheel, archive, folder / name))
        print(outcomes[-1].line(), flush=True)
    shutil.rmtree(wheel.parent)
    shutil.rmtree(archive)
    (folder / "matrix.md").write_text("\n".join([HEAD, *(one.line() for one in outcomes), ""]), encoding="utf-8")
    return int(any(one.is_failure for one in outcomes))


def built(folder: Path) -> Path:
    """Build the package as users install it."""
    subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


def outcome(cell: Cell, wheel: Path, archive: Path, folder: Path) -> Outcome:
    """Try one combination. Its environment, half a gigabyte, is removed; its log stays in `folder`."""
    started = time.monotonic()
    folder.mkdir(parents=True)
    try:
        spark = spark_wheel(cell.spark, wheel.parent)
        environment = made(cell, wheel, spark, folder / "venv")
        versions = smoke(environment, archive, folder)
        result = "passed" if versions else f"FAILED, see {folder / 'log'}"
        return Outcome(cell, versions, environment.java_origin, result, time.monotonic() - started)
    except Missing as missing:
        return Outcome(cell, {}, "", f"not run: {missing}")
    finally:
        shutil.rmtree(folder / "venv", ignore_errors=True)


def smoke(environment: Environment, archive: Path, folder: Path) -> dict[str, str]:
    """Run smoke.py in an environment; return the versions that it printed, or nothing if it failed."""
    with (folder / "log").open("wb") as log:
        command = [str(environment.python), str(ROOT / "benchmarks/programs/matrix/smoke.py"), str(archive)]
        done = subprocess.run(
            command, cwd=folder, env=environment.variables(), stdout=log, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        return {}
    lines = (folder / "log").read_text(encoding="utf-8").splitlines()
    versions: dict[str, str] = json.loads(next(line for line in reversed(lines) if line.startswith("{")))
    return versions


if __name__ == "__main__":
    parser = program_parser()
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("cells", nargs="*", metavar="CELL")
    given = parser.parse_args()
    sys.exit(main(given.folder.resolve(), given.cells))
