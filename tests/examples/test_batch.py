"""The script that cron and systemd call: the files it takes, its messages, and the state it leaves for later calls."""

import fcntl
import os
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from dbce_spark import config
from dbce_spark.spark.jobs import local_job
from dbce_spark.spark.run.run_request import RunRequest
from tests.support.cluster import kill_all, wait_for
from tests.support.run_endings import tables_below

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples/dbce-batch"
SETTINGS = ROOT / "examples/batch.env"


def settings(folder: Path, command: str) -> Path:
    """Write the settings of examples/batch.env, with folders of the test and a command in place of dbce."""
    lines = SETTINGS.read_text()
    for place, here in {
        "/opt/dbce/venv/bin/dbce extract": command,
        "/srv/dbce": str(folder),
        "DBCE_SETTLED_MINUTES=10": "DBCE_SETTLED_MINUTES=-1",
    }.items():
        assert place in lines
        lines = lines.replace(place, here)
    (folder / "inbox").mkdir(exist_ok=True)
    written = folder / "batch.env"
    written.write_text(lines)
    return written


def ends_with(folder: Path, status: int) -> str:
    """Write a command that notes its arguments, as dbce would take them, and ends with this status."""
    command = folder / f"ends-with-{status}"
    command.write_text(f'#!/bin/sh\necho "$@" >>{folder}/given\necho said by it\nexit {status}\n')
    command.chmod(0o755)
    return str(command)


def killed_once(folder: Path, command: str) -> str:
    """Write a command that notes its arguments, and waits to be killed; called again, it does the given one."""
    script = folder / "killed-once"
    script.write_text(
        f'#!/bin/sh\necho "$@" >>{folder}/given\n[ -e {folder}/begun ] && exec {command} "$@"\n'
        f"touch {folder}/begun\nexec sleep 1000\n"
    )
    script.chmod(0o755)
    return str(script)


def batch(given: Path) -> tuple[int, str]:
    """Call the script once; return its exit status and all its messages."""
    done = subprocess.run([SCRIPT, given], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def delivered(folder: Path, *names: str) -> None:
    for name in names:
        file = folder / "inbox" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"an archive")


def taken(folder: Path) -> list[list[str]]:
    """List the names of the files of each batch, in the order of the batches."""
    return [
        [Path(line).name for line in one.read_text().splitlines()]
        for one in sorted((folder / "state/batches").glob("*.txt"), key=lambda manifest: manifest.stem)
    ]


