import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import MagicMock

import pytest

from dbce_spark.errors import ConfigError
from dbce_spark.spark.engine.session import applied_settings, check_master, defaults, session, with_attempts
from tests.support.builders import archive, http, record
from tests.support.cluster import SMALL_JAVA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]
CHANGED_BY_THE_FIXTURE = {"spark.driver.memory", "spark.sql.shuffle.partitions"}
CHANGED_LOCALLY = {"spark.executor.pyspark.memory", "spark.sql.shuffle.partitions"}


def test_every_default_has_its_reason() -> None:
    """Each setting, or group of settings, of spark-defaults.conf stands below a comment."""
    text = (Path(__file__).parents[3] / "conf" / "spark-defaults.conf").read_text()
    groups = [group.splitlines() for group in text.split("\n\n")]

    assert defaults()
    assert all(group[0].startswith("#") for group in groups)


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ("local", "local[1,4]"),
        ("local[2]", "local[2,4]"),
        ("local[*]", "local[*,4]"),
        ("local[2,1]", "local[2,1]"),
        ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
        ("spark://host:7077", "spark://host:7077"),
        ("yarn", "yarn"),
    ],
)
def test_a_task_is_tried_again_on_a_local_master(master: str, expected: str) -> None:
    """As clusters do; a number that somebody gave stays."""
    assert expected == with_attempts(master)


@pytest.mark.parametrize("master", ["nonsense", "local[x]", "local[2", "spark://", "mesos://a:1"])
def test_a_master_that_spark_does_not_know_is_one_line(master: str) -> None:
    """Spark itself would end its Java, or ours, with a stack."""
    with pytest.raises(ConfigError, match=rf"^--master {re.escape(master)}: write "):
        check_master(master)


@pytest.mark.parametrize("master", ["local", "local[*,4]", "local[2]", "local-cluster[2,1,1024]", "yarn", "k8s://a"])
def test_a_master_that_spark_knows_is_taken(master: str) -> None:
    """Every kind that Spark lists, and the one of its own tests."""
    check_master(master)


@pytest.mark.spark
def test_local_session_tries_again(spark: "SparkSession") -> None:
    """Spark itself takes the master that we make of "local[2]"."""
    assert ("local[2,4]", 2) == (spark.sparkContext.master, spark.sparkContext.defaultParallelism)


@pytest.mark.spark
def test_local_session_has_our_defaults(spark: "SparkSession") -> None:
    """A local session is set up as spark-defaults.conf says."""
    expected = {k: v for k, v in defaults().items() if k not in CHANGED_BY_THE_FIXTURE | CHANGED_LOCALLY}
    actual = {key: spark.sparkContext.getConf().get(key) for key in expected}

    assert expected == actual


@pytest.mark.spark
def test_settings_win(spark: "SparkSession") -> None:
    """Settings of the caller are stronger than the file."""
    assert spark.conf.get("spark.sql.shuffle.partitions") == "4"


@pytest.mark.spark
def test_active_session_is_kept(spark: "SparkSession") -> None:
    """An active session is given back as it is, whatever is asked for."""
    again = session("another", master="local[7]", settings={"spark.sql.shuffle.partitions": "99"})

    assert again is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "4"


@pytest.mark.spark
def test_timestamps_are_utc(spark: "SparkSession") -> None:
    """A timestamp is shown in UTC, whatever the machine's own zone."""
    shown = spark.sql("SELECT CAST(timestamp_micros(0) AS STRING) AS shown").first()

    assert shown is not None
    assert str(datetime.fromtimestamp(0, UTC).replace(tzinfo=None)) == shown.shown


JOB = """
import sys
from dbce_spark.spark.engine.session import session

spark = session("ours", master="local[7]")
settings = [spark.sparkContext.master, spark.sparkContext.appName]
settings += [spark.conf.get("spark.sql.shuffle.partitions"), spark.conf.get("spark.sql.session.timeZone")]
settings.append(spark.conf.get("spark.sql.execution.arrow.useLargeVarTypes"))
print(" ".join(settings), len(spark.range(10).collect()))
"""
"""A program that prints one line, on Spark."""
LITTLE = "spark.driver.memory=600m"
TIME_ZONE = "spark.sql.session.timeZone"


