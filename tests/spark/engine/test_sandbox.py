"""Pages that hang their process or end it: real processes, really ended. Most of it needs no Spark."""

import faulthandler
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbce_spark.archive import warc
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.pages import KeepHtml, fetches, parse_fetch
from dbce_spark.errors import ConfigError
from dbce_spark.model import Page, Reject, RejectReason, Skip
from dbce_spark.output.schemas import page_rows
from dbce_spark.spark.engine import sandbox
from dbce_spark.spark.engine.sandbox import (
    Lost,
    ReadRecord,
    Sandbox,
    nth_record,
    pages_apart,
    reading,
    records_apart,
    set_timer,
    timer,
)
from dbce_spark.spark.run import checkpoints, staging
from dbce_spark.spark.run.record_counts import RecordCounts
from dbce_spark.spark.stages import read_pages
from tests.support.builders import archive, capture, config, http, record
from tests.support.indexes import write_wacz

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONFIG = config()
HASTY = config("page.max_seconds=1")
WORDS = "<title>Some words</title><ul><li>of a page<li>that is good</ul>"
Parser = Sandbox[warc.Fetch, Page | Reject]


def giant_tag(attributes: int = 40_000) -> bytes:
    """Takes libxml2 half a minute and more, and is under `page.trusted_bytes`. Its tag does not look long: now and then
    a ">" stands in it, in quotes."""
    return b"<p>x<p %s>x" % b"".join(b"a%d%s " % (at, b"='>'" * (at % 1000 == 0)) for at in range(attributes))


def fetch(name: str, html: str | bytes = WORDS) -> warc.Fetch:
    return warc.Fetch(capture(f"http://www.example.org/{name}"), html.encode() if isinstance(html, str) else html)


def die(ending: signal.Signals = signal.SIGKILL) -> None:
    """Ends this process without a word."""
    faulthandler.disable()
    os.kill(os.getpid(), ending)


def ends_by(ending: signal.Signals) -> Callable[[warc.Fetch], Page | Reject]:
    """Parse a page, but end the process at a certain one."""

    def work(one: warc.Fetch) -> Page | Reject:
        if one.capture.url.endswith("/bad"):
            die(ending)
        return parse_fetch(one, CONFIG)

    return work


def outcomes(found: list[Page | Reject]) -> list[str]:
    return [str(one.reason) if isinstance(one, Reject) else "page" for one in found]


def test_a_page_that_hangs_is_a_reject() -> None:
    """The process that parses it ends in the midst of libxml2, and the pages behind it are parsed by another."""
    lot = [fetch("a"), fetch("bad", giant_tag()), fetch("b")]
    assert len(lot[1].html) < HASTY.page.trusted_bytes
    with Parser(partial(parse_fetch, config=HASTY), HASTY.page.max_seconds) as parser:
        found = pages_apart(parser, lot)

    assert ["page", "page_timeout", "page"] == outcomes(found)
    assert isinstance(found[1], Reject)
    assert ("page", "http://www.example.org/bad") == (found[1].stage, found[1].url)
    assert "more than 1 s of computing, which is page.max_seconds" == found[1].detail


