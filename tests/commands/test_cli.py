"""The commands as a person calls them, without Spark."""

import argparse
import errno
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import Mock

import fsspec
import pytest

from dbce_spark.commands.archive_checks import check_fits
from dbce_spark.commands.cli import GROUPS, main, parser, run
from dbce_spark.commands.command_parser import add_log
from dbce_spark.commands.signals import noted_signals, started_whole, stoppable
from dbce_spark.errors import InputError, installs
from dbce_spark.files import sources
from dbce_spark.output.collection import Collection, Increment, Version
from dbce_spark.spark.run import checkpoints, plan, run_lock, run_status, staging
from dbce_spark.streaming.stream import stream_tables
from tests.support.builders import archive, config, gzipped, http, record
from tests.support.cluster import SMALL_JAVA
from tests.support.indexes import cdxj_line, entry, write_lines
from tests.support.permissions import forbidden

QUICK = "acquire.delay_seconds=0"
ROOT = Path(__file__).parents[2]
FULL = Path("/dev/full")


@pytest.mark.parametrize(
    "command",
    [
        *("text", "show", "extract", "history", "status", "report", "export", "evaluate"),
        *("evaluate", "train", "changes", "acquire", "stream", "rules"),
    ],
)
def test_every_command_and_option_has_a_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--help lists each option with a sentence beside it."""
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    options = capsys.readouterr().out.partition("options:")[2]
    bare = [line for line in options.splitlines() if line.startswith("  -") and not line.strip().endswith("]")]
    entries = options.split("\n  -")[1:]

    assert bare
    assert [] == [entry.split()[0] for entry in entries if len(entry.split()) < 4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extract", "no-such-file.warc.gz", "--output", "out"], "no-such-file.warc.gz: nothing to read is there"),
        (["extract", "-", "--output", "out"], "-: only `dbce text -` reads standard input; write it to a file"),
        (["extract", "x", "--output", "out", "--set", "lsh.treshold=0.3"], "lsh.treshold is no parameter"),
        (["extract", "x", "--output", "out", "--set", "lsh.threshold=3.0"], "lsh.threshold is 3.0"),
        (["extract", "x", "--output", "out", "--config", "none.toml"], "none.toml: cannot be read"),
        (["extract", "--output", "out"], "nothing to read; give an INPUT, an --index, or both"),
        (["extract", "--index", "none.cdxj", "--output", "out"], "none.cdxj: nothing to read is there"),
        (["extract", "x", "--output", "out", "--sample", "2"], ": --sample is 2.0; it must lie above 0"),
        (["extract", "x", "--output", "out", "--set", "select.sample=2"], ": select.sample is 2.0; it must"),
        (["extract", "x", "--output", "out", "--from", "may"], ": --from: 'may' is no date"),
        (["extract", "x", "--output", "out", "--to", "may"], ": --to: 'may' is no date"),
        (["extract", "x", "--output", "out", "--from", "2011", "--to", "2010"], "--from 2011 lies behind --to 2010"),
        (["extract", "x", "--output", "out", "--url-pattern", "("], ": --url-pattern: missing )"),
        (["extract", "x", "--output", "out", "--mime", "html"], ": --mime holds 'html'; write text/html"),
        (["extract", "x", "--output", "out", "--format", "pdf"], ": --format is 'pdf'; it must be one of text"),
        (["extract", "x", "--output", "out", "--max-failed-files", "3"], ": --max-failed-files is 3.0; it must lie"),
        (["extract", "x", "--output", "out", "--http-status", "ok"], "--http-status ok: write a number"),
        (["extract", "x", "--output", "out", "--http-status", "\u00b2"], "--http-status \u00b2: write a number"),
        (["extract", "x", "--output", "out", "--http-status", "9" * 5000], ": write a number"),
        (["extract", "x", "--output", "out", "--set", "input.mimes=" + "[" * 5000], "input.mimes is '"),
        (["extract", "x", "--output", "out", "--mime", "\x7f"], "write text/html"),
        (
            ["extract", "x", "--output", "out", "--http-status", "404"],
            ": --http-status 404: input.statuses accepts 200",
        ),
        (["extract", "x", "--output", "out", "--mime", "image/png"], ": --mime image/png: input.mimes accepts text/ht"),
        (["extract", "x", "--output", "out", "--domain", "www.b.dk"], ": --domain holds 'www.b.dk', which is no reg"),
        (["extract", "x", "--output", "out", "--host", "http://b.dk/"], ": --host holds 'http://b.dk/', which is no h"),
        (["report", "nowhere", "--output", "out"], "nowhere"),
        (["changes", "nowhere", "--output", "out"], "nowhere is no collection"),
        (["export", "x", "--output", "o", "--format", "text", "--shard-bytes", "9"], "--shard-bytes is for documents"),
        (["corpus", "x", "--output", "o", "--duplicates", "keep", "--within", "url"], "--within url is for duplicates"),
        (["export", "x", "--output", "o", "--format", "text", "--from", "may"], ": --from: 'may' is no date"),
        (
            ["export", "x", "--output", "o", "--format", "text", "--min-confidence", "2"],
            ": --min-confidence is 2.0; it",
        ),
        (["corpus", "x", "--output", "o", "--from", "2011", "--to", "2010"], "--from 2011 lies behind --to 2010"),
        (["corpus", "x", "--output", "o", "--min-words", "-1"], ": --min-words is -1; it must be at least 0"),
        (["corpus", "x", "--output", "o", "--min-probability", "2"], ": --min-probability is 2.0; it must lie"),
        (["labels", "merge", "p", "--submissions", "s", "--output", "o", "--tolerated-bias", "3"], "--tolerated-b"),
        (["history", "u", "--in", "c", "--format", "markdown", "--all"], "--all is for --format text"),
        (["collection", "compact", "nowhere"], "nowhere is no collection"),
        (["acquire", "ftp://example.org/feed", "--output", "o", "--state", "s"], "ftp://example.org/feed: is no URL"),
        (["stream", "@files", "--output", "o"], "@files: a stream takes folders"),
        (["stream", "in", "--output", "s3://b/o"], "give --checkpoint DIR"),
        (["stream", "in", "--output", "o", "--set", "urltree.label.n_max=3"], "label.n_max is no parameter"),
        (["stream", "in", "--output", "o", "--heuristic", "strict"], "give --by urltree with it"),
        (["stream", "in", "--output", "o", "--relabel", "65"], ": --relabel has 65; it must be at most stream.pool_p"),
        (["stream", "in", "--output", "o", "--by", "urltree", "--relabel", "-1"], ": --relabel is -1; it must be at"),
        (["stream", "none", "--output", "o", "--by", "urltree", "--relabel", "65"], "none: nothing to read is there"),
        (["acquire", "@no-list.txt", "--output", "o", "--state", "s"], "no-list.txt"),
    ],
)
def test_an_error_is_one_line_that_names_its_cause(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wrong argument ends with status 2 and one line on stderr."""
    monkeypatch.chdir(tmp_path)
    status = main(arguments)
    errors = capsys.readouterr().err

    assert 2 == status
    assert 1 == errors.count("\n")
    assert message in errors


