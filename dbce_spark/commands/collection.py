"""`dbce collection`."""

import argparse

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import count
from dbce_spark.output import inventory
from dbce_spark.output.collection import Collection, Version


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds it to the commands of `dbce`."""
    command = commands.add_parser(
        "collection",
        help="say what a collection holds, go back to a version, make it smaller, or remove what none needs",
        description="Say what a collection holds, go back to a version, make it smaller, or remove what none needs"
        " (docs/collections.md).",
    )
    what = command.add_subparsers(dest="what", required=True, metavar="WHAT")
    for name, text in (
        ("log", "list its versions"),
        ("show", "say what a version holds"),
        ("files", "list the Parquet files of a version, table by table"),
        ("report", "say what changed oddly from one crawl to the next"),
        ("rollback", "make what a version held count again, as a new version"),
        ("compact", "write what counts anew, without what was replaced and in fewer files, as a new version"),
        ("vacuum", "remove old versions, and what none of the others needs"),
        ("register", "make Delta tables of a version, of links to its files"),
    ):
        part = what.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        part.add_argument("collection", metavar="DIR", help="the folder that `dbce extract --collection` was given")
        if name == "rollback":
            part.add_argument("version", type=count, metavar="VERSION", help="its number, as `log` lists it")
        elif name == "vacuum":
            part.add_argument(
                "--keep", type=count, default=10, metavar="N", help="versions that stay (default: %(default)s)"
            )
        elif name not in ("log", "compact"):
            part.add_argument("--version", type=count, metavar="N", help="its number (default: the last)")
        if name == "report":
            part.add_argument("--output", metavar="FILE", help="write it as a page of HTML, too, such as report.html")
            part.add_argument("--config", metavar="FILE", help="a TOML file with a section [comparison] of its own")
        if name == "register":
            part.add_argument(
                "--delta", required=True, metavar="DIR", help="a folder for the tables, on the same file system"
            )
        part.set_defaults(run=_collection)


def _collection(arguments: argparse.Namespace) -> None:
    of = Collection(arguments.collection)
    latest = of.known()
    if arguments.what == "log":
        print(inventory.log([of.version(number) for number in of.numbers()]))
    elif arguments.what == "rollback":
        print(inventory.log([of.rollback(arguments.version)]))
    elif arguments.what == "compact":
        from dbce_spark.spark.jobs import compaction

        made = compaction.run(of, configuration.default().output.rows_per_file)
        print(inventory.log([made]) if made else f"{of.folder} is one increment, and stays as it is")
    elif arguments.what == "vacuum":
        removed = of.vacuum(arguments.keep)
        print("\n".join([*removed, f"{len(removed)} removed"]))
    else:
        version = latest if arguments.version is None else of.version(arguments.version)
        if arguments.what == "report":
            _compare(of, version, arguments)
        elif arguments.what == "register":
            from dbce_spark.output import delta_tables

            print("\n".join(map(str, delta_tables.register(of, version, arguments.delta))))
        else:
            print(inventory.show(of, version) if arguments.what == "show" else inventory.files(of, version))


def _compare(of: Collection, version: Version, arguments: argparse.Namespace) -> None:
    from dbce_spark.report import crawl_report

    thresholds = configuration.load(arguments.config).comparison
    found = crawl_report.compared(of, version, thresholds)
    if arguments.output:
        crawl_report.write(found, of.folder, arguments.output, thresholds)
    print(crawl_report.text(found))
