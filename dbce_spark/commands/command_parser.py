"""The parser of a command: its errors are one line, and it knows the names that options had in the version before."""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

from dbce_spark.files.sources import without_file_scheme

Commands: TypeAlias = "argparse._SubParsersAction[Command]"


class Command(argparse.ArgumentParser):
    """A parser that takes options by the names that they had in the version before, too, with a line of warning, and
    takes no empty value: of a variable that is not set, it would name the folder one stands in, or select all. Its
    errors are one line, in which a misspelt name is followed by the one that is most like it.

    An option that gives a parameter has the parameter's name as its `dest`. What is parsed has the options that have a
    value as `options`, by the `dest` of each. earlier: the words that now stand for each earlier name.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.earlier: dict[str, tuple[str, ...]] = {}
        self._place = ""

    def take_earlier(self, option: str, *words: str) -> None:
        """Take an option by an earlier name, which these words stand for now; the next version does without."""
        self.earlier[option] = words

    def take_earlier_place(self, option: str) -> None:
        """Take the value of an option behind the first word, without its name; the next version does without."""
        self._place = option

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words, those before a `--` by their present names."""
        words = list(sys.argv[1:] if args is None else args)
        end = words.index("--") if "--" in words else len(words)
        if self._place and len(words) == 2 and not any(word.startswith("-") for word in words):
            self._warn_of_earlier(words[1], f"{self._place} {words[1]}")
            words.insert(1, self._place)
            end += 1
        present = [new for word in words[:end] for new in self._renamed(word)]
        if self._subparsers is None:
            self._check_options(present)
        found, unknown = super().parse_known_args([*present, *words[end:]], namespace)
        if self._subparsers is None:
            if unknown:  # argparse would leave it to the parser of all commands
                self.error(f"unrecognized arguments: {' '.join(unknown)}")
            options = [
                one for one in self._actions if one.option_strings and getattr(found, one.dest, None) is not None
            ]
            found.options = {one.dest: one.option_strings[0] for one in options}
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """End the process with a line that says what is wrong."""
        more = "" if "--help`" in message else f"; `{self.prog} --help` shows what it takes"
        self.exit(2, f"{self.prog}: error: {message}{more}\n")

    def _check_options(self, words: Sequence[str]) -> None:
        """End the process at a name of no option; what has a space in it is a value to argparse."""
        for option in (word.partition("=")[0] for word in words if word.startswith("--")):
            if " " not in option and not any(one.startswith(option) for one in self._option_string_actions):
                self.error(f"there is no option {option}{_meant(option, self._option_string_actions)}")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        commands = action.choices if isinstance(action, argparse._SubParsersAction) else None
        words = arg_strings if commands is None else arg_strings[:1]  # what follows a command is its own
        if not all(map(str.strip, words)):
            leave_out = ", or leave the option out" if action.option_strings and not action.required else ""
            raise argparse.ArgumentError(action, f"it is empty; give a value{leave_out}")
        if commands is not None and words[0] not in commands:
            raise argparse.ArgumentError(None, f"there is no command {words[0]}{_meant(words[0], commands)}")
        return super()._get_values(action, arg_strings)

    def _renamed(self, word: str) -> tuple[str, ...]:
        option, has_value, value = word.partition("=")
        if option not in self.earlier:
            return (word,)
        *new, last = self.earlier[option]
        self._warn_of_earlier(option, " ".join([*new, last]))
        return (*new, last + has_value + value)

    def _warn_of_earlier(self, before: str, now: str) -> None:
        print(f"{self.prog}: {before} is {now} now; the next version knows no other name", file=sys.stderr)


def _meant(name: str, names: Iterable[str]) -> str:
    """Name the one that is most like a misspelt name, if any is. Their dashes do not make two options alike."""
    plain = {one.lstrip("-"): one for one in names}
    return "".join(f" (is {plain[one]} meant?)" for one in get_close_matches(name.lstrip("-"), plain, n=1))


def add_command(commands: Commands, name: str, run: Callable[[argparse.Namespace], int | None], help: str) -> Command:
    """Add a command, and the function that runs it, whose docstring describes it."""
    command = commands.add_parser(name, help=help, description=" ".join((run.__doc__ or "").split()))
    command.set_defaults(run=run)
    add_log(command)
    return command


def add_log(command: argparse.ArgumentParser) -> None:
    """Add the file that log messages go to, in a group of its own: in the help it stands behind the other options."""
    command.add_argument_group("log").add_argument(
        "--log", default="", type=without_file_scheme, metavar="FILE", dest="log_file",
        help="append all log messages to this file, as JSON lines, with the traceback of an error",
    )  # fmt: skip
    command.set_defaults(log_format="warnings")
