"""Run the commands of the workbench as a person does."""

import io
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dbce_spark import config
from dbce_spark.annotation.markup import page_file
from dbce_spark.annotation.store import annotator_accounts, workbench_store
from dbce_spark.annotation.store.workbench_settings import settings
from dbce_spark.annotation.web import workbench_server
from dbce_spark.commands.cli import main
from tests.support.annotation_stores import PASSWORD, crawl
from tests.support.free_ports import free_ports


def test_pages_go_in_and_come_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pages go from an archive to JSON lines, each step with a line that sums it up."""
    path, copy, out = (str(tmp_path / name) for name in ("labels.db", "copy.db", "out"))
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    outputs = []
    for step in (
        ["add", path, "--archive", crawl(tmp_path / "crawl.warc"), "--one-per-site"],
        ["account", path, "ada", "--admin", "--password-stdin"],
        ["account", path, "bob"],
        ["status", path],
        ["export", path, out],
        ["backup", path, "--output", copy],
        ["status", copy],
    ):
        assert main(["annotate", *step]) == 0
        outputs.append(capsys.readouterr().out)

    assert outputs[0].startswith("2 pages added of 4 that fit and 6 in the archives; ")
    assert "ada: account made\n" == outputs[1]
    assert "bob: account made; the password is " in outputs[2]
    assert outputs[3].startswith("2 pages, 2 accounts, 0 submissions\n")
    assert outputs[6] == outputs[3]
    assert 2 == len([*page_file.read(f"{out}/pages.jsonl")])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--admin"], "ada is an account already, and no admin; --admin is for a new account"),
        (["--password-stdin"], "the first line of standard input is empty"),
    ],
)
def test_an_account_is_not_another_than_was_asked_for(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An option that cannot be followed is an error, and no other password is set."""
    path = str(tmp_path / "labels.db")
    main(["annotate", "add", path, "--archive", crawl(tmp_path / "crawl.warc")])
    main(["annotate", "account", path, "ada"])
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    capsys.readouterr()

    assert 2 == main(["annotate", "account", path, "ada", *options])
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (["serve", "none.db"], "none.db: there is no store; make one with `dbce annotate add none.db --archive FILE`"),
        (["add", "a.db", "--archive", "none.warc"], "none.warc: nothing to read is there"),
        (
            ["add", "a.db", "--archive", "x", "--min-words", "9000"],
            "max_words is 6000; it must be at least --min-words, 9000",
        ),
        (["add", "a.db", "--archive", "x", "--list", "none.txt"], "none.txt: cannot be read"),
        (["add", "a.db", "--archive", "x", "--corpus", "corpus\x07"], "--corpus is 'corpus\\x07'; it must have"),
        (["serve", "a.db", "--port", "80", "--replay-port", "80"], "--port and --replay-port are both 80"),
        (["serve", "a.db", "--port", "99999"], "--port is 99999; it must lie between 0 and 65535"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], step: list[str], message: str
) -> None:
    """An error is one line, and leaves no file behind."""
    monkeypatch.chdir(tmp_path)

    assert main(["annotate", *step]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("step", ["status", "export"])
def test_a_store_that_lacks_a_table_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], step: str) -> None:
    """A failure of SQLite is one line, with the store and what to do; it was a stack."""
    path = str(tmp_path / "labels.db")
    main(["annotate", "add", path, "--archive", crawl(tmp_path / "crawl.warc")])
    with closing(sqlite3.connect(path)) as store:
        store.execute("DROP VIEW current_submissions")
    capsys.readouterr()
    to = ["--output", str(tmp_path / "out")] if step == "export" else []

    assert 2 == main(["annotate", step, path, *to])
    assert f"{path}: no such table: current_submissions; the file is damaged" in capsys.readouterr().err


