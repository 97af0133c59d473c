"""`dbce extract`."""

import argparse
import shlex
import time
from collections.abc import Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Any

from dbce_spark import config as configuration
from dbce_spark.archive import failed_files, indexed_records
from dbce_spark.archive.failed_files import Loss
from dbce_spark.archive.index import index_file, read_estimate
from dbce_spark.archive.index.capture_filter import FilterCounts, Selection
from dbce_spark.commands import engine_choice
from dbce_spark.commands.archive_checks import check_archives
from dbce_spark.commands.arguments import (
    INPUT_HELP,
    add_config,
    add_dates,
    add_formats,
    add_labels,
    add_languages,
    add_log_format,
    add_settings,
    check_formats,
    count,
    default_of,
    given_parameters,
)
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.commands.signals import started_whole
from dbce_spark.commands.spark_options import add_spark, command_line, spark_settings
from dbce_spark.commands.terminal import without_controls
from dbce_spark.config import DbceConfig
from dbce_spark.errors import BudgetError, InputError
from dbce_spark.files import sources
from dbce_spark.log import Log, counted
from dbce_spark.model import RejectReason
from dbce_spark.output.collection import Collection

if TYPE_CHECKING:
    from dbce_spark.spark.run.run_request import RunRequest

_FILTERS = {
    # option: (parameter of [select], value, help)
    "surt": ("surts", "PREFIX", "read captures whose SURT key begins with this, such as org,example)/news/"),
    "domain": ("domains", "NAME", "read captures of this registered domain, such as example.org, and all its hosts"),
    "host": ("hosts", "NAME", "read captures of exactly this host, such as www.example.org"),
    "mime": ("mimes", "TYPE", "read captures of this media type, text/html or text/*, that input.mimes accepts"),
    "http-status": ("statuses", "CODE", "read captures with this HTTP status, if input.statuses has it too"),
    "digest": ("digests", "DIGEST", "read captures whose payload has this digest, as the column payload_digest has it"),
    "url-pattern": ("urls", "REGEX", "read captures whose URL this pattern matches somewhere"),
}
_NOT_LOGGED = ("run_id", "config", "versions", "plan", "process", "began", "updated", "command")
"""Fields of run.json that a log has already, or that are too long for a line."""
_STATUS_DIGITS = 3
_TEXTS, _LINE = 3, 100
"""Texts that the summary ends with, and characters of each."""


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = add_command(
        commands, "extract", _run, "label the text of every page in web archives, and write it as Parquet"
    )
    _add_places(command)
    add_config(command)
    add_settings(command, "conf/dbce.toml for this run, such as lsh.threshold=0.3")
    add_labels(command)
    command.add_argument(
        "--annotated-html", action="store_true",
        help="write each whole page too, its text coloured by label (column annotated_html)",
    )  # fmt: skip
    command.take_earlier("--html", "--annotated-html")
    command.take_earlier("--formats", "--format")
    add_formats(command)
    command.add_argument(
        "--limit", type=count, metavar="N", help="extract only the first N captures, by file and offset"
    )
    command.add_argument("--dry-run", action="store_true", help="show what would be read, and stop")
    command.add_argument(
        "--overwrite",
        action="store_true",
        help="replace a finished output, or start an unfinished one from the beginning",
    )
    command.add_argument(
        "--max-failed-files", type=float, dest="input.max_failed_files", metavar="SHARE",
        help="fail if more than this share of the files cannot be read"
        f" {default_of('input.max_failed_files')}",
    )  # fmt: skip
    command.add_argument(
        "--engine", choices=("auto", "spark", "local"), default="auto",
        help="run on Spark, or without it in this process (local); auto: local if the files together are no larger than"
        " engine.local_bytes of conf/dbce.toml (default: %(default)s)",
    )  # fmt: skip
    add_spark(command)
    add_log_format(command)
    _add_selection(command.add_argument_group("selection", "choose the captures to read (docs/selection.md)"))
    command.take_earlier("--status", "--http-status")
    command.take_earlier("--url", "--url-pattern")


def _add_places(command: argparse.ArgumentParser) -> None:
    """Add what is read, and where tables are written."""
    command.add_argument("input", nargs="*", metavar="INPUT", help=INPUT_HELP)
    where = command.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--output", type=sources.without_file_scheme, metavar="DIR",
        help="write extractions, captures, rejects and run.json to this folder, or URL such as s3://bucket/name",
    )  # fmt: skip
    where.add_argument(
        "--collection", type=sources.without_file_scheme, metavar="DIR",
        help="extend the collection in this folder by all that is new in INPUT, or begin it (docs/collections.md)",
    )  # fmt: skip
    command.add_argument(
        "--staging", default="", metavar="DIR",
        help="keep intermediate files in this folder; required if the output is in an object store (default: in the"
        " output)",
    )  # fmt: skip


