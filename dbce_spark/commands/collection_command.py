"""`dbce collection`."""

import argparse

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import (
    Commands,
    add_collection,
    add_config,
    add_earlier,
    add_log,
    add_output,
    add_version,
    chosen_version,
    count,
)
from dbce_spark.output import inventory
from dbce_spark.output.collection import Collection, Version


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = commands.add_parser(
        "collection",
        help="list, compare, restore, compact and clean up the versions of a collection",
        description="List, compare, restore, compact and clean up the versions of a collection (docs/collections.md).",
    )
    what = command.add_subparsers(title="commands", dest="what", required=True, metavar="COMMAND")
    for name, text in (
        ("log", "list all versions, with their increments and captures"),
        ("show", "show the increments, rows and bytes of a version"),
        ("files", "list the Parquet files of a version, table by table"),
        ("report", "report unusual changes between the last two crawls"),
        ("rollback", "restore the contents of an earlier version, as a new version"),
        ("compact", "rewrite the current rows in fewer files, without replaced rows, as a new version"),
        ("vacuum", "remove old versions, and the files that no remaining version needs"),
        ("register", "create Delta tables of a version, as links to its files"),
    ):
        part = what.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        add_collection(part)
        _add_options(part, name)
        add_log(part)
        part.set_defaults(run=_collection)


def _add_options(part: argparse.ArgumentParser, name: str) -> None:
    if name == "rollback":
        part.add_argument(
            "version", type=count, metavar="VERSION", help="restore the version of this number, as `log` lists it"
        )
    elif name == "vacuum":
        part.add_argument(
            "--keep", type=count, default=10, metavar="N", help="keep the last N versions (default: %(default)s)"
        )
    elif name not in ("log", "compact"):
        add_version(part)
    if name == "report":
        part.add_argument(
            "--output", metavar="FILE", help="write the report as HTML too, to a file such as report.html"
        )
        add_config(part)
    if name == "register":
        add_output(
            part, "DIR", "create the tables in this folder, which must be on the same file system as the collection"
        )
        add_earlier(part, "--delta", "--output")


def _collection(arguments: argparse.Namespace) -> None:
    collection = Collection(arguments.collection)
    collection.current()
    if arguments.what == "log":
        print(inventory.log(collection, [collection.version(number) for number in collection.numbers()]))
    elif arguments.what == "rollback":
        print(inventory.log(collection, [collection.rollback(arguments.version)]))
    elif arguments.what == "compact":
        from dbce_spark.spark.jobs import compaction_job

        made = compaction_job.run(collection, configuration.default().output.rows_per_file)
        print(
            inventory.log(collection, [made]) if made else f"{collection.folder} is one increment, and stays as it is"
        )
    elif arguments.what == "vacuum":
        removed = collection.vacuum(arguments.keep)
        print("\n".join([*removed, f"{len(removed)} removed"]))
    else:
        version = chosen_version(collection, arguments)
        if arguments.what == "report":
            _compare(collection, version, arguments)
        elif arguments.what == "register":
            from dbce_spark.output import delta_tables

            print("\n".join(map(str, delta_tables.register(collection, version, arguments.output))))
        else:
            print(
                inventory.show(collection, version)
                if arguments.what == "show"
                else inventory.files(collection, version)
            )


def _compare(collection: Collection, version: Version, arguments: argparse.Namespace) -> None:
    from dbce_spark.report import crawl_report

    thresholds = configuration.load(arguments.config).comparison
    comparison = crawl_report.compare(collection, version, thresholds)
    if arguments.output:
        crawl_report.write(comparison, collection.folder, arguments.output)
    print(crawl_report.text(comparison))
