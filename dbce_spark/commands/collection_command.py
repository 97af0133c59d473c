"""`dbce collection`."""

import argparse
from collections.abc import Callable

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import (
    add_collection,
    add_config,
    add_local_output,
    add_version,
    chosen_version,
    count,
)
from dbce_spark.commands.command_parser import Command, Commands, add_command
from dbce_spark.output import inventory
from dbce_spark.output.collection import Collection


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = commands.add_parser(
        "collection",
        help="list, compare, restore, compact and clean up the versions of a collection",
        description="List, compare, restore, compact and clean up the versions of a collection (docs/collections.md).",
    )
    what = command.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add(what, "log", _log, "list all versions, with their increments and captures")
    add_version(_add(what, "show", _show, "show the increments, rows and bytes of a version"))
    add_version(_add(what, "files", _files, "list the Parquet files of a version, table by table"))
    _add_report(what)
    rollback = _add(what, "rollback", _rollback, "restore the contents of an earlier version, as a new version")
    rollback.add_argument(
        "version",
        type=count,
        metavar="VERSION",
        help="restore the version of this number, as `dbce collection log` lists it",
    )
    _add(what, "compact", _compact, "rewrite the current rows in fewer files, without replaced rows, as a new version")
    vacuum = _add(what, "vacuum", _vacuum, "remove old versions, and the files that no remaining version needs")
    vacuum.add_argument(
        "--keep", type=count, default=10, metavar="N", help="keep the last N versions (default: %(default)s)"
    )
    vacuum.add_argument("--dry-run", action="store_true", help="show what would be removed, and stop")
    _add_register(what)


def _add(commands: Commands, name: str, run: Callable[[argparse.Namespace], None], help: str) -> Command:
    command = add_command(commands, name, run, help)
    add_collection(command)
    return command


def _add_report(commands: Commands) -> None:
    command = _add(commands, "report", _report, "report unusual changes between the last two crawls")
    add_version(command)
    command.add_argument("--output", metavar="FILE", help="write the report as HTML too, to a file such as report.html")
    add_config(command)


def _add_register(commands: Commands) -> None:
    command = _add(commands, "register", _register, "create Delta tables of a version, as links to its files")
    add_version(command)
    add_local_output(
        command,
        "DIR",
        "create the tables in this folder; if it is on another file system than the collection, its files are copied",
    )
    command.take_earlier("--delta", "--output")


def _opened(arguments: argparse.Namespace) -> Collection:
    """Return the collection of a command.

    Raises:
        InputError: there is none.
    """
    collection = Collection(arguments.collection)
    collection.current()
    return collection


def _log(arguments: argparse.Namespace) -> None:
    """List all versions, with their increments and captures."""
    collection = _opened(arguments)
    print(inventory.log(collection, [collection.version(number) for number in collection.numbers()]))


def _show(arguments: argparse.Namespace) -> None:
    """Show the increments, rows and bytes of a version."""
    collection = Collection(arguments.collection)
    print(inventory.show(collection, chosen_version(collection, arguments)))


def _files(arguments: argparse.Namespace) -> None:
    """List the Parquet files of a version, table by table."""
    collection = Collection(arguments.collection)
    print(inventory.files(collection, chosen_version(collection, arguments)))


def _report(arguments: argparse.Namespace) -> None:
    """Report unusual changes between the last two crawls."""
    from dbce_spark.report import crawl_report

    collection = Collection(arguments.collection)
    thresholds = configuration.load(arguments.config).comparison
    comparison = crawl_report.compare(collection, chosen_version(collection, arguments), thresholds)
    if arguments.output:
        crawl_report.write(comparison, collection.folder, arguments.output)
    print(crawl_report.text(comparison))


def _rollback(arguments: argparse.Namespace) -> None:
    """Restore the contents of an earlier version, as a new version."""
    from dbce_spark.spark.run import run_lock

    collection = _opened(arguments)
    # A run whose number another version takes has worked for nothing.
    run_lock.check_free(collection.next_increment())
    print(inventory.log(collection, [collection.rollback(arguments.version)]))


def _compact(arguments: argparse.Namespace) -> None:
    """Rewrite the current rows in fewer files, without replaced rows, as a new version."""
    from dbce_spark.spark.jobs import compaction_job

    collection = Collection(arguments.collection)
    made = compaction_job.run(collection, configuration.default().output.rows_per_file)
    print(inventory.log(collection, [made]) if made else f"{collection.folder} is one increment, and stays as it is")


def _vacuum(arguments: argparse.Namespace) -> None:
    """Remove old versions, and the files that no remaining version needs."""
    removed = _opened(arguments).vacuum(arguments.keep, dry_run=arguments.dry_run)
    print("\n".join([*removed, f"{len(removed)} {'would be ' if arguments.dry_run else ''}removed"]))


def _register(arguments: argparse.Namespace) -> None:
    """Create Delta tables of a version, as links to its files."""
    from dbce_spark.output import delta_tables

    collection = Collection(arguments.collection)
    version = chosen_version(collection, arguments)
    print("\n".join(map(str, delta_tables.register(collection, version, arguments.output))))