def test_a_command_that_is_not_named_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """With what lists them all."""
    with pytest.raises(SystemExit):
        main([])
    assert "name a command; `dbce --help` lists them" in capsys.readouterr().err


def test_what_a_folder_holds_is_listed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where it holds archives and something that is passed over: that has one warning."""
    archive(tmp_path / "a.warc", record(http("<p>A page.")))
    (tmp_path / "b.warc").symlink_to("nothing")

    assert 0 == main(["extract", str(tmp_path), "--output", str(tmp_path / "out"), "--dry-run"])
    assert 1 == capsys.readouterr().err.count("b.warc: not read: it is a link to nothing")


def test_files_of_a_folder_that_are_not_named_as_archives_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once for all folders, with an example, but for what is no archive by its name, or an index; one that is named
    itself is read, and not counted."""
    folders = [tmp_path / "a", tmp_path / "b"]
    for one in folders:
        one.mkdir()
        archive(one / "a.warc", record(http("<p>A page.")))
        for name in ("b.warc.xz", "a.warc.md5", "index.cdx.gz", "notes.txt"):
            (one / name).write_bytes(b"")
    named = archive(tmp_path / "c.gz", record(http("<p>A page.")))
    words = [*map(str, folders), str(named), "--output", str(tmp_path / "out"), "--dry-run"]

    assert 0 == main(["extract", *words])
    printed = capsys.readouterr()
    assert printed.out.endswith("bytes in 3 files would be read\n")
    (line,) = printed.err.splitlines()
    assert f"files passed over: 2, such as {folders[0]}/b.warc.xz; of a folder only names that fit input.patt" in line


def test_places_may_be_file_urls(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Spark and Hadoop write paths; no folder of the name `file:` is made for them."""
    monkeypatch.chdir(crawl)
    written = ["--output", f"file:{crawl}/out", "--log", f"file://{crawl}/log"]

    assert 0 == main(["extract", f"file:{crawl}/a.warc.gz", *written])
    assert 0 == main(["status", f"file:{crawl}/out"])
    assert 0 == main(["export", f"file://{crawl}/out", "--format", "text", "--output", f"file:{crawl}/texts"])
    assert ["a.warc.gz", "index.cdxj", "log", "out", "texts"] == sorted(one.name for one in crawl.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["report", "out", "--output", "s3://bucket/report"],
        ["annotate", "add", "s3://bucket/store", "--archive", "a.warc.gz"],
        ["annotate", "backup", "store", "--output", "s3://bucket/copy"],
        ["annotate", "adapt", "store", "--in", "out", "--output", "s3://bucket/adapted"],
        ["train", "gold.jsonl", "--output", "s3://bucket/classifier.npz"],
        ["train", "gold.jsonl", "--output", "classifier.npz", "--folds", "s3://bucket/folds"],
        ["train", "gold.jsonl", "--output", "c.npz", "--folds", "f", "--pinned-folds", "s3://bucket/folds.json"],
        ["collection", "register", "grown", "--output", "s3://bucket/delta"],
        ["acquire", "http://feed.example/", "--output", "warcs", "--state", "s3://bucket/state"],
        ["labels", "render", "pages.jsonl", "--output", "looks.jsonl", "--screenshots", "s3://bucket/pictures"],
    ],
)
def test_a_url_is_no_place_of_this_machine(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No folder of the name `s3:` is made for what is only written here."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(words)

    assert re.search(r"s3://bucket/\w+(\.\w+)? is a URL; give a path of this machine;", capsys.readouterr().err)
    assert [] == [*tmp_path.iterdir()]


def test_a_size_that_a_store_does_not_give_is_unknown(
    crawl: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever error it has for that; the file is one that would be read."""

    def size(_: str) -> int:
        raise RuntimeError("no length")

    monkeypatch.setattr(sources, "size", size)
    fsspec.filesystem("memory").pipe("/sizes/a.warc.gz", (crawl / "a.warc.gz").read_bytes())
    assert 0 == main(["extract", "memory://sizes/a.warc.gz", "--output", str(crawl / "out"), "--dry-run"])
    (line, total) = capsys.readouterr().out.splitlines()

    assert ["unknown", "memory:///sizes/a.warc.gz"] == line.split()
    assert "0  bytes in 1 file would be read" == total.strip()


def test_a_folder_of_pages_is_for_another_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a single page is."""
    (tmp_path / "a.html").write_text("<p>A page.")

    assert 2 == main(["extract", str(tmp_path), "--output", "out"])
    assert f"dbce: {tmp_path}: HTML files are in this folder, and no archive; give it to `dbce text`\n" == (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "stopped", ["dbce_spark.commands.cli", "dbce_spark.commands.text_command", "dbce_spark.commands.cli.main"]
)
def test_a_stop_before_the_command_leaves_no_stack(stopped: str) -> None:
    """While its modules are loaded, and while its arguments are read."""
    program = f"""
import sys
from dbce_spark.__main__ import entry

class Stop:
    def find_spec(self, name, *_):
        if name == "{stopped}":
            raise KeyboardInterrupt

def stop(*_):
    raise KeyboardInterrupt

sys.meta_path.insert(0, Stop())
if "{stopped}".endswith("main"):
    from dbce_spark.commands import cli
    cli.main = stop
entry()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)

    assert (130, "") == (ended.returncode, ended.stderr)


