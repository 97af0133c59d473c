"""`dbce history`: what it prints of pages."""

import shutil
from argparse import Namespace
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from dbce_spark.commands import history_command
from dbce_spark.commands.cli import main
from dbce_spark.output.history import url_history


@pytest.mark.parametrize(
    ("color", "shown"), [("never", "a\ufffd[2Jb\ufffd[2mc\n"), ("always", "a\ufffd[2Jb\x1b[2mc\n")]
)
def test_what_pages_say_moves_no_cursor(
    color: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only colours are obeyed, where they are wanted."""
    for name in ("chosen_version", "output_reader", "LshConfig"):
        monkeypatch.setattr(history_command, name, MagicMock())
    monkeypatch.setattr(url_history, "moments", MagicMock())
    monkeypatch.setattr(url_history, "text", lambda *_, **__: "a\x1b[2Jb\x1b[2mc")
    history_command._history(Namespace(place="c", url="u", color=color, everything=False, format="text"))

    assert shown == capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [("history", "http://www.tagblatt.example/", "--in"), ("changes", "--output", "made")],
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
