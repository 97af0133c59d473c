"""The log of a run for a person, for a terminal and for programs, and the speed of a growing count."""

import io
import json
import logging
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark import log
from dbce_spark.errors import BudgetError, JobError, OutputError
from dbce_spark.log import Log, Rate, clock, without_credentials
from tests.support.full_disks import full_disk

ROOT = Path(__file__).parents[1]
GROWTHS = st.lists(st.tuples(st.floats(0.01, 100), st.integers(0, 1000)), min_size=1, max_size=50)


class Terminal(io.StringIO):
    """A stream that is one."""

    def isatty(self) -> bool:
        return True


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def log_stage(log: Log) -> None:
    """Log a stage of a run, and how far it was."""
    log.stage = "pages"
    log.write("stage_begin", "pages begins")
    log.write("progress", "pages 50 %", {"done": 1}, level=logging.DEBUG)
    log.write("progress", "pages 90 %", {"done": 2})
    log.write("stage_end", "pages: 1.0 s", {"seconds": 1.0})


def test_a_log_has_a_json_object_a_line(tmp_path: Path) -> None:
    """Each with time, level, run, attempt, stage, event and message, and the figures by their names; the file is
    written on behind what it holds."""
    path = tmp_path / "logs" / "run.jsonl"
    for attempt in (1, 2):
        with log.write_to(io.StringIO(), "text", str(path)):
            log_stage(Log("a run", attempt))
    logged = lines(path)

    assert [1, 1, 1, 2, 2, 2] == [one["attempt"] for one in logged]
    assert ["stage_begin", "progress", "stage_end"] == [one["event"] for one in logged[:3]]
    assert {"time", "level", "run_id", "attempt", "stage", "event", "message", "done"} == logged[1].keys()
    assert ("info", "a run", "pages", "pages 90 %", 2) == tuple(
        logged[1][name] for name in ("level", "run_id", "stage", "message", "done")
    )
    assert all(one["time"].endswith("Z") for one in logged)


def test_a_plain_log_has_a_line_with_its_time_for_each() -> None:
    """A plain log leaves out lines for terminals, and nothing moves the cursor."""
    stream = io.StringIO()
    with log.write_to(stream, "text"):
        log_stage(Log("a run"))
    logged = stream.getvalue().splitlines()

    assert ["pages begins", "pages 90 %", "pages: 1.0 s"] == [line.split(" ", 1)[1] for line in logged]
    assert "\r" not in stream.getvalue()


def test_on_a_terminal_progress_is_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no longer than the terminal is wide, and gone when the next line comes."""
    monkeypatch.setenv("COLUMNS", "8")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with log.write_to(stream, "text"):
        log_stage(Log("a run"))

    assert "\rpages 5\x1b[K\rpages 9\x1b[K\r\x1b[Kpages: 1.0 s\n" == stream.getvalue()


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot move its cursor is written to as a file is."""
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with log.write_to(stream, "text"):
        log_stage(Log("a run"))

    assert 3 == len(stream.getvalue().splitlines())
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (JobError("Spark gave up: it is tired"), ("JobError", "Spark gave up: it is tired", 2)),
        (BudgetError("2 of 2 files failed"), ("BudgetError", "2 of 2 files failed", 3)),
        (KeyboardInterrupt(), ("KeyboardInterrupt", "stopped by Ctrl-C or SIGTERM", 130)),
        (OSError("no space left"), ("OSError", "OSError: no space left", 2)),
        (BrokenPipeError("head"), ("BrokenPipeError", "BrokenPipeError: head", 141)),
        (ValueError("not\nforeseen"), ("ValueError", "ValueError: not", 1)),
    ],
)
def test_a_run_that_fails_says_why(error: BaseException, expected: tuple[str, str, int]) -> None:
    """With the kind of error, its reason in one line, the status that the command ends with, the stage, and the stack
    but of a stop."""
    stream = io.StringIO()
    one = Log("a run")

    def work() -> None:
        one.stage = "sites"
        raise error

    failing: Callable[[], None] = work
    with log.write_to(stream, "json"), pytest.raises(type(error)), one.failing():
        failing()
    (failure,) = map(json.loads, stream.getvalue().splitlines())

    assert ("failure", "error", "sites") == (failure["event"], failure["level"], failure["stage"])
    assert expected == tuple(failure[name] for name in ("error", "reason", "exit_status"))
    assert ("in work\n" in failure["trace"]) is (not isinstance(error, KeyboardInterrupt))


