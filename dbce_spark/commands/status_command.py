"""`dbce status`."""

import argparse

from dbce_spark import log
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.commands.terminal import as_json
from dbce_spark.errors import DbceError
from dbce_spark.files import sources, storage
from dbce_spark.streaming.stream.stream_tables import BEGUN


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = add_command(commands, "status", _print_status, "show the progress of a run or a stream, or where it died")
    command.add_argument(
        "extracted", metavar="OUTPUT",
        help="show the output of `dbce extract` or `dbce stream`, or the collection, in this folder or URL",
    )  # fmt: skip
    command.add_argument(
        "--staging", default="", metavar="DIR", help="look for intermediate files here, if `dbce extract` had --staging"
    )
    command.add_argument(
        "--format", choices=("text", "json"), default="text",
        help="print text, or a JSON object for programs (default: %(default)s)",
    )  # fmt: skip
    command.take_earlier("--json", "--format", "json")


def _print_status(arguments: argparse.Namespace) -> int:
    """Show the progress of a run or a stream, or where it died. The exit status is 0: finished, 3: finished, but too
    many files failed, 4: running, 5: dead or stopped, 6: never begun, 2: unknown."""
    from dbce_spark.spark.run.run_status import inspect_run
    from dbce_spark.spark.run.stream_status import inspect_stream

    output = sources.absolute(arguments.extracted)
    try:
        is_stream = BEGUN in storage.list_names(output)
        found = inspect_stream(output) if is_stream else inspect_run(output, sources.absolute(arguments.staging))
    except DbceError as error:
        if arguments.format == "json":
            print(as_json(_unknown(output, error), indent=2))
        raise
    print(as_json(found.as_dict(), indent=2) if arguments.format == "json" else found.text())
    return found.exit_status


def _unknown(output: str, error: DbceError) -> dict[str, object]:
    """Render for programs that nothing is known of an output."""
    why = log.printable(log.without_credentials(str(error)))
    return {"output": output, "condition": "unknown", "exit_status": error.exit_status, "error": why}
