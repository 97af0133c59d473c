"""`dbce stream`."""

import argparse
from collections.abc import Sequence
from typing import Any

from dbce_spark import config as configuration
from dbce_spark.commands.archive_checks import check_archives
from dbce_spark.commands.arguments import (
    OF_TREE,
    add_config,
    add_formats,
    add_log_format,
    add_output,
    add_settings,
    add_urltree,
    check_formats,
    check_installed,
    default_of,
    given_parameters,
    seconds,
)
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.commands.signals import started_whole
from dbce_spark.commands.spark_options import add_spark, command_line, spark_settings
from dbce_spark.config import DbceConfig
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from dbce_spark.log import Log, counted
from dbce_spark.streaming.stream import stream_tables
from dbce_spark.streaming.stream.stream_method import DBCE, URLTREE
from dbce_spark.streaming.urltree import urltree_settings as urltree

_COUNTED = ("files", "records", "captures", "labels", "repeats", "late_labels", "revisits", "rejects", "skipped")


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = add_command(
        commands, "stream", _run, "label pages as they arrive, by comparing them with earlier pages of their site"
    )
    command.set_defaults(resumes=True)
    command.add_argument(
        "input", nargs="+", metavar="INPUT",
        help="read a folder in which files appear (searched at every depth), a glob in quotes, or a file; local, or"
        " any URL that fsspec supports (s3://)",
    )  # fmt: skip
    add_output(command, "DIR", "write tables and commits to this folder or URL")
    command.add_argument(
        "--checkpoint", default="", metavar="DIR",
        help="keep the state of Spark in this folder, which all workers must see, or a URL that Spark supports"
        " (default: in the output)",
    )  # fmt: skip
    command.add_argument(
        "--every", type=seconds, metavar="SECONDS",
        help="run until stopped, with a batch at this interval; without it, read the files that exist, and stop",
    )  # fmt: skip
    _add_method(command)
    add_formats(command)
    add_config(command)
    add_urltree(command)
    add_settings(
        command, "conf/dbce.toml, such as stream.batch_files=8, or of conf/urltree.toml, such as urltree.label.n_min=3"
    )
    add_spark(command)
    add_log_format(command)


def _add_method(command: argparse.ArgumentParser) -> None:
    """Add how pages are labelled."""
    command.add_argument(
        "--by",
        choices=(DBCE, URLTREE),
        dest="stream.by",
        help="label by the page itself and the last pages of its site, or by the URL Tree of its domain alone"
        f" {default_of('stream.by')}",
    )
    command.add_argument(
        "--prime", default="", metavar="COLLECTION",
        help="begin sites with the pages that this collection holds of them, written by `dbce extract --collection`",
    )  # fmt: skip
    command.add_argument(
        "--relabel", type=int, metavar="N",
        help="label a page again when N pages of its site have arrived; 0: never"
        f" {default_of('stream.relabel_pages')}. With --by urltree: when N documents of its node have (default: 0)",
    )  # fmt: skip
    command.add_argument(
        "--heuristic",
        choices=urltree.HEURISTICS,
        help=f"label by this rule of the URL Tree {default_of('label.heuristic', 'urltree.toml')}",
    )


def _run(arguments: argparse.Namespace) -> None:
    """Label the pages of WARC files as these appear, by themselves and by comparing them with earlier pages of their
    site, and write them as Parquet (docs/streaming.md). The same command with the same --output resumes a stream."""
    log: Log = arguments.log
    log.command, log.stage = command_line(), "stream"
    config, tree = _parameters(arguments)
    check_formats(config.formats)
    check_installed("stream", "pyspark")
    to = sources.absolute(arguments.output).rstrip("/")
    if sources.is_remote(to) and not arguments.checkpoint:
        raise InputError(f"{to} is no folder of a file system; give --checkpoint DIR for the state that Spark keeps")
    settings = spark_settings(arguments.spark)
    inputs = tuple(sources.absolute(one) for one in _checked(arguments.input))
    checkpoint = sources.absolute(arguments.checkpoint) or f"{to}/{stream_tables.CHECKPOINT}"
    if arguments.every is None and stream_tables.last_commit(to) is None:
        check_archives(sources.expand(inputs, config.input.patterns), config)
    with started_whole():
        from dbce_spark.spark.engine.session import session
        from dbce_spark.spark.jobs import stream_job  # only here: `dbce --help` needs neither Spark nor Java
        from dbce_spark.spark.run.record_counts import rejects_by_reason, skipped_by_filter

    request = stream_job.StreamRequest(
        inputs=inputs,
        output=to,
        checkpoint=checkpoint,
        every=arguments.every,
        tree=tree,
        prime=sources.absolute(arguments.prime).rstrip("/"),
    )
    stream_job.check(request, config)
    how = {"by": config.stream.by} | ({"heuristic": tree.label.heuristic} if config.stream.by == URLTREE else {})
    log.write("start", f"{', '.join(inputs)} to {to}; Spark starts", how)
    with log.waiting("Spark starts"), started_whole():
        spark = session("dbce stream", master=arguments.master, settings=settings)
    totals = stream_job.run(spark, request, config, log)
    log.write(
        "end", f"all that is there is read, {counted(totals.get('labels', 0), 'page')} labelled", {"totals": totals}
    )
    counts = totals | {"rejects": sum(rejects_by_reason(totals).values())}
    counts |= {"skipped": sum(skipped_by_filter(totals).values())}
    print(", ".join(f"{counts.get(name, 0):,} {name.replace('_', ' ')}" for name in _COUNTED))
    # With --prime all pages may be known already.
    if not (counts.get("labels") or counts.get("repeats") or arguments.every):
        raise InputError(f"{inputs[0]}: no page was found there to label")


def _checked(inputs: Sequence[str]) -> Sequence[str]:
    if listed := next((one for one in inputs if one.startswith("@")), ""):
        raise InputError(f"{listed}: a stream takes folders, globs and files, no manifest")
    return inputs


def _parameters(arguments: argparse.Namespace) -> tuple[DbceConfig, urltree.UrlTreeConfig]:
    """Load the parameters of the stream and those of the URL Tree, with what options give. --relabel is of the one that
    labels.

    Raises:
        ConfigError: one is wrong.
        InputError: --heuristic, where another method labels.
    """
    of_tree = [one.removeprefix(OF_TREE) for one in arguments.settings if one.startswith(OF_TREE)]
    others = [one for one in arguments.settings if not one.startswith(OF_TREE)]
    given = given_parameters(arguments)
    config = configuration.load(arguments.config, others, given)
    by_tree = config.stream.by == URLTREE
    if arguments.heuristic and not by_tree:
        raise InputError(f"--heuristic {arguments.heuristic} is a rule of the URL Tree; give --by {URLTREE} with it")
    given_tree: dict[str, Any] = {"label.heuristic": arguments.heuristic}
    if (relabel := arguments.relabel) is not None:
        name = "relabel.support" if by_tree else "stream.relabel_pages"
        arguments.options[name] = "--relabel"
        if by_tree:
            given_tree[name] = relabel
        else:
            config = configuration.load(arguments.config, others, given | {name: [relabel] if relabel else []})
    return config, urltree.load(arguments.urltree, of_tree, given_tree)
