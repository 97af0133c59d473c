"""The stream on Spark: the rows of plain Python, however it is divided, ended and gone on with."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import duckdb
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from dbce_spark import config
from dbce_spark.archive.index.urls import domain_of, host_of
from dbce_spark.dbce import pages
from dbce_spark.errors import JobError, OutputError
from dbce_spark.files import parquet
from dbce_spark.log import Log
from dbce_spark.model import Page
from dbce_spark.output.collection import Collection, Increment, Version
from dbce_spark.output.schemas import page_rows
from dbce_spark.spark.jobs import stream_job
from dbce_spark.spark.run import plan, prior_state
from dbce_spark.spark.run.stream_status import inspect_stream
from dbce_spark.streaming.stream import local_stream, stream_parts, stream_tables, streamed_domain
from dbce_spark.streaming.stream.outcomes import LABELS, LATE_LABELS, REPEATS
from dbce_spark.streaming.stream.streamed_site import StreamedSite
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig
from tests.support import bucket, stream_files
from tests.support.builders import http, record
from tests.support.cluster import cluster
from tests.support.run_endings import kill_at
from tests.support.stream_files import as_table, file, in_order, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[3]
PATIENCE = 600
OF_TREE = ("relabel.support=5", "label.heuristic=strict-at-domain", "window.max_documents=9", "window.min_documents=2")
TREE = tree(*OF_TREE)
SETTINGS = ("stream.batch_files=1", "stream.partitions=2", "stream.by=urltree")
BY_DBCE = (
    "stream.batch_files=1",
    "stream.partitions=2",
    "stream.pool_pages=7",
    "stream.relabel_pages=[3, 6]",
    'formats.columns=["text", "markdown", "about"]',
)
DOMAINS = ("example.org", "example.com", "news.eu")
LOST = (
    record(http("<p></p>"), url="http://www.example.org/empty.html"),
    record(b"HTTP/1.1 404 Not Found\r\n\r\n", url="http://www.example.org/none.html"),
    b"no record at all",
)
Tables = dict[str, list[dict[str, Any]]]


def put(folder: Path, *numbers: int) -> list[str]:
    """Files of eight pages of each domain, of which every second file repeats some of the one before."""
    return [
        file(
            folder / f"{number:03}.warc.gz",
            [(domain, 8 * number - 3 * (number % 2) + at) for at in range(8) for domain in DOMAINS],
            *LOST,
        )
        for number in numbers
    ]


def request(folder: Path, every: float | None = None, prime: str = "") -> stream_job.StreamRequest:
    to = str(folder / "out")
    checkpoint = f"{to}/{stream_tables.CHECKPOINT}"
    return stream_job.StreamRequest(
        inputs=(str(folder / "in"),), output=to, checkpoint=checkpoint, every=every, tree=TREE, prime=prime
    )


def run(spark: "SparkSession", folder: Path, *settings: str, of_tree: UrlTreeConfig = TREE) -> dict[str, int]:
    asked = replace(request(folder), tree=of_tree)
    return stream_job.run(spark, asked, config.load(settings=settings or SETTINGS), Log())


def expected(
    files: list[str], settings: Sequence[str] = SETTINGS, primed: Mapping[str, bytes] = MappingProxyType({})
) -> Tables:
    """Label the files in plain Python, in this order."""
    made = local_stream.run(files, config.load(settings=settings), TREE, primed)
    return {name: as_table(name, rows) for name, rows in made.items()}


def written(folder: Path) -> Tables:
    """Read the committed rows."""
    found: Tables = {}
    for name, schema in stream_parts.SCHEMAS.items():
        paths = stream_tables.files(str(folder / "out"), name)
        rows = ds.dataset(paths, schema=schema).to_table().to_pylist() if paths else []
        found[name] = in_order(rows)
    return found


def told_outside(folder: Path) -> tuple[str, int | None]:
    """Run `dbce status`: the condition, and how often the stream was begun."""
    report = inspect_stream(str(folder / "out")).as_dict()
    return report["condition"], report["attempts"]


def arguments(folder: Path) -> list[str]:
    settings = [*SETTINGS, *(f"urltree.{one}" for one in OF_TREE)]
    return [str(folder / "in"), "--output", str(folder / "out"), *(f"--set={one}" for one in settings)]


def alone(folder: Path) -> list[str]:
    """The arguments of a stream on this machine."""
    return [*arguments(folder), "--master", "local[1]"]


def command(*words: str) -> "subprocess.Popen[bytes]":
    """Python with these arguments, in processes of its own."""
    return subprocess.Popen(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


@dataclass(frozen=True)
class Streamed:
    """A stream, and what was seen of it on the way."""

    folder: Path
    files: list[str]
    """In the order in which they came."""
    while_running: tuple[str, int | None]
    totals: dict[str, int]
    batches: int
    totals_later: dict[str, int]
    batches_later: int
    in_the_end: tuple[str, int | None]


@pytest.fixture(scope="module")
def streamed(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Streamed:
    """A stream that waits for files and takes two as they come; then one over two more, of which one is first by name;
    then one that finds nothing. A batch a file."""
    folder = tmp_path_factory.mktemp("streamed")
    (folder / "in").mkdir()
    made = config.load(settings=SETTINGS)
    thread = threading.Thread(
        target=lambda: stream_job.run(spark, request(folder, every=0.2), made, Log()), daemon=True
    )
    thread.start()
    try:
        files = put(folder / "in", 1)
        until(lambda: len(stream_tables.read_commits(str(folder / "out"))) == 1)
        while_running = told_outside(folder)
        files += put(folder / "in", 2)
        until(lambda: len(stream_tables.read_commits(str(folder / "out"))) == 2)
    finally:
        for query in spark.streams.active:
            query.stop()
        thread.join(PATIENCE)
    assert not thread.is_alive()
    files += put(folder / "in", 0, 3)
    totals = run(spark, folder)
    batches = len(stream_tables.read_commits(str(folder / "out")))
    totals_later = run(spark, folder)
    batches_later = len(stream_tables.read_commits(str(folder / "out")))
    return Streamed(folder, files, while_running, totals, batches, totals_later, batches_later, told_outside(folder))


def test_rows_are_those_of_plain_python(streamed: Streamed) -> None:
    """In the order in which files came, whichever of the stream's runs has taken them."""
    rows = written(streamed.folder)

    assert expected(streamed.files) == rows
    assert all(rows.values())


