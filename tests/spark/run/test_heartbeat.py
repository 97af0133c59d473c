"""One model of how far a run is: kept as a file, and rendered for the log, for a terminal and as metrics. No JVM."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dbce_spark.log import Log
from dbce_spark.spark.run import heartbeat, progress, run_metrics, staging
from dbce_spark.spark.run.heartbeat import Heartbeat

RUN = Log("a run", 2, "dbce extract a --output b", "stream")
PAGES = Heartbeat(
    run_id="a run",
    attempt=2,
    command="",
    stage="pages",
    stage_seconds=22.4,
    unit="files",
    done=1200,
    total=1600,
    counts={"sources": 1200, "captures": 2230, "rejects.no_text": 1, "rejects.bad_http": 1},
    pages=2230,
    pages_per_second=20.26,
    seconds_to_go=4.26,
)
TASKS = replace(PAGES, stage="sites", unit=heartbeat.TASKS, pages=None, pages_per_second=0.0, seconds_to_go=None)


@pytest.mark.parametrize(
    ("beat", "line"),
    [
        (PAGES, "pages        0:22  75 % (1,200 of 1,600 files), 2,230 pages, 2 rejects, 20 pages/s, 0:04 to go"),
        (replace(PAGES, is_last=True, pages=None, pages_per_second=0.0, counts={}),
         "pages        0:22  75 % (1,200 of 1,600 files), 0:04 until the run ends"),
        (replace(PAGES, done=0, total=0, pages=0, pages_per_second=0.0, counts={}, seconds_to_go=None),
         "pages        0:22  0 % (0 of 0 files), 0 pages"),
        (TASKS, "sites        0:22  1,200 of 1,600 tasks so far"),
        (replace(TASKS, done=0, total=0), "sites        0:22"),
    ],
    ids=["steps", "last", "no steps", "tasks", "nothing begun"],
)  # fmt: skip
def test_a_person_reads_how_far_a_stage_is(beat: Heartbeat, line: str) -> None:
    """Percent, pages, rejects, rate and time to go, where the steps are clear; else the tasks that are begun."""
    assert line == progress.line(beat)


def test_a_program_reads_how_far_a_stage_is() -> None:
    """The same by names, with the seconds to go to a tenth."""
    assert {
        "done": 1200,
        "total": 1600,
        "unit": "files",
        "is_all_planned": True,
        "seconds_to_go": 4.3,
        "pages_per_second": 20.26,
        "counts": PAGES.counts,
    } == progress.figures(PAGES)
    of_tasks = progress.figures(TASKS)
    assert ("tasks", False, None) == (of_tasks["unit"], of_tasks["is_all_planned"], of_tasks["seconds_to_go"])


def test_gauges_have_sums_and_shares() -> None:
    """Rejects in all and by reason, extractions and the crossed share of them; what was not counted is 0."""
    shown = run_metrics.values({**PAGES.counts, "crossed": 3, "single": 1, "of no gauge": 9}, 20.2604)

    assert {*run_metrics.WHOLE, *run_metrics.FRACTIONS} == shown.keys()
    assert (2, 1, 1, 0) == tuple(
        shown[name] for name in ("rejects", "rejects_no_text", "rejects_bad_http", "rejects_too_large")
    )
    assert (4, 0.75, 20.26) == tuple(shown[name] for name in ("extractions", "crossed_share", "pages_per_second"))
    assert 0.0 == run_metrics.values({}, 0.0)["crossed_share"]


def test_a_heartbeat_is_read_as_it_was_written(tmp_path: Path) -> None:
    """All of it but the time, which is that of the writing."""
    heartbeat.write(str(tmp_path), replace(PAGES, updated="long ago"))
    kept = heartbeat.read(str(tmp_path))
    assert kept is not None

    assert "long ago" != kept.updated
    assert PAGES == replace(kept, updated=PAGES.updated)


@pytest.mark.parametrize("text", ["{", '{"a_field_of_another_version": 1}', "[]"])
def test_a_heartbeat_of_another_version_is_none(tmp_path: Path, text: str) -> None:
    """A run that goes on then begins to count its attempts anew."""
    path = Path(staging.path(str(tmp_path), staging.STATE))
    path.parent.mkdir()
    path.write_text(text)

    assert heartbeat.read(str(tmp_path)) is None
    assert 1 == heartbeat.next_attempt(str(tmp_path), goes_on=True)[1]


def test_a_heartbeat_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    """The folder of the file is a file here."""
    (tmp_path / staging.FOLDER).touch()
    heartbeat.write(str(tmp_path), PAGES)

    assert (tmp_path / staging.FOLDER).is_file()


def fails() -> None:
    raise ValueError("not foreseen")


@pytest.mark.parametrize(("work", "is_ended"), [(lambda: None, True), (fails, False)], ids=["well", "failed"])
def test_a_stream_beats_until_it_ends(tmp_path: Path, work: Callable[[], None], is_ended: bool) -> None:
    """Its end is written only where it ended well, and its failure where failures are kept."""
    seen: list[Any] = []
    try:
        with heartbeat.keeping_failure(str(tmp_path)), heartbeat.beating(str(tmp_path), RUN):
            seen.append(heartbeat.read(str(tmp_path)))
            work()
    except ValueError:
        pass
    last = heartbeat.read(str(tmp_path))
    assert last is not None

    assert ("a run", 2, "stream", False) == (seen[0].run_id, seen[0].attempt, seen[0].stage, seen[0].is_ended)
    assert (is_ended, "" if is_ended else "ValueError: not foreseen") == (last.is_ended, last.failure)


def test_a_run_began_when_its_command_did(tmp_path: Path) -> None:
    """Not when Spark was ready for it, half a minute later."""
    log = Log("a run", began=datetime(2026, 1, 1, tzinfo=UTC))
    heartbeat.write(str(tmp_path), heartbeat.begin(log))

    assert "2026-01-01T00:00:00+00:00" == heartbeat.of_process(str(tmp_path))["began"]
