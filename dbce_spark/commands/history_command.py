"""`dbce history` and `dbce changes`: the history of one page, and of all pages of a collection."""

import argparse
from dataclasses import asdict

from dbce_spark import config
from dbce_spark.commands.arguments import (
    OF_URL,
    add_collection,
    add_in,
    add_log_format,
    add_output,
    add_version,
    chosen_version,
)
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.commands.signals import started_whole
from dbce_spark.commands.spark_options import add_spark, spark_settings
from dbce_spark.commands.terminal import add_color, is_coloured
from dbce_spark.errors import InputError
from dbce_spark.files import sources, storage
from dbce_spark.log import Log, printable
from dbce_spark.output import output_reader
from dbce_spark.output.collection import Collection, check_outside
from dbce_spark.output.history import markdown_history, url_history


def add(commands: Commands) -> None:
    """Add them to the commands of `dbce`."""
    _add_history(commands)
    _add_changes(commands)


def _add_history(commands: Commands) -> None:
    command = add_command(commands, "history", _history, "show how a page changed from capture to capture")
    command.add_argument("url", metavar="URL", help=OF_URL)
    add_in(
        command,
        "look for captures in this output or collection; only a collection tells where a template was redesigned",
    )
    command.take_earlier("--collection", "--in")
    add_version(command)
    command.add_argument(
        "--all", action="store_true", dest="everything", help="show changes of boilerplate too, not of content alone"
    )
    command.add_argument(
        "--format",
        choices=("text", "markdown"),
        default="text",
        help="show changes of its texts, with how long each stood, or diffs of its Markdown (default: %(default)s)",
    )
    add_color(command, "colour added and removed text")


def _add_changes(commands: Commands) -> None:
    command = add_command(
        commands, "changes", _run_changes, "write how all pages of a collection changed, as Parquet tables"
    )
    add_collection(command)
    add_output(command, "DIR", "write the tables to this folder, new or empty, or URL")
    add_version(command)
    add_spark(command)
    add_log_format(command)


def _history(arguments: argparse.Namespace) -> None:
    """Show how a page changed from capture to capture (docs/collections.md)."""
    if arguments.everything and arguments.format == "markdown":
        raise InputError("--all is for --format text: Markdown is written of the content alone")
    output = output_reader.open_output(arguments.place, arguments.version)
    output.check()  # texts of a part that is missing would count as removed
    coloured = is_coloured(arguments.color)
    if arguments.format == "markdown":
        captures = markdown_history.markdown_captures(output, arguments.url)
        print(printable(markdown_history.diffs(arguments.url, captures, coloured=coloured), coloured=coloured))
        return
    line = url_history.moments(output, arguments.url)
    threshold = config.load(given={"lsh": output.run.get("config", {}).get("lsh")}).lsh.threshold_of(line[-1].site)
    text = url_history.text(arguments.url, line, threshold, everything=arguments.everything, coloured=coloured)
    print(printable(text, coloured=coloured))


def _run_changes(arguments: argparse.Namespace) -> None:
    """Write how all pages of a collection changed from capture to capture, as Parquet tables: steps, changes, lives of
    texts, redesigns of sites (docs/collections.md)."""
    log: Log = arguments.log
    log.stage = "changes"
    collection = Collection(sources.absolute(arguments.collection))
    version = chosen_version(collection, arguments)
    output_reader.check_version(collection, version)  # texts of a part that is missing would count as removed
    output = sources.absolute(arguments.output)
    check_outside(output)
    storage.check_new(output)
    settings = spark_settings(arguments.spark)
    log.write(
        "start",
        f"version {version.number} of {collection.folder} to {output}; Spark starts",
        {"version": version.number},
    )
    with log.waiting("Spark starts"), started_whole():
        from dbce_spark.spark.engine.session import session
        from dbce_spark.spark.jobs import changes_job

        spark = session("dbce changes", master=arguments.master, settings=settings)
    account = changes_job.write(spark, collection, version, output, log)
    log.write("end", f"written in {account.seconds:,.1f} s", asdict(account))
    print(f"{account.text()}\nin {output}")
