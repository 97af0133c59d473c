"""Arguments that several commands have, and the settings that they give."""

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import reduce
from importlib.util import find_spec
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from dbce_spark import config, log
from dbce_spark.config import STATUSES, FormatsConfig
from dbce_spark.errors import ConfigError, InputError, PlatformError, installs
from dbce_spark.files.sources import is_remote, without_file_scheme

if TYPE_CHECKING:
    from dbce_spark.output.collection import Collection, Version

INPUT_HELP = (
    "read a WARC, ARC or WACZ file, a folder (searched at every depth), a glob in quotes, or @FILE with one of these"
    " on each line; local, or any URL that fsspec supports (s3://, http://, hdfs://)"
)

_IS_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable that spark-submit sets in the environment of the script that it runs."""
_SUBMIT_CLASS = "org.apache.spark.deploy.SparkSubmit"
_SECRET_SETTING = re.compile(r"^([^=\s]*(?:secret|password|token|access[.]?key)[^=\s]*)=.*", re.IGNORECASE | re.DOTALL)
"""Settings of which Spark shows no value either (spark.redaction.regex)."""


OF_TREE = "urltree."
"""Prefix of the settings of conf/urltree.toml."""
OUTPUT_HELP = "read the output of `dbce extract`, in a folder or at a URL, or a collection"
COLLECTION_HELP = "use the collection in this folder, written by `dbce extract --collection`"


Commands: TypeAlias = "argparse._SubParsersAction[Command]"
Options: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"


class Command(argparse.ArgumentParser):
    """A parser that takes options by the names that they had in the version before, too, with a line of warning, and
    takes no empty value: of a variable that is not set, it would name the folder one stands in, or select all. Its
    errors are one line, in which a misspelt name is followed by the one that is most like it.

    An option that gives a parameter has the parameter's name as its `dest`. What is parsed has the options that have a
    value as `options`, by the `dest` of each.

    earlier: the words that now stand for each of those. place: the option for what stood behind the first word alone.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.earlier: dict[str, tuple[str, ...]] = {}
        self.place = ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words, those before a `--` by their present names."""
        words = list(sys.argv[1:] if args is None else args)
        end = words.index("--") if "--" in words else len(words)
        if self.place and len(words) == 2 and not any(word.startswith("-") for word in words):
            warn_of_earlier(self.prog, words[1], f"{self.place} {words[1]}")
            words.insert(1, self.place)
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
        warn_of_earlier(self.prog, option, " ".join([*new, last]))
        return (*new, last + has_value + value)


def _meant(name: str, names: Iterable[str]) -> str:
    """Name the one that is most like a misspelt name, if any is."""
    return "".join(f" (is {one} meant?)" for one in get_close_matches(name, names, n=1))


def add_earlier(command: Command, option: str, *words: str) -> None:
    """Take an option by an earlier name, which these words stand for now; the next version does without."""
    command.earlier[option] = words


def add_earlier_place(command: Command, option: str) -> None:
    """Take the value of an option behind the first word, without its name; the next version does without."""
    command.place = option


def warn_of_earlier(command: str, before: str, now: str) -> None:
    """Say in a line what something is called now."""
    print(f"{command}: {before} is {now} now; the next version knows no other name", file=sys.stderr)


def given_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of parameters that options give, by the names of the parameters."""
    return {name: value for name, value in vars(arguments).items() if "." in name and value is not None}


def default_of(name: str, file: str = "dbce.toml") -> str:
    """Write the default of a parameter of a file of conf/, as the help of its option ends."""
    value: Any = reduce(getitem, name.split("."), config.shipped(file))
    shown = ",".join(map(str, value)) if isinstance(value, list) else value
    return f"(default: {shown}, {name} of conf/{file})"


def add_labels(command: argparse.ArgumentParser) -> None:
    """Add what of a page is kept."""
    command.add_argument(
        "--content", choices=("whole", "article"), dest="label.content",
        help="keep everything that a page exists to tell (whole), or only the main text of an article (article)"
        f" {default_of('label.content')}",
    )  # fmt: skip
    command.add_argument(
        "--title", choices=("keep", "drop"), dest="label.title",
        help=f"keep the title heading with the content, or drop it {default_of('label.title')}",
    )  # fmt: skip
    command.add_argument(
        "--favor", choices=("precision", "balanced", "recall"), dest="label.favor",
        help="favor precision (keep less of doubtful text) or recall (keep more of it)"
        f" {default_of('label.favor')}",
    )  # fmt: skip
    command.add_argument(
        "--comments", action="store_true", default=None, dest="label.comments",
        help="keep readers' comments below the content too",
    )  # fmt: skip