def collected(folder: Path, file_of_pages: str, made: config.DbceConfig) -> dict[str, bytes]:
    """Begin a collection with the pages of a file; return the states that plain Python gives its domains."""
    found = [one for one in pages.read(file_of_pages, made) if isinstance(one, Page)]
    increment = Increment(number=1, page_files=1, captures=len(found), extractions=len(found), relabelled=0)
    collection = Collection(str(folder))
    settings = {"config": made.as_dict(), "classifier": plan.classifier_digest(made.label)}
    path = prior_state.page_file(collection.increment(1), 0)
    batch = page_rows.pages_batch(found, [None] * len(found), file_no=0, first_row=0)
    parquet.write(path, page_rows.PAGES, [batch])
    collection.commit(Version(number=1, made="", why="", increments=(increment,), settings=settings))
    sites: dict[str, StreamedSite] = defaultdict(partial(StreamedSite, made, TREE.window.max_documents))
    for one in sorted(found, key=lambda one: (one.capture.timestamp, one.capture_id)):
        sites[domain_of(host_of(one.capture.url))].prime([stream_files.primed_page(one, TREE)])
    return {name: site.to_bytes() for name, site in sites.items()}


def test_by_dbce_from_a_collection_rows_are_those_of_plain_python(spark: "SparkSession", tmp_path: Path) -> None:
    """Sites begin with the last pages of the collection, one with none; behind the first batches the collection need
    not be there. Pages are labelled when they come, and once more; what the collection has is a repeat, also where it
    is older than the pages that are kept, and where the collection has it twice."""
    made = config.load(settings=BY_DBCE)
    again = [stream_files.article(DOMAINS[0], at).replace(b"WARC-Date: 2020", b"WARC-Date: 2021") for at in (44, 47)]
    of_two = [(one, at) for at in range(40, 49) for one in DOMAINS[:2]]
    primed = collected(tmp_path / "kept", file(tmp_path / "old.warc", of_two, *again), made)
    asked = request(tmp_path, prime=str(tmp_path / "kept"))
    files = [file(tmp_path / "in" / "00.warc.gz", [(DOMAINS[0], 40), (DOMAINS[0], 44)]), *put(tmp_path / "in", 0, 1)]
    stream_job.run(spark, asked, made, Log())
    shutil.rmtree(tmp_path / "kept")
    files += put(tmp_path / "in", 2)
    totals = stream_job.run(spark, asked, made, Log())
    rows = written(tmp_path)

    assert expected(files, BY_DBCE, primed) == rows
    assert all(rows.values())
    assert [7, 7, 1] == [
        next(row["domain_documents"] for row in rows[LABELS] if row["domain"] == one) for one in DOMAINS
    ]
    assert [f"{stream_files.letters(at)}.html" for at in (40, 44)] == [
        row["key"].rpartition("/")[2] for row in rows[REPEATS] if row["file_no"] == 0
    ]
    assert totals["captures"] == totals[LABELS] + totals[REPEATS]


