"""`dbce status`."""

import argparse
import json

from dbce_spark import storage
from dbce_spark.archive import sources
from dbce_spark.streaming.stream.stream_tables import BEGUN


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add it to the commands of `dbce`."""
    command = commands.add_parser(
        "status",
        help="say how far a run or a stream is, or where it died",
        description="Say how far a run or a stream is, or where it died. Ends with 0: finished, 3: finished, but too"
        " many files failed, 4: running, 5: dead or stopped, 6: never begun, 2: cannot be said.",
    )
    command.add_argument(
        "extracted", metavar="OUTPUT_DIR",
        help="what `dbce extract --output` or `--collection`, or `dbce stream --output` was given",
    )  # fmt: skip
    command.add_argument(
        "--staging", default="", metavar="DIR", help="what `dbce extract --staging` was given, if it was"
    )
    command.add_argument("--json", action="store_true", help="as JSON, for programs")
    command.set_defaults(run=_print_status)


def _print_status(arguments: argparse.Namespace) -> int:
    from dbce_spark.spark.run.run_status import inspect_run
    from dbce_spark.spark.stream_status import inspect_stream

    output = sources.absolute(arguments.extracted)
    is_stream = BEGUN in storage.names(output)
    found = inspect_stream(output) if is_stream else inspect_run(output, sources.absolute(arguments.staging))
    print(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) if arguments.json else found.text())
    return found.exit_status