@pytest.fixture(scope="module")
def job_of_spark_submit(tmp_path_factory: pytest.TempPathFactory) -> "subprocess.CompletedProcess[str]":
    """A job with settings of its own, with SPARK_CONF_DIR as docs/operations.md says, but without our zone of time."""
    from dbce_spark.spark.engine.java import java_home

    folder = tmp_path_factory.mktemp("submitted")
    shutil.copytree(ROOT / "conf", folder / "conf")
    lines = (ROOT / "conf/spark-defaults.conf").read_text().splitlines()
    (folder / "conf/spark-defaults.conf").write_text("\n".join(one for one in lines if not one.startswith(TIME_ZONE)))
    (folder / "job.py").write_text(JOB)
    given = ["--master", "local[1]", "--name", "theirs", "--driver-memory", "600m"]
    given += ["--conf", "spark.sql.shuffle.partitions=3", "--driver-java-options", SMALL_JAVA]
    given += ["--conf", "spark.sql.execution.arrow.useLargeVarTypes=true"]
    command = [str(Path(sys.executable).parent / "spark-submit"), *given, str(folder / "job.py")]
    variables = {"SPARK_CONF_DIR": str(folder / "conf"), "TZ": "Asia/Tokyo", "JAVA_HOME": java_home()}
    return submitted(command, folder, **variables)


@pytest.mark.spark
def test_spark_submit_keeps_its_settings(job_of_spark_submit: "subprocess.CompletedProcess[str]") -> None:
    """Under spark-submit its settings stay, and only spark.sql settings that nobody gave are filled in; but texts in
    Arrow have the short offsets that our tasks write."""
    assert (0, "local[1] theirs 3 UTC false 10\n") == (job_of_spark_submit.returncode, job_of_spark_submit.stdout)


@pytest.mark.spark
def test_spark_and_java_print_nothing(job_of_spark_submit: "subprocess.CompletedProcess[str]") -> None:
    """Neither Spark's INFO nor Java's warning of a module. tests/spark/test_watching.py sees the same where we start
    Spark."""
    assert "" == job_of_spark_submit.stderr


@pytest.mark.spark
@pytest.mark.parametrize(
    ("given", "variables", "expected"),
    [
        (
            (),
            {"JDK_JAVA_OPTIONS": "-XX:+UseSerialGC"},
            "Java has ended before Spark was there: .*(onflict|garbage collectors)",
        ),
        (("--spark", "spark.driver.memory=much"), {}, "Java has ended before Spark was there: .*-Xmxmuch"),
        (("--spark", "spark.executor.cores=x"), {}, "Java has ended before Spark was there: .*cores must be a pos"),
        ((), {"SPARK_HOME": "none"}, "SPARK_HOME is none, and no Spark that starts is there .*; unset it"),
        ((), {"SPARK_LOCAL_DIRS": __file__}, f"Spark does not start: .*create local dir in {__file__}.*SPARK_LOCAL_D"),
        (("--spark", "spark.sql.shuffle.partitions=x"), {}, "Spark does not start: .*shuffle.partitions"),
    ],
)
def test_a_spark_that_does_not_start_is_one_line(
    given: tuple[str, ...], variables: dict[str, str], expected: str, tmp_path: Path
) -> None:
    """With the cause, none of Java's own lines, and no stack."""
    archive(tmp_path / "input.warc", record(http("<p>A page.</p>"), url="http://a.example/"))
    words = ["extract", str(tmp_path / "input.warc"), "--output", str(tmp_path / "out"), "--engine", "spark", *given]
    done = submitted([sys.executable, "-m", "dbce_spark.commands.cli", *words], tmp_path, **variables)
    _, *errors = done.stderr.splitlines()  # the first is of the run

    assert (2, 1) == (done.returncode, len(errors))
    assert re.match(f"dbce: {expected}", errors[0])


FULL_DISK = """
from pyspark.errors import PySparkException
from dbce_spark.spark.engine.session import session

def write(batches):
    list(batches)
    raise OSError(28, "No space left on device")

spark = session("full", master="local[1,2]", settings={"spark.sql.shuffle.partitions": "1"})
try:
    spark.range(1).mapInArrow(write, "id long").collect()
except PySparkException as error:
    print("No space left" in str(error))
"""


@pytest.mark.spark
def test_tasks_that_fail_print_nothing(tmp_path: Path) -> None:
    """The error that is raised has all, and the stacks of each try are for the log alone."""
    (tmp_path / "job.py").write_text(FULL_DISK)
    done = submitted([sys.executable, str(tmp_path / "job.py")], tmp_path)

    assert ("True\n", "") == (done.stdout, done.stderr)


NAMES = """
import sys
from pathlib import Path
from dbce_spark.spark.engine.session import session
spark = session("names", master="local[1]")
spark.range(3).write.parquet(sys.argv[1])
print(ascii(Path(sys.argv[1]).name), Path(sys.argv[1]).is_dir(), spark.read.parquet(sys.argv[1]).count())
"""
"""A program that writes a table, and reads it."""