def _add_selection(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--index", action="append", default=[], metavar="FILE",
        help="read only the selected records of the archives that this index lists: CDX, CDXJ, ZipNum, Parquet or"
        " WACZ, named as INPUT is; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--base", default="", metavar="FOLDER_OR_URL",
        help="look for the archives of the index in this folder or below this URL (default: the folder of the index)",
    )  # fmt: skip
    for option, (name, metavar, text) in _FILTERS.items():
        group.add_argument(
            f"--{option}", action="append", dest=f"select.{name}", metavar=metavar, help=f"{text}; may be repeated"
        )
    add_languages(
        group,
        "read captures that the index lists in these languages, such as de or deu; needs --index alone, without INPUT",
        "select.languages",
    )
    add_dates(group, "read captures", "select")
    group.add_argument(
        "--sample",
        type=float,
        dest="select.sample",
        metavar="SHARE",
        help="read this share of the registered domains, such as 0.01; always the same domains",
    )


def _run(arguments: argparse.Namespace) -> None:
    """Label the text of every page in web archives, and write it as Parquet (docs/tables.md)."""
    log: Log = arguments.log
    log.command = command_line()
    started = time.monotonic()
    config = configuration.load(arguments.config, arguments.settings, _given(arguments))
    wanted = indexed_records.index_selection(config)
    to = Collection(sources.absolute(arguments.collection)) if arguments.collection else None
    read = _read_before(arguments, to)
    files, indexes = _inputs(arguments, config, read)
    _check(arguments, config, files, indexes)
    if arguments.dry_run:
        files = to.unread(to.latest(), files) if to else files
        _print_input(files, indexes, sources.absolute(arguments.base), wanted, config)
        return
    is_local = not read and engine_choice.is_local(arguments, config, files)
    arguments.resumes = not is_local
    if not is_local:
        engine_choice.check_spark(arguments)
    settings = spark_settings(arguments.spark)
    request = _request(arguments, files, indexes, started)
    if to:
        from dbce_spark.spark.jobs import increment_job

        new = increment_job.prepared(to, request, config)
        if new is None:
            why = "; --overwrite starts only an unfinished increment afresh" if arguments.overwrite else ""
            print(f"nothing is new; {arguments.collection} stays as it is{why}")
            return
        request = new
    _begin(files, request, config, log, is_local)
    if is_local:
        from dbce_spark.spark.jobs import local_job

        report = local_job.run(request, config, log)
    else:
        report = _on_spark(to, request, config, log, (arguments.master, settings))
    _end(report, request, config, log, arguments.collection or request.output)


def _begin(files: Sequence[str], request: "RunRequest", config: DbceConfig, log: Log, is_local: bool) -> None:
    """Check that a run can begin, and log it."""
    from dbce_spark.spark.run import run_output

    run_output.check(request, config)
    check_archives(files, config)
    run_output.identify(log, request, config)
    how = "without Spark" if is_local else "Spark starts"
    log.write("start", f"run {log.run_id}: {counted(len(request.files), 'file')}; {how}", request.log_fields(config))


def _end(report: dict[str, Any], request: "RunRequest", config: DbceConfig, log: Log, place: str) -> None:
    """Print and log the result of a run, which can be read at a place.

    Raises:
        BudgetError: too many files or all pages failed.
    """
    from dbce_spark.spark.run import summary

    print(summary.text(report, request.output))
    _print_first_texts(place)
    failed_files.check(report["failed_files"], config.input.max_failed_files)
    _check_pages(report, request.output)
    figures = {name: value for name, value in report.items() if name not in _NOT_LOGGED}
    log.write("end", f"finished: {counted(report['extractions'], 'extraction')} in {request.output}", figures)


def _read_before(arguments: argparse.Namespace, to: Collection | None) -> Set[str]:
    """List the files that an unfinished run on Spark has read, which this one goes on with."""
    if arguments.overwrite or arguments.engine == "local":
        return frozenset()
    from dbce_spark.spark.run import plan

    place = to.next_increment() if to else arguments.staging or arguments.output
    return frozenset(plan.read_files(sources.absolute(place)))


def _inputs(arguments: argparse.Namespace, config: DbceConfig, read: Set[str]) -> tuple[list[str], list[str]]:
    """List the files and the indexes that are to be read. Files that were `read` need not be there any more."""
    patterns = config.input.patterns
    given = sources.read_manifests(arguments.input)  # once: a pipe has its lines no second time
    kept = read & {*map(sources.absolute, given)}
    named = [one for one in given if sources.absolute(one) not in kept]
    try:
        found = sources.expand(named, patterns)
    except InputError:
        _check_folders(named, config)
        raise
    indexes = config.input.index_patterns
    files = sorted({*found, *kept, *sources.list_unread(named, patterns, indexes)})
    return files, indexed_records.list_indexes(arguments.index, indexes)


def _check_folders(named: Sequence[str], config: DbceConfig) -> None:
    """Check that no folder of single pages is given in place of archives.

    Raises:
        InputError: one is.
    """
    for folder in filter(sources.is_folder, named):
        archives, pages = (
            sources.list_files(folder, one) for one in (config.input.patterns, config.input.page_patterns)
        )
        if pages and not archives:
            raise InputError(f"{folder}: HTML files are in this folder, and no archive; give it to `dbce text`")


