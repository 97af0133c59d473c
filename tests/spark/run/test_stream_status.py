"""The status of the output of a stream. No Spark is started."""

import json
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbce_spark.commands.cli import main
from dbce_spark.errors import OutputError
from dbce_spark.log import Log, reason
from dbce_spark.spark.run import checkpoints, heartbeat, run_lock, staging
from dbce_spark.spark.run import heartbeat as state
from dbce_spark.spark.run.condition import Condition
from dbce_spark.spark.run.stream_status import inspect_stream
from dbce_spark.streaming.stream import stream_tables
from tests.support.stream_files import part

RUN = Log("a stream", 2, "cd /x && dbce stream a --output b", "stream")
LONG_AGO = "2020-01-01T00:00:00+00:00"
FIRST = {"files": 2, "records": 50, "captures": 30, "labels": 28, "repeats": 2, "rejects.no_text": 3, "skipped.mime": 6}
SECOND = {
    "files": 1,
    "records": 9,
    "captures": 8,
    "labels": 7,
    "repeats": 1,
    "late_labels": 4,
    "rejects.bad_http": 1,
    "skipped.mime": 1,
}


def begun(folder: object, **state_fields: Any) -> str:
    """A stream with two batches, whose process wrote these fields of its state last."""
    to = str(folder)
    stream_tables.begin(to, {})
    stream_tables.commit(to, 0, part({}, FIRST), seconds=10.0)
    stream_tables.commit(to, 1, part({}, SECOND), seconds=2.0)
    checkpoints.write(staging.path(to, staging.STATE), replace(state.begin(RUN), **state_fields))
    return to


def test_what_was_counted_is_that_of_all_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pages, labels, late labels, repeats and rejects by reason; of the last batch when it was committed, and its
    pace."""
    ended = main(["status", begun(tmp_path, is_ended=True), "--format", "json"])
    shown = json.loads(capsys.readouterr().out)

    assert (0, "finished", 2, ["a stream", 2]) == (
        ended, shown["condition"], shown["batches"], [shown["run_id"], shown["attempts"]],
    )  # fmt: skip
    assert {"files": 3, "records": 59, "captures": 38, "revisits": 0, "labels": 35, "late_labels": 4, "repeats": 3} == {
        name: shown[name] for name in ("files", "records", "captures", "revisits", "labels", "late_labels", "repeats")
    }
    assert ({"no_text": 3, "bad_http": 1}, {"mime": 7}) == (shown["rejects"], shown["skipped"])
    assert shown["last_batch"].pop("committed") == stream_tables.read_commits(str(tmp_path))[1].committed
    assert {"batch": 1, "seconds": 2.0, "captures": 8, "pages_per_second": 4.0} == shown["last_batch"]


@pytest.mark.parametrize(
    ("state_fields", "condition", "exit_status"),
    [
        ({"is_ended": True}, Condition.FINISHED, 0),
        ({"failure": reason(KeyboardInterrupt())}, Condition.STOPPED, 5),
        ({"failure": "Spark gave up"}, Condition.DEAD, 5),
        ({"updated": LONG_AGO}, Condition.DEAD, 5),
        ({"host": "another"}, Condition.RUNNING, 4),
    ],
    ids=["read all", "stopped", "failed", "killed", "elsewhere"],
)
def test_how_a_stream_ended_is_known_by_what_it_said(
    tmp_path: Path, state_fields: dict[str, Any], condition: Condition, exit_status: int
) -> None:
    """One that has read all has ended well; one that says nothing any more was killed."""
    found = inspect_stream(begun(tmp_path, **state_fields))

    assert (condition, exit_status) == (found.condition, found.exit_status)


def test_a_stream_that_holds_its_lock_is_running(tmp_path: Path) -> None:
    """Whatever an earlier process wrote last."""
    to = begun(tmp_path, is_ended=True)
    with run_lock.hold(to):
        seen = inspect_stream(to).condition

    assert [Condition.RUNNING, Condition.FINISHED] == [seen, inspect_stream(to).condition]


def test_a_stream_into_a_bucket_is_known_by_its_process(tmp_path: Path) -> None:
    """There is no lock there."""
    to = f"memory://{tmp_path.name}"
    seen = [inspect_stream(begun(to)).condition]
    heartbeat.write(to, replace(heartbeat.begin(RUN), pid=1 << 30))

    assert [Condition.RUNNING, Condition.DEAD] == [*seen, inspect_stream(to).condition]


def test_a_person_reads_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a dead stream why it ended, and the command again."""
    code = main(["status", begun(tmp_path, failure="no space is left for the output", updated=LONG_AGO)])
    lines = capsys.readouterr().out.splitlines()

    assert 5 == code
    assert lines[0].startswith(f"{tmp_path}: dead, since {LONG_AGO} (")
    assert lines[0].endswith(f"; it was process {os.getpid()} on {socket.gethostname()}")
    assert "  run           a stream, attempt 2" == lines[1]
    assert "  ended by      no space is left for the output" == lines[2]
    assert lines[3].startswith("  batches       2; the last 20")
    assert lines[3].endswith(" ago): 8 pages in 2.0 s (4.0/s)")
    assert [
        "  files         3",
        "  records       59 read, 0 revisits",
        "  pages         38",
        "  labels        35",
        "  late labels   4",
        "  repeats       3",
        "  rejects       4",
        "    no_text               3",
        "    bad_http              1",
        "  skipped       7",
    ] == lines[4:14]
    assert ["  next          the same command goes on from there", f"                {RUN.command}"] == lines[-2:]


def test_a_stream_is_known_before_its_first_batch(tmp_path: Path) -> None:
    """Nothing is counted yet."""
    stream_tables.begin(str(tmp_path), {})
    found = inspect_stream(str(tmp_path))

    assert (Condition.DEAD, {}, None) == (found.condition, found.rejects, found.as_dict()["last_batch"])
    assert "none is committed yet" in found.text()


def test_a_commit_of_another_version_is_not_guessed_at(tmp_path: Path) -> None:
    """The error names its file."""
    to = begun(tmp_path)
    (tmp_path / "commits" / "00000001.json").write_text('{"batch": 1}', encoding="utf-8")

    with pytest.raises(OutputError, match=rf"{to}/commits/00000001\.json: is no commit of a batch"):
        inspect_stream(to)
