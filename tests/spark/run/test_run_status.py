"""The status of an output in all states that it can be in. No Spark is started."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from dbce_spark.archive.failed_files import Loss
from dbce_spark.commands.cli import main
from dbce_spark.errors import OutputError
from dbce_spark.export.export_job import EXPORT_FILE
from dbce_spark.files import timestamps
from dbce_spark.log import Log
from dbce_spark.output.collection import RUN_FILE, RUNS, Collection, Increment, Version
from dbce_spark.report.report_folder import MARKER
from dbce_spark.spark.run import checkpoints, plan, staging
from dbce_spark.spark.run import heartbeat as state
from dbce_spark.spark.run.condition import Condition
from dbce_spark.spark.run.record_counts import ReadSource, RecordCounts
from dbce_spark.spark.run.run_status import DoneShare, inspect_run
from tests.support.builders import config
from tests.support.permissions import forbidden

ROOT = Path(__file__).parents[3]
FILES = [f"{nth}.warc" for nth in range(20)]
CONFIG = config("label.by=T002")
RUN = Log("a run", 2, "cd /x && dbce extract a --output b")
LONG_AGO = "2020-01-01T00:00:00+00:00"


def begun(output: Path, **changes: Any) -> str:
    """A run that has read two of twenty files, one of which is broken, and says so."""
    work = str(output)
    plan.save(plan.made(FILES, [], "", CONFIG, limit=None), work)
    read = RecordCounts(
        10, 7, rejects=Counter(not_html=2, bad_http=1), losses=[Loss("1.warc", 9, 10, "broken_record: x")]
    )
    checkpoints.write(
        staging.done(work, staging.PAGES, 0), ReadSource(5, RecordCounts(30, 20, rejects=Counter(not_html=4)))
    )
    checkpoints.write(staging.done(work, staging.PAGES, 1), ReadSource(5, read))
    checkpoints.write(staging.path(work, staging.SECONDS), {"start": 9.0})
    last = replace(
        state.begin(RUN), stage="pages", stage_began=timestamps.now(), done=2, total=20, unit="files", **changes
    )
    checkpoints.write(staging.path(work, staging.STATE), last)
    return work


@contextmanager
def at_work(output: Path) -> Iterator[None]:
    """Within the block another process holds the output."""
    hold = "import sys, time; from dbce_spark.spark.run import run_lock\n"
    hold += "with run_lock.hold(sys.argv[1]): print('held', flush=True); time.sleep(600)"
    other = subprocess.Popen([sys.executable, "-c", hold, str(output)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert other.stdout is not None
    assert "held\n" == other.stdout.readline()
    try:
        yield
    finally:
        other.kill()
        other.communicate()


def test_each_condition_has_its_name_and_its_exit_status() -> None:
    """Programs read either."""
    assert {"finished": 0, "running": 4, "stopped": 5, "dead": 5, "none": 6} == {
        str(one): one.exit_status for one in Condition
    }


def test_a_run_that_nobody_works_on_is_dead(tmp_path: Path) -> None:
    """Its progress is counted by its files: input files, records, rejects by reason, failed files of those that may."""
    found = inspect_run(begun(tmp_path, updated=LONG_AGO))

    assert (Condition.DEAD, "a run", 2) == (found.condition, found.run_id, found.attempts)
    assert (DoneShare(done=2, of=20), None) == (found.files, found.parts)
    assert (40, 27, {"not_html": 6, "bad_http": 1}) == (found.records, found.captures, found.rejects)
    assert found.failed_files is not None
    assert (1, 20, 1, {"1.warc": "broken_record: x"}) == (
        found.failed_files.count, found.failed_files.of, found.failed_files.allowed, found.failed_files.first,
    )  # fmt: skip
    assert not found.failed_files.exceeds_limit


def test_a_run_of_which_nothing_is_kept_does_not_go_on(tmp_path: Path) -> None:
    """A run without Spark keeps nothing, and one on Spark nothing before its first file."""
    work = begun(tmp_path, updated=LONG_AGO)
    steps = [inspect_run(work).next_step]
    shutil.rmtree(Path(staging.done(work, staging.PAGES, 0)).parent)
    steps.append(inspect_run(work).next_step)
    with at_work(tmp_path):
        steps.append(inspect_run(work).next_step)

    assert [
        "the same command goes on from there, --overwrite starts afresh",
        "the same command starts anew: nothing is kept of this run",
        "wait, or stop it: nothing of it is kept yet",
    ] == steps


def test_a_run_without_spark_has_no_counts_before_its_end(tmp_path: Path) -> None:
    """It stages nothing that they could be read from: "0 of 20 files" would be wrong of one that has read them all."""
    work = str(tmp_path)
    plan.save(plan.made(FILES, [], "", CONFIG, limit=None), work)
    checkpoints.write(
        staging.path(work, staging.STATE), replace(state.begin(RUN), stage="sites", keeps=False, updated=LONG_AGO)
    )
    found = inspect_run(work)
    counts = {name: found.as_dict()[name] for name in ("files", "records", "captures", "rejects", "failed_files")}
    names = [one.split()[0] for one in found.text().splitlines()[1:]]

    assert dict.fromkeys(counts) == counts
    assert ["run", "next", "cd"] == names
    assert "the same command starts anew: nothing is kept of this run" == found.next_step


def test_a_run_that_holds_its_lock_is_running(tmp_path: Path) -> None:
    """Whatever it said of itself last, and also before it said anything."""
    work = begun(tmp_path, updated=LONG_AGO)
    with at_work(tmp_path), at_work(tmp_path / "other"):
        assert Condition.RUNNING == inspect_run(work).condition
        assert Condition.RUNNING == inspect_run(str(tmp_path / "other")).condition
    assert Condition.DEAD == inspect_run(work).condition
    assert Condition.NONE == inspect_run(str(tmp_path / "other")).condition


@pytest.mark.parametrize(
    ("changes", "condition"),
    [
        ({"host": "another"}, Condition.RUNNING),
        ({"host": "another", "updated": LONG_AGO}, Condition.DEAD),
        ({"host": "another", "failure": "stopped by Ctrl-C or SIGTERM"}, Condition.DEAD),
        ({"host": socket.gethostname()}, Condition.DEAD),
    ],
)
def test_a_run_elsewhere_is_known_by_what_it_says(
    tmp_path: Path, changes: dict[str, Any], condition: Condition
) -> None:
    """The locks of other hosts may not be seen here: one that spoke within the last minute is at work. On this host its
    lock would be seen."""
    assert condition == inspect_run(begun(tmp_path, **changes)).condition


@pytest.mark.parametrize(
    ("pid", "condition"), [(os.getpid(), Condition.RUNNING), (1 << 30, Condition.DEAD)], ids=["this", "none"]
)
def test_without_locks_a_run_is_known_by_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pid: int, condition: Condition
) -> None:
    """On a file system that has none."""

    def none(*_: object) -> None:
        raise OSError("no locks available")

    work = begun(tmp_path, pid=pid)
    Path(staging.path(work, "lock")).touch()
    monkeypatch.setattr("fcntl.flock", none)

    assert condition == inspect_run(work).condition


def test_parts_are_counted_when_all_is_read(tmp_path: Path) -> None:
    """Of how many is known by then: of 40 row groups one makes a part."""
    work = begun(tmp_path)
    checkpoints.write(staging.done(work, staging.PAGES), [RecordCounts(captures=1024) for _ in FILES])
    checkpoints.write(staging.done(work, "extractions", 0), Counter(crossed=1))
    checkpoints.write(staging.path(work, staging.SECONDS), {"start": 1.0, "pages": 2.0, "sites": 3.0})
    found = inspect_run(work)

    assert (DoneShare(done=20, of=20), DoneShare(done=1, of=40), ("pages", "sites")) == (
        found.files,
        found.parts,
        found.stages,
    )


def test_what_indexes_name_counts_when_they_are_read(tmp_path: Path) -> None:
    """Until then it is not known how much there is to read. An archive has failed by what was asked for of it."""
    work = begun(tmp_path)
    plan.save(plan.made(["0.warc"], ["i.cdxj"], "", CONFIG, limit=None), work)
    before = inspect_run(work).files
    selected = {"archives": {"1.warc": 30, "2.warc": 9}, "parts": 4, "rejects": {"broken_index_line": 2}, "losses": []}
    checkpoints.write(staging.done(work, staging.SELECTION), selected)
    found = inspect_run(work)

    assert (DoneShare(done=2, of=None), DoneShare(done=2, of=5)) == (before, found.files)
    assert found.rejects
    assert 2 == found.rejects["broken_index_line"]
    assert found.failed_files is not None
    assert (0, 4) == (found.failed_files.count, found.failed_files.of)


def finished(output: str, failed: int) -> None:
    """The report of a run."""
    report = {
        "run_id": "a run",
        "attempts": 2,
        "process": {"host": "here", "pid": 7},
        "began": "2026-01-01T00:00:00+00:00",
        "updated": "2026-01-01T00:01:00+00:00",
        "command": "dbce extract a",
        "records_read": 9,
        "captures": 4,
        "extractions": 4,
        "rejects": {"no_text": 1},
        "files": 20,
        "seconds": {"start": 1.0, "pages": 2.0},
        "failed_files": {"count": failed, "of": 20, "first": {}},
        "config": CONFIG.as_dict(),
    }
    with fsspec.open(f"{output}/run.json", "w") as file:
        json.dump(report, file)


@pytest.mark.parametrize(("failed", "exit_status"), [(1, 0), (2, 3)])
def test_a_finished_run_ends_as_its_command_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], failed: int, exit_status: int
) -> None:
    """0, or 3 where more files failed than may; staging that was not removed any more does not matter."""
    begun(tmp_path)
    finished(str(tmp_path), failed)
    ended = main(["status", str(tmp_path), "--format", "json"])
    status = json.loads(capsys.readouterr().out)

    assert (exit_status, exit_status, "finished") == (ended, status["exit_status"], status["condition"])
    assert {"count": failed, "of": 20, "allowed": 1, "exceeds_limit": failed > 1, "first": {}} == status["failed_files"]
    assert (None, ["pages"], {"no_text": 1}) == (status["stage"], status["stages_ended"], status["rejects"])
    assert {"start": 1.0, "pages": 2.0} == status["seconds"]
    assert ("run", None, 4) == (status["kind"], status["error"], status["extractions"])
    assert {"host": "here", "pid": 7} == status["process"]
    assert ["2026-01-01T00:00:00+00:00", "2026-01-01T00:01:00+00:00", "dbce extract a"] == [
        status[name] for name in ("began", "updated", "command")
    ]


def test_a_corpus_has_counts_of_its_own(tmp_path: Path) -> None:
    """Extractions that were kept, of how many: the report of the run is of all; only `dbce corpus` replaces it."""
    finished(str(tmp_path), 0)
    report = json.loads((tmp_path / "run.json").read_text())
    counts = {"output": "out", "config": {}, "in": 1_326, "removed": {"words": 100}, "left": 1_226}
    (tmp_path / "run.json").write_text(json.dumps(report | {"corpus": counts}))
    found = inspect_run(str(tmp_path))

    assert ("corpus", counts["in"], counts["left"]) == (
        found.as_dict()["kind"], found.as_dict()["corpus"]["in"], found.as_dict()["corpus"]["left"],
    )  # fmt: skip
    assert [
        f"{tmp_path}: finished",
        "  corpus        1,226 of 1,326 extractions of out",
        "                100 removed by words",
        "  next          nothing; `dbce corpus ... --overwrite` would replace it",
    ] == found.text().splitlines()


@pytest.mark.parametrize("changed", [{"rejects": []}, {"captures": "9"}, {"duplicates": None}, {"corpus": {}}])
def test_a_report_that_is_none_is_named(tmp_path: Path, changed: dict[str, object]) -> None:
    """One with fields of another form has no status."""
    finished(str(tmp_path), 0)
    report = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps(report | changed))

    with pytest.raises(OutputError, match=r"run\.json is no report of a run of this version"):
        inspect_run(str(tmp_path)).text()


def test_a_report_of_lists_within_lists_without_end_is_named(tmp_path: Path) -> None:
    """Before Python runs out of room for it."""
    (tmp_path / "run.json").write_text("[" * 100_000)

    with pytest.raises(OutputError, match=r"run\.json is no report of a run of this version"):
        inspect_run(str(tmp_path))


def test_a_report_that_cannot_be_opened_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is gone, as after a rollback of files, and one that may not be read; programs get an object, too."""
    collection = Collection(str(tmp_path / "c"))
    Path(collection.increment(1)).mkdir(parents=True)
    grown_to(collection, 1)
    finished(str(tmp_path), 0)
    for output, lack in ((collection.folder, "restore it, or roll back"), (str(tmp_path), "let this user read it")):
        with forbidden(tmp_path / "run.json"):
            assert 2 == main(["status", output, "--format", "json"])
        status = json.loads(capsys.readouterr().out)
        assert ("unknown", True) == (status["condition"], lack in status["error"])