def test_a_file_is_no_folder_to_export_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It stays as it is, and the error says what to give."""
    path, taken = str(tmp_path / "labels.db"), tmp_path / "taken"
    main(["annotate", "add", path, "--archive", crawl(tmp_path / "crawl.warc")])
    taken.write_text("letters")

    assert 2 == main(["annotate", "export", path, "--output", str(taken)])
    assert f"{taken} is a file; give a folder for the output" in capsys.readouterr().err
    assert "letters" == taken.read_text()


def test_a_folder_is_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pages are not added to it, and the error is one line."""
    archive = crawl(tmp_path / "crawl.warc")

    assert 2 == main(["annotate", "add", str(tmp_path), "--archive", archive])
    assert f"{tmp_path}: unable to open database file; give a file" in capsys.readouterr().err


def test_an_archive_without_pages_is_said_to_have_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No filter is to be changed."""
    (tmp_path / "make.py").write_text("print('no archive')\n")

    assert 2 == main(["annotate", "add", str(tmp_path / "labels.db"), "--archive", str(tmp_path / "make.py")])
    assert "no page is in the archives; give others" in capsys.readouterr().err


def test_the_progress_of_a_folder_is_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error asks for a file, and no command would make a store of the folder."""
    assert 2 == main(["annotate", "status", str(tmp_path)])
    assert f"{tmp_path} is a folder; a store is one file\n" in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the port and suggests another one."""
    path = str(tmp_path / "labels.db")
    main(["annotate", "add", path, "--archive", crawl(tmp_path / "crawl.warc"), "--sample-size", "1"])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status = main(["annotate", "serve", path, "--port", str(port), "--replay-port", "0"])

    assert 2 == status
    assert f"127.0.0.1:{port} cannot be listened on" in capsys.readouterr().err


def test_a_store_that_nobody_can_log_in_to_is_served_with_the_command_that_adds_an_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page that asks for a name does not say why none is let in: there is no account, or all are shut."""
    path = str(tmp_path / "my labels.db")
    main(["annotate", "add", path, "--archive", crawl(tmp_path / "crawl.warc"), "--sample-size", "1"])
    monkeypatch.setattr(workbench_server, "serve", lambda store, given, parameters, ready: ready("http://here/"))

    def served() -> str:
        capsys.readouterr()
        assert 0 == main(["annotate", "serve", path])
        return capsys.readouterr().out

    first = served()
    main(["annotate", "account", path, "ada", "--admin"])
    with_account = served()
    with closing(workbench_store.open_store(path)) as opened:
        annotator_accounts.set_active(opened, 1, False)
    command = f"add one: dbce annotate account '{path}' NAME --admin\n"

    assert with_account.startswith("http://here/  (archived pages on port 8421; ")
    assert first == f"{with_account}nobody can log in, as the store has no account yet; {command}"
    assert served() == f"{with_account}nobody can log in, as all accounts are shut; {command}"


def test_a_server_that_is_told_to_stop_stops(tmp_path: Path) -> None:
    """A server prints its address, and ends at once on a signal, with status 0."""
    path, (port, replay_port) = str(tmp_path / "labels.db"), free_ports(2)
    main(["annotate", "add", path, "--archive", crawl(tmp_path / "crawl.warc"), "--sample-size", "1"])
    serve = ["annotate", "serve", path, "--port", str(port), "--replay-port", str(replay_port)]
    with subprocess.Popen([sys.executable, "-m", "dbce_spark", *serve], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=60)

    assert (0, f"http://127.0.0.1:{port}/") == (status, first.split()[0])


def test_a_server_that_is_told_to_stop_as_it_begins_stops(tmp_path: Path) -> None:
    """A signal between the line that it listens and the first request ends it well, and its ports are free."""
    path, ports = str(tmp_path / "labels.db"), free_ports(2)
    main(["annotate", "add", path, "--archive", crawl(tmp_path / "crawl.warc"), "--sample-size", "1"])

    def stop(_: str) -> None:
        raise KeyboardInterrupt

    try:
        workbench_server.serve(path, settings({"port": ports[0], "replay_port": ports[1]}), config.default(), stop)
    except KeyboardInterrupt:  # which would end all tests
        pytest.fail("it ended as one that was interrupted")
    for port in ports:
        socket.create_server(("127.0.0.1", port)).close()
