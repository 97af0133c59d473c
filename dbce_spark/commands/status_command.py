"""`dbce status`."""

import argparse
import json

from dbce_spark.files import sources, storage
from dbce_spark.streaming.stream.stream_tables import BEGUN


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add it to the commands of `dbce`."""
    command = commands.add_parser(
        "status",
        help="show the progress of a run or a stream, or where it died",
        description="Show the progress of a run or a stream, or where it died. The exit status is 0: finished, 3:"
        " finished, but too many files failed, 4: running, 5: dead or stopped, 6: never begun, 2: unknown.",
    )
    command.add_argument(
        "extracted", metavar="OUTPUT_DIR",
        help="show the output of `dbce extract` or `dbce stream`, or the collection, in this folder or URL",
    )  # fmt: skip
    command.add_argument(
        "--staging", default="", metavar="DIR", help="look for intermediate files here, if `dbce extract` had --staging"
    )
    command.add_argument("--json", action="store_true", help="print JSON, for programs")
    command.set_defaults(run=_print_status)


def _print_status(arguments: argparse.Namespace) -> int:
    from dbce_spark.spark.run.run_status import inspect_run
    from dbce_spark.spark.run.stream_status import inspect_stream

    output = sources.absolute(arguments.extracted)
    is_stream = BEGUN in storage.list_names(output)
    found = inspect_stream(output) if is_stream else inspect_run(output, sources.absolute(arguments.staging))
    print(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) if arguments.json else found.text())
    return found.exit_status
