"""`dbce history`: what it prints of pages."""

import shutil
from argparse import Namespace
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from dbce_spark.commands import history_command
from dbce_spark.commands.cli import main
from dbce_spark.files import storage
from dbce_spark.output.history import url_history

PAGE = "http://www.tagblatt.example/"


@pytest.mark.parametrize(
    ("color", "shown"), [("never", "a\ufffd[2Jb\ufffd[2mc\n"), ("always", "a\ufffd[2Jb\x1b[2mc\n")]
)
def test_what_pages_say_moves_no_cursor(
    color: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only colours are obeyed, where they are wanted."""
    for name in ("output_reader", "config"):
        monkeypatch.setattr(history_command, name, MagicMock())
    monkeypatch.setattr(url_history, "moments", MagicMock())
    monkeypatch.setattr(url_history, "text", lambda *_, **__: "a\x1b[2Jb\x1b[2mc")
    history_command._history(Namespace(place="c", version=None, url="u", color=color, everything=False, format="text"))

    assert shown == capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [("history", PAGE, "--in"), ("changes", "--output", "made")],
    ids=lambda one: one[0],
)
def test_a_collection_with_a_part_missing_has_no_history(
    words: tuple[str, ...],
    collected: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its texts would count as removed. Spark does not start."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(collected, tmp_path / "c")
    min((tmp_path / "c/increments/00000002/extractions").rglob("*.parquet")).unlink()

    assert 2 == main([*words, "c"])
    assert "00000002/extractions has " in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


def test_an_output_has_histories_of_its_pages(extracted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of several captures of a URL that one run has read, as of those of a collection; also in an object store."""
    assert 0 == main(["history", PAGE, "--in", str(extracted)])
    head, *lines = capsys.readouterr().out.splitlines()

    assert head.startswith(f"{PAGE}: 3 captures, 2022-")
    assert any(line.startswith("  ~ ") for line in lines)
    assert "content: first seen, last seen, captures" in lines

    for path in filter(Path.is_file, extracted.rglob("*")):
        storage.write(f"memory://history/{path.relative_to(extracted)}", path.read_bytes())
    assert 0 == main(["history", PAGE, "--in", "memory://history"])
    assert [head, *lines] == capsys.readouterr().out.splitlines()


def test_tables_of_changes_need_a_collection(
    extracted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An output keeps no signatures; the message says how to make a collection of the same archives."""
    assert 2 == main(["changes", str(extracted), "--output", str(tmp_path / "made")])
    assert (
        "is an output, and no collection; `dbce extract` of the same archives with --collection"
        in capsys.readouterr().err
    )
