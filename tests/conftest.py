"""Parts that all tests share: the order they run in, one Spark, and the folder of real archives."""

import gc
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPOSITORY = Path(__file__).parents[1]

# How long an example takes says how busy the machine is, and nothing of the method. Each run outside of CI draws other
# examples, so that many runs try what one with more of them would; `--hypothesis-profile thorough` has a thousand.
hypothesis.settings.register_profile("few", deadline=None, max_examples=30)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("few")


SPARK = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
    # Java's first compiler alone has 48 MB for what it compiles. A session of many runs fills that, and then compiles
    # the same again and again: a third of a run's time.
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m"
        # What queries leave behind is gone before it has to be moved.
        " -Xms768m -Xmn384m -XX:MetaspaceSize=128m"
    ),
    # Each sort, sum and join of some rows would begin with an empty page of 16 MB, and whatever is sent to all tasks
    # with 4 MB.
    "spark.buffer.pageSize": "256k",
    "spark.broadcast.blockSize": "64k",
    # To compile a plan takes longer than to walk it for a few rows; COMPILED (tests/support/partitions.py) is
    # Spark's own way.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # The plan of each of thousands of queries, written out for a page that nobody looks at.
    "spark.sql.ui.explainMode": "simple",
    # And a thousand of them are kept for it.
    "spark.sql.ui.retainedExecutions": "20",
    # The line of code that made each column, for messages of errors, and three calls of Java to keep it.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
"""What the session of the tests has of its own."""
HADOOP = "spark.hadoop."
"""The beginning of names of settings that Spark passes on to Hadoop."""
SHARED = {"extracted": "outputs", "collected": "outputs", "classifying": "classifier", "runs": "runs"}
"""Dear fixtures that several files read, and the groups of those files."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--coverage", action="store_true", help="watch which lines of the package are run, as CI does")


def pytest_configure(config: pytest.Config) -> None:
    # Where pytest-xdist writes the group of a test, and says nothing if pytest no longer looks there.
    if config.getoption("dist", "no") == "loadgroup" and not hasattr(pytest.Item, "_nodeid"):
        raise pytest.UsageError("pytest-xdist groups no tests with this pytest; install what setup.cfg asks for")
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # large groups first would leave the few long tests of Spark to the end
    if config.getoption("coverage"):
        from tests.support.line_coverage import LineCoverage

        config.pluginmanager.register(LineCoverage())


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in a hook of its own, which comes before ours otherwise
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests with Spark last: what is wrong in plain Python shows after seconds. Where several processes share the tests
    they come first: they are most of the time, and the files of short ones fill up whoever has ended."""
    is_shared_out = hasattr(config, "workerinput")
    items.sort(key=lambda item: _is_on_spark(item) is not is_shared_out)
    shared = {item.path: group for name, group in SHARED.items() for item in items if name in _fixtures(item)}
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item, shared)))


def pytest_collection_finish() -> None:
    """Thousands of tests and modules stay to the end: to look through them for garbage takes a twelfth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _group(item: pytest.Item, shared: Mapping[Path, str]) -> str:
    """Name the tests that one process does, one after the other. Each process has one session of Spark; what a file
    makes for its tests is made once, and so is what several files read."""
    file, group = str(item.path.relative_to(REPOSITORY)), shared.get(item.path)
    if not _is_on_spark(item):
        return f"without Spark: {group or file}"
    if "spark" not in _fixtures(item):
        return "processes"
    return "runs" if group == "runs" else file


def _is_on_spark(item: pytest.Item) -> bool:
    return item.get_closest_marker("spark") is not None


def _fixtures(item: pytest.Item) -> tuple[str, ...]:
    return tuple(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A local Spark on two cores, small and with few partitions, one for all tests."""
    from dbce_spark.spark.engine.session import session

    started = session("dbce tests", master="local[2]", settings=SPARK)
    # PySpark asks for these two in every call on a column, and Java goes through 300 jars each time: a seventh of the
    # driver's time. What is an attribute already is not asked for.
    java = started.sparkContext._jvm
    for name in ("functions", "PythonUtils"):
        setattr(java, name, getattr(java, name))
    _forget_hadoop_defaults(started)
    # The line of code that made each step of each plan, which Java finds by walking its stack.
    for name in ("callSite.short", "callSite.long"):
        started.sparkContext.setLocalProperty(name, "tests")
    yield started
    started.stop()


def _forget_hadoop_defaults(spark: "SparkSession") -> None:
    """Leave Hadoop the settings that are given. Each query copies and sends all of them: 1,600 defaults, which its code
    knows as well, are a tenth of a run's time."""
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    settings.clear()
    for name, value in spark.sparkContext.getConf().getAll():
        if name.startswith(HADOOP):
            settings.set(name.removeprefix(HADOOP), value)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real archives and gold texts that lies beside the checkout; tests skip where it does not."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("../shared/data is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a run over the sample archive, one for all tests, which leave it as it is."""
    from tests.support import sample_output

    return sample_output.make(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of three crawls, one for all tests, which leave it as it is; the archive is beside it."""
    from tests.support import sample_collection

    return sample_collection.make(tmp_path_factory.mktemp("collected"))


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A port, and what anyone ever says to it: also a connection without a word is noted."""
    received: list[bytes] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def listen() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(0.5)
                    try:
                        received.append(connection.recv(200))
                    except OSError:
                        received.append(b"")

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield server.getsockname()[1], received
        server.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=5)


@pytest.fixture(scope="module")
def bucket_of_extracted(extracted: Path) -> Iterator[str]:
    """The same output in a bucket of a server that speaks S3; the clients find both by the environment."""
    import fsspec

    from tests.support import bucket

    with bucket.served() as url:
        fsspec.filesystem("s3").put(str(extracted), f"{url}/extracted", recursive=True)
        yield f"{url}/extracted"
