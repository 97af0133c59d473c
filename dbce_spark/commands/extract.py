"""`dbce extract`."""

import argparse
import json
import time
from collections.abc import Sequence

from dbce_spark import config as configuration
from dbce_spark.archive import failed_files, indexed_records, sources
from dbce_spark.archive.index import index_file, read_estimate
from dbce_spark.archive.index.capture_filter import Counts, Selection
from dbce_spark.commands.arguments import (
    INPUT_HELP,
    add_log,
    add_spark,
    command_line,
    count,
    spark_settings,
    started_whole,
    stoppable,
    told_to,
)
from dbce_spark.config import DbceConfig
from dbce_spark.errors import InputError
from dbce_spark.log import Log
from dbce_spark.output.collection import Collection

_FILTERS = {
    "surt": ("PREFIX", "captures whose SURT key begins so: org,example)/news/"),
    "domain": ("NAME", "captures of this registered domain, with all hosts below it"),
    "host": ("NAME", "captures of exactly this host"),
    "mime": ("TYPE", "captures of this media type: text/html, text/*"),
    "status": ("CODE", "captures with this HTTP status"),
    "language": ("CODE", "captures that the index says are in this language: de, deu"),
    "digest": ("DIGEST", "captures with this digest of the payload"),
    "url": ("REGEX", "captures in whose URL this is found"),
}
_NOT_LOGGED = ("run_id", "config", "versions", "plan")
"""Of run.json: what a log has already, or that is too long for a line."""
_PLURALS = {"status": "statuses"}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds it to the commands of `dbce`."""
    command = commands.add_parser(
        "extract",
        help="label the text of every page in web archives and write it as Parquet",
        description="Label the text of every page in web archives and write it as Parquet (docs/tables.md).",
    )
    command.add_argument("input", nargs="*", metavar="INPUT", help=INPUT_HELP)
    where = command.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--output", metavar="DIR",
        help="a folder, or a URL such as s3://bucket/name, for extractions, captures, rejects and run.json",
    )  # fmt: skip
    where.add_argument(
        "--collection", metavar="DIR",
        help="a folder that grows by crawls: what is new in INPUT extends it (docs/collections.md)",
    )  # fmt: skip
    command.add_argument(
        "--staging", default="", metavar="DIR",
        help="a folder for what stages hand on; needed if the output is in an object store (default: in the output)",
    )  # fmt: skip
    command.add_argument("--config", metavar="FILE", help="a TOML file; what it leaves out stays as in conf/dbce.toml")
    command.add_argument(
        "--set", action="append", default=[], metavar="SECTION.NAME=VALUE", dest="settings",
        help="one parameter of conf/dbce.toml for this run, such as lsh.threshold=0.3; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--favor", choices=("precision", "balanced", "recall"),
        help="what to keep where it is not sure (default: as configured, balanced)",
    )  # fmt: skip
    command.add_argument("--comments", action="store_true", help="keep what readers wrote below the content too")
    command.add_argument("--html", action="store_true", help="also write each page as annotated HTML (column html)")
    command.add_argument(
        "--limit", type=count, metavar="N", help="extract the first N captures by file and offset only"
    )
    command.add_argument("--dry-run", action="store_true", help="say what would be read, and read nothing")
    command.add_argument(
        "--overwrite", action="store_true", help="replace an output that exists, or start an unfinished one afresh"
    )
    command.add_argument(
        "--max-failed-files", type=float, metavar="SHARE",
        help="end with an error if more than this share of the files cannot be read (default: as configured, 0.05)",
    )  # fmt: skip
    add_spark(command)
    add_log(command)
    _add_selection(command.add_argument_group("selection", "which captures are read (docs/selection.md)"))
    command.set_defaults(run=_extract_and_tell)


def _add_selection(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--index", action="append", default=[], metavar="FILE",
        help="a CDX, CDXJ, ZipNum or columnar index, or a WACZ: of the archives that it names only what is wanted is"
        " read; may be repeated, and is named as INPUT is",
    )  # fmt: skip
    group.add_argument(
        "--base", default="", metavar="FOLDER_OR_URL",
        help="where the file names in the index lie (default: the folder of the index)",
    )  # fmt: skip
    for option, (metavar, text) in _FILTERS.items():
        group.add_argument(f"--{option}", action="append", default=[], metavar=metavar, help=f"{text}; may be repeated")
    group.add_argument("--from", dest="since", metavar="DATE", help="fetched then or later: 2010, 201003, 2010-03-05")
    group.add_argument("--to", dest="until", metavar="DATE", help="fetched then or earlier, to the end of that day")
    group.add_argument(
        "--sample", type=float, metavar="SHARE", help="this share of the registered domains, always the same: 0.01"
    )


def _extract_and_tell(arguments: argparse.Namespace) -> None:
    told = Log(command=command_line())
    with told_to(arguments, told), stoppable():
        _extract(arguments, told)


def _extract(arguments: argparse.Namespace, told: Log) -> None:
    started = time.monotonic()
    config = configuration.load(arguments.config, [*arguments.settings, *_asked(arguments)])
    wanted = indexed_records.wanted(config)
    files = sources.expand(arguments.input, config.input.patterns)
    indexes = indexed_records.indexes(arguments.index, config.input.index_patterns)
    base = sources.absolute(arguments.base)
    _check(arguments, config, files, indexes)
    if arguments.dry_run:
        _tell_input(files, indexes, base, wanted, config)
        return
    settings = spark_settings(arguments.spark)
    from dbce_spark.spark import summary  # only here: `dbce --help` needs neither Spark nor Java
    from dbce_spark.spark.engine.session import session
    from dbce_spark.spark.jobs import increment, job
    from dbce_spark.spark.run.run_request import RunRequest

    request = RunRequest(
        files=files,
        indexes=indexes,
        base=base,
        output=sources.absolute(arguments.output or ""),  # workers on a cluster stand in folders of their own
        with_html=arguments.html,
        limit=arguments.limit,
        started=started,
        overwrite=arguments.overwrite,
        staging=sources.absolute(arguments.staging),
    )
    to = Collection(sources.absolute(arguments.collection)) if arguments.collection else None
    if to:
        new = increment.prepared(to, request, config)
        if new is None:
            print(f"nothing is new; {arguments.collection} stays as it is")
            return
        request = new
    job.check_output(request, config)
    job.name(told, request, config)
    told.tell("start", f"run {told.run_id}: {len(files):,} files; Spark starts", request.log_fields(config))
    with told.waiting("Spark starts"), started_whole():
        spark = session("dbce extract", master=arguments.master, settings=settings)
    report = increment.run(spark, to, request, config, told) if to else job.run(spark, request, config, told)
    print(summary.text(report, request.output))
    failed_files.check(report["failed_files"], config.input.max_failed_files)
    figures = {name: value for name, value in report.items() if name not in _NOT_LOGGED}
    told.tell("end", f"finished: {report['extractions']:,} extractions in {request.output}", figures)


def _check(arguments: argparse.Namespace, config: DbceConfig, files: Sequence[str], indexes: Sequence[str]) -> None:
    """That the options can be had together."""
    if not files and not indexes:
        raise InputError("nothing to read; give an INPUT, an --index, or both")
    if files and config.select.languages:
        raise InputError("only an index says which language a page is in; give an --index and no INPUT, or take rows by"
                         " their column `language`")  # fmt: skip
    if arguments.collection and ("://" in arguments.collection or arguments.limit or arguments.staging):
        raise InputError("--collection takes a folder of a file system, and neither --staging nor --limit")


def _tell_input(files: Sequence[str], indexes: Sequence[str], base: str, wanted: Selection, config: DbceConfig) -> None:
    """What would be read."""
    if files:
        _tell_files(files)
    if indexes:
        counts = Counts()
        found = index_file.wanted(indexes, base, wanted, config.fetch, counts)
        print(read_estimate.of_index(found, counts, config.fetch).text())


def _asked(arguments: argparse.Namespace) -> list[str]:
    """What the options of `extract` set of the configuration, as --set would."""
    values: dict[str, object] = {
        "label.favor": arguments.favor,
        "label.comments": arguments.comments or None,
        "input.max_failed_files": arguments.max_failed_files,
        "select.since": arguments.since,
        "select.until": arguments.until,
        "select.sample": arguments.sample,
    }
    lists = {f"select.{_PLURALS.get(name, f'{name}s')}": getattr(arguments, name) for name in _FILTERS}
    lists["select.statuses"] = [_status(text) for text in arguments.status]
    given = {name: value for name, value in (values | lists).items() if value is not None and value != []}
    # JSON of texts, numbers and lists of them is TOML.
    return [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in given.items()]


def _status(text: str) -> int:
    if not text.isdigit():
        raise InputError(f"--status {text}: write a number, such as 200")
    return int(text)


def _tell_files(files: Sequence[str]) -> None:
    total = 0
    for path in files:
        try:
            size = sources.size(path)
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: {error}") from error
        total += max(size, 0)
        print(f"{size:>16,}  {path}")
    print(f"{total:>16,}  bytes in {len(files):,} files would be read")
