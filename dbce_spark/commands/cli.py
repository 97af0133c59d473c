"""The `dbce` command."""

import argparse
import atexit
import logging
import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module

import dbce_spark
from dbce_spark import log
from dbce_spark.commands.command_parser import Command
from dbce_spark.commands.signals import stoppable
from dbce_spark.commands.terminal import prepare_output
from dbce_spark.errors import ConfigError, DbceError, PlatformError, exit_status, installs, is_full
from dbce_spark.files.sources import is_utf8

GROUPS: Mapping[str, Mapping[str, str]] = {
    "extract and read": {
        "text": "text_command",
        "extract": "extract_command",
        "status": "status_command",
        "show": "show_command",
        "report": "reader_commands",
        "export": "reader_commands",
        "corpus": "reader_commands",
    },
    "collections": {
        "collection": "collection_command",
        "history": "history_command",
        "changes": "history_command",
    },
    "streams": {"acquire": "acquire_command", "stream": "stream_command", "rules": "rules_command"},
    "benchmark and train": {
        "evaluate": "evaluate_command",
        "train": "evaluate_command",
        "convert": "evaluate_command",
    },
    "annotate": {"annotate": "annotate_command", "labels": "labels_command"},
}
"""The commands under each heading of `dbce --help`, in its order, each with the module that adds it."""

_EXTRAS = {"pyspark": "spark", "py4j": "spark", "pandas": "spark", "threadpoolctl": "evaluate", "lightgbm": "train"}
"""The extras that bring packages which the plain install leaves out."""


def entry(*command: str) -> None:
    """Run one command of `dbce` as a process, which ends by the status of the command.

    `command` are the arguments that come before those of the process: scripts for spark-submit are of one command.
    What libraries leave to the end of a process may abort it: Arrow does, where a thread of its own still runs then
    (apache/arrow issue 34314). All that Python does at the end is done before.
    """
    prepare_output()
    statuses = [1]
    atexit.register(lambda: _leave(statuses[-1]))
    try:
        statuses.append(main([*command, *sys.argv[1:]]))
    except SystemExit as stop:
        statuses.append(stop.code if isinstance(stop.code, int) else int(stop.code is not None))
        raise
    except KeyboardInterrupt as stop:  # before the command runs, which prints a line of it
        statuses.append(exit_status(stop))
    sys.exit(statuses[-1])


def _leave(status: int) -> None:
    """End the process at once, with all that was written; its children as Python ends them, which may come behind."""
    for child in multiprocessing.active_children():
        if child.daemon:
            child.terminate()
        child.join()
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a pipe whose reader is gone
            stream.flush()
    os._exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command of `dbce`; return its exit status."""
    words = sys.argv[1:] if argv is None else argv
    return run(parser(next(iter(words), "")), words)


def run(parser: argparse.ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; return 0, or the status of an error that was printed in one line."""
    words = sys.argv[1:] if argv is None else argv
    if foreign := [word for word in words if not is_utf8(word)]:
        parser.error(
            f"{foreign[0]!r} is not UTF-8, and no table, log or plan can hold it; rename the file, or write it so"
        )
    if not words and parser._subparsers:
        parser.error(f"name a command; `{parser.prog} --help` lists them")
    arguments = parser.parse_args(argv)
    arguments.log = log.Log()
    try:
        with (
            log.write_to(sys.stderr, arguments.log_format, arguments.log_file),
            arguments.log.failing(),
            stoppable(),
        ):
            return _work(arguments)
    except BrokenPipeError as error:
        _drop_output()  # `| head` has what it wanted
        return exit_status(error)
    except (DbceError, OSError) as error:
        if isinstance(error, OSError):
            _drop_output()  # a full disk, a folder that may not be written
        _complain(f"{parser.prog}: {log.printable(log.without_credentials(str(error)))}{_advice(error)}")
        return exit_status(error)
    except KeyboardInterrupt as error:
        again = "; the same command resumes it" if getattr(arguments, "resumes", False) else ""
        _complain(f"{parser.prog}: stopped before the end{again}")
        return exit_status(error)


def _advice(error: Exception) -> str:
    """Advise what to do about an error of the machine; one of ours says that by itself."""
    if not isinstance(error, OSError):
        return ""
    from dbce_spark.files import storage  # only here: it takes fsspec with it, which not all commands need

    if is_full(error):
        unnamed = "" if error.filename else " for standard output, or for a file that is written"
        return f"{unnamed}; {storage.remedy(error)}"
    is_refused = error.errno in storage.REFUSED
    return "; let this user read and write it, and give the same command again" if is_refused else ""


def _complain(line: str) -> None:
    """Print why a command ends; where that cannot be printed, as on a full disk, its status still says so."""
    with suppress(OSError):
        print(line, file=sys.stderr)


def _work(arguments: argparse.Namespace) -> int:
    """Do the work of a command, and print what waits to be printed; return the status that it ends with.

    Raises:
        ConfigError: that of the command, with the options that gave parameters in place of these.
        PlatformError: an extra is not installed.
    """
    try:
        status: int | None = arguments.run(arguments)
    except ConfigError as error:
        raise error.naming(arguments.options) from error
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise PlatformError(f"this needs {error.name}: {installs(extra)}") from error
    sys.stdout.flush()
    return status or 0


def _drop_output() -> None:
    """Let what waits to be printed go nowhere: Python would try once more when it ends, and complain."""
    with suppress(OSError):  # standard output is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser(command: str = "") -> argparse.ArgumentParser:
    """Build the parser of a command, whose module alone is loaded; or that of all, in the order of GROUPS."""
    module_of = {name: module for names in GROUPS.values() for name, module in names.items()}
    modules = [module_of[command]] if command in module_of else dict.fromkeys(module_of.values())
    headings = {next(iter(names)): heading for heading, names in GROUPS.items()}
    parser = Command(
        prog="dbce",
        description=dbce_spark.__doc__,
        epilog="`dbce COMMAND --help` lists the options of a command.",
        formatter_class=lambda prog: GroupedHelp(prog, headings),
    )
    parser.add_argument("--version", action="version", version=f"dbce-spark {dbce_spark.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in modules:
        import_module(f"dbce_spark.commands.{module}").add(commands)
    return parser


class GroupedHelp(argparse.HelpFormatter):
    """List commands under headings; argparse has a single list.

    headings: by the name of the first command below it.
    """

    def __init__(self, prog: str, headings: Mapping[str, str]) -> None:
        super().__init__(prog)
        self._headings = headings

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            # argparse reckons the width of this column without the indent of what stands in it.
            self._action_max_length += self._indent_increment
            return self._join_parts([self._format_action(one) for one in self._iter_indented_subactions(action)])
        text = super()._format_action(action)
        heading = self._headings.get(action.dest)
        before = " " * (self._current_indent - self._indent_increment)
        return f"\n{before}{heading}:\n{text}" if heading else text


if __name__ == "__main__":
    entry()
