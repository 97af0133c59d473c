"""Help of the commands reads at once: under headings, in sentences that begin with a verb."""

import argparse

import pytest

from dbce_spark.commands.cli import main, parser
from docs.hooks import leaves

VERBS = """
    adapt add append assume begin choose colour compare compress connect convert copy create draw estimate export
    extend extract fail favor fetch find invent judge keep label learn leave let list listen look make measure merge
    name plan poll print put read record remove repeat replace report restore reuse rewrite run score serve set show
    stop train use work write
"""
"""The verbs that helps begin with; a new one is added here."""
COMMANDS = list(leaves(parser()))


def test_commands_stand_under_headings(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`dbce --help` groups all commands by what they are for, each with a sentence beside it."""
    monkeypatch.setenv("COLUMNS", "140")
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    listed = capsys.readouterr().out.partition("commands:\n")[2].splitlines()
    headings = [line.strip() for line in listed if line.startswith("  ") and line.endswith(":")]
    commands = [line.split()[0] for line in listed if line.startswith("    ") and len(line.split()) > 3]

    assert ["extract and read:", "collections:", "streams:", "benchmark and train:", "annotate:"] == headings
    assert {one.prog.split()[1] for one in COMMANDS} == set(commands)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.prog)
def test_a_help_begins_with_a_verb(command: argparse.ArgumentParser) -> None:
    """The description is a sentence in the imperative, and so is the help of each argument."""
    first = [(one.help or "-").split()[0] for one in command._actions]
    sentence = command.description or ""

    assert sentence
    assert "." == sentence[-1]
    assert set(VERBS.split()) >= {sentence.split()[0].lower().rstrip(",")}
    assert [] == [word for word in first if word not in VERBS.split()]