def test_all_records_are_accounted_for(streamed: Streamed) -> None:
    """Records are captures, revisits, rejects and what was skipped; captures are labels and repeats."""
    totals = streamed.totals
    lost = sum(count for name, count in totals.items() if name.startswith(("rejects.", "skipped.")))

    assert totals["records"] == totals["captures"] + totals.get("revisits", 0) + lost
    assert totals["captures"] == totals[LABELS] + totals[REPEATS]
    assert totals["steps.key"] == totals[REPEATS] == len(written(streamed.folder)[REPEATS])
    assert 4 == totals["files"]


def test_a_run_that_finds_nothing_writes_nothing(streamed: Streamed) -> None:
    """Totals and batches stay as they were."""
    assert streamed.totals == streamed.totals_later
    assert 4 == streamed.batches == streamed.batches_later


def test_status_follows_a_stream(streamed: Streamed) -> None:
    """It is running while it waits for files, and finished behind a run over what was there."""
    assert ("running", 1) == streamed.while_running
    assert ("finished", 3) == streamed.in_the_end


@pytest.mark.parametrize(
    "point", ["commit", *(pytest.param(point, marks=pytest.mark.faults) for point in ("files", "behind"))]
)
def test_a_kill_changes_no_row(spark: "SparkSession", tmp_path: Path, point: str) -> None:
    """Killed with -9 in the second batch before it has files, with files and no commit, or behind our commit and before
    Spark's: another process goes on, and each row is there once. No file is empty or half."""
    files = put(tmp_path / "in", 0, 1)
    script = str(ROOT / "tests/support/killed_stream.py")
    killed = command(script, point, "1", *alone(tmp_path))

    assert -signal.SIGKILL == killed.wait(PATIENCE)
    assert len(stream_tables.read_commits(str(tmp_path / "out"))) == (2 if point == "behind" else 1)
    assert ("dead", 1) == told_outside(tmp_path)
    run(spark, tmp_path)
    tables = [one for name in stream_parts.SCHEMAS for one in (tmp_path / "out" / name).rglob("*") if one.is_file()]
    assert expected(files) == written(tmp_path)
    assert {*tables} == {
        Path(one) for name in stream_parts.SCHEMAS for one in stream_tables.files(str(tmp_path / "out"), name)
    }


@pytest.mark.faults
@pytest.mark.parametrize(
    "mark", ["arrivals/00000001.json", "_checkpoint/offsets/1", "labels/batch=1", "_checkpoint/commits/1"]
)
def test_a_kill_at_a_step_of_spark_changes_no_row(spark: "SparkSession", tmp_path: Path, mark: str) -> None:
    """Killed with -9 when the files of a batch are chosen, when it is planned, while its tables are written, or when
    Spark has ended it."""
    files = put(tmp_path / "in", 0, 1, 2)
    kill_at(tmp_path / "out" / mark, command("-m", "dbce_spark.commands.cli", "stream", *alone(tmp_path)), PATIENCE)
    run(spark, tmp_path)

    assert expected(files) == written(tmp_path)