@pytest.mark.parametrize("ending", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_a_page_that_ends_its_process_is_a_reject(ending: signal.Signals) -> None:
    """However it does; the reject names the signal, and the other pages are all there."""
    with Parser(ends_by(ending), 60) as parser:
        found = pages_apart(parser, [fetch("a"), fetch("bad"), fetch("bad"), fetch("b")])

    assert ["page", "killed_worker", "killed_worker", "page"] == outcomes(found)
    assert [f"its process ended with {ending.name}"] * 2 == [one.detail for one in found if isinstance(one, Reject)]


def test_a_process_that_somebody_ends_costs_no_page(tmp_path: Path) -> None:
    """A process that is ended once, over a page or between two, is not ended by the page."""
    mark = tmp_path / "ended"

    def work(one: warc.Fetch) -> Page | Reject:
        if one.capture.url.endswith("/b") and not mark.exists():
            mark.touch()
            die()
        return parse_fetch(one, CONFIG)

    with Parser(work, 60) as parser:
        assert ["page", "page"] == outcomes(pages_apart(parser, [fetch("a"), fetch("b")]))
        assert parser._running is not None
        parser._running.process.kill()
        parser._running.process.join()
        assert ["page"] == outcomes(pages_apart(parser, [fetch("c")]))
    assert mark.exists()


def test_a_process_that_waits_for_ever_is_ended() -> None:
    """A process that computes nothing is ended by the one that waits for it, not by the timer."""
    with Sandbox[float, None](time.sleep, 60, patience=0.2) as sleeper, pytest.raises(Lost, match=r"0\.2 s") as lost:
        sleeper.result(600.0)

    assert lost.value.reason is RejectReason.PAGE_TIMEOUT


def test_an_exception_over_a_page_is_a_reject() -> None:
    """Such as one that says that there is no memory: in the worker it would fail the task."""

    def work(one: warc.Fetch) -> Page | Reject:
        raise MemoryError("no more")

    with Parser(work, 60) as parser:
        found = pages_apart(parser, [fetch("a")])

    assert [("killed_worker", "MemoryError: no more")] == [(one.reason, one.detail) for one in found]  # type: ignore[union-attr]


def test_an_error_of_the_run_is_no_reject() -> None:
    """A classifier that is not there fails the task, and is named as it is."""
    broken = config("label.classifier=nowhere.npz")
    with Parser(partial(parse_fetch, config=broken), 60) as parser, pytest.raises(ConfigError, match=r"nowhere\.npz"):
        pages_apart(parser, [fetch("a")])


def test_a_process_does_not_outlive_its_worker() -> None:
    """A worker that is killed leaves none behind: what it has open, here its output, is closed."""
    code = (
        "import os, signal\n"
        "from dbce_spark.spark.engine.sandbox import Sandbox\n"
        "apart = Sandbox(abs, 60)\n"
        "print(apart.result(-1), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)

    assert (-signal.SIGKILL, "1\n") == (ended.returncode, ended.stdout)


def test_a_process_at_work_ends_without_a_word_where_its_worker_is_gone() -> None:
    """The result goes nowhere, and no stack is printed."""
    code = (
        "import os, signal, time\n"
        "from dbce_spark.spark.engine.sandbox import Sandbox\n"
        "signal.setitimer(signal.ITIMER_REAL, 1)\n"  # its signal ends this process alone: timers are not inherited
        "Sandbox(time.sleep, 60).result(3)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)

    assert (-signal.SIGALRM, "") == (ended.returncode, ended.stderr)


def test_reading_that_ends_its_process_costs_the_rest_of_the_file(tmp_path: Path) -> None:
    """The records before are there, and one reject accounts for all that is not read."""
    records = [record(http(WORDS), url=f"http://www.example.org/{at}") for at in range(4)]
    path = archive(tmp_path / "a.warc", *records)

    def deadly() -> Iterator[tuple[int, ReadRecord]]:
        for at, one in enumerate(fetches(path, CONFIG)):
            if at == 2:
                die()
            yield at, one

    with Sandbox[int, ReadRecord | None](partial(nth_record, deadly()), 60) as reader:
        *good, last = records_apart(reader, path)

    assert ["0", "1"] == [one.capture.url[-1] for one in good]  # type: ignore[union-attr]
    assert isinstance(last, Reject)
    at = len(records[0])
    assert ("killed_worker", "read", path) == (last.reason, last.stage, last.warc_file)
    assert f"its process ended with SIGKILL; what lies behind the record at {at} is not read" == last.detail
    assert sum(map(len, records[1:])) == last.lost_bytes


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
def test_reading_that_ends_its_process_within_a_wacz_names_the_place(tmp_path: Path, compression: int) -> None:
    """The reject has the file within the WACZ, and the place of the last record there; where it is deflated, all of the
    WACZ counts as lost rather than nothing."""
    records = [record(http(20 * WORDS), url=f"http://www.example.org/{at}") for at in range(3)]
    path = write_wacz(tmp_path / "a.wacz", b"".join(records), [], compression)

    def deadly() -> Iterator[tuple[int, ReadRecord]]:
        yield from zip(range(2), fetches(path, CONFIG), strict=False)
        die()

    with Sandbox[int, ReadRecord | None](partial(nth_record, deadly()), 60) as reader:
        *good, last = records_apart(reader, path)

    assert isinstance(last, Reject)
    at = len(records[0])
    assert {last.warc_file} == {one.capture.warc_file for one in good}  # type: ignore[union-attr]
    assert f"its process ended with SIGKILL; what lies behind the record at {at} is not read" == last.detail
    kept = at if compression == zipfile.ZIP_STORED else 0
    assert Path(path).stat().st_size - kept == last.lost_bytes


def test_reading_goes_on_if_somebody_ends_its_process(tmp_path: Path) -> None:
    """Another finds the place again: no record is lost, and none comes twice."""
    path = archive(tmp_path / "a.warc", *(record(http(WORDS), url=f"http://www.example.org/{at}") for at in range(4)))
    with Sandbox[int, ReadRecord | None](partial(nth_record, enumerate(fetches(path, CONFIG))), 60) as reader:
        found = records_apart(reader, path)
        urls = [next(found).capture.url, next(found).capture.url]  # type: ignore[union-attr]
        assert reader._running is not None
        reader._running.process.kill()
        urls += [one.capture.url for one in found]  # type: ignore[union-attr]

    assert ["0", "1", "2", "3"] == [url[-1] for url in urls]


@pytest.mark.parametrize("attempt", [0, 1, 2])
def test_every_attempt_gives_the_same_rows(tmp_path: Path, attempt: int) -> None:
    """In the worker or beside it: the same records, the same pages with their HTML, and the same rejects."""
    bodies = [http(WORDS), http("gone", status="404 Not ReadRecord"), http("<script>x</script>"), http(f"<p>{WORDS}")]
    path = archive(tmp_path / "a.warc", *(record(one, url=f"http://www.example.org/{one[-9:]!r}") for one in bodies))

    def rows(at: int | None) -> tuple[list[Any], list[Any], pa.RecordBatch]:
        htmls: list[bytes] = []
        with reading(path, CONFIG, at) as read:
            found = list(read.records)
            made = [*read.pages([one for one in found if isinstance(one, warc.Fetch)], htmls.append)]
        good = [one for one in made if isinstance(one, Page)]
        batch = page_rows.pages_batch(good, htmls, file_no=0, first_row=0)
        return found, [one for one in made if isinstance(one, Reject)], batch

    expected, actual = rows(None), rows(attempt)

    assert expected[:2] == actual[:2]
    assert (2, 1) == (expected[2].num_rows, len(expected[1]))
    assert expected[2].equals(actual[2])


def test_the_timer_is_off_behind_its_block() -> None:
    """However the block ends."""
    armed = 0.0
    with suppress(ValueError), timer(1):
        set_timer(1000)
        armed = signal.getitimer(signal.ITIMER_PROF)[0]
        raise ValueError

    assert armed > 900
    assert (0.0, 0.0) == signal.getitimer(signal.ITIMER_PROF)


@pytest.mark.parametrize(("attempt", "is_armed"), [(None, False), (0, True), (1, True), (2, False)])
def test_nothing_ends_a_process_that_is_no_worker(tmp_path: Path, attempt: int | None, is_armed: bool) -> None:
    """Outside a task no timer runs; nor where all is done in other processes."""
    path = archive(tmp_path / "a.warc", record(http(WORDS)))
    with reading(path, CONFIG, attempt) as read:
        next(read.records)
        assert is_armed is (signal.getitimer(signal.ITIMER_PROF)[0] > 0)


@pytest.mark.spark
def test_a_task_ends_over_a_page_that_hangs(spark: "SparkSession", tmp_path: Path) -> None:
    """The worker is ended, the task is tried again, and the page is a reject; all else is there, and accounted for."""
    bodies = {"a": WORDS.encode(), "bad": giant_tag(), "b": b"<p>Other words", "c": b"<script>x</script>"}
    made = [record(http(html), url=f"http://www.example.org/{name}") for name, html in bodies.items()]
    path = archive(tmp_path / "a.warc", *made, record(http(status="404 Not Found")))
    output = str(tmp_path / "out")
    staging.prepare(output)
    task = partial(staged_by_worker, path=path, output=output, settings=HASTY)
    rows = spark.range(0, 1, 1, 1).mapInArrow(task, "counts string").collect()
    counts = checkpoints.parsed(rows[0]["counts"], RecordCounts)
    rejects = pq.read_table(staging.staged_file(output, read_pages.REJECTS, 0)).to_pylist()
    urls = pq.read_table(staging.staged_file(output, read_pages.NAME, 0))["url"].to_pylist()

    assert {"page_timeout": 1, "no_text": 1} == counts.rejects
    assert ["http://www.example.org/a", "http://www.example.org/b"] == urls
    assert [("http://www.example.org/bad", "page")] == [
        (row["url"], row["stage"]) for row in rejects if row["reason"] == "page_timeout"
    ]
    assert (5, 5) == (counts.records, counts.captures + counts.rejects.total() + counts.skipped.total())


def staged_by_worker(
    batches: Iterator[pa.RecordBatch], path: str, output: str, settings: DbceConfig
) -> Iterator[pa.RecordBatch]:
    """In a worker: `SourceStaging.stage`."""
    for _ in batches:
        counts = read_pages.SourceStaging(output, settings, False, None).stage(path, 0)
        yield pa.RecordBatch.from_pydict({"counts": [checkpoints.text(counts)]})


@pytest.mark.spark
@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ("page", {"records": 5, "captures": 4, "rejects": {"killed_worker": 1}}),
        ("reading", {"records": 4, "captures": 3, "rejects": {"killed_worker": 1}}),
    ],
)
def test_a_task_ends_over_what_kills_its_worker(
    spark: "SparkSession", tmp_path: Path, of: str, expected: dict[str, Any]
) -> None:
    """A page that kills the worker at every attempt is found and rejected.

    Nothing is known that crashes libxml2 each time, so in the workers one page (or the reading of one record) is made
    to kill the process that it is in, as the kernel does when memory is short. All else is the real thing.
    """
    path = archive(tmp_path / "a.warc", *(record(http(WORDS), url=f"http://www.example.org/{at}") for at in range(5)))
    output = str(tmp_path / "out")
    staging.prepare(output)
    task = partial(stage_with_killer, path=path, output=output, settings=CONFIG, of=of)
    rows = spark.range(0, 1, 1, 1).mapInArrow(task, "counts string").collect()
    counts = checkpoints.parsed(rows[0]["counts"], RecordCounts)

    assert expected == {"records": counts.records, "captures": counts.captures, "rejects": dict(counts.rejects)}
    assert (
        counts.records == counts.captures + counts.revisits + Counter(counts.rejects).total() + counts.skipped.total()
    )


def stage_with_killer(
    batches: Iterator[pa.RecordBatch], path: str, output: str, settings: DbceConfig, of: str
) -> Iterator[pa.RecordBatch]:
    """In a worker: `SourceStaging.stage`, with a killer at the fourth record."""

    def kill(url: str) -> None:
        if url.endswith("/3"):
            os.kill(os.getpid(), signal.SIGKILL)

    def page_with_killer(one: warc.Fetch, config: DbceConfig) -> Page | Reject:
        kill(one.capture.url)
        return parse_fetch(one, config)

    def pages_with_killer(lot: list[warc.Fetch], config: DbceConfig, _: KeepHtml) -> list[Page | Reject]:
        return [page_with_killer(one, config) for one in lot]

    def found_with_killer(source: str, config: DbceConfig) -> Iterator[Any]:
        for one in fetches(source, config):
            kill(one.capture.url)  # type: ignore[union-attr]
            yield one

    of_page: dict[str, Any] = {"parsed_pages": pages_with_killer, "parse_fetch": page_with_killer}
    named = of_page if of == "page" else {"fetches": found_with_killer}
    before = {name: getattr(sandbox, name) for name in named}
    vars(sandbox).update(named)
    try:
        for _ in batches:
            counts = read_pages.SourceStaging(output, settings, False, None).stage(path, 0)
            yield pa.RecordBatch.from_pydict({"counts": [checkpoints.text(counts)]})
    finally:
        vars(sandbox).update(before)  # this worker does other tasks, too


def test_each_record_has_the_whole_time() -> None:
    """Time that the record before has used is not taken from it."""
    left = []
    records = sandbox._timed(iter([Skip("a"), Skip("b"), Skip("c")]), 50.0)
    try:
        for _ in records:
            left.append(signal.getitimer(signal.ITIMER_PROF)[0])
            set_timer(5.0)
    finally:
        set_timer(0)

    assert [True] * 3 == [one > 40.0 for one in left]


def test_a_stop_of_all_processes_of_a_terminal_prints_no_stack_of_the_process(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Ctrl-C goes to the process, too: it leaves it to its parent."""
    with sandbox.Sandbox[int, int](_interrupted, 60.0) as apart:
        assert 1 == apart.result(1)

    assert "" == capfd.readouterr().err


def _interrupted(number: int) -> int:
    signal.raise_signal(signal.SIGINT)
    return number