def add_formats(command: argparse.ArgumentParser) -> None:
    """Add what is written of what is kept, beside its text."""
    command.add_argument(
        "--format", action="extend", type=names, metavar="NAME,...", dest="formats.columns",
        help="write the main text in these formats: text, markdown, html; about: what the page says of itself; such as"
        f" text,markdown (docs/structure.md) {default_of('formats.columns')}",
    )  # fmt: skip
    add_structure(command)


def add_structure(command: argparse.ArgumentParser) -> None:
    """Add what of the structure is written with what is kept."""
    for name, what in (("links", "addresses of links"), ("tables", "columns of tables"), ("images", "images")):
        command.add_argument(
            f"--{name}", choices=("keep", "drop"), dest=f"formats.{name}",
            help=f"keep or drop the {what} in Markdown and HTML {default_of(f'formats.{name}')}",
        )  # fmt: skip


def check_formats(formats: FormatsConfig) -> None:
    """Check that what writes them is installed.

    Raises:
        InputError: it is not.
    """
    if formats.dates == "htmldate" and find_spec("htmldate") is None:
        raise InputError(f"formats.dates is htmldate, which is not installed; run {installs('dates')}")


def check_installed(extra: str, *modules: str) -> None:
    """Check that an extra is installed, before anything is done that it is for.

    Raises:
        PlatformError: a module that it brings is missing.
    """
    if missing := [name for name in modules if find_spec(name) is None]:
        raise PlatformError(f"this needs {missing[0]}: {installs(extra)}")


def add_command(commands: Commands, name: str, run: Callable[[argparse.Namespace], int | None], help: str) -> Command:
    """Add a command, and the function that runs it, whose docstring describes it."""
    command = commands.add_parser(name, help=help, description=" ".join((run.__doc__ or "").split()))
    command.set_defaults(run=run)
    add_log(command)
    return command


def add_output(command: argparse.ArgumentParser, metavar: str, help: str) -> None:
    """Add the place that a command writes to."""
    command.add_argument("--output", required=True, type=without_file_scheme, metavar=metavar, help=help)


def add_local_output(command: argparse.ArgumentParser, metavar: str, help: str) -> None:
    """Add the place on this machine that a command writes to."""
    command.add_argument("--output", required=True, type=local_path, metavar=metavar, help=help)


def add_in(command: argparse.ArgumentParser, help: str) -> None:
    """Add the place where a command looks for the page that it is about."""
    command.add_argument("--in", required=True, type=without_file_scheme, dest="place", metavar="PLACE", help=help)


def add_collection(command: argparse.ArgumentParser) -> None:
    """Add the collection that a command is about."""
    command.add_argument("collection", type=without_file_scheme, metavar="COLLECTION", help=COLLECTION_HELP)


def add_output_read(command: argparse.ArgumentParser) -> None:
    """Add the output, or collection, that a command reads, and the version of a collection."""
    command.add_argument("extracted", type=without_file_scheme, metavar="OUTPUT", help=OUTPUT_HELP)
    add_version(command)


def add_sites(command: Options, pages: str, dest: str) -> None:
    """Add the option that selects pages by site."""
    command.add_argument(
        "--site", action="extend", type=names, dest=dest, metavar="NAME,...", help=f"{pages} of these sites"
    )


def add_dates(command: Options, captures: str, section: str) -> None:
    """Add the options that select captures by date; a section has the parameters."""
    command.add_argument(
        "--from", dest=f"{section}.since", metavar="DATE",
        help=f"{captures} of this date or later, such as 2010, 201003 or 2010-03-05",
    )  # fmt: skip
    command.add_argument(
        "--to", dest=f"{section}.until", metavar="DATE",
        help=f"{captures} of this date or earlier, up to the end of that year, month or day",
    )  # fmt: skip


def add_languages(command: Options, pages: str, dest: str) -> None:
    """Add the option that selects pages by language."""
    command.add_argument("--language", action="extend", type=names, dest=dest, metavar="TAG,...", help=pages)


def add_status(command: Options, verb: str, dest: str) -> None:
    """Add the option that selects pages by what they were compared with."""
    command.add_argument(
        "--status",
        choices=STATUSES,
        nargs=1,  # as the parameter is a list
        dest=dest,
        help=f"{verb} pages that were compared with siblings (crossed), or labelled alone (single)",
    )


def add_config(command: argparse.ArgumentParser) -> None:
    """Add the option for a file of parameters."""
    command.add_argument(
        "--config",
        metavar="FILE",
        help="read parameters from this TOML file; those that it leaves out keep their values in conf/dbce.toml",
    )


def add_settings(command: argparse.ArgumentParser, example: str) -> None:
    """Add the option for single parameters."""
    command.add_argument(
        "--set", action="append", default=[], metavar="SECTION.NAME=VALUE", dest="settings",
        help=f"set one parameter of {example}; may be repeated",
    )  # fmt: skip


