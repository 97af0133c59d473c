"""Store the classes that a run on Spark loads, from which its Java then starts in half the time:
`python -m dbce_spark.spark.jobs.class_archive`, once for each installation of Spark and Java.

Java loads some 14,000 classes from 280 archives before the first page is read, and checks each. A run over a few pages
is done with Java's own record of them (class data sharing, JEP 350). The file lies beside our `java` (engine/java.py),
which takes it while it is there. Java itself looks whether it fits, and does without where Spark was changed since.
"""

import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark import SparkContext

from dbce_spark import config
from dbce_spark.errors import PlatformError
from dbce_spark.spark.engine import java_messages
from dbce_spark.spark.engine.java import (
    RECORDING,
    find_java,
    print_found,
    remove_forsaken,
    store_classes,
    stored_classes,
    wrapper,
)
from dbce_spark.spark.engine.session import CONF_FOLDER, LOCAL_SETTINGS, session
from dbce_spark.spark.jobs import extract_job
from dbce_spark.spark.run.run_request import RunRequest

PAGES = 6
"""Pages of a run that records: enough for siblings, crosses and merges."""
END_SECONDS = 300
"""Java writes its record when it ends: 5 to 20 s of one core."""
_LOG_SETTINGS = CONF_FOLDER / "log4j2.properties"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"


def make() -> Path:
    """Record the classes of a run over some pages, in a process that has no Spark yet, and return their file.

    Raises:
        PlatformError: there is no Java that Spark runs on, it has written no record, or nothing can be written.
    """
    java = find_java().home
    home = wrapper(java)
    classes = stored_classes(home)
    try:
        with TemporaryDirectory(prefix="classes-", dir=classes.parent) as folder:
            draft = Path(folder, classes.name)
            options = [f"{RECORDING}{draft}", *_base(java, home), "-Xlog:disable"]
            options.append(f"-Dlog4j2.configurationFile={_LOG_SETTINGS}")
            _run(Path(folder), {JAVA_OPTIONS: " ".join([LOCAL_SETTINGS[JAVA_OPTIONS], *map(_quoted, options)])})
            store_classes(draft, home)
        remove_forsaken()
    except (OSError, subprocess.SubprocessError) as error:
        raise PlatformError(f"{classes}: Java has stored no classes ({error})") from error
    return classes


def _quoted(option: str) -> str:
    """Quote an option of Java as Spark reads them: a path may have spaces."""
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _base(java: Path, home: Path) -> list[str]:
    """List the option by which Java takes the classes of its own archive; make that where Java comes without one.

    Raises:
        OSError, subprocess.CalledProcessError: Java cannot make it.
    """
    if (java / "lib" / "server" / "classes.jsa").is_file():
        return []
    own = home / "java.jsa"
    option = f"-XX:SharedArchiveFile={own}"
    subprocess.run([java / "bin" / "java", "-Xshare:dump", option], check=True, capture_output=True)
    return [option]


def _run(folder: Path, settings: dict[str, str]) -> None:
    """Extract some pages in a Java that records, and wait for its end.

    Raises:
        subprocess.SubprocessError: it does not end, or not by itself.
    """
    archive = folder / "pages.warc"
    archive.write_bytes(b"".join(map(_record, range(PAGES))))
    spark = session("dbce classes", master="local[2]", settings=settings)
    request = RunRequest(
        files=[str(archive)], output=str(folder / "output"), with_html=False, limit=None, started=time.monotonic()
    )
    extract_job.run(spark, request, config.default())
    java = SparkContext._gateway.proc  # type: ignore[union-attr]
    spark.stop()
    java_messages.drop()  # it names every class that it does not store
    java.stdin.close()
    if status := java.wait(END_SECONDS):
        raise subprocess.CalledProcessError(status, "java")


def _record(number: int) -> bytes:
    """Return a WARC record of one of some pages with the same menu."""
    html = (
        f"<title>Page {number}</title><ul><li><a href=/>Home</a></ul><h1>Page {number}</h1><p>{'Text of a page. ' * 20}"
    )
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html}".encode()
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:page:{number}>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Target-URI: http://example.org/{number}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


if __name__ == "__main__":
    ArgumentParser(prog="python -m dbce_spark.spark.jobs.class_archive", description=__doc__).parse_args()
    sys.exit(print_found(make))
