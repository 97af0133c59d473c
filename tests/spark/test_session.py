import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbce_spark.spark.engine.session import defaults, session, with_attempts
from tests.support.builders import archive, http, record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
CHANGED_BY_THE_FIXTURE = {"spark.driver.memory", "spark.sql.shuffle.partitions"}
CHANGED_LOCALLY = {"spark.executor.pyspark.memory", "spark.sql.shuffle.partitions"}


def test_every_default_has_its_reason() -> None:
    """Each setting, or group of settings, of spark-defaults.conf stands below a comment."""
    text = (Path(__file__).parents[2] / "conf" / "spark-defaults.conf").read_text()
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


@pytest.mark.spark
def test_spark_submit_keeps_its_settings(spark: "SparkSession", tmp_path: Path) -> None:
    """Under spark-submit its settings stay, and only spark.sql settings that nobody gave are filled in."""
    job = tmp_path / "job.py"
    job.write_text(
        "import sys\n"
        "from dbce_spark.spark.engine.session import session\n"
        "spark = session('ours', master='local[7]')\n"
        "told = [spark.sparkContext.master, spark.sparkContext.appName]\n"
        "told += [spark.conf.get('spark.sql.shuffle.partitions'), spark.conf.get('spark.sql.session.timeZone')]\n"
        "open(sys.argv[1], 'w').write(' '.join(told))\n"
    )
    # JAVA_HOME and the other variables are those that the fixture's session left behind.
    environment = {
        **os.environ,
        "SPARK_CONF_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "TZ": "Asia/Tokyo",
    }
    submit = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[1]", "--name", "theirs"]
    submit += ["--driver-memory", "600m", "--conf", "spark.sql.shuffle.partitions=3", str(job), str(tmp_path / "told")]

    done = subprocess.run(
        submit, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "told").read_text() == "local[1] theirs 3 UTC"


QUIET = """
from dbce_spark.spark.engine.session import session

spark = session("quiet", master="local[1]", settings={"spark.driver.memory": "600m"})
print("rows", spark.range(10).repartition(2).count())
"""
"""A program that prints one line, on Spark."""
SUBMIT = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[1]", "--driver-memory", "600m"]


@pytest.mark.spark
@pytest.mark.parametrize("command", [SUBMIT, [sys.executable]], ids=["spark-submit", "python"])
def test_spark_and_java_print_nothing(command: list[str], tmp_path: Path) -> None:
    """Neither Spark's INFO nor Java's warning of a module: with SPARK_CONF_DIR as docs/operations.md says, and by
    itself where we start Spark."""
    from dbce_spark.spark.engine.java import java_home

    (tmp_path / "job.py").write_text(QUIET)
    done = submitted([*command, str(tmp_path / "job.py")], tmp_path, JAVA_HOME=java_home())

    assert (0, "rows 10\n", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.spark
def test_with_the_file_of_settings_alone_spark_says_little(tmp_path: Path) -> None:
    """Once it has started it warns only; before, no file but log4j2.properties decides."""
    (tmp_path / "job.py").write_text(QUIET)
    given = ["--properties-file", str(ROOT / "conf/spark-defaults.conf"), "--conf", "spark.driver.memory=600m"]
    done = submitted([*SUBMIT, *given, str(tmp_path / "job.py")], tmp_path, SPARK_CONF_DIR=str(tmp_path))

    assert 0 == done.returncode
    assert "rows 10" in done.stdout
    assert len(done.stderr.splitlines()) < 20


@pytest.mark.spark
def test_a_java_that_does_not_start_is_one_line(tmp_path: Path) -> None:
    """With options that exclude each other: after what Java itself prints, ours and no stack."""
    archive(tmp_path / "input.warc", record(http("<p>A page.</p>"), url="http://a.example/"))
    words = ["extract", str(tmp_path / "input.warc"), "--output", str(tmp_path / "out"), "--engine", "spark"]
    command = [sys.executable, "-m", "dbce_spark.commands.cli", *words]
    done = submitted(command, tmp_path, JDK_JAVA_OPTIONS="-XX:+UseSerialGC")

    assert 2 == done.returncode
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("dbce: Java has ended before Spark was there")


def submitted(command: list[str], folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a program in an environment of its own: none of what the session of these tests has left in this one."""
    environment = {
        "HOME": str(folder),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "SPARK_CONF_DIR": str(ROOT / "conf"),
        **variables,
    }
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
