import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dbce_spark.errors import PlatformError
from dbce_spark.spark.engine import java
from dbce_spark.spark.jobs import class_archive

FROM_STORE = "source: shared objects file (top)"


@pytest.mark.spark
def test_java_starts_from_the_stored_classes(tmp_path: Path) -> None:
    """Most of the classes that Spark loads come from the store, and not from its archives."""
    if not java.stored_classes(java.wrapper(java.find_java().home)).exists():
        subprocess.run([sys.executable, "-m", class_archive.__name__], check=True, timeout=600)
    option = {class_archive.JAVA_OPTIONS: f"-Xlog:class+load:file={tmp_path}/loaded"}
    program = (
        "from dbce_spark.spark.engine.session import session\n"
        f"spark = session('classes', master='local[1]', settings={option})\n"
        "assert [7] == [row.n for row in spark.range(7).selectExpr('count(*) as n').collect()]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)

    loaded = (tmp_path / "loaded").read_text().splitlines()
    assert len(loaded) > 10_000
    assert sum(FROM_STORE in line for line in loaded) > 0.6 * len(loaded)


def test_its_help_stores_nothing(tmp_path: Path) -> None:
    """Whoever asks what it does has not asked for it."""
    told = subprocess.run(
        [sys.executable, "-m", class_archive.__name__, "--help"],
        check=True, timeout=60, capture_output=True, text=True, env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
    )  # fmt: skip

    assert told.stdout.startswith(f"usage: python -m {class_archive.__name__} [-h]\n")
    assert [] == list(tmp_path.iterdir())


def test_a_java_that_stores_nothing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If Java ends without its record, the message says which file is missing, and nothing is left of the run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(class_archive, "_run", lambda folder, settings: None)
    monkeypatch.setattr(class_archive, "_base", lambda java, home: [])

    with pytest.raises(PlatformError, match=r"classes\.jsa: Java has stored no classes"):
        class_archive.make()

    assert ["java"] == [path.name for path in tmp_path.rglob("*") if path.is_file()]


def test_the_record_lies_in_a_folder_with_spaces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Java gets the path of its record as one option, whatever characters the user's folders have."""
    given: dict[str, str] = {}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / 'our "cache'))
    monkeypatch.setattr(class_archive, "_run", lambda folder, settings: given.update(settings))
    monkeypatch.setattr(class_archive, "_base", lambda java, home: [f"-XX:SharedArchiveFile={home}/java.jsa"])

    with pytest.raises(PlatformError):
        class_archive.make()

    paths = [one.partition("=")[2] for one in shlex.split(given[class_archive.JAVA_OPTIONS]) if ".jsa" in one]
    assert [True, True] == [path.startswith(f'{tmp_path}/our "cache/dbce-spark/java-') for path in paths]