def is_free(lock: Path) -> bool:
    """Return whether no process holds a lock; killed ones hold theirs for a moment."""
    with lock.open("wb") as held, suppress(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def given_commands(folder: Path) -> list[str]:
    return (folder / "given").read_text().splitlines()


def test_a_batch_takes_what_is_new(tmp_path: Path) -> None:
    """Archives of every name that dbce takes from a folder, at any depth, each in one batch alone; nothing else."""
    one = settings(tmp_path, ends_with(tmp_path, 0))
    delivered(tmp_path, "a.warc.gz", "deep/er/b.ARC", "notes.txt", "c.warc.open")

    assert (0, "") == batch(one)
    delivered(tmp_path, "d.wacz", "e [1]?*.warc.gz")
    assert (0, "") == batch(one)
    assert (0, "") == batch(one)
    assert [["a.warc.gz", "b.ARC"], ["d.wacz", "e [1]?*.warc.gz"]] == taken(tmp_path)
    assert 2 == len(given_commands(tmp_path))


def test_an_inbox_and_its_files_may_be_links(tmp_path: Path) -> None:
    """A disk that is mounted elsewhere, or crawls that stay where they are; a link to a folder of the inbox is none."""
    one = settings(tmp_path, ends_with(tmp_path, 0))
    delivered(tmp_path, "2024/a.warc.gz")
    (tmp_path / "inbox").rename(tmp_path / "disk")
    (tmp_path / "inbox").symlink_to("disk")
    (tmp_path / "b.warc").touch()
    (tmp_path / "inbox" / "b.warc").symlink_to(tmp_path / "b.warc")
    (tmp_path / "inbox" / "latest").symlink_to("2024")

    assert (0, "") == batch(one)
    assert [["a.warc.gz", "b.warc"]] == taken(tmp_path)


def test_names_are_utf8_where_no_locale_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cron has none: Java would put ? for letters in the arguments of a spark-submit, and not find a file."""
    command = tmp_path / "notes-locale"
    command.write_text(f'#!/bin/sh\necho "$LC_ALL" >{tmp_path}/given\n')
    command.chmod(0o755)
    delivered(tmp_path, "a.warc")
    monkeypatch.setenv("LC_ALL", "C")

    assert (0, "") == batch(settings(tmp_path, str(command)))
    assert ["C.UTF-8"] == given_commands(tmp_path)


def test_every_batch_has_an_output_of_its_own(tmp_path: Path) -> None:
    """The second batch of a day has a number, and each is given its own list."""
    one = settings(tmp_path, ends_with(tmp_path, 0))
    for name in ("a.warc", "b.warc"):
        delivered(tmp_path, name)
        batch(one)
    first, second = (shlex.split(line) for line in given_commands(tmp_path))
    day = Path(first[0]).stem

    assert [f"@{tmp_path}/state/batches/{day}.txt", "--output", f"{tmp_path}/extracted/{day}"] == first
    assert [f"@{tmp_path}/state/batches/{day}-2.txt", "--output", f"{tmp_path}/extracted/{day}-2"] == second


def test_a_growing_collection_is_one_line_elsewhere(tmp_path: Path) -> None:
    """The arguments alone send all batches to the same place."""
    one = settings(tmp_path, ends_with(tmp_path, 0))
    lines = one.read_text()
    offered = 'DBCE_ARGUMENTS="--collection '
    assert f"\n# {offered}{tmp_path}/collection" in lines
    one.write_text(
        lines.replace('DBCE_ARGUMENTS="--output', '#DBCE_ARGUMENTS="--output').replace(f"# {offered}", offered)
    )
    for name in ("a.warc", "b.warc"):
        delivered(tmp_path, name)
        assert (0, "") == batch(one)

    assert [["a.warc"], ["b.warc"]] == taken(tmp_path)
    assert [f".txt --collection {tmp_path}/collection"] * 2 == [
        line[line.index(".txt") :] for line in given_commands(tmp_path)
    ]


def test_a_file_that_is_being_written_waits(tmp_path: Path) -> None:
    """A file that was written to a moment ago is taken when it has rested."""
    one = settings(tmp_path, ends_with(tmp_path, 0))
    one.write_text(one.read_text().replace("DBCE_SETTLED_MINUTES=-1", "DBCE_SETTLED_MINUTES=10"))
    delivered(tmp_path, "new.warc", "old.warc")
    an_hour_ago = time.time() - 3600
    os.utime(tmp_path / "inbox/old.warc", (an_hour_ago, an_hour_ago))

    assert (0, "") == batch(one)
    assert [["old.warc"]] == taken(tmp_path)


@pytest.mark.parametrize("status", [2, 130, 137])
def test_a_batch_that_failed_is_gone_on_with(tmp_path: Path, status: int) -> None:
    """After an error or a kill the next call gives the same command again; what came since is a batch of its own."""
    delivered_before = settings(tmp_path, ends_with(tmp_path, status))
    delivered(tmp_path, "a.warc")
    ended, printed = batch(delivered_before)

    assert status == ended
    assert "said by it" in printed
    delivered(tmp_path, "b.warc")
    assert (0, "") == batch(settings(tmp_path, ends_with(tmp_path, 0)))
    assert [["a.warc"], ["b.warc"]] == taken(tmp_path)
    first, again, new = given_commands(tmp_path)
    assert first == again != new


def test_too_many_bad_files_are_reported_and_not_read_again(tmp_path: Path) -> None:
    """Exit 3 means that the output is written: the call reports that and ends with 3; the next has nothing to do."""
    one = settings(tmp_path, ends_with(tmp_path, 3))
    delivered(tmp_path, "a.warc")
    ended, printed = batch(one)

    assert 3 == ended
    assert "too many of its files could not be read" in printed
    assert "said by it" in printed
    assert (0, "") == batch(one)


def test_two_never_overlap(tmp_path: Path) -> None:
    """A call that comes while another is at work does nothing and prints nothing."""
    one = settings(tmp_path, ends_with(tmp_path, 0))
    delivered(tmp_path, "a.warc")
    (tmp_path / "state").mkdir()
    with (tmp_path / "state/lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        assert (0, "") == batch(one)
        assert [] == taken(tmp_path)
    batch(one)
    assert [["a.warc"]] == taken(tmp_path)


def test_a_batch_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    """The limit ends the command, and the call reports that; the next goes on."""
    sleeps = tmp_path / "sleeps"
    sleeps.write_text("#!/bin/sh\nexec sleep 1000\n")
    sleeps.chmod(0o755)
    one = settings(tmp_path, str(sleeps))
    one.write_text(one.read_text().replace("DBCE_AT_MOST=20h", "DBCE_AT_MOST=0.2"))
    delivered(tmp_path, "a.warc")
    ended, printed = batch(one)

    assert 124 == ended
    assert "the next call goes on with it" in printed


def test_settings_may_come_from_the_environment(tmp_path: Path) -> None:
    """Without a file the environment is read, as under systemd; a missing setting is named."""
    words = dict(line.split("=", 1) for line in SETTINGS.read_text().splitlines() if line[:1].isalpha())
    environment = {name: value.strip('"') for name, value in words.items() if name != "DBCE_INBOX"}
    done = subprocess.run([SCRIPT], env=os.environ | environment, capture_output=True, text=True, check=False)

    assert (2, "dbce-batch: DBCE_INBOX is not set; see examples/batch.env\n") == (done.returncode, done.stdout)


def test_an_inbox_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """A share that is not mounted is an error, and no inbox without new files."""
    one = settings(tmp_path, ends_with(tmp_path, 0))
    (tmp_path / "inbox").rmdir()

    assert (2, f"dbce-batch: there is no inbox {tmp_path}/inbox\n") == batch(one)


@pytest.mark.parametrize("between", [" ", "="])
def test_what_outlived_its_batch_is_not_done_again(tmp_path: Path, between: str) -> None:
    """An extraction that ended when nobody was there to note it is not begun again."""
    one = settings(tmp_path, ends_with(tmp_path, 137))
    one.write_text(one.read_text().replace("--output ", f"--output{between}"))
    delivered(tmp_path, "a.warc")
    batch(one)
    (output,) = (line.partition(f"--output{between}")[2] for line in given_commands(tmp_path))
    Path(output).mkdir(parents=True)
    Path(output, "run.json").write_text("{}")

    assert (0, "") == batch(one)
    assert 1 == len(given_commands(tmp_path))


def test_cron_calls_the_script_with_the_settings() -> None:
    """The line for cron has a time of five parts, a user, the script, and where the settings are to be put."""
    *when, user, script, given = (ROOT / "examples/cron/dbce").read_text().splitlines()[-1].split()

    assert 5 == len(when)
    assert ("dbce", SCRIPT.name, SETTINGS.name) == (user, Path(script).name, Path(given).name)


def test_scripts_are_clean() -> None:
    """shellcheck finds nothing in any script of the project."""
    scripts = [SCRIPT, ROOT / ".ci/run", ROOT / "conf/spark-env.sh", *sorted((ROOT / "examples").rglob("*.sh"))]
    done = subprocess.run(
        [Path(sys.executable).parent / "shellcheck", *scripts], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stdout)


def test_a_killed_batch_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """A call is killed with all its processes, and leaves no lock; the next gives the extraction the same command, and
    that ends with the bytes of one that nothing disturbed. tests/spark/test_resume.py kills real extractions, and holds
    what the same command makes of them to the same bytes."""
    main(["sample-archive", str(tmp_path / "inbox"), "--pages", "8"])
    archives = [str(file) for file in sorted((tmp_path / "inbox").glob("*.warc.gz"))]
    given = settings(tmp_path, killed_once(tmp_path, f"{sys.executable} -m dbce_spark extract --set label.by=T002"))
    request = RunRequest(
        files=archives, output=str(tmp_path / "undisturbed"), with_html=False, limit=None, started=time.monotonic()
    )
    local_job.run(request, config.load(settings=["label.by=T002"]))
    running = subprocess.Popen([SCRIPT, given], stdout=subprocess.DEVNULL)

    begun = wait_for(lambda: running.poll() is not None or (tmp_path / "begun").exists())
    was_free = is_free(tmp_path / "state/lock")
    kill_all(running)
    assert (True, False) == (begun, was_free)
    assert wait_for(lambda: is_free(tmp_path / "state/lock"))
    assert (0, "") == batch(given)
    first, again = given_commands(tmp_path)
    assert first == again
    (output,) = (tmp_path / "extracted").iterdir()
    assert tables_below(tmp_path / "undisturbed") == tables_below(output)
