"""Arguments that several commands have, and the settings that they give."""

import argparse
import sys
from functools import reduce
from importlib.util import find_spec
from operator import getitem
from typing import TYPE_CHECKING, Any, TypeAlias

from dbce_spark import config
from dbce_spark.config import FormatsConfig
from dbce_spark.errors import InputError, PlatformError, installs
from dbce_spark.files.sources import is_remote, without_file_scheme

if TYPE_CHECKING:
    from dbce_spark.output.collection import Collection, Version

INPUT_HELP = (
    "read a WARC, ARC or WACZ file, a folder (searched at every depth), a glob in quotes, or @FILE with one of these"
    " on each line; local, or any URL that fsspec supports (s3://, http://, hdfs://)"
)
OF_URL = "show the page of this URL; with http or https, with www. or without, it is the same (one SURT key)"
OF_TREE = "urltree."
"""Prefix of the settings of conf/urltree.toml."""

Options: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"


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
    command.add_argument(
        "collection", type=without_file_scheme, metavar="COLLECTION",
        help="use the collection in this folder, written by `dbce extract --collection`",
    )  # fmt: skip


def add_output_read(command: argparse.ArgumentParser) -> None:
    """Add the output, or collection, that a command reads, and the version of a collection."""
    command.add_argument(
        "extracted", type=without_file_scheme, metavar="OUTPUT",
        help="read the output of `dbce extract`, in a folder or at a URL, or a collection",
    )  # fmt: skip
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


def add_log_format(command: argparse.ArgumentParser) -> None:
    """Add how the log messages of a command that works for long are written on stderr."""
    command.add_argument(
        "--log-format", choices=("text", "json"), default="text",
        help="write log messages on stderr as text or as JSON lines (default: %(default)s)",
    )  # fmt: skip


def count(text: str) -> int:
    """Parse a number from 1 on."""
    return _at_least(1, text)


def count_or_none(text: str) -> int:
    """Parse a number from 0 on."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is no whole number") from error
    if value < least:
        raise argparse.ArgumentTypeError(f"{text} is not at least {least}")
    if value > sys.maxsize:
        raise argparse.ArgumentTypeError(f"{text} is more than can be counted")
    return value


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
