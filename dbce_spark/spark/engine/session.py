"""The Spark session: the one that is there, or a local one with this project's settings."""

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from dbce_spark.errors import ConfigError, PlatformError
from dbce_spark.spark.engine import java_messages, starting_java
from dbce_spark.spark.engine.java import java_home
from dbce_spark.spark.engine.spark_errors import as_java_gives_them, first_cause

CONF_FOLDER = files("dbce_spark") / "conf"
"""Holds spark-defaults.conf, spark-env.sh and log4j2.properties, under the names by which Spark itself finds them."""

ATTEMPTS = 4
"""The number of tries of a task on a local master: Spark's own number on a cluster (spark.task.maxFailures)."""
_NO_JAVA = "JAVA_GATEWAY_EXITED"
"""PySpark's name of the error that its Java has ended at once."""
_STANDALONE = "spark://"
_CONNECT_SECONDS = 10.0
_LOCAL = re.compile(r"local(?:\[([0-9]+|\*)\])?")
_MASTER = re.compile(
    r"local(\[(\d+|\*)(,\s*\d+)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|(spark|k8s)://.+|yarn"
)
_UTF_8 = re.compile(r"utf-?8", re.IGNORECASE)
_WORKER_MEMORY = "spark.executor.pyspark.memory"
_UMASK = "spark.hadoop.fs.permissions.umask-mode"

_OF_TASKS = {
    # Texts in Arrow have offsets of 32 bits: a task with another kind fails.
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
}

LOCAL_SETTINGS = {
    # Spark would take the machine's outer address, which a firewall or a changing network can cut off.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # No port is opened for a run of a minute; give spark.ui.enabled=true to look inside a long one.
    "spark.ui.enabled": "false",
    # Spark's bar knows stages by number only, and writes into whatever else is on the terminal.
    "spark.ui.showConsoleProgress": "false",
    # A limit makes every Python worker print four lines; 0 is none.
    _WORKER_MEMORY: "0",
    # Java only moves and sorts rows: the optimising compiler would take more time than it ever gives back in a run
    # of minutes. It alone has 48 MB for what it compiles; a session of many runs fills that, and compiles them again.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseParallelGC",
    # For the two to sixteen cores of one machine; each shuffle writes this many pieces for each task.
    "spark.sql.shuffle.partitions": "32",
}


def session(app_name: str, *, master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return the active session or that of spark-submit, as it is; else a new one on `master` ("local[*]": all cores).

    `settings` are Spark's own keys and win over everything else; a session that is there already keeps its settings.

    Raises:
        ConfigError: the master is none of Spark's.
        PlatformError: there is no Java that Spark runs on, Spark does not start, or no master is at that address.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return _submitted()
    chosen = with_attempts(master or "local[*]")
    is_local = chosen.startswith("local")
    check_master(chosen)
    _prepare_environment(is_local=is_local)
    pairs = {**({**LOCAL_SETTINGS, _UMASK: _umask()} if is_local else {}), **(settings or {})}
    given = {"spark.app.name": app_name, "spark.master": chosen, **pairs}
    _launch(given)
    spark = _begin(SparkSession.builder.config(map={**given}), "see --master and --spark")
    java_messages.pass_on()
    return spark


def _submitted() -> SparkSession:
    """Return the session of spark-submit: with its settings, but for a limit that makes local workers print."""
    master = SparkContext.getSystemProperty("spark.master") or "local[*]"
    check_master(master)
    builder = SparkSession.builder
    is_default = SparkContext.getSystemProperty(_WORKER_MEMORY) == defaults()[_WORKER_MEMORY]
    if master.startswith("local") and is_default:
        builder = builder.config(_WORKER_MEMORY, LOCAL_SETTINGS[_WORKER_MEMORY])
    return _begin(builder, "see --master, --conf and --properties-file of spark-submit")


def _launch(given: Mapping[str, str]) -> None:
    """Start Java, unless it runs already; it prints nothing until Spark is there.

    Raises:
        PlatformError: it has ended at once, or SPARK_HOME has no Spark.
    """
    if SparkContext._gateway is not None:
        return
    with java_messages.of_new_java() as messages:
        conf = SparkConf(loadDefaults=False).setAll([*given.items()])
        try:
            with starting_java.watched():
                gateway = launch_gateway(conf, popen_kwargs=messages.streams())  # type: ignore[no-untyped-call]
        except OSError as error:
            if not (home := os.environ.get("SPARK_HOME")):
                raise
            raise PlatformError(
                f"SPARK_HOME is {home}, and no Spark that starts is there ({error.strerror}); unset it to take pip's,"
                " or give another folder"
            ) from error
        except PySparkException as error:
            if error.getCondition() != _NO_JAVA:
                raise
            raise PlatformError(
                f"Java has ended before Spark was there: {messages.cause()}. It is that of {os.environ['JAVA_HOME']}:"
                " see JDK_JAVA_OPTIONS, --spark, and the memory that is free"
            ) from error
    SparkContext._ensure_initialized(gateway=gateway)


def _begin(builder: SparkSession.Builder, what_to_see: str) -> SparkSession:
    """Begin the session, with the settings of ours that nobody gave.

    Raises:
        PlatformError: Spark does not start.
    """
    try:
        return _fill_in(builder.getOrCreate())
    except (Py4JNetworkError, ConnectionError) as error:  # Java has ended meanwhile
        why = java_messages.cause() or str(error)
        raise PlatformError(f"Spark does not start: {why}; {what_to_see}, and SPARK_LOCAL_DIRS") from error
    except (Py4JError, PySparkException) as error:
        raise PlatformError(f"Spark does not start: {first_cause(error)}; {what_to_see}") from error


def check_master(master: str) -> None:
    """Check that Spark knows such a master, and that a standalone one answers: Spark would try for a minute, and fail
    at length.

    Raises:
        ConfigError: Spark knows no such master.
        PlatformError: none of its addresses answers.
    """
    if not _MASTER.fullmatch(master):
        raise ConfigError(f"--master {master}: write local[*], spark://HOST:PORT, k8s://URL or yarn")
    if not master.startswith(_STANDALONE):
        return
    cause = ""
    for address in master.removeprefix(_STANDALONE).split(","):
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS):
                return
        except (OSError, ValueError) as error:
            cause = str(error)
    raise PlatformError(f"no Spark master at {master} ({cause}); start one, or give another --master")


