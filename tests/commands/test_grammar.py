"""One grammar for all commands: a noun has one name, and an option means the same wherever it stands."""

import argparse
import re
from collections import defaultdict

import pytest

from dbce_spark.commands.cli import parser
from dbce_spark.commands.command_parser import Command
from docs.hooks import leaves
from tests.support.code_blocks import blocks, commands

COMMANDS = {one.prog: one for one in leaves(parser())}
NOUNS = {
    "INPUT": "archives or pages",
    "OUTPUT": "what `dbce extract` wrote",
    "COLLECTION": "what `dbce extract --collection` wrote",
    "URL": "one page",
    "PAGES": "gold or labelled pages",
    "STORE": "of the workbench",
    "FEED": "",
    "NAME": "of an account",
    "VERSION": "of a collection",
}
"""What a command is about stands without an option, and has one of these names."""
OF_THE_COMMAND = {
    "--output": "a file or a folder, by what the command writes",
    "--format": "of the values that the command can write",
    "--limit": "of captures or of pages",
}
"""Options whose values differ from command to command."""
NO_NAMES = re.compile(
    r"--(out|dest|target|to-format|out-format|json|html|link|uri|minimum|maximum|colour|lang|dir)\b.*"
)
"""Other words for what has a name: --output, --format, --url, --min-..., --max-..., --color, --language."""
EARLIER = [(name, old) for name, command in COMMANDS.items() for old in command.earlier]  # type: ignore[attr-defined]


def options() -> list[tuple[str, str, argparse.Action]]:
    return [
        (name, option, action)
        for name, command in COMMANDS.items()
        for action in command._actions
        for option in action.option_strings
        if option.startswith("--")
    ]


def test_an_option_means_the_same_in_all_commands() -> None:
    """It takes the same kind of value, the same choices, and may be repeated everywhere or nowhere."""
    shapes = defaultdict(set)
    for _, option, action in options():
        if option not in OF_THE_COMMAND:
            shape = (action.metavar, tuple(action.choices or ()), type(action).__name__, action.nargs)
            shapes[option].add(shape)

    assert {} == {option: found for option, found in shapes.items() if len(found) > 1}


def test_what_a_command_is_about_has_one_name() -> None:
    """The words that stand without an option are of a closed list."""
    found = {
        str(action.metavar) for command in COMMANDS.values() for action in command._actions if not action.option_strings
    }

    assert set(NOUNS) == found


def test_no_value_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    """A variable that is not set would name the folder one stands in, or select all, or nothing."""
    taken = []
    for name, command in COMMANDS.items():
        about = [action for action in command._actions if not action.option_strings]
        for action in command._actions:
            if action.nargs != 0:
                before = [*action.option_strings] or ["x"] * about.index(action)
                with pytest.raises(SystemExit, match="2"):
                    command.parse_args([*before, " "])
                if ": it is empty; give a value" not in capsys.readouterr().err:
                    taken.append((name, action.dest))

    assert [] == taken


def test_every_command_has_a_log() -> None:
    """An error leaves its stack there."""
    assert set(COMMANDS) == {name for name, option, _ in options() if option == "--log"}


def test_nothing_has_a_second_name() -> None:
    """No option is a synonym of another, nor has one two names."""
    assert [] == [(name, option) for name, option, _ in options() if NO_NAMES.fullmatch(option)]
    assert [] == [
        (name, action.option_strings) for name, option, action in options() if len(action.option_strings) > 1
        and option != "--help"
    ]  # fmt: skip


def test_dates_alone_have_from_and_to() -> None:
    """Output goes to --output."""
    assert {
        (name, option) for name in ("dbce extract", "dbce export", "dbce corpus") for option in ("--from", "--to")
    } == {(name, option) for name, option, _ in options() if option in ("--from", "--to")}


@pytest.mark.parametrize(("name", "old"), EARLIER)
def test_an_earlier_name_stands_for_a_present_one(name: str, old: str) -> None:
    """It is no option itself, what it stands for is one, and it is in no help."""
    command = COMMANDS[name]
    assert isinstance(command, Command)
    new, *values = command.earlier[old]

    assert old not in command._option_string_actions
    assert new in command._option_string_actions
    assert set(values) <= set(command._option_string_actions[new].choices or ())
    assert not re.search(rf"{old}(?![\w-])", command.format_help())