@pytest.mark.spark
@pytest.mark.parametrize("starts", [(sys.executable,), ("spark-submit", "--master", "local[1]", "--conf", LITTLE)])
def test_names_of_files_have_letters_beyond_ascii_in_any_locale(tmp_path: Path, starts: tuple[str, ...]) -> None:
    """Java would put ? for them in the arguments of a spark-submit, and not find what is called so."""
    from dbce_spark.spark.engine.java import java_home

    (tmp_path / "job.py").write_text(NAMES)
    command = [*starts, str(tmp_path / "job.py"), str(tmp_path / "öß")]
    variables = {"LC_ALL": "C", "JAVA_HOME": java_home(), "SPARK_CONF_DIR": str(ROOT / "conf")}
    done = submitted(command, tmp_path, **variables)

    assert f"{'öß'!a} True 3\n" == done.stdout, done.stderr


MODES = """
import os, sys
from pathlib import Path
os.umask(0o002)
from dbce_spark.spark.engine.session import session
session("modes", master="local[1]").range(3).write.parquet(sys.argv[1])
print({oct(path.stat().st_mode & 0o777) for path in Path(sys.argv[1]).rglob("*")}, oct(os.umask(0)))
"""
"""A program that writes a table which its group may change, and shows what may be done with its files."""


@pytest.mark.spark
def test_files_of_java_have_the_umask_of_the_command(tmp_path: Path) -> None:
    """In a folder that a group shares, another of it goes on with a run or a stream."""
    from dbce_spark.spark.engine.java import java_home

    (tmp_path / "job.py").write_text(MODES)
    command = [sys.executable, str(tmp_path / "job.py"), str(tmp_path / "table")]
    done = submitted(command, tmp_path, JAVA_HOME=java_home(), SPARK_CONF_DIR=str(ROOT / "conf"))

    assert "{'0o664'} 0o2\n" == done.stdout, done.stderr


@pytest.mark.spark
def test_a_submitted_job_without_a_master_that_answers_is_one_line(tmp_path: Path) -> None:
    """Spark itself would try for a minute, and end in two stacks."""
    archive(tmp_path / "input.warc", record(http("<p>A page.</p>"), url="http://a.example/"))
    command = [str(Path(sys.executable).parent / "spark-submit"), "--master", "spark://127.0.0.1:1"]
    command += [str(ROOT / "jobs/extract.py"), str(tmp_path / "input.warc"), "--output", str(tmp_path / "out")]
    done = submitted(command, tmp_path)
    errors = [one for one in (done.stdout + done.stderr).splitlines() if " Spark starts" not in one]

    assert (2, 1) == (done.returncode, len(errors))
    assert errors[0].startswith("dbce: no Spark master at spark://127.0.0.1:1 ")


@pytest.mark.spark
def test_a_spark_that_does_not_start_under_spark_submit_is_one_line(tmp_path: Path) -> None:
    """Without a stack."""
    from dbce_spark.spark.engine.java import java_home

    archive(tmp_path / "input.warc", record(http("<p>A page.</p>"), url="http://a.example/"))
    words = [str(ROOT / "jobs/extract.py"), str(tmp_path / "input.warc"), "--output", str(tmp_path / "out")]
    options = ["--conf", "spark.driver.bindAddress=1.2.3.4", "--conf", "spark.port.maxRetries=0"]
    command = [str(Path(sys.executable).parent / "spark-submit"), *options, *words, "--engine", "spark"]
    done = submitted(command, tmp_path, JAVA_HOME=java_home())

    assert 2 == done.returncode
    assert "Traceback" not in done.stdout + done.stderr
    assert "Spark does not start: " in done.stdout.splitlines()[-1]


def submitted(command: list[str], folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a program in an environment of its own: none of what the session of these tests has left in this one."""
    environment = {
        # Where the classes are stored that Java starts from.
        "HOME": str(Path.home()),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "SPARK_CONF_DIR": str(ROOT / "conf"),
        **variables,
    }
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def test_settings_of_a_block_do_not_stay_where_one_is_refused() -> None:
    """Values of those before it are as they were; one that had none has none."""
    held = {"spark.sql.a": "of the program"}

    def refuse(key: str, value: str) -> None:
        if key == "spark.sql.c":
            raise ValueError(key)
        held[key] = value

    spark = MagicMock()
    spark.conf.get, spark.conf.set, spark.conf.unset = held.get, refuse, lambda key: held.pop(key, None)
    with pytest.raises(ValueError, match="c"), applied_settings(spark, {f"spark.sql.{one}": "1" for one in "abc"}):
        pass

    assert {"spark.sql.a": "of the program"} == held