def with_attempts(master: str) -> str:
    """Make a local master try a task again, as clusters do: Spark alone gives up when one has failed once.

    "local[2]" -> "local[2,4]"; one with a number of its own, and any other, stays.
    """
    local = _LOCAL.fullmatch(master)
    return f"local[{local[1] or 1},{ATTEMPTS}]" if local else master


def defaults() -> dict[str, str]:
    """Read the settings of conf/spark-defaults.conf."""
    lines = (CONF_FOLDER / "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#"))
    return {key: value.strip() for key, value in pairs}


@contextmanager
def applied_settings(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Apply these settings of spark.sql within the block, and restore what held before."""
    before = {key: spark.conf.get(key, None) for key in settings}
    try:
        for key, value in settings.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, own in before.items():
            if own is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, own)


def _prepare_environment(*, is_local: bool) -> None:
    """Set what Spark's launcher reads before there is a session. The user's own choice stays where it can work."""
    os.environ["JAVA_HOME"] = java_home()
    _share_encoding()
    # The launcher loads spark-defaults.conf and log4j2.properties from there.
    os.environ.setdefault("SPARK_CONF_DIR", str(CONF_FOLDER))
    if is_local:
        # Workers on this machine are this Python, with what is installed beside it.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _umask() -> str:
    """Return the umask of this process, which Java passes over: it would write what only its own user may change."""
    mask = os.umask(0o077)
    os.umask(mask)
    return f"{mask:03o}"


def _share_encoding() -> None:
    """Let Java write names of files as this Python does: where LC_ALL is C it would put ? for letters beyond ASCII."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    if sys.getfilesystemencoding() == "utf-8" and not _UTF_8.search(locale):
        os.environ["LC_ALL"] = "C.UTF-8"


def _fill_in(spark: SparkSession) -> SparkSession:
    """Give the session those of our spark.sql settings that nobody set: with Spark's own the rows could differ. And
    those by which Spark reads what our tasks write, whoever set them."""
    given = spark.sparkContext.getConf()
    for key, value in defaults().items():
        if key.startswith("spark.sql.") and not given.contains(key):
            spark.conf.set(key, value)
    for key, value in _OF_TASKS.items():
        spark.conf.set(key, value)
    with as_java_gives_them():
        spark.range(0)  # by which Spark reads its settings, and refuses them
    return spark