def _request(
    arguments: argparse.Namespace, files: Sequence[str], indexes: Sequence[str], started: float
) -> "RunRequest":
    """Return the run that the arguments ask for. Workers on a cluster stand in folders of their own, so all places are
    absolute."""
    from dbce_spark.spark.run.run_request import RunRequest

    return RunRequest(
        files=files,
        indexes=indexes,
        base=sources.absolute(arguments.base),
        output=sources.absolute(arguments.output or ""),
        with_html=arguments.annotated_html,
        limit=arguments.limit,
        started=started,
        overwrite=arguments.overwrite,
        staging=sources.absolute(arguments.staging),
    )


def _on_spark(
    to: Collection | None, request: "RunRequest", config: DbceConfig, log: Log, spark: tuple[str | None, dict[str, str]]
) -> dict[str, Any]:
    """Run the job on Spark: at a master, with some settings."""
    master, settings = spark
    with log.waiting("Spark starts"), started_whole():
        from dbce_spark.spark.engine.session import session
        from dbce_spark.spark.jobs import extract_job, increment_job

        started = session("dbce extract", master=master, settings=settings)
    if to:
        return increment_job.run(started, to, request, config, log)
    return extract_job.run(started, request, config, log)


def _check_pages(report: dict[str, Any], output: str) -> None:
    """Check that some page was extracted, if any was read: where all failed it is hardly for what they are.

    Raises:
        BudgetError: all failed.
    """
    failed = report["rejects"].get(RejectReason.PAGE_FAILED, 0)
    if failed and not report["extractions"]:
        raise BudgetError(f"no page could be extracted: {counted(failed, 'page')} failed; {output}/rejects has why")


def _print_first_texts(output: str) -> None:
    """Print the first lines of some texts, and the command that shows more."""
    from dbce_spark.output.output_reader import open_output

    rows = (
        row
        for batch in open_output(output).batches("extractions", ["url", "text"], rows=_TEXTS * 10)
        for row in batch.to_pylist()
        if row["text"].strip()
    )
    found = [*islice(rows, _TEXTS)]
    for row in found:
        first = next(line for line in row["text"].splitlines() if line.strip())
        print(f"\n  {without_controls(row['url'])}\n    {without_controls(first)[:_LINE]}")
    if found:
        url, where = (shlex.quote(without_controls(one)) for one in (found[0]["url"], output))
        print(f"\nmore            dbce show {url} --in {where}")


def _check(arguments: argparse.Namespace, config: DbceConfig, files: Sequence[str], indexes: Sequence[str]) -> None:
    """Check that the options go together.

    Raises:
        InputError: there is nothing to read, or two options exclude each other.
    """
    if not files and not indexes:
        raise InputError("nothing to read; give an INPUT, an --index, or both")
    if files and config.select.languages:
        raise InputError(
            "--language needs an --index and no INPUT, as only an index lists languages; or select rows of the"
            " output by their column `language`"
        )
    if arguments.base and not indexes:
        raise InputError(f"--base {arguments.base} is where the archives of an index lie; give an --index with it")
    check_formats(config.formats)
    if arguments.collection and (sources.is_remote(arguments.collection) or arguments.limit or arguments.staging):
        raise InputError("--collection needs a folder of a file system, and allows neither --staging nor --limit")


def _print_input(
    files: Sequence[str], indexes: Sequence[str], base: str, wanted: Selection, config: DbceConfig
) -> None:
    """Print what would be read.

    Raises:
        BudgetError: too many of the indexes, and of the archives that were tried, cannot be read.
    """
    if not files and not indexes:
        print("nothing is new; nothing would be read")
    if files:
        _print_files(files)
    if indexes:
        counts = FilterCounts()
        entries = index_file.read_entries(indexes, base, wanted, config.fetch, counts)
        found = read_estimate.estimate(indexes, entries, counts, config.fetch)
        print(found.text())
        absence = read_estimate.absence(found.archives, config.fetch)
        if missing := absence.text():
            print(missing)
        losses = [Loss(path, 1, 1, why) for path, why in absence.reasons.items()]
        losses += indexed_records.index_losses(map(indexed_records.line_reject, found.lost), indexes)
        failed = failed_files.report(losses, len(files) + len(indexes) + absence.tried)
        failed_files.check(failed, config.input.max_failed_files, "a run would end with this status")


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of parameters that options give.

    Raises:
        InputError: an HTTP status is no number.
    """
    given = given_parameters(arguments)
    if statuses := given.get("select.statuses"):
        given["select.statuses"] = [*map(_status, statuses)]
    return given


def _status(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > _STATUS_DIGITS:
        raise InputError(f"--http-status {text}: write a number, such as 200")
    return int(text)


def _print_files(files: Sequence[str]) -> None:
    total = 0
    for path in files:
        size = engine_choice.stored_size(path)
        total += max(size, 0)
        print(f"{f'{size:,}' if size >= 0 else 'unknown':>16}  {path}")
    print(f"{total:>16,}  bytes in {counted(len(files), 'file')} would be read")
