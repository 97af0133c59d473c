"""What is printed on a terminal."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.commands.terminal import as_json, is_coloured, without_controls
from dbce_spark.log import OBEYED


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("wanted", "no_color", "expected"),
    [("auto", "", True), ("auto", "1", False), ("always", "1", True), ("never", "", False)],
)
def test_a_terminal_has_colours_unless_its_owner_wants_none(
    wanted: str, no_color: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every command that has them: NO_COLOR is obeyed, but for what is asked for in so many words."""
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setenv("NO_COLOR", no_color)

    assert expected == is_coloured(wanted)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\rb\x0bc\x0cd\x85e\u2028f\u2029g", "a b c d e f g"),
        ("a\x1b[31mb\x9b2J\u202ec\ud800", "a[31mb2Jc"),
        ("א\u200fב", "א\u200fב"),
    ],
    ids=["kept", "ends of lines", "controls", "marks of direction"],
)
def test_text_without_controls(text: str, expected: str) -> None:
    """Words on two lines stay two words, and nothing stands for what was only a command."""
    assert expected == without_controls(text)


@given(st.text() | st.sampled_from(["\x9b2J", "\u202e", "\x1b\r", "\x7f"]))
def test_json_is_escaped_without_loss(text: str) -> None:
    """A program reads the same characters, and none of them commands a terminal."""
    written = as_json([text])

    assert [text] == json.loads(written)
    assert not OBEYED.search(written)