def add_urltree(command: argparse.ArgumentParser) -> None:
    """Add the option for a file of parameters of the URL Tree."""
    command.add_argument(
        "--urltree",
        metavar="FILE",
        help="read parameters of the URL Tree from this TOML file;"
        " those that it leaves out keep their values in conf/urltree.toml",
    )


def add_version(command: argparse.ArgumentParser) -> None:
    """Add the option for the version of a collection that is read."""
    command.add_argument(
        "--version", type=count, metavar="N", help="read this version of a collection (default: the last)"
    )


def chosen_version(collection: "Collection", arguments: argparse.Namespace) -> "Version":
    """Return the version of `--version`, or the last.

    Raises:
        InputError: there is no collection, or no such version.
    """
    last = collection.current()
    return last if arguments.version is None else collection.version(arguments.version)


def add_spark(command: argparse.ArgumentParser) -> None:
    """Add the options for where and how Spark runs."""
    command.add_argument(
        "--master",
        metavar="URL",
        help="connect to this Spark master (default: that of the active session, or local[*])",
    )
    command.add_argument(
        "--spark", action="append", default=[], metavar="KEY=VALUE", dest="spark",
        help="set a property of Spark, such as spark.ui.enabled=true; may be repeated (under spark-submit give it"
        " --conf KEY=VALUE instead)",
    )  # fmt: skip


def add_log(command: argparse.ArgumentParser) -> None:
    """Add the file that log messages go to, in a group of its own: in the help it stands behind the other options."""
    command.add_argument_group("log").add_argument(
        "--log", default="", type=without_file_scheme, metavar="FILE", dest="log_file",
        help="append all log messages to this file, as JSON lines, with the traceback of an error",
    )  # fmt: skip
    command.set_defaults(log_format="warnings")


def add_log_format(command: argparse.ArgumentParser) -> None:
    """Add how the log messages of a command that works for long are written on stderr."""
    command.add_argument(
        "--log-format", choices=("text", "json"), default="text",
        help="write log messages on stderr as text or as JSON lines (default: %(default)s)",
    )  # fmt: skip


def is_submitted() -> bool:
    """Return whether spark-submit runs this command."""
    return _IS_SUBMITTED in os.environ


def command_line() -> str:
    """Return this command as a shell has it; under spark-submit with its options, where the system shows them."""
    words = [*_submission(), *sys.argv] if is_submitted() else ["dbce", *sys.argv[1:]]
    return log.without_credentials(f"cd {shlex.quote(str(Path.cwd()))} && {shlex.join(words)}")


def _submission() -> list[str]:
    """Return the words by which the script was submitted; values that Spark itself would not show are left out."""
    conf, home = (os.environ.get(name, "") for name in ("SPARK_CONF_DIR", "SPARK_HOME"))
    own = ["env", f"SPARK_CONF_DIR={conf}"] if conf and conf != f"{home}/conf" else []
    try:  # the Java of spark-submit has begun this process
        java = Path(f"/proc/{os.getppid()}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        options = java[java.index(_SUBMIT_CLASS) + 1 : -len(sys.argv)]
    except (OSError, ValueError):
        options = []
    return [*own, "spark-submit", *(_SECRET_SETTING.sub(r"\1=...", one) for one in options)]


def count(text: str) -> int:
    """Parse a number from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    if value > sys.maxsize:
        raise argparse.ArgumentTypeError(f"{text} is more than can be counted")
    return value


def count_or_none(text: str) -> int:
    """Parse a number from 0 on."""
    return count(text) if text.strip() != "0" else 0


def seconds(text: str) -> float:
    """Parse a time in seconds, more than none."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not more than 0, or has no end")
    return value


def local_path(text: str) -> str:
    """Parse a path of this machine. A URL is none: a folder with the name of its scheme would be made for it."""
    path = without_file_scheme(text)
    if is_remote(path):
        raise argparse.ArgumentTypeError(f"{path} is a URL; give a path of this machine")
    return path


def names(text: str) -> list[str]:
    """Parse names with commas between them, at least one."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("it is empty; give a value, or leave the option out")
    return found


def spark_settings(given: Sequence[str]) -> dict[str, str]:
    """Return the settings of `--spark` by their keys.

    Raises:
        ConfigError: one is not KEY=VALUE, or would be ignored by Spark or spark-submit.
    """
    if given and is_submitted():
        raise ConfigError("--spark has no effect under spark-submit; give it --conf KEY=VALUE")
    pairs = [one.partition("=") for one in given]
    if wrong := next((one for one, (key, is_one, _) in zip(given, pairs, strict=True) if not (key and is_one)), None):
        raise ConfigError(f"--spark {wrong}: write KEY=VALUE, such as spark.ui.enabled=true")
    if foreign := next((key for key, *_ in pairs if not key.startswith("spark.")), None):
        raise ConfigError(f"--spark {foreign}: properties of Spark begin with spark., as spark.ui.enabled does")
    return {key: value for key, _, value in pairs}
