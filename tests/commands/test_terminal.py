"""What is printed on a terminal."""

import io

import pytest

from dbce_spark.commands.terminal import is_coloured


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
