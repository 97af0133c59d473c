"""A run as it is seen from outside while it works, and afterwards: one real run, watched by all means there are."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from benchmarks.samples import write_archive
from dbce_spark.spark.run.condition import Condition
from dbce_spark.spark.run.run_status import RunStatus, inspect_run
from tests.support.cluster import SMALL_PLANS, kill_all, wait_for
from tests.support.event_logs import logged
from tests.support.free_ports import free_port
from tests.support.range_server import served

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
SECRET = "not-for-logs"
PATIENCE = 600
STAGES = ["pages", "originals", "revisits", "sites", "extractions", "duplicates", "captures"]
_GAUGE = re.compile(r'metrics_dbce_driver_AccumulatorSource_(\w+)_Value\{type="gauges"\} (\S+)')


@dataclass(frozen=True)
class Watched:
    """A run as it was seen: its exit status, stderr, log and report, the metrics that Prometheus would have read, the
    lines of `dbce status`, and its event logs."""

    exit_status: int
    errors: str
    log: list[dict[str, Any]]
    report: dict[str, Any]
    scraped: list[dict[str, float]]
    seen: list[RunStatus]
    events: Path


def scrape(port: int) -> dict[str, float]:
    """Our gauges; empty as long as nobody answers."""
    with suppress(URLError, OSError), urlopen(f"http://127.0.0.1:{port}/metrics/prometheus/", timeout=5) as answer:
        return {name: float(value) for name, value in _GAUGE.findall(answer.read().decode())}
    return {}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """A run over three files of the sample archive, one that is no archive, and one on a server that is none either."""
    folder = tmp_path_factory.mktemp("watched")
    # Heavy pages: between the first task that ends and the last, somebody has to look.
    write_archive(folder / "archive", pages=300, seed=5, weight=6)
    (folder / "archive" / "broken.warc.gz").write_bytes(b"this is no archive")
    (folder / "events").mkdir()
    with served(a__warc__gz=b"this is no archive") as site:
        return watch(folder, site.url.replace("://", f"://reader:{SECRET}@"))


def watch(folder: Path, site: str) -> Watched:
    from dbce_spark.spark.engine.java import java_home

    output, port = folder / "out", free_port()
    spark = {
        # As of many captures: of few the last stages are over before anybody looks.
        "spark.dbce.fewCaptures": "0",
        **SMALL_PLANS,
        "spark.ui.enabled": "true",
        "spark.ui.port": str(port),
        "spark.driver.memory": "1g",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
    }
    command = [
        *(sys.executable, "-m", "dbce_spark.commands.cli", "extract", str(folder / "archive")),
        *(f"{site}/a.warc.gz", "--output", str(output), "--log", str(folder / "log.jsonl")),
        *("--set", "label.by=T002", "--max-failed-files", "0.5", "--master", "local[2]"),
        *(word for key, value in spark.items() for word in ("--spark", f"{key}={value}")),
    ]
    # The Java itself, and not the one of another test's session, which does not warn.
    environment = {**os.environ, "JAVA_HOME": java_home()}
    with (folder / "errors").open("wb") as errors:
        run = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
    scraped: list[dict[str, float]] = []
    seen: list[RunStatus] = []
    until = time.monotonic() + PATIENCE
    while run.poll() is None and time.monotonic() < until:
        scraped.append(scrape(port))
        seen.append(inspect_run(str(output)))
        time.sleep(0.3)
    kill_all(run)
    seen.append(inspect_run(str(output)))
    return Watched(
        run.returncode,
        (folder / "errors").read_text(),
        [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()],
        json.loads((output / "run.json").read_text()),
        [one for one in scraped if one],
        seen,
        folder / "events",
    )


def test_metrics_are_there_while_it_works(watched: Watched) -> None:
    """Prometheus reads what was counted so far, and in the end what run.json says."""
    first, last, report = watched.scraped[0], watched.scraped[-1], watched.report
    grown = [one["records"] for one in watched.scraped]
    same = ("extractions", "crossed", "single", "largest_bucket", "capped_buckets")

    assert 0 == first["records"]
    assert sorted(grown) == grown
    assert [report[name] for name in same] == [last[name] for name in same]
    assert (2, 2, 0) == tuple(last[name] for name in ("rejects", "rejects_not_an_archive", "rejects_no_text"))
    assert (report["records_read"], 2) == (last["records"], last["failed_files"])
    assert last["crossed_share"] == pytest.approx(report["crossed"] / report["extractions"], abs=1e-5)
    # Spark shows the fractions a moment after the counts.
    assert max(one.get("pages_per_second", 0) for one in watched.scraped) > 0


def test_status_follows_it(watched: Watched) -> None:
    """Never begun, then running through its stages with more and more files read, then finished; never dead."""
    conditions = [one.condition for one in watched.seen]
    ordered = sorted(conditions, key=[Condition.NONE, Condition.RUNNING, Condition.FINISHED].index)
    running = [one for one in watched.seen if one.heartbeat and one.heartbeat.stage]
    files = [one.files.done for one in running if one.files]

    assert (Condition.NONE, Condition.RUNNING, Condition.FINISHED) == tuple(dict.fromkeys(ordered))
    assert ordered == conditions
    assert sorted(files) == files
    assert (0, 5) == (files[0], files[-1])
    assert set(STAGES) >= {one.heartbeat.stage for one in running if one.heartbeat}
    assert {watched.report["run_id"]} == {one.run_id for one in (*running, watched.seen[-1])}
    assert watched.report["rejects"] == running[-1].rejects == watched.seen[-1].rejects


def test_the_log_tells_it_in_order(watched: Watched) -> None:
    """Start, Spark, each stage, the files that failed, the rejects, the end: all under the id that run.json has."""
    events = [one["event"] for one in watched.log if one["event"] != "progress"]
    begun = [one["stage"] for one in watched.log if one["event"] == "stage_begin"]
    stages = ["stage_begin", "stage_end"]
    end = watched.log[-1]

    assert 0 == watched.exit_status
    assert ["start", "spark", *stages, "warning", *stages * (len(begun) - 1), "rejects", "end"] == events
    assert list(watched.report["seconds"])[1:] == begun
    assert {watched.report["run_id"]} == {one["run_id"] for one in watched.log}
    assert watched.report["rejects"] == watched.log[-2]["rejects"]
    assert (watched.report["extractions"], watched.report["seconds"]) == (end["extractions"], end["seconds"])


def test_nothing_tells_how_inputs_are_read(watched: Watched) -> None:
    """The password in the URL of an input is neither in the log, nor on stderr, nor in run.json; its host is."""
    printed = json.dumps([watched.log, watched.report]) + watched.errors

    assert "/a.warc.gz" in printed
    assert SECRET not in printed


def test_on_stderr_are_lines(watched: Watched) -> None:
    """Begun before Spark starts; each stage has a line when it begins and one with its seconds. Between them is neither
    Spark's INFO nor Java's warning of a module."""
    printed = [line[9:] for line in watched.errors.splitlines() if re.match(r"\d\d:\d\d:\d\d ", line)]

    assert len(printed) == len(watched.errors.splitlines()), watched.errors
    assert f"run {watched.report['run_id']}: 5 files; Spark starts" == printed[0]
    assert "pages begins: 5 files" in printed
    assert [name for name in STAGES if any(line.startswith(f"{name}: ") for line in printed)] == list(
        watched.report["seconds"]
    )[1:]


def test_its_event_log_names_its_stages(watched: Watched) -> None:
    """Its jobs carry the names of our stages, and have succeeded. A history server knows a run from there alone when it
    is over: tests/examples/test_compose.py asks one."""
    events = [*logged(watched.events)]
    (run,) = (one for one in events if one["Event"] == "SparkListenerApplicationStart")
    jobs = {one["Job ID"]: one["Properties"] for one in events if one["Event"] == "SparkListenerJobStart"}
    ends = {one["Job ID"]: one["Job Result"]["Result"] for one in events if one["Event"] == "SparkListenerJobEnd"}

    assert "dbce extract" == run["App Name"]
    of_spark = watched.report["seconds"].keys() - {"start", "duplicates"}  # of few texts the driver marks duplicates
    assert {f"dbce: {name}" for name in of_spark} == {one["spark.job.description"] for one in jobs.values()}
    assert dict.fromkeys(jobs, "JobSucceeded") == ends


def test_a_run_that_is_stopped_says_so(tmp_path: Path) -> None:
    """SIGTERM, by which schedulers stop a job, ends it as Ctrl-C does: noted in the log, with a status of its own."""
    (tmp_path / "a.warc").touch()
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-m", "dbce_spark.commands.cli", "extract", str(tmp_path / "a.warc"), "--log", str(log)]
    command += ["--engine", "spark"]
    run = subprocess.Popen(
        [*command, "--output", str(tmp_path / "out")], cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    begun = wait_for(lambda: log.exists() and "start" in log.read_text())
    run.terminate()
    printed = run.communicate(timeout=PATIENCE)[1].decode()
    last = json.loads(log.read_text().splitlines()[-1])

    assert begun
    assert (130, "failure", 130) == (run.returncode, last["event"], last["exit_status"])
    assert printed.splitlines()[-1].startswith("dbce: stopped")


def test_settings_of_spark_are_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A setting that is no pair is refused; under spark-submit there is another place for them."""
    from dbce_spark.commands.cli import main

    (tmp_path / "a.warc").touch()
    command = ["extract", str(tmp_path / "a.warc"), "--output", str(tmp_path / "out"), "--spark", "spark.ui.enabled"]

    assert 2 == main(command)
    assert "write KEY=VALUE" in capsys.readouterr().err