def test_an_output_in_an_object_store_is_known_by_its_report(tmp_path: Path) -> None:
    """An unfinished one is known by its staging folder, which must be named."""
    url = "memory://status/out"
    begun(tmp_path)
    with pytest.raises(OutputError, match="give --staging DIR"):
        inspect_run(url)
    assert Condition.DEAD == inspect_run(url, str(tmp_path)).condition
    finished(url, 0)

    assert Condition.FINISHED == inspect_run(url).condition


def test_a_person_reads_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each state in a line of its own, with its exit code; of a dead run why it ended, and the command again."""
    begun(tmp_path, failure="no space is left for the output", updated=LONG_AGO)
    codes = [main(["status", str(tmp_path)]), main(["status", str(tmp_path / "nowhere")])]
    with at_work(tmp_path):
        codes.append(main(["status", str(tmp_path)]))
    status = capsys.readouterr().out

    assert [5, 6, 4] == codes
    assert f"{tmp_path}: dead since {LONG_AGO} (" in status
    assert f"it was process {os.getpid()} on {socket.gethostname()}" in status
    assert "ended by      no space is left for the output" in status
    assert "files         2 of 20 read" in status
    assert "failed files  1 of 20; 1 may fail" in status
    assert RUN.command in status
    assert f"{tmp_path}/nowhere: no run was begun there" in status
    assert f"{tmp_path}: running, in stage pages since " in status


def grown_to(collection: Collection, number: int) -> None:
    """Makes the increments up to this number, which lie there, a version."""
    counts = {"page_files": 1, "captures": 4, "extractions": 4, "relabelled": 0}
    increments = tuple(Increment(number=one, **counts) for one in range(1, number + 1))
    made = Version(number=number, made=LONG_AGO, why="extract", increments=increments, settings={"config": {}})
    collection.commit(made)


def test_of_a_collection_the_increment_that_is_written_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While one is, its state beside the version that counts; else the last version, with the account of its run."""
    collection = Collection(str(tmp_path / "news"))
    first, second = (Path(collection.increment(number)) for number in (1, 2))
    begun(first)
    with at_work(first):
        statuses = [inspect_run(collection.folder)]
    finished(str(first), 0)
    statuses.append(inspect_run(collection.folder))
    grown_to(collection, 1)
    statuses.append(inspect_run(collection.folder))
    begun(second, updated=LONG_AGO)
    statuses.append(inspect_run(collection.folder))
    main(["status", collection.folder])
    lines = capsys.readouterr().out.splitlines()

    assert [Condition.RUNNING, Condition.DEAD, Condition.FINISHED, Condition.DEAD] == [
        one.condition for one in statuses
    ]
    assert [(None, 1), (None, 1), (1, 1), (1, 2)] == [
        (one.collection.version and one.collection.version.number, one.collection.increment)
        for one in statuses
        if one.collection
    ]
    assert {collection.folder} == {one.output for one in statuses}
    assert lines[0].startswith(f"{collection.folder}: dead since {LONG_AGO}")
    assert f"  collection    version 1 of {LONG_AGO} counts: 1 crawl, 4 captures; below, increment 2" == lines[1]


