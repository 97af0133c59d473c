"""`dbce history`: what it prints of pages."""

from argparse import Namespace
from unittest.mock import MagicMock

import pytest

from dbce_spark.commands import history_command
from dbce_spark.output.history import url_history


@pytest.mark.parametrize(
    ("color", "shown"), [("never", "a\ufffd[2Jb\ufffd[2mc\n"), ("always", "a\ufffd[2Jb\x1b[2mc\n")]
)
def test_what_pages_say_moves_no_cursor(
    color: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only colours are obeyed, where they are wanted."""
    for name in ("chosen_version", "LshConfig"):
        monkeypatch.setattr(history_command, name, MagicMock())
    monkeypatch.setattr(url_history, "moments", MagicMock())
    monkeypatch.setattr(url_history, "text", lambda *_, **__: "a\x1b[2Jb\x1b[2mc")
    history_command._history(Namespace(place="c", url="u", color=color, everything=False, format="text"))

    assert shown == capsys.readouterr().out