def test_one_is_no_plural() -> None:
    """Thousands are grouped."""
    assert ["0 files", "1 file", "1,234 files"] == [log.counted(count, "file") for count in (0, 1, 1234)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("s3://AKIA:se/cr+et@bucket/a: denied", "s3://bucket/a: denied"),
        ("https://token@host/a.warc", "https://host/a.warc"),
        ("https://host:8080/a@2x.warc", "https://host:8080/a@2x.warc"),
        ("https://host/?mail=a@b.c", "https://host/?mail=a@b.c"),
        (
            "https://b.s3.org/a?X-Amz-Credential=AKIA%2F1&X-Amz-Signature=f00&X-Amz-Date=2026",
            "https://b.s3.org/a?X-Amz-Credential=...&X-Amz-Signature=...&X-Amz-Date=2026",
        ),
        ("'http://host/a?access_token=abc'", "'http://host/a?access_token=...'"),
        ("http://host/a?page=2&keyboard=x", "http://host/a?page=2&keyboard=x"),
    ],
)
def test_no_url_says_who_may_read_it(text: str, left: str, tmp_path: Path) -> None:
    """Users, passwords and signatures are left out, wherever they stand in a line; all else stays."""
    stream, path = io.StringIO(), tmp_path / "log"
    with log.write_to(stream, "text", str(path)):
        Log("a run").write("warning", text, {"failed_files": {"first": {text: text}}})
    (logged,) = lines(path)

    assert left == without_credentials(text)
    assert left == stream.getvalue().strip().split(" ", 1)[1]
    assert (left, {left: left}) == (logged["message"], logged["failed_files"]["first"])


def test_a_long_url_takes_time_by_its_length() -> None:
    """A feed may link to one that begins a URL at every fourth character; nothing else runs while it is logged."""
    began = time.process_time()

    assert (text := "http://a/" + "://a:" * 100_000) == without_credentials(text)
    assert time.process_time() - began < 2


