"""`dbce stream`."""

import argparse
from collections.abc import Sequence

from dbce_spark import config as configuration
from dbce_spark.archive import sources
from dbce_spark.commands.arguments import (
    add_log,
    add_spark,
    command_line,
    seconds,
    spark_settings,
    started_whole,
    stoppable,
    told_to,
)
from dbce_spark.errors import InputError
from dbce_spark.log import Log
from dbce_spark.streaming.stream.stream_tables import CHECKPOINT
from dbce_spark.streaming.urltree import urltree_settings as urltree

_OF_TREE = "urltree."
"""What settings of conf/urltree.toml begin with."""
_COUNTED = ("files", "records", "captures", "labels", "repeats", "late_labels", "revisits", "rejects")


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds it to the commands of `dbce`."""
    command = commands.add_parser(
        "stream",
        help="label pages as they arrive, by what their domain has shown before",
        description="Label the pages of WARC files as these appear, by what their domain has shown before (URL Tree),"
        " and write them as Parquet (docs/streaming.md). Given again with the same --output it goes on.",
    )
    command.add_argument(
        "input", nargs="+", metavar="INPUT",
        help="a folder in which files appear (searched at every depth), a glob in quotes, or a file; local, or any URL"
        " that fsspec knows (s3://)",
    )  # fmt: skip
    command.add_argument("--output", required=True, metavar="DIR", help="a folder or URL for tables and commits")
    command.add_argument(
        "--checkpoint", default="", metavar="DIR",
        help="where Spark keeps the state, a folder that all workers see or a URL that Spark knows (default: in the"
        " output)",
    )  # fmt: skip
    command.add_argument(
        "--every", type=seconds, metavar="SECONDS",
        help="go on for ever, with a batch so often; without it what is there is read, and that is all",
    )  # fmt: skip
    command.add_argument(
        "--heuristic", choices=urltree.HEURISTICS, help="how the tree labels (default: as in conf/urltree.toml)"
    )
    command.add_argument(
        "--relabel", type=int, metavar="N",
        help="label a page once more when the node that decided on it has seen N documents (default: as configured, 0:"
        " never)",
    )  # fmt: skip
    command.add_argument("--config", metavar="FILE", help="a TOML file; what it leaves out stays as in conf/dbce.toml")
    command.add_argument("--urltree", metavar="FILE", help="the same for conf/urltree.toml")
    command.add_argument(
        "--set", action="append", default=[], metavar="SECTION.NAME=VALUE", dest="settings",
        help="one parameter of conf/dbce.toml, or, behind urltree., of conf/urltree.toml: stream.batch_files=8,"
        " urltree.label.n_min=3; may be repeated",
    )  # fmt: skip
    add_spark(command)
    add_log(command)
    command.set_defaults(run=_stream_and_tell)


def _stream_and_tell(arguments: argparse.Namespace) -> None:
    told = Log(command=command_line(), stage="stream")
    with told_to(arguments, told), stoppable():
        _stream(arguments, told)


def _stream(arguments: argparse.Namespace, told: Log) -> None:
    of_tree = [one.removeprefix(_OF_TREE) for one in arguments.settings if one.startswith(_OF_TREE)]
    config = configuration.load(arguments.config, [one for one in arguments.settings if not one.startswith(_OF_TREE)])
    tree = urltree.load(arguments.urltree, [*of_tree, *_asked(arguments)])
    to = sources.absolute(arguments.output).rstrip("/")
    if "://" in to and not arguments.checkpoint:
        raise InputError(f"{to} is no folder; give --checkpoint DIR for the state, which Spark keeps by itself")
    settings = spark_settings(arguments.spark)
    from dbce_spark.spark.engine.session import session
    from dbce_spark.spark.jobs import stream  # only here: `dbce --help` needs neither Spark nor Java

    request = stream.StreamRequest(
        inputs=tuple(sources.absolute(one) for one in _checked(arguments.input)),
        output=to,
        checkpoint=sources.absolute(arguments.checkpoint) or f"{to}/{CHECKPOINT}",
        every=arguments.every,
    )
    told.tell("start", f"{', '.join(request.inputs)} to {to}; Spark starts", {"heuristic": tree.label.heuristic})
    with told.waiting("Spark starts"), started_whole():
        spark = session("dbce stream", master=arguments.master, settings=settings)
    totals = stream.run(spark, request, config, tree, told)
    told.tell("end", f"all that is there is read: {totals.get('labels', 0):,} pages are labelled", {"totals": totals})
    rejects = sum(count for name, count in totals.items() if name.startswith("rejects."))
    told_counts = totals | {"rejects": rejects}
    print(", ".join(f"{told_counts.get(name, 0):,} {name.replace('_', ' ')}" for name in _COUNTED))


def _checked(inputs: Sequence[str]) -> Sequence[str]:
    if listed := next((one for one in inputs if one.startswith("@")), ""):
        raise InputError(f"{listed}: a stream takes folders, globs and files, no manifest")
    return inputs


def _asked(arguments: argparse.Namespace) -> list[str]:
    """What the options set of the tree's parameters, as --set would."""
    values = {"label.heuristic": arguments.heuristic, "relabel.support": arguments.relabel}
    return [f"{name}={value}" for name, value in values.items() if value is not None]
