"""The `dbce` command."""

import argparse
import sys
from collections.abc import Sequence

import dbce_spark
from dbce_spark import log
from dbce_spark.commands import (
    acquire,
    annotate,
    bench,
    collection,
    evaluate,
    extract,
    history,
    labels,
    readers,
    rules,
)
from dbce_spark.commands import status as status_command
from dbce_spark.commands import stream as stream_command
from dbce_spark.errors import DbceError


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one subcommand. Returns 0, or the status of an error that it has told in one line."""
    arguments = parser().parse_args(argv)
    try:
        status: int | None = arguments.run(arguments)
    except DbceError as error:
        print(f"dbce: {log.without_credentials(str(error))}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print("dbce: stopped; what was written is not finished, and the same command goes on with it", file=sys.stderr)
        return 130
    return status or 0


def extract_main(argv: Sequence[str] | None = None) -> int:
    """`dbce extract`, for spark-submit."""
    return main(["extract", *(sys.argv[1:] if argv is None else argv)])


def changes_main(argv: Sequence[str] | None = None) -> int:
    """`dbce changes`, for spark-submit."""
    return main(["changes", *(sys.argv[1:] if argv is None else argv)])


def stream_main(argv: Sequence[str] | None = None) -> int:
    """`dbce stream`, for spark-submit."""
    return main(["stream", *(sys.argv[1:] if argv is None else argv)])


def parser() -> argparse.ArgumentParser:
    """All commands with all their options."""
    parser = argparse.ArgumentParser(prog="dbce", description=dbce_spark.__doc__)
    parser.add_argument("--version", action="version", version=f"dbce-spark {dbce_spark.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    together = (extract, collection, history, acquire, stream_command, status_command, readers)
    for one in (*together, rules, bench, evaluate, annotate, labels):
        one.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