def test_what_libraries_log_is_left_out() -> None:
    """Py4J writes pages through the root logger when a run is stopped; our own lines are written once."""
    program = "import logging, sys; from dbce_spark import log\n"
    program += 'with log.write_to(sys.stderr, "text"):\n'
    program += (
        "    logging.error('connection'); logging.getLogger('py4j').error('gone'); log.Log().write('end', 'ended well')"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert ["ended well"] == [line.split(" ", 1)[1] for line in ended.stderr.splitlines()]


def test_a_log_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """Before anything is begun."""
    (tmp_path / "file").touch()

    with (
        pytest.raises(OutputError, match=r"the log .* cannot be written"),
        log.write_to(io.StringIO(), "text", str(tmp_path / "file" / "log")),
    ):
        pass


@pytest.mark.parametrize("start", [b"\x1f\x8b\x08", b"WARC/1.1\r\n", b'{"id": "a", "html": ""}\n', b"\n"])
def test_a_log_is_written_behind_a_log_alone(start: bytes, tmp_path: Path) -> None:
    """An input stays as it is where the value was forgotten: `--log *.warc.gz`, `--log pages.jsonl`."""
    path = tmp_path / "input"
    path.write_bytes(start)
    with pytest.raises(OutputError, match="is no log, and none"), log.write_to(io.StringIO(), "text", str(path)):
        Log().write("end", "ended")

    assert start == path.read_bytes()


def test_a_log_is_written_to_a_file_that_is_empty(tmp_path: Path) -> None:
    """As a rotation of logs leaves it."""
    (tmp_path / "log").touch()
    with log.write_to(io.StringIO(), "text", str(tmp_path / "log")):
        Log().write("end", "ended")

    assert ["ended"] == [one["message"] for one in lines(tmp_path / "log")]


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("I/O on closed file")])
def test_a_stream_that_takes_nothing_ends_no_work(
    kind: type[io.StringIO], error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard error on a full disk, closed, or without a reader; a line that changes may have been shown before."""
    monkeypatch.setenv("TERM", "xterm")
    stream = kind()
    with log.write_to(stream, "text"):
        log_stage(Log("a run"))
        monkeypatch.setattr(stream, "write", Mock(side_effect=error))
        log_stage(Log("a run"))

    assert "pages 90 %" in stream.getvalue()


def test_a_log_on_a_full_disk_says_so_once(tmp_path: Path) -> None:
    """In one line, and the work that is logged goes on."""
    stream = io.StringIO()
    with full_disk(100), log.write_to(stream, "warnings", str(tmp_path / "log")):
        Log().write("start", "a" * 200)
        Log().write("end", "b" * 200)

    expected = f"the log {tmp_path / 'log'} cannot be written: [Errno 27] File too large; messages are lost\n"
    assert expected == stream.getvalue()


def test_waiting_is_seen_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock runs there until it is over; a file has no line of it."""
    monkeypatch.setattr(log, "_TICK_SECONDS", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    shown, written = Terminal(), io.StringIO()
    for stream in (shown, written):
        with log.write_to(stream, "text"), Log("a run").waiting("Spark starts"):
            while stream is shown and not shown.getvalue():
                pass

    assert shown.getvalue().startswith("\rSpark starts 0:00")
    assert "" == written.getvalue()


def test_of_a_count_that_has_not_grown_nothing_is_said() -> None:
    """Neither a speed nor an end."""
    rate = Rate(5.0)
    rate.note(9.0, 0)

    assert (0.0, None) == (rate.per_second, rate.seconds_to(10))


def test_a_steady_count_ends_when_it_must() -> None:
    """Two a second: of 100, 40 are left after 30 seconds."""
    rate = Rate(0.0)
    for second in range(31):
        rate.note(float(second), 2 * second)

    assert (2.0, 20.0) == (rate.per_second, rate.seconds_to(100))
    assert 0.0 == rate.seconds_to(60)


def test_what_an_earlier_run_has_left_is_soon_no_speed() -> None:
    """A thousand in the first second, then one a second: after a minute the speed is one a second."""
    rate = Rate(0.0)
    for second in range(1, 61):
        rate.note(float(second), 1000 + second)

    assert 1.0 == rate.per_second


@given(growths=GROWTHS)
def test_a_speed_is_that_of_the_later_half(growths: list[tuple[float, int]]) -> None:
    """However a count has grown, it is never faster than its fastest step, and never below nothing."""
    rate, now, count, steps = Rate(0.0), 0.0, 0, []
    for seconds, more in growths:
        now, count = now + seconds, count + more
        steps.append(more / seconds)
        rate.note(now, count)

    assert 0.0 <= rate.per_second <= max(steps) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.4, "0:00"), (65, "1:05"), (3599.7, "1:00:00"), (90061, "25:01:01")]
)
def test_a_clock_has_hours_where_there_are(seconds: float, expected: str) -> None:
    """Seconds are rounded before minutes are made of them."""
    assert expected == clock(seconds)


@given(st.text())
def test_what_a_terminal_would_obey_is_not_printed(text: str) -> None:
    """Lines and tabs stay; colours too, where they are our own."""
    shown = log.printable(f"a\x1b[31mb\x1b[0m\tc\n{text}")

    assert not [one for one in shown if unicodedata.category(one) == "Cc" and one not in "\n\t"]
    assert len(shown) == len(f"a\x1b[31mb\x1b[0m\tc\n{text}")
    assert "a\x1b[31mb\x1b[0m \ufffd]0;" == log.printable("a\x1b[31mb\x1b[0m \x1b]0;", coloured=True)