@pytest.mark.skipif(not FULL.exists(), reason="no device is always full here")
def test_a_full_disk_ends_a_command_by_the_status_that_its_log_has(tmp_path: Path) -> None:
    """An error in printing is one of the machine, and not one of ours."""
    (tmp_path / "a.html").write_text("<p>A page of some words.</p>", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "dbce_spark",
        "text",
        str(tmp_path / "a.html"),
        "--log",
        str(tmp_path / "log.jsonl"),
    ]
    with FULL.open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    (failure,) = map(json.loads, (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines())

    assert (2, 2) == (ended.returncode, failure["exit_status"])
    where, advice = "for standard output, or for a file that is written", "make room, and give the same command again"
    assert f"dbce: [Errno 28] No space left on device {where}; {advice}\n" == ended.stderr


def test_a_file_that_may_not_be_read_is_named_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no reader of ours has turned the error into one of ours."""
    place = tmp_path / "run.json"
    place.touch()
    monkeypatch.setattr(run_status, "inspect_run", lambda *_: place.read_bytes())
    with forbidden(place):
        status = main(["status", str(tmp_path)])

    assert 2 == status
    assert "run.json'; let this user read and write it, and give the same command again\n" in capsys.readouterr().err


def test_a_reason_that_cannot_be_printed_leaves_the_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error is on a full disk, too."""
    monkeypatch.setattr(sys.stderr, "write", Mock(side_effect=OSError(errno.ENOSPC, "full")))

    assert 2 == main(["text", str(tmp_path / "none.html")])


def test_names_have_a_name_among_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Commas alone are none."""
    with pytest.raises(SystemExit, match="2"):
        main(["corpus", "x", "--output", "o", "--site=, ,"])

    assert "argument --site: it is empty; give a value, or leave the option out" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["-1", "few"])
def test_less_than_nothing_is_no_number_of_contrasts(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It would mean all pages but one."""
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", "gold.jsonl", "--output", "out", "--contrasts", number])

    assert "argument --contrasts: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "x", "--output", "y", "--pages", "9" * 30],
        ["stream", "x", "--output", "y", "--every", "inf"],
    ],
)
def test_a_number_has_an_end(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One that no loop can count to, or no clock wait for, is refused."""
    with pytest.raises(SystemExit, match="2"):
        main(arguments)

    assert f"argument {arguments[-2]}: {arguments[-1]} is " in capsys.readouterr().err


def test_an_argument_that_is_not_utf_8_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """By what it is, before anything is done: no table could hold it."""
    with pytest.raises(SystemExit, match="2"):
        main(["extract", "x", "--output", os.fsdecode(b"out\xff")])

    assert r"dbce: error: 'out\udcff' is not UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["text", "report", "collection log"])
def test_where_an_error_arose_is_in_the_log(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of short commands too; the terminal has one line."""
    path, output = tmp_path / "log.jsonl", ["--output", str(tmp_path / "out")] if command == "report" else []
    status = main([*command.split(), str(tmp_path / "nothing"), *output, "--log", str(path)])
    (failure,) = map(json.loads, path.read_text(encoding="utf-8").splitlines())

    assert (2, 1) == (status, capsys.readouterr().err.count("\n"))
    assert ("failure", 2) == (failure["event"], failure["exit_status"])
    assert failure["trace"].endswith(f"Error: {failure['reason']}\n")


def test_a_warning_is_a_line_without_the_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a command that is over at once; the log has it too."""
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "a.html").write_text("<p>A page of some words.</p>", encoding="utf-8")
    os.mkfifo(pages / "b.html")
    status = main(["text", str(pages), "--log", str(tmp_path / "log.jsonl")])
    (line,) = capsys.readouterr().err.splitlines()
    (logged,) = map(json.loads, (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines())

    assert (0, f"{pages}/b.html: not read: ") == (status, line[: line.index("read: ") + 6])
    assert ("warning", line) == (logged["level"], logged["message"])


def test_an_error_says_nobody_s_password(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does what stands in it reach the terminal as a command."""
    status = main(["acquire", "ftp://me:secret@news.example/\x1b[2J", "--output", "o", "--state", "s"])
    printed = capsys.readouterr().err

    assert 2 == status
    assert printed.startswith("dbce: ftp://news.example/\ufffd[2J: is no URL; write")


def test_of_several_archives_the_one_that_cannot_be_read_is_named(crawl: Path) -> None:
    """Not the first of them, which can."""
    with pytest.raises(InputError, match=r"gone\.warc: cannot be read"):
        check_fits([str(crawl / "a.warc.gz"), str(crawl / "gone.warc")], 1 << 30)


@pytest.mark.parametrize(
    ("known", "message"),
    [({}, "stopped before the end"), ({"resumes": True}, "stopped before the end; the same command resumes it")],
)
def test_a_stop_says_whether_the_same_command_resumes(
    known: dict[str, bool], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Most commands have nothing to resume, and begin anew."""

    def stopped(_: argparse.Namespace) -> None:
        raise KeyboardInterrupt

    parser = argparse.ArgumentParser("dbce")
    add_log(parser)
    parser.set_defaults(run=stopped, **known)

    assert 130 == run(parser, [])
    assert f"dbce: {message}\n" == capsys.readouterr().err


def test_a_dry_run_lists_what_would_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """--dry-run lists the files with their sizes, and makes no output."""
    (tmp_path / "a.warc").write_bytes(b"x" * 1234)
    (tmp_path / "b.arc.gz").write_bytes(b"x" * 10)
    (tmp_path / "index.cdx").write_bytes(b"x")
    status = main(["extract", str(tmp_path), "--output", str(tmp_path / "out"), "--dry-run"])
    lines = capsys.readouterr().out.splitlines()

    assert 0 == status
    assert ["1,234", "10", "1,244"] == [line.split()[0] for line in lines]
    assert not (tmp_path / "out").exists()


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """An archive of four pages of two sites, and its index."""
    urls = ("http://www.example.org/a", "http://www.example.org/b", "http://news.example.org/", "http://example.com/")
    stored = gzipped(*(record(http(f"<p>The page {url}</p>"), url=url) for url in urls))
    archive(tmp_path / "a.warc.gz", *stored)
    offset, lines = 0, []
    for url, member in zip(urls, stored, strict=True):
        lines.append(cdxj_line(entry(urlkey="-", url=url, offset=offset, length=len(member), filename="a.warc.gz")))
        offset += len(member)
    write_lines(tmp_path / "index.cdxj", lines)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "selected", "refused"),
    [
        ([], 4, []),
        (["--domain", "example.org"], 3, ["1 select:domain"]),
        (["--host", "www.example.org", "--host", "example.com"], 3, ["1 select:host"]),
        (["--surt", "org,example)/b", "--surt", "com,"], 2, ["2 select:surt"]),
        (["--url-pattern", r"/[ab]$", "--from", "2020", "--to", "202001"], 2, ["2 select:url"]),
        (["--mime", "application/xhtml+xml"], 0, ["4 select:mime"]),
        (["--http-status", "200", "--http-status", "404"], 4, []),
        (["--language", "de"], 4, []),
        (["--digest", "sha1:CZBHCHHR4IFLFUDLNLKGN5MTNTAA4DV6"], 4, []),
        (["--sample", "0.000001"], 0, ["4 select:sample"]),
    ],
)
def test_a_dry_run_by_index_says_what_the_filters_leave(
    crawl: Path, capsys: pytest.CaptureFixture[str], options: list[str], selected: int, refused: list[str]
) -> None:
    """Each option is a filter, each filter has its count, and no archive is read."""
    (crawl / "a.warc.gz").unlink()
    lenient = ["--max-failed-files", "0.5"]  # the archive is not there
    status = main(["extract", "--index", str(crawl / "index.cdxj"), "--output", "out", "--dry-run", *lenient, *options])
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    assert 0 == status
    assert "4 lines of the index were read" == printed[0]
    assert refused == [line for line in printed if "select:" in line]
    assert f"{selected} records in {'0 files' if selected == 0 else '1 file'} would be read" in printed
    assert bool(selected) == printed[-1].startswith(f"1 missing or unreadable, of 1 file tried, such as {crawl}/a.warc")


def test_a_dry_run_ends_as_a_run_whose_archives_are_not_there(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the bound on files that fail, of the index and the archives; it says which."""
    (crawl / "a.warc.gz").unlink()
    status = main(["extract", "--index", str(crawl / "index.cdxj"), "--output", "out", "--dry-run"])

    assert 3 == status
    assert "dbce: 1 of 2 files failed, more than --max-failed-files 0.05 allows; a run would end with this status." in (
        capsys.readouterr().err
    )


def test_a_dry_run_names_a_file_that_is_no_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It ends as a run would."""
    (tmp_path / "a.html").write_text("<p>x")

    assert 3 == main(["extract", "--index", str(tmp_path / "a.html"), "--output", "out", "--dry-run"])
    assert f"               1  {tmp_path}/a.html is no index: begins with b'<p>x'\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("size", "shown"), [(-7, "bytes in 1 file would be read"), (0, "nothing is new; nothing would be read")]
)
def test_a_dry_run_for_a_collection_lists_what_is_new(
    size: int, shown: str, crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that an increment was made from is read again only if it has more or fewer bytes now."""
    collection, path = Collection(str(tmp_path / "c")), crawl / "a.warc.gz"
    counts = Increment(number=1, page_files=1, captures=1, extractions=1, relabelled=0)
    Path(collection.increment(1)).mkdir(parents=True)
    Path(collection.increment(1), "inputs.json").write_text(json.dumps({str(path): path.stat().st_size + size}))
    collection.commit(Version(number=1, made="2026", why="extract", increments=(counts,), settings={"config": {}}))

    assert 0 == main(["extract", str(path), "--collection", collection.folder, "--dry-run"])
    assert shown in capsys.readouterr().out


def test_a_collection_is_not_rolled_back_while_a_run_extends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The version would take the number of the run, which could not end."""
    collection = Collection(str(tmp_path))
    counts = Increment(number=1, page_files=1, captures=1, extractions=1, relabelled=0)
    collection.commit(Version(number=1, made="2026", why="extract", increments=(counts,), settings={"config": {}}))
    with run_lock.hold(collection.increment(2)):
        assert 2 == main(["collection", "rollback", str(tmp_path), "1"])

    assert "increments/00000002: another run is at work there; wait for its end" in capsys.readouterr().err
    assert [1] == collection.numbers()


@pytest.mark.parametrize(("option", "work"), [("--output", "."), ("--collection", "increments/00000001")])
def test_a_file_that_an_unfinished_run_has_read_may_be_gone(
    option: str, work: str, crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list that names it is the same list; a file that was not read yet, or is to be read again, must be there."""
    files = [str(shutil.copy(crawl / "a.warc.gz", tmp_path / name)) for name in ("1.warc.gz", "2.warc.gz")]
    (tmp_path / "list.txt").write_text("\n".join(files))
    place = str(tmp_path / "o" / work)
    command = ["extract", f"@{tmp_path}/list.txt", option, str(tmp_path / "o"), "--dry-run"]
    plan.save(plan.made(files, [], "", config(), limit=None), place)
    checkpoints.write(staging.done(place, staging.PAGES, 1), {})
    Path(files[1]).unlink()

    assert 0 == main(command)
    assert "in 2 files would be read" in capsys.readouterr().out
    assert 2 == main([*command, "--overwrite"])
    Path(files[0]).unlink()
    assert 2 == main(command)
    assert f"{files[0]}: nothing to read is there" in capsys.readouterr().err


def test_a_run_for_a_collection_counts_what_is_new(
    crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line of its log has no file that an earlier increment has read."""
    session = pytest.importorskip("dbce_spark.spark.engine.session")
    increment_job = pytest.importorskip("dbce_spark.spark.jobs.increment_job")
    new, output = str(shutil.copy(crawl / "a.warc.gz", crawl / "b.warc.gz")), str(tmp_path / "c" / "2")
    monkeypatch.setattr(increment_job, "prepared", lambda _, whole, __: replace(whole, files=[new], output=output))
    monkeypatch.setattr(session, "session", lambda *_, **__: sys.exit(1))
    with pytest.raises(SystemExit):
        main(["extract", str(crawl / "a.warc.gz"), new, "--collection", str(tmp_path / "c")])

    assert ": 1 file; Spark starts" in capsys.readouterr().err


def test_languages_need_an_index(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only an index has the languages of pages: a run without one would pass over nothing."""
    status = main(["extract", str(crawl / "a.warc.gz"), "--language", "de", "--output", "out"])

    assert 2 == status
    assert "only an index lists languages" in capsys.readouterr().err


@pytest.mark.spark
def test_a_base_needs_an_index(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is where archives of an index lie; without one it would change nothing."""
    status = main(["extract", str(crawl), "--output", "out", "--base", "archives", "--dry-run"])

    assert 2 == status
    assert "--base archives is where the archives of an index lie; give an --index" in capsys.readouterr().err


def test_a_rotten_collection_is_an_error_at_the_end(
    spark: object, crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All readable records are written, run.json lists the files that failed, and the exit status is one of its own."""
    (crawl / "b.warc.gz").write_bytes(b"this is no archive")
    command = ["extract", str(crawl), "--output", str(crawl / "out"), "--set", "label.by=T002", "--host", "example.com"]
    status = main(command)
    printed = capsys.readouterr().err.splitlines()
    report = json.loads((crawl / "out" / "run.json").read_text())

    assert 3 == status
    assert [line for line in printed if line.startswith("dbce:")] == [
        "dbce: 1 of 2 files failed, more than --max-failed-files 0.05 allows; what could be read is written. First:"
        f" {crawl}/b.warc.gz (not_an_archive: neither WARC nor ARC; no record: begins with b'this is no archive')"
    ]
    assert (1, {"select:host": 3}, 1) == (report["extractions"], report["skipped"], report["failed_files"]["count"])


@pytest.mark.parametrize("engine", ["auto", "spark"])
@pytest.mark.parametrize(
    "content",
    [b"<p>A page</p>", gzip.compress(b"plain text" * 99, mtime=0), b"\0" * 9999],
    ids=["a page", "a text in gzip", "zeros"],
)
def test_a_file_that_is_no_archive_is_refused_by_its_first_bytes(
    content: bytes, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before Spark starts, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "dbce_spark.spark.engine.session", None)
    Path("a.warc.gz").write_bytes(content)

    assert 2 == main(["extract", "a.warc.gz", "--output", "out", "--engine", engine])
    assert "a.warc.gz: neither WARC nor ARC" in capsys.readouterr().err
    assert {"a.warc.gz"} == {one.name for one in Path().iterdir()}


def test_what_a_folder_holds_beside_files_is_in_the_account(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe and a link to nothing are rejects, and files that failed; the archive is read."""
    os.mkfifo(crawl / "b.warc")
    (crawl / "c.warc").symlink_to(crawl / "nowhere")
    status = main(["extract", str(crawl), "--output", str(crawl / "out")])
    report = json.loads((crawl / "out" / "run.json").read_text())

    assert 3 == status
    assert "2 of 3 files failed" in capsys.readouterr().err
    assert (4, {"file_unreadable": 2}, 2) == (report["extractions"], report["rejects"], report["failed_files"]["count"])


def test_a_file_with_a_record_behind_junk_is_an_archive(tmp_path: Path) -> None:
    """Its record is read, and the junk is a reject."""
    content = b"junk\n" * 99 + record(http("<p>A page of some words</p>"), url="http://a.example/")
    (tmp_path / "a.warc").write_bytes(content)
    main(["extract", str(tmp_path / "a.warc"), "--output", str(tmp_path / "out")])
    report = json.loads((tmp_path / "out" / "run.json").read_text())

    assert (1, {"broken_record": 1}) == (report["extractions"], report["rejects"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rules", "empty.warc"], "empty.warc: no document was found"),
        (["export", "extracted", "--format", "jsonl", "--output", "out", "--site", "none"], "50 by site"),
        (
            ["acquire", "http://127.0.0.1:1/feed", "--output", "out", "--state", "state", "--once", "--set", QUICK],
            "no feed could be polled",
        ),
    ],
)
def test_nothing_done_is_not_success(
    arguments: list[str],
    message: str,
    extracted: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An archive without a document, a site that is not there, a feed that does not answer: a line, and status 2."""
    monkeypatch.chdir(tmp_path)
    Path("empty.warc").touch()
    Path("extracted").symlink_to(extracted)

    assert 2 == main(arguments)
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not Path("out", "export.json").exists()


@pytest.mark.parametrize("wait", [[], ["--every", "9"]])
def test_a_stream_leaves_a_place_that_it_refuses_as_it_was(
    wait: list[str], crawl: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder of something else, such as of its input, and a file."""
    monkeypatch.chdir(crawl)
    before = sorted(crawl.iterdir())

    assert [2, 2] == [main(["stream", "a.warc.gz", "--output", place, *wait]) for place in (".", "a.warc.gz")]
    refused = capsys.readouterr().err.splitlines()
    assert "is no output of a stream; give another --output" in refused[0]
    assert refused[1].endswith("a.warc.gz is a file; give a folder for the output")
    assert before == sorted(crawl.iterdir())


def test_a_list_from_a_pipe_is_read_once(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe has its lines no second time, and one with a name would wait for them."""
    pipe = crawl / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=(f"{crawl}/a.warc.gz\n",), daemon=True)
    writer.start()

    assert 0 == main(["extract", f"@{pipe}", "--output", "out", "--dry-run"])
    assert f"{crawl}/a.warc.gz" in capsys.readouterr().out
    writer.join()


def test_an_output_that_exists_is_refused_before_spark_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A run into a folder that holds something ends at once."""
    (tmp_path / "a.warc").write_bytes(b"")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text("{}")
    status = main(["extract", str(tmp_path / "a.warc"), "--output", str(tmp_path / "out")])

    assert 2 == status
    assert "--overwrite" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--overwrite"], ["--engine", "spark"]])
def test_an_output_that_is_a_collection_is_to_be_extended(
    more: list[str], crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not to be replaced."""
    grown = crawl / "grown"
    (grown / "versions").mkdir(parents=True)
    (grown / "versions" / "00000001.json").write_text("{}")

    assert 2 == main(["extract", str(crawl / "a.warc.gz"), "--output", str(grown), *more])
    assert f"dbce: {grown} is a collection; `dbce extract ... --collection {grown}` extends it\n" == (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("words", [("export", "--format", "jsonl"), ("report",), ("corpus",)])
def test_an_output_with_a_part_missing_is_refused(
    words: tuple[str, ...], extracted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its table is named, and nothing is made of the rest."""
    shutil.copytree(extracted, tmp_path / "o")
    min((tmp_path / "o/extractions").rglob("*.parquet")).unlink()
    status = main([words[0], str(tmp_path / "o"), *words[1:], "--output", str(tmp_path / "made")])

    assert 2 == status
    assert "/o/extractions has " in (printed := capsys.readouterr().err)
    assert "a part is missing" in printed
    assert not (tmp_path / "made").exists()


def test_the_help_needs_neither_spark_nor_java() -> None:
    """`dbce --help` works where pyspark cannot be imported."""
    program = "import sys; sys.modules['pyspark'] = None; from dbce_spark.commands.cli import main; main(['--help'])"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)

    assert 0 == ended.returncode
    assert "extract" in ended.stdout


@pytest.mark.parametrize(
    ("command", "foreign"),
    [
        ("text a.html", "pyarrow"),
        ("rules --help", "numpy lxml pyarrow fsspec"),
        ("extract --help", "lxml pyarrow"),
        ("status --help", "rapidfuzz"),
    ],
)
def test_a_command_loads_its_own_module_alone(command: str, foreign: str, tmp_path: Path) -> None:
    """And no library that only other commands need; the command line stands before the first page otherwise."""
    (tmp_path / "a.html").write_text("<p>A page of some words.</p>", encoding="utf-8")
    program = """
import sys
from dbce_spark.commands.cli import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program, *command.split()],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    loaded = set(ended.stderr.split())
    prefix = "dbce_spark.commands."

    assert 0 == ended.returncode
    assert {f"{prefix}{command.split()[0]}_command"} == {
        one for one in loaded if one.startswith(prefix) and one.endswith(("_command", "_commands"))
    }
    assert set() == loaded.intersection(foreign.split())


def test_the_table_of_commands_is_what_their_modules_add() -> None:
    """Each module, all of its commands, in their order: another command would be found only by `dbce --help`."""
    listed = [(module, name) for names in GROUPS.values() for name, module in names.items()]
    added = {module: below(parser(name)) for module, name in listed}

    assert listed == [(module, name) for module, names in added.items() for name in names]
    assert below(parser()) == [name for _, name in listed]


def below(parser: argparse.ArgumentParser) -> list[str]:
    """List the commands of a parser."""
    (commands,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return [*commands.choices]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extract", "s3://no-such-bucket/a.warc.gz", "--output", "out"], "s3://no-such-bucket/a.warc.gz: cannot be "),
        (["text", "s3://no-such-bucket/a.html"], "s3://no-such-bucket/a.html: cannot be listed: "),
        (["extract", "a.warc.gz", "--output", "a.warc.gz/out"], "a.warc.gz/out"),
        (["text", "a.warc.gz"], "No space left on device"),
        (["extract", "a.warc.gz", "--output", "out", "--master", "spark://127.0.0.1:1"], "no Spark master at spark://"),
        (["stream", "none.warc.gz", "--output", "out"], "none.warc.gz: nothing to read is there"),
    ],
)
def test_what_the_machine_lacks_is_one_line(arguments: list[str], message: str, crawl: Path) -> None:
    """Credentials of a store, a folder that can be written, room on a disk, a master."""
    nowhere = {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "dbce_spark", *arguments],
            cwd=crawl,
            env={**environment, **nowhere, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    *progress, last = ended.stderr.splitlines()

    assert 2 == ended.returncode
    assert last.startswith("dbce: ")
    assert message in last
    assert [] == [line for line in progress if not line[:2].isdigit()]


def test_feeds_that_failed_fail_again_until_they_are_due(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run that may not poll them yet has done nothing, and says so."""
    feed, to = "http://127.0.0.1:1/feed", ["--output", str(tmp_path / "out"), "--state", str(tmp_path / "state")]
    command = ["acquire", feed, *to, "--once", "--set", QUICK]

    assert [2, 2] == [main(command), main(command)]
    assert "the last poll of each feed has failed, and none is due before 20" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("missing", "words", "message"),
    [
        (
            "pyspark",
            "extract a.warc.gz --output out --engine spark",
            f"this needs pyspark: {installs('spark')}",
        ),
        ("pyspark", "extract a.warc.gz --output out --limit 3", f"this needs pyspark: {installs('spark')}"),
        (
            "pyspark",
            "extract a.warc.gz --output out --set engine.local_bytes=10",
            f"so large an input needs Spark (engine.local_bytes): {installs('spark')}, or give"
            " --engine local, which holds all pages in memory",
        ),
        ("pyspark", "stream . --output out", f"this needs pyspark: {installs('stream')}"),
        (
            "aiohttp",
            "text http://127.0.0.1:9/a.arc",
            f"http://127.0.0.1:9/a.arc: cannot be listed: its driver is not installed: {installs('http')}",
        ),
        (
            "protego",
            "acquire http://127.0.0.1:9/a --once --output out --state state",
            f"this needs protego: {installs('acquire')}",
        ),
    ],
)
def test_a_missing_extra_is_named(crawl: Path, missing: str, words: str, message: str) -> None:
    """In one line, before anything is done, with what to install."""
    program = f"import sys; sys.modules['{missing}'] = None;from dbce_spark.commands.cli import entry; entry()"
    ended = subprocess.run(
        [sys.executable, "-c", program, *words.split()],
        capture_output=True,
        text=True,
        check=False,
        cwd=crawl,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )

    assert (2, [f"dbce: {message}"]) == (ended.returncode, ended.stderr.splitlines())


def test_a_missing_extra_is_named_in_python() -> None:
    """By the package that needs it."""
    program = "import sys; sys.modules['pyspark'] = None\nfrom dbce_spark.spark import extract"
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )

    assert ended.stderr.endswith(f"PlatformError: dbce_spark.spark needs pyspark: {installs('spark')}\n")


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> tuple["subprocess.CompletedProcess[str]", Path]:
    """`spark-submit jobs/extract.py` on the sample archive, with the file of settings and no folder of them; and its
    output."""
    import pyspark

    from benchmarks.samples import write_archive
    from dbce_spark.spark.engine.java import java_home

    folder = tmp_path_factory.mktemp("submitted")
    write_archive(folder / "archive", pages=8, seed=3)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    own = {"JAVA_HOME": java_home(), "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    command = [
        *(str(submit), "--master", "local[1]", "--properties-file", str(ROOT / "conf" / "spark-defaults.conf")),
        *("--conf", "spark.driver.bindAddress=127.0.0.1", "--conf", "spark.driver.host=127.0.0.1"),
        *("--conf", "spark.sql.shuffle.partitions=4", "--conf", "spark.executor.pyspark.memory=0"),
        *("--conf", "spark.hadoop.fs.s3a.secret.key=hidden", "--driver-java-options", SMALL_JAVA),
        *(str(ROOT / "jobs" / "extract.py"), str(folder / "archive"), "--output", str(folder / "out")),
    ]
    environment = {**os.environ, **own, "SPARK_CONF_DIR": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    return done, folder / "out"


@pytest.mark.spark
def test_spark_submit_runs_the_job(submitted: tuple["subprocess.CompletedProcess[str]", Path]) -> None:
    """It writes the parts of an output, and ends with the summary."""
    ended, output = submitted

    assert 0 == ended.returncode, ended.stderr[-2000:]
    tables = {"extractions", "duplicates", "captures", "rejects"}
    assert {*tables, "run.json"} == {path.name for path in output.iterdir()}
    assert "pages/s/core" in ended.stdout


@pytest.mark.spark
@pytest.mark.skipif(not Path("/proc").exists(), reason="this system does not show the words of another process")
def test_the_command_of_a_spark_submit_has_its_options(
    submitted: tuple["subprocess.CompletedProcess[str]", Path],
) -> None:
    """Without them the same command would go on at another master; secrets are left out."""
    _, output = submitted
    words = shlex.split(json.loads((output / "run.json").read_text())["command"].partition(" && ")[2])
    options = words[words.index("spark-submit") + 1 : words.index(str(ROOT / "jobs" / "extract.py"))]

    assert ["env", f"SPARK_CONF_DIR={output.parent}", "spark-submit"] == words[:3]
    assert {"local[1]", str(ROOT / "conf" / "spark-defaults.conf"), "spark.sql.shuffle.partitions=4"} <= {*options}
    assert "spark.hadoop.fs.s3a.secret.key=..." in options
    assert [str(output.parent / "archive"), "--output", str(output)] == words[-3:]


@pytest.mark.spark
def test_with_the_file_of_settings_alone_spark_says_little(
    submitted: tuple["subprocess.CompletedProcess[str]", Path],
) -> None:
    """Once it has started it warns only; before, no file but log4j2.properties decides. Our own lines begin with the
    time of day."""
    ended, _ = submitted

    assert len([line for line in ended.stderr.splitlines() if not re.match(r"\d\d:\d\d:\d\d ", line)]) < 20


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_waits_until_java_has_started(number: signal.Signals) -> None:
    """The block ends before a signal is obeyed; a second signal is obeyed at once; an ignored one stays ignored."""
    done: list[int] = []
    before = signal.signal(number, signal.default_int_handler)
    for times in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            started_under(number, times, done)
    assert [1] == done
    assert signal.default_int_handler is signal.signal(number, signal.SIG_IGN)
    started_under(number, 3, done)
    signal.signal(number, before)

    assert [1, 3] == done


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_a_shell_ignores_for_a_job_in_the_background_is_not_noted(number: signal.Signals) -> None:
    """Ctrl-C at a terminal stops no `dbce acquire` behind an `&`."""
    before = signal.signal(number, signal.SIG_IGN)
    with noted_signals() as noted:
        os.kill(os.getpid(), number)
    signal.signal(number, before)

    assert [] == noted


def started_under(number: signal.Signals, times: int, done: list[int]) -> None:
    with started_whole():
        for _ in range(times):
            os.kill(os.getpid(), number)
        done.append(times)


@pytest.mark.parametrize(
    ("arguments", "status", "shown"), [(["--version"], 0, "dbce-spark "), (["no-such"], 2, ""), (["export"], 2, "")]
)
def test_a_process_ends_by_the_status_of_its_command(arguments: list[str], status: int, shown: str) -> None:
    """Whatever a library does when the process ends, such as to abort it; and what was printed is there."""
    program = (
        "import atexit, os, sys; atexit.register(os.abort); sys.argv[0] = 'dbce';"
        " from dbce_spark.commands import cli; cli.entry()"
    )
    ended = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)

    assert status == ended.returncode
    assert ended.stdout.startswith(shown)


@pytest.mark.parametrize("job", ["extract", "changes", "stream"])
def test_a_script_of_spark_submit_ends_as_its_command_does(job: str) -> None:
    """By the same status, whatever a library does then."""
    program = (
        "import atexit, os, runpy, sys; atexit.register(os.abort); sys.argv = ['job', *sys.argv[2:]];"
        f" runpy.run_path('{ROOT}/jobs/{job}.py', run_name='__main__')"
    )
    ended = [
        subprocess.run([sys.executable, "-c", program, job, *words], capture_output=True, text=True, check=False)
        for words in (["--help"], ["--no-such-option"])
    ]

    assert [0, 2] == [one.returncode for one in ended]
    assert ended[0].stdout.startswith(f"usage: dbce {job}")


@pytest.fixture
def obeys_interrupts() -> Iterator[None]:
    """SIGINT means what it does at a terminal: what a shell puts into the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("obeys_interrupts")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_error_behind_a_stop_is_the_stop(number: signal.Signals) -> None:
    """A Java that the signal reaches, too, is gone before the block: its connection is refused then."""
    with pytest.raises(KeyboardInterrupt):
        refused_after(number)


def refused_after(number: signal.Signals) -> None:
    with stoppable():
        try:
            signal.raise_signal(number)
        finally:
            raise ConnectionRefusedError


def test_an_error_without_a_stop_stays() -> None:
    """And the handlers of before hold again."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ConnectionRefusedError), stoppable():
        raise ConnectionRefusedError

    assert before is signal.getsignal(signal.SIGTERM)


@pytest.mark.usefixtures("obeys_interrupts")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_command_that_is_stopped_says_so_in_a_line(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    """And ends with 130, whichever command it is."""
    parser = argparse.ArgumentParser("dbce")
    add_log(parser)
    parser.set_defaults(run=lambda _: signal.raise_signal(number))

    assert 130 == run(parser, [])
    assert "dbce: stopped before the end\n" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [("none.warc", None, "nothing to read is there"), ("bad.warc", "junk", "neither WARC nor ARC")],
)
def test_a_stream_of_no_archive_is_refused_before_spark_starts(
    name: str, content: str | None, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `dbce extract` refuses it; a start of Spark takes half a minute."""
    if content:
        (tmp_path / name).write_text(content)
    status = main(["stream", str(tmp_path / name), "--output", str(tmp_path / "out")])

    assert 2 == status
    assert re.match(f"dbce: .*{name}: .*{expected}", capsys.readouterr().err)


def test_a_stream_that_may_not_begin_is_refused_before_spark_starts(
    crawl: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By settings that it was not begun with, another stream's checkpoint, or an output that nothing can write to."""
    session = pytest.importorskip("dbce_spark.spark.engine.session")
    monkeypatch.setattr(session, "session", lambda *_, **__: pytest.fail("Spark starts"))
    (crawl / "begun").mkdir()
    (crawl / "begun" / "stream.json").write_text(json.dumps({"version": stream_tables.VERSION, "by": "urltree"}))
    (crawl / "elsewhere" / "offsets").mkdir(parents=True)
    command = ["stream", str(crawl / "a.warc.gz"), "--output"]

    assert 2 == main([*command, str(crawl / "begun")])
    assert f'dbce: {crawl}/begun was begun with other settings: by was "urltree", is "dbce"' in capsys.readouterr().err
    fsspec.filesystem("memory").makedirs("/elsewhere/offsets")
    for elsewhere in (f"{crawl}/elsewhere", "memory://elsewhere"):
        assert 2 == main([*command, str(crawl / "new"), "--checkpoint", elsewhere])
        assert f"dbce: {elsewhere} is of a stream with another output;" in capsys.readouterr().err
    assert 2 == main([*command, str(crawl / "a.warc.gz" / "new")])
    assert f"dbce: {crawl}/a.warc.gz/new: [Errno 20] Not a directory" in capsys.readouterr().err
    assert not (crawl / "new" / "stream.json").exists()


@pytest.mark.parametrize(("by", "expected"), [("dbce", ((5,), 0)), ("urltree", ((), 5))])
def test_the_times_of_late_labels_are_of_the_method_that_labels(
    by: str, expected: object, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noted for both, they would be settings that the other was not begun with."""
    stream_job = pytest.importorskip("dbce_spark.spark.jobs.stream_job")
    found: list[object] = []

    def check(request: Any, config: Any) -> None:
        found.append((config.stream.relabel_pages if by == "dbce" else (), request.tree.relabel.support))
        raise InputError("as far as this")

    monkeypatch.setattr(stream_job, "check", check)
    command = ["stream", str(crawl / "a.warc.gz"), "--output", str(crawl / "new"), "--by", by, "--relabel", "5"]

    assert (2, [expected]) == (main(command), found)


def test_overwrite_of_a_collection_to_which_nothing_is_new_says_what_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was passed over in silence, as if all had been extracted again."""
    pytest.importorskip("pyspark")
    monkeypatch.setattr("dbce_spark.spark.jobs.increment_job.prepared", Mock(return_value=None))
    archive(tmp_path / "a.warc", record())
    command = ["extract", str(tmp_path / "a.warc"), "--collection", "news"]

    assert [0, 0] == [main(command), main([*command, "--overwrite"])]
    assert [
        "nothing is new; news stays as it is",
        "nothing is new; news stays as it is; --overwrite starts only an unfinished increment afresh",
    ] == capsys.readouterr().out.splitlines()