def run_until_commit(spark: "SparkSession", folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a stream that ends behind our commit of its first batch and before Spark's."""
    commit = stream_tables.commit

    def fail_behind(*given: Any, **named: Any) -> NoReturn:
        commit(*given, **named)
        raise OSError("the disk is full")

    monkeypatch.setattr(stream_tables, "commit", fail_behind)
    with pytest.raises(JobError, match="the disk is full"):
        run(spark, folder)
    monkeypatch.undo()


def test_what_is_written_stays_where_a_file_is_gone(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended behind our commit and before Spark's, with the file of the batch removed: no row of it is lost, the error
    says what to do, and then the stream goes on."""
    files = put(tmp_path / "in", 0, 1)
    run_until_commit(spark, tmp_path, monkeypatch)
    before = written(tmp_path)
    (tmp_path / "in/000.warc.gz").rename(tmp_path / "kept")
    with pytest.raises(JobError, match=r"batch 0 is written, .*captures was 24, is 0.* Put it there as it was"):
        run(spark, tmp_path)
    left = written(tmp_path)
    (tmp_path / "kept").rename(tmp_path / "in/000.warc.gz")
    run(spark, tmp_path)

    assert before == left
    assert before[LABELS]
    assert expected(files) == written(tmp_path)


def test_a_batch_whose_file_was_replaced_by_one_of_as_many_rows_is_named(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended behind our commit and before Spark's, with other words in each page: the state would no longer be that of
    the rows that are written."""
    put(tmp_path / "in", 0)
    run_until_commit(spark, tmp_path, monkeypatch)
    letters = stream_files.letters
    monkeypatch.setattr(stream_files, "letters", lambda number: letters(number) if number else "z")
    put(tmp_path / "in", 0)

    with pytest.raises(JobError, match=r"batch 0 is written, .*as many, with other words.* Put it there as it was"):
        run(spark, tmp_path)


def test_an_output_that_was_moved_is_gone_on_with(spark: "SparkSession", streamed: Streamed, tmp_path: Path) -> None:
    """Its checkpoint moved with it: no file is read again, the next one is, and nothing is looked for where it was."""
    shutil.copytree(streamed.folder / "out", tmp_path / "out")
    put(tmp_path / "in", 4)
    asked = replace(request(tmp_path), inputs=(str(streamed.folder / "in"), str(tmp_path / "in")))
    away = (streamed.folder / "out").rename(streamed.folder / "away")
    try:
        totals = stream_job.run(spark, asked, config.load(settings=SETTINGS), Log())
    finally:
        away.rename(streamed.folder / "out")

    assert streamed.totals["files"] + 1 == totals["files"]


def test_a_busy_domain_does_not_hold_the_others_up(spark: "SparkSession", tmp_path: Path) -> None:
    """One domain has nearly all pages of all files; the pages of another are labelled in the batch of their file, and
    no batch has more pages than its bytes allow. The rows are those of plain Python, two files a batch."""
    files = [
        file(tmp_path / "in" / f"{number}.warc.gz", [*(("busy.org", 30 * number + at) for at in range(30)), quiet])
        for number in range(4)
        for quiet in [("quiet.org", number)]
    ]
    size = max(one.stat().st_size for one in (tmp_path / "in").iterdir())
    sizes = f"stream.batch_bytes={2 * size + size // 2}", "stream.batch_files=64", "stream.partitions=1"
    run(spark, tmp_path, *sizes, "stream.by=urltree")
    with duckdb.connect() as duck:
        found = duck.execute(
            f"SELECT batch, count(*), count(*) FILTER (domain = 'quiet.org')"
            f" FROM read_parquet('{tmp_path}/out/labels/*/*.parquet', hive_partitioning = true) GROUP BY 1 ORDER BY 1"
        ).fetchall()

    assert [(batch, 62, 2) for batch in range(2)] == found
    assert expected(files) == written(tmp_path)


def test_another_state_is_refused_before_spark_reads_it(
    spark: "SparkSession", streamed: Streamed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream that a program with another state has begun is not gone on with, nor with another heuristic."""
    with pytest.raises(
        OutputError, match=r'begun with other settings: urltree\.label\.heuristic was "strict-at-domain", is "strict"'
    ):
        run(spark, streamed.folder, of_tree=tree(*OF_TREE, "label.heuristic=strict"))
    monkeypatch.setattr(streamed_domain, "VERSION", 9)
    with pytest.raises(OutputError, match="begun with other settings: state was 3, is 9"):
        run(spark, streamed.folder)


def test_a_state_that_cannot_be_used_ends_the_stream_with_words(
    spark: "SparkSession", streamed: Streamed, tmp_path: Path
) -> None:
    """Nothing is written over a state that was made by another hash, even if its note of that was tampered with."""
    shutil.copytree(streamed.folder / "out", tmp_path / "out")
    begun = tmp_path / "out" / stream_tables.BEGUN
    begun.write_text(begun.read_text(encoding="utf-8").replace("xxh3", "md5"), encoding="utf-8")
    put(tmp_path / "in", 4)

    with pytest.raises(JobError, match="Spark gave up: the state of the stream has blocks hashed by xxh3"):
        run(spark, tmp_path, of_tree=tree(*OF_TREE, "blocks.hash=md5"))
    assert streamed.batches == len(stream_tables.read_commits(str(tmp_path / "out")))


def test_a_stream_goes_from_a_bucket_to_a_bucket(spark: "SparkSession", bucket_folder: str, tmp_path: Path) -> None:
    """Objects are read and written by the same rules; the state is in a folder."""
    import fsspec

    files = put(tmp_path / "in", 0, 1)
    fsspec.filesystem("s3").put(str(tmp_path / "in"), bucket_folder, recursive=True)
    to = bucket_folder.replace("/in", "/out")
    asked = replace(request(tmp_path), inputs=(bucket_folder,), output=to, checkpoint=str(tmp_path / "state"))
    with bucket.seen_by_workers(spark):
        stream_job.run(spark, asked, config.load(settings=SETTINGS), Log())
    rows = expected(files)

    assert "finished" == inspect_stream(to).as_dict()["condition"]
    assert {name: len(found) for name, found in rows.items()} == {
        name: sum(
            rows for one in stream_tables.read_commits(to) for path, rows in one.files.items() if path.startswith(name)
        )
        for name in rows
    }
    with fsspec.open(stream_tables.files(to, LABELS)[0]) as stored:
        assert {*rows[LABELS][0]} == {*pq.read_table(stored).schema.names}


@pytest.mark.faults
def test_two_workers_make_the_rows_of_plain_python(tmp_path: Path) -> None:
    """On a standalone cluster, by spark-submit: each worker reads files of two batches and holds the state of some
    domains, in a folder that both see."""
    if sys.platform != "linux":
        pytest.skip("a cluster on one machine needs several addresses of its own, as Linux has them")
    files = put(tmp_path / "in", 0, 1, 2, 3)
    (tmp_path / "cluster").mkdir()
    with cluster(tmp_path / "cluster") as started:
        words = [*arguments(tmp_path), "--set=stream.batch_files=2"]
        stream_run = started.submit(words, tmp_path / "run", {}, job="stream")
        ended = stream_run.status()
    executors = [(tmp_path / "cluster" / one.address).glob("app-*/*") for one in started.network.workers]

    assert 0 == ended, stream_run.log_text()
    assert expected(files) == written(tmp_path)
    assert all(any(of_worker) for of_worker in executors)


def test_late_labels_are_of_pages_that_were_labelled(streamed: Streamed) -> None:
    """As an option; each has as many blocks as its page, and stands behind it in the stream."""
    rows = written(streamed.folder)

    assert rows[LATE_LABELS]
    for late in rows[LATE_LABELS]:
        # A page that comes again after a while is labelled again.
        *_, page = (
            row
            for row in rows[LABELS]
            if row["capture_id"] == late["capture_id"]
            and (row["file_no"], row["row_no"]) < (late["file_no"], late["row_no"])
        )
        assert len(page["blocks"]) == len(late["blocks"])
        assert page["node_documents"] < late["node_documents"] == 5