@pytest.mark.parametrize(
    ("words", "line", "expected"),
    [
        (["status", "x", "--json"], "dbce status: --json is --format json now", ("format", "json")),
        (
            ["labels", "merge", "x", "--submissions", "s", "--output", "o", "--minimum=3"],
            "dbce labels merge: --minimum is --min-submissions now",
            ("minimum_submissions", 3),
        ),
        (["history", "http://a/", "--collection", "x"], "dbce history: --collection is --in now", ("place", "x")),
        (
            ["extract", "x", "--output", "y", "--formats", "text,html"],
            "--format now",
            ("formats.columns", ["text", "html"]),
        ),
        (["extract", "x", "--output", "y", "--status", "200"], "--http-status now", ("select.statuses", ["200"])),
    ],
)
def test_an_earlier_name_is_taken_with_a_warning(
    words: list[str], line: str, expected: tuple[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line on stderr; alone, and before an equals sign."""
    arguments = parser().parse_args(words)
    (warning,) = capsys.readouterr().err.splitlines()
    name, value = expected

    assert line in warning
    assert "the next version knows no other name" in warning
    assert value == getattr(arguments, name)


def test_a_place_that_stood_alone_is_taken_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    """`dbce annotate backup STORE FILE`; with its option it is not warned of."""
    for words in (["labels.db", "copy.db"], ["labels.db", "--output", "copy.db"]):
        arguments = parser().parse_args(["annotate", "backup", *words])
        assert ("labels.db", "copy.db") == (arguments.store, arguments.output)
    (warning,) = capsys.readouterr().err.splitlines()

    assert warning.startswith("dbce annotate backup: copy.db is --output copy.db now")


def test_the_documentation_has_present_names_only(capsys: pytest.CaptureFixture[str]) -> None:
    """No command in it is answered with a warning."""
    for block in blocks():
        for name, *words in commands(block.code) if block.kind == "sh" else ():
            if name == "dbce" and "--help" not in words:
                parser().parse_args(words)

    assert "" == capsys.readouterr().err


@pytest.mark.parametrize("words", [[""], ["labels", " "]])
def test_the_name_of_a_command_is_not_empty(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody could see which name is meant."""
    with pytest.raises(SystemExit, match="2"):
        parser().parse_args(words)

    assert "argument COMMAND: it is empty; give a value; " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("status out --nonsense", "dbce status: error: there is no option --nonsense"),
        ("corpus out --quiet", "dbce corpus: error: there is no option --quiet"),
        ("text page.html --formt=json", "dbce text: error: there is no option --formt (is --format meant?)"),
        ("extract a --outptu b", "dbce extract: error: there is no option --outptu (is --output meant?)"),
        ("export a --fromat b", "dbce export: error: there is no option --fromat (is --format meant?)"),
        ("extrct a", "dbce: error: there is no command extrct (is extract meant?)"),
        ("labels mrge a", "dbce labels: error: there is no command mrge (is merge meant?)"),
        ("extract a", "dbce extract: error: one of the arguments --output --collection is required"),
        ("show a b --in c", "dbce show: error: unrecognized arguments: b"),
    ],
)
def test_an_error_is_one_line(line: str, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It names the command, what is wrong, and the name that was probably meant."""
    with pytest.raises(SystemExit, match="2"):
        parser().parse_args(line.split())
    command = error.partition(":")[0]

    assert f"{error}; `{command} --help` shows what it takes\n" == capsys.readouterr().err


def test_a_word_with_a_space_is_no_option_whatever_it_begins_with(capsys: pytest.CaptureFixture[str]) -> None:
    """A file may be named so; what stands behind the name of an option is another matter."""
    assert ["-- a b.html"] == parser().parse_args(["text", "-- a b.html"]).input
    with pytest.raises(SystemExit, match="2"):
        parser().parse_args(["text", "a.html", "--favour=a b"])

    assert "there is no option --favour (is --favor meant?)" in capsys.readouterr().err


def test_names_behind_two_dashes_are_values(capsys: pytest.CaptureFixture[str]) -> None:
    """A file may be named as no option is."""
    assert ["--nonsense"] == parser().parse_args(["text", "--", "--nonsense"]).input
    assert "" == capsys.readouterr().err
