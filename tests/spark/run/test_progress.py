"""Progress of a stage: lines of a log while it runs, and the heartbeat for readers outside."""

import logging
import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import MagicMock

import pytest
from py4j.protocol import Py4JError

from dbce_spark.log import LOGGER, Log
from dbce_spark.spark.run import heartbeat, progress
from dbce_spark.spark.run.progress import Progress, Steps

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FILES = Steps("files", "sources", 4, pages=("captures",))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """All is looked at, and noted, again and again."""
    monkeypatch.setattr(progress, "_TICK_SECONDS", 0.01)
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.001)
    monkeypatch.setattr(heartbeat, "SECONDS", 0.001)
    caplog.set_level(logging.INFO, LOGGER.name)


def read_four(spark: "SparkSession", made: Progress) -> None:
    """Four tasks, of which each has read a file of three captures and of a reject."""
    counted = made.counted

    def read(number: int) -> None:
        time.sleep(0.5 * number)
        counted.add(Counter({"sources": 1, "captures": 3, "rejects.no_text": 1}))

    spark.sparkContext.parallelize(range(4), 4).foreach(read)


def figures(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    return [vars(one)["figures"] for one in caplog.records if vars(one).get("event") == event]


def test_a_stage_that_knows_its_steps_says_how_far_it_is(
    spark: "SparkSession", tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By files that are read, with the pages in them, and when it will be done; in the end all of it."""
    made = Progress(spark.sparkContext, str(tmp_path), Log("a run"))
    with made.stage("pages", FILES):
        read_four(spark, made)
        while figures(caplog, "progress")[-1]["done"] < 4:
            time.sleep(0.01)
    noted = figures(caplog, "progress")
    texts = [one.message for one in caplog.records]
    (end,) = figures(caplog, "stage_end")

    assert (0, 4) == (noted[0]["done"], noted[-1]["done"])
    assert {4} == {one["total"] for one in noted}
    assert any(one["seconds_to_go"] for one in noted)
    assert any(re.search(r" (25|50|75) % \([123] of 4 files\), [369] pages, [123] rejects", text) for text in texts)
    assert "pages begins: 4 files" == texts[0]
    assert {"sources": 4, "captures": 12, "rejects.no_text": 4} == end["counts"]
    assert {"pages": end["seconds"]} == made.seconds


def test_a_stage_of_which_spark_alone_knows_says_what_is_begun(
    spark: "SparkSession", tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Tasks so far, without those of other runs in the session, and without stages that Spark skips, as their shuffle
    is there already; how long it takes is not known."""
    other = Progress(spark.sparkContext, str(tmp_path), Log("another run"))
    with other.stage("sites"):
        spark.sparkContext.parallelize(range(3), 3).count()
    caplog.clear()
    made = Progress(spark.sparkContext, str(tmp_path), Log("a run"))
    with made.stage("sites"):
        grouped = spark.sparkContext.parallelize(range(9), 3).groupBy(lambda number: number % 4, 4)
        grouped.count()
        grouped.foreach(lambda group: time.sleep(0.5 * group[0]))
    texts = [one.message for one in caplog.records if vars(one)["event"] == "progress"]

    assert any(re.search(" (8|9|10) of 11 tasks so far$", text) for text in texts)
    assert not any(re.search("%|to go| 14 ", text) for text in texts)


def test_whoever_asks_from_outside_sees_it(
    spark: "SparkSession", tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The staging folder has the stage, its steps, who is at work, and the number of this attempt; the next run that
    goes on has the id of this one."""
    made = Progress(spark.sparkContext, str(tmp_path), Log("a run", 3, "dbce extract"))
    with made.stage("pages", FILES):
        read_four(spark, made)
        seen = heartbeat.read(str(tmp_path))
        while seen is None or seen.done < 4:
            seen = heartbeat.read(str(tmp_path))

    assert ("a run", 3, "dbce extract", "pages") == (seen.run_id, seen.attempt, seen.command, seen.stage)
    assert (4, 4, "files", 0.0) == (seen.done, seen.total, seen.unit, seen.seconds_to_go)
    assert seen.is_of_this_host
    assert ("a run", 4) == heartbeat.next_attempt(str(tmp_path), goes_on=True)
    assert ("a run", 4) != heartbeat.next_attempt(str(tmp_path), goes_on=False)


def test_what_ends_a_run_is_kept(spark: "SparkSession", tmp_path: Path) -> None:
    """Of the run that this process has begun there, and of no other."""
    Progress(spark.sparkContext, str(tmp_path), Log("a run"))
    with pytest.raises(KeyboardInterrupt), heartbeat.keeping_failure(str(tmp_path)):
        raise KeyboardInterrupt
    kept = heartbeat.read(str(tmp_path))
    assert kept is not None

    assert "stopped by Ctrl-C or SIGTERM" == kept.failure


def test_jobs_of_a_program_have_their_own_names_behind_a_stage(spark: "SparkSession", tmp_path: Path) -> None:
    """Also where the stage failed: a run is not all that a session does."""
    context, names = spark.sparkContext, ("spark.jobGroup.id", "spark.job.description", progress.STAGE_PROPERTY)
    before = [context.getLocalProperty(name) for name in names]
    within: list[str | None] = []
    made = Progress(context, str(tmp_path), Log("a run"))

    def fail() -> None:
        within.extend(context.getLocalProperty(name) for name in names)
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"), made.stage("sites"):
        fail()

    assert [progress.job_group("sites", "a run", 1), "dbce: sites", "sites"] == within
    assert before == [context.getLocalProperty(name) for name in names]


def test_a_java_that_is_gone_is_no_error_of_the_thread_that_measures(tmp_path: Path) -> None:
    """Nor does that print a stack: the thread that waits for Java's work raises the error. No Spark is started."""
    context = MagicMock()
    context.accumulator.return_value.value = Counter()
    made = Progress(context, str(tmp_path), Log("a run"))
    for gone in (Py4JError("no answer"), ConnectionRefusedError()):
        context.statusTracker.side_effect = gone
        made._tick(progress._Meter(None, Counter()))


def test_what_is_known_replaces_what_was_counted(spark: "SparkSession", tmp_path: Path) -> None:
    """Counts of a stage that an earlier run has ended, and those that a later stage has found."""
    made = Progress(spark.sparkContext, str(tmp_path), Log("a run"))
    made.counted.add(Counter(captures=2, sources=1))
    made.set_counts({"captures": 9, "largest_bucket": 5})

    assert {"captures": 9, "sources": 1, "largest_bucket": 5} == made.counted.value