def test_a_collection_that_went_back_is_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The account is that of the last increment that counts again. Where nothing was begun, nothing is shown."""
    collection = Collection(str(tmp_path))
    Path(collection.increment(1)).mkdir(parents=True)
    nothing = inspect_run(str(tmp_path))
    for number in (1, 2):
        finished(collection.increment(number), number - 1)
        grown_to(collection, number)
    collection.rollback(1)
    main(["status", str(tmp_path), "--format", "json"])
    status = json.loads(capsys.readouterr().out)

    assert (Condition.NONE, None) == (nothing.condition, nothing.collection)
    assert ("finished", 0) == (status["condition"], status["failed_files"]["count"])
    counts = {"crawls": 1, "captures": 4}
    assert {"version": 3, "made": collection.current().made, **counts, "increment": 1} == status["collection"]


def test_of_a_compacted_collection_the_last_run_is_shown(tmp_path: Path) -> None:
    """A compaction keeps the report of each run that it stands for, each a crawl that counts, and is none itself."""
    collection = Collection(str(tmp_path))
    for number in (1, 2, 3):
        finished(collection.increment(number), number - 1)
    grown_to(collection, 3)
    runs = Path(collection.increment(3), RUNS)
    runs.mkdir()
    Path(collection.increment(3), RUN_FILE).write_text('{"why": "compact"}')
    for number in (1, 2):
        Path(collection.increment(number), RUN_FILE).rename(runs / f"{number:08}.json")
    status = inspect_run(collection.folder)

    assert (Condition.FINISHED, 1) == (status.condition, status.failed_files and status.failed_files.count)
    assert status.collection
    assert f"version 3 of {LONG_AGO} counts: 2 crawls, 12 captures; below, increment 3" == status.collection.text()


@pytest.mark.parametrize("written", ['{"inputs": []}', "[]"])
@pytest.mark.parametrize("name", ["run.json", "_staging/plan.json"])
def test_what_another_version_has_written_is_not_guessed_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, written: str
) -> None:
    """Exit 2, and one line that names it."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(written)

    assert 2 == main(["status", str(tmp_path)])
    assert 1 == capsys.readouterr().err.count("\n")


def test_status_needs_no_spark(tmp_path: Path) -> None:
    """It works where pyspark cannot be imported."""
    begun(tmp_path)
    program = "import sys; sys.modules['pyspark'] = None; from dbce_spark.commands.cli import entry; entry()"
    command = [sys.executable, "-c", program, "status", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (5, "") == (ended.returncode, ended.stderr)


def test_a_run_of_another_version_of_this_program_is_named_as_such(tmp_path: Path) -> None:
    """Its staged tables may have another form."""
    work = begun(tmp_path)
    made = plan.made(FILES, [], "", CONFIG, limit=None)
    plan.save(replace(made, staging_version=1), work)
    with pytest.raises(OutputError, match="another version of this program"):
        inspect_run(work)


@pytest.mark.parametrize(
    ("name", "command"),
    [(EXPORT_FILE, "dbce export"), (MARKER, "dbce report"), ("redesigns", "dbce changes")],
)
def test_what_is_no_run_is_called_what_it_is(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A finished export was called one that was never begun, for which a script gives `dbce extract`."""
    (tmp_path / name).mkdir()

    assert 2 == main(["status", str(tmp_path)])
    assert f"{tmp_path} is what `{command}` wrote, which is no run and has no status" in capsys.readouterr().err
