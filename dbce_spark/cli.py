"""The `dbce` command: each subcommand parses its arguments and calls one function."""

import argparse
import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import dbce_spark
from dbce_spark import budget, inventory, log, places, sources, store, timeline
from dbce_spark import config as configuration
from dbce_spark.collection import Collection, Version
from dbce_spark.config import LshConfig
from dbce_spark.errors import ConfigError, DbceError, InputError, OutputError
from dbce_spark.log import Log
from dbce_spark.selection import estimate, index
from dbce_spark.selection.filters import Counts

_INPUT_HELP = (
    "a (W)ARC file, a folder (searched at every depth), a glob in quotes, or @FILE with one of these a line;"
    " local or any URL that fsspec knows (s3://, http://, hdfs://)"
)
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
_PAGES_HELP = (
    "JSON lines with id, html and gold (plain, .xz or .gz), or a folder of a published set (readability,"
    " article-extraction-benchmark, CETD, CleanEval, dragnet)"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one subcommand. Returns 0, or the status of an error that it has told in one line."""
    arguments = parser().parse_args(argv)
    try:
        status: int | None = arguments.run(arguments)
    except DbceError as error:
        print(f"dbce: {log.without_credentials(str(error))}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print("dbce: stopped; what was written is not finished, and the same command goes on with it", file=sys.stderr)
        return 130
    return status or 0


def extract_main(argv: Sequence[str] | None = None) -> int:
    """`dbce extract`, for spark-submit."""
    return main(["extract", *(sys.argv[1:] if argv is None else argv)])


def changes_main(argv: Sequence[str] | None = None) -> int:
    """`dbce changes`, for spark-submit."""
    return main(["changes", *(sys.argv[1:] if argv is None else argv)])


def parser() -> argparse.ArgumentParser:
    """All commands with all their options."""
    parser = argparse.ArgumentParser(prog="dbce", description=dbce_spark.__doc__)
    parser.add_argument("--version", action="version", version=f"dbce-spark {dbce_spark.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_extract(commands)
    _add_collection(commands)
    _add_history(commands)
    _add_changes(commands)
    _add_status(commands)
    _add_report(commands)
    _add_export(commands)
    _add_corpus(commands)
    _add_sample_archive(commands)
    _add_bench(commands)
    _add_bench_scale(commands)
    _add_cost(commands)
    _add_evaluate(commands)
    _add_train(commands)
    _add_convert(commands)
    _add_thesis(commands)
    return parser


def _add_extract(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "extract",
        help="label the text of every page in web archives and write it as Parquet",
        description="Label the text of every page in web archives and write it as Parquet (docs/tables.md).",
    )
    command.add_argument("input", nargs="*", metavar="INPUT", help=_INPUT_HELP)
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
        "--limit", type=_count, metavar="N", help="extract the first N captures by file and offset only"
    )
    command.add_argument("--dry-run", action="store_true", help="say what would be read, and read nothing")
    command.add_argument(
        "--overwrite", action="store_true", help="replace an output that exists, or start an unfinished one afresh"
    )
    command.add_argument(
        "--max-failed-files", type=float, metavar="SHARE",
        help="end with an error if more than this share of the files cannot be read (default: as configured, 0.05)",
    )  # fmt: skip
    command.add_argument("--master", metavar="URL", help="Spark master; without it the active session's, or local[*]")
    command.add_argument(
        "--spark", action="append", default=[], metavar="KEY=VALUE", dest="spark",
        help="one of Spark's own settings, such as spark.ui.enabled=true; may be repeated (with spark-submit give them"
        " to that)",
    )  # fmt: skip
    command.add_argument("--log", default="", metavar="FILE", help="also tell what happens there, as JSON lines")
    command.add_argument(
        "--log-format", choices=("text", "json"), default="text",
        help="tell it on stderr as text or as JSON lines (default: %(default)s)",
    )  # fmt: skip
    _add_selection(command.add_argument_group("selection", "which captures are read (docs/selection.md)"))
    command.set_defaults(run=_extract_and_tell)


def _add_collection(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
            part.add_argument("version", type=_count, metavar="VERSION", help="its number, as `log` lists it")
        elif name == "vacuum":
            part.add_argument(
                "--keep", type=_count, default=10, metavar="N", help="versions that stay (default: %(default)s)"
            )
        elif name not in ("log", "compact"):
            part.add_argument("--version", type=_count, metavar="N", help="its number (default: the last)")
        if name == "report":
            part.add_argument("--output", metavar="FILE", help="write it as a page of HTML, too, such as report.html")
            part.add_argument("--config", metavar="FILE", help="a TOML file with a section [comparison] of its own")
        if name == "register":
            part.add_argument(
                "--delta", required=True, metavar="DIR", help="a folder for the tables, on the same file system"
            )
        part.set_defaults(run=_collection)


def _add_history(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "history",
        help="say what became of a page from capture to capture",
        description="Say what became of a page from capture to capture (docs/collections.md).",
    )
    command.add_argument("url", metavar="URL", help="of the page, in any spelling that has its SURT key")
    command.add_argument("--collection", required=True, metavar="DIR", help="that holds captures of it")
    command.add_argument("--version", type=_count, metavar="N", help="of the collection (default: the last)")
    command.add_argument(
        "--all", action="store_true", dest="everything", help="tell of boilerplate too, not of content alone"
    )
    command.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour what came and went (default: on a terminal)",
    )
    command.set_defaults(run=_history)


def _add_changes(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "changes",
        help="write what became of all pages of a collection as tables",
        description="Write what became of all pages of a collection, from capture to capture, as Parquet tables: steps,"
        " changes, lives of texts, redesigns of sites (docs/collections.md).",
    )
    command.add_argument("collection", metavar="COLLECTION", help="what `dbce extract --collection` was given")
    command.add_argument("--output", required=True, metavar="DIR", help="a folder that is not there yet, or a URL")
    command.add_argument("--version", type=_count, metavar="N", help="of the collection (default: the last)")
    command.add_argument("--master", metavar="URL", help="Spark master; without it the active session's, or local[*]")
    command.add_argument(
        "--spark", action="append", default=[], metavar="KEY=VALUE", dest="spark",
        help="one of Spark's own settings, such as spark.ui.enabled=true; may be repeated (with spark-submit give them"
        " to that)",
    )  # fmt: skip
    command.set_defaults(run=_changes)


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


def _add_status(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "status",
        help="say how far a run is, or where it died",
        description="Say how far a run is, or where it died. Ends with 0: finished, 3: finished, but too many files"
        " failed, 4: running, 5: dead, 6: never begun, 2: cannot be said.",
    )
    command.add_argument(
        "extracted", metavar="OUTPUT_DIR", help="what `dbce extract --output` or `--collection` was given"
    )
    command.add_argument(
        "--staging", default="", metavar="DIR", help="what `dbce extract --staging` was given, if it was"
    )
    command.add_argument("--json", action="store_true", help="as JSON, for programs")
    command.set_defaults(run=_tell_status)


def _add_report(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "report",
        help="show an output as static HTML",
        description="Show an output as static HTML: totals, rejects, templates, sample pages with labels.",
    )
    command.add_argument("extracted", metavar="OUTPUT_DIR", help="what `dbce extract --output` wrote, or a collection")
    _add_version(command)
    command.add_argument("--output", required=True, metavar="DIR", help="a folder for the report")
    command.add_argument(
        "--pages", type=_count, default=12, metavar="N", help="sample pages to show (default: %(default)s)"
    )
    command.set_defaults(run=_report)


def _add_export(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "export",
        help="take an output elsewhere: JSON lines, plain text by site, Dolma's attributes",
        description="Write an output as documents for corpus builders, as plain text by site, or as pages with Dolma's"
        " attributes (docs/export.md). What is written with no option said otherwise is in conf/export.toml.",
    )
    command.add_argument("extracted", metavar="OUTPUT_DIR", help="what `dbce extract --output` wrote, or a collection")
    _add_version(command)
    command.add_argument(
        "--to", required=True, choices=("jsonl", "text", "dolma"),
        help="jsonl: main texts, a document a line; text: main texts, a file a site; dolma: whole pages, a document a"
        " line, with labels and evidence as attributes over them",
    )  # fmt: skip
    command.add_argument("--output", required=True, metavar="DIR", help="a folder that is not there yet, or a URL")
    command.add_argument("--source", metavar="NAME", help="`source` of the documents (default: as configured, dbce)")
    command.add_argument("--compression", choices=("gz", "zst"), help="of shards (default: as configured, gz)")
    command.add_argument(
        "--shard-bytes", type=_count, metavar="N", help="of a shard's documents uncompressed (default: as configured)"
    )
    command.add_argument(
        "--processes", type=_count, default=os.cpu_count() or 1, metavar="N",
        help="how many site parts are written side by side (default: one a core, here %(default)s)",
    )  # fmt: skip
    wanted = command.add_argument_group("rows", "which are exported; without these all are")
    wanted.add_argument("--site", action="append", default=[], metavar="NAME", help="of this site; may be repeated")
    wanted.add_argument(
        "--language", action="append", default=[], metavar="TAG", help="in this language (de); may be repeated"
    )
    wanted.add_argument("--status", choices=("crossed", "single"), help="judged beside siblings, or alone")
    wanted.add_argument("--min-words", type=_count, default=0, metavar="N", help="with a main text of N words or more")
    command.set_defaults(run=_export)


def _add_corpus(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "corpus",
        help="write those extractions of an output that filters keep, and what each removed",
        description="Write those extractions of an output that filters keep, with a table of what each removed"
        " (docs/corpus.md).",
    )
    command.add_argument(
        "extracted", metavar="OUTPUT", help="what `dbce extract --output` wrote: a folder, or a URL; or a collection"
    )
    _add_version(command)
    command.add_argument("--to", required=True, metavar="DIR", help="a folder, or a URL, for the corpus")
    command.add_argument("--status", choices=("crossed", "single"), help="pages of this status only")
    command.add_argument(
        "--language", action="append", metavar="CODE", help="texts in this language (en, de, zh); may be repeated"
    )
    command.add_argument("--min-words", type=int, metavar="N", help="texts of N words or more")
    command.add_argument("--min-probability", type=float, metavar="P", help="texts whose mean score is P or more")
    command.add_argument(
        "--duplicates", choices=("keep", "exact", "near"), help="whether, and which, duplicates are left out"
    )
    command.add_argument(
        "--within", choices=("all", "url"), help="whether a text is to be there once in all, or once for each URL"
    )
    command.add_argument("--columns", type=_names, default=[], metavar="NAME,...", help="what to write (default: all)")
    command.add_argument("--config", metavar="FILE", help="a TOML file; what it leaves out stays as in conf/dbce.toml")
    command.add_argument("--overwrite", action="store_true", help="replace a corpus that exists")
    command.set_defaults(run=_corpus)


def _add_sample_archive(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "sample-archive",
        help="write a web archive with known labels",
        description="Write a web archive of invented sites, crawled three times, as WARC with CDXJ and known labels.",
    )
    command.add_argument("folder", metavar="DIR", help="where to write it")
    command.add_argument(
        "--pages", type=_count, default=300, metavar="N", help="about how many URLs (default: %(default)s)"
    )
    command.add_argument(
        "--seed", type=int, default=1, metavar="N", help="the same seed writes the same bytes (default: %(default)s)"
    )
    command.add_argument(
        "--weight", type=int, default=0, metavar="N",
        help="N times 20 KB of scripts and 40 menu links a page; news sites are like 6 (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--gold", metavar="FILE", help="also write its pages with their main text, as JSON lines for `dbce evaluate`"
    )
    command.add_argument(
        "--days", type=_count, metavar="N",
        help="in place of three crawls one a day, a folder each, and what goes wrong in a month (docs/collections.md)",
    )  # fmt: skip
    command.set_defaults(run=_sample_archive)


def _add_bench(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "bench",
        help="measure time a page, beside trafilatura and resiliparse on the same pages",
        description="Measure time a page and stage, beside trafilatura and resiliparse on the same pages.",
    )
    command.add_argument("input", nargs="+", metavar="INPUT", help=_INPUT_HELP)
    command.add_argument(
        "--output", default="bench.json", metavar="FILE", help="where to write the figures (bench.json)"
    )
    command.set_defaults(run=_bench)


def _add_bench_scale(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "bench-scale",
        help="measure how time, memory and disk grow with the input, and on inputs of hard shapes",
        description="Extract made archives of several sizes and shapes, and with one worker and with two, each in a"
        " command of its own: time, memory, shuffles and disk (docs/operations.md).",
    )
    command.add_argument(
        "--output", default="bench-scale.json", metavar="FILE", help="where to write the figures (bench-scale.json)"
    )
    command.add_argument(
        "--work", required=True, metavar="DIR", help="a folder for the archives, which are kept, and for the runs"
    )
    command.add_argument(
        "--only", action="append", choices=("growth", "shapes", "workers", "collection"), metavar="PART", dest="parts",
        help="what to measure: growth, shapes, workers or collection; may be repeated (default: all)",
    )  # fmt: skip
    command.add_argument(
        "--pages", type=_counts, default="5000,20000,80000", metavar="N,...",
        help="captures of the sample archives whose growth is measured (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--weight",
        type=int,
        default=0,
        metavar="N",
        help="of their pages, as for sample-archive (default: %(default)s)",
    )
    command.add_argument(
        "--shape-pages", type=_count, default=100_000, metavar="N",
        help="captures of an archive of one shape (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--crawl-pages", type=_count, default=2_000, metavar="N",
        help="captures of each of the ten crawls that a collection grows by (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--set", action="append", default=[], metavar="SECTION.NAME=VALUE", dest="settings",
        help="one parameter for all runs, as for extract; may be repeated",
    )  # fmt: skip
    command.set_defaults(run=_bench_scale)


def _add_cost(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "cost",
        help="reckon what a large run costs",
        description="Reckon what a large run costs, from what a page was measured to take and from prices, and draw how"
        " uneven its sites are (docs/operations.md).",
    )
    command.add_argument("measured", nargs="?", metavar="BENCH_SCALE_JSON", help="what `make bench-scale` wrote")
    command.add_argument(
        "--captures", type=_count, metavar="N", help="of the run (default: 1 million, 100 million and 3 billion)"
    )
    command.add_argument(
        "--hours", type=_seconds, default=24.0, metavar="N", help="in which it is to end (default: %(default)s)"
    )
    command.add_argument("--prices", metavar="FILE", help="a TOML file; the rest stays as in conf/prices.toml")
    command.add_argument("--cpu-ms", type=float, metavar="MS", help="processor time of a page, as measured")
    for name, of in (("shuffle", "shuffled"), ("staged", "staged"), ("output", "written"), ("input", "read")):
        command.add_argument(f"--{name}-bytes", type=float, metavar="N", help=f"bytes {of} a page, as measured")
    command.set_defaults(run=_cost)


def _add_evaluate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "evaluate",
        help="score extractors on pages whose main text is known",
        description="Score extractors on gold pages: summary.md, report.html, scores.parquet, texts.parquet and"
        " pages.parquet (docs/benchmark.md).",
    )
    command.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    command.add_argument(
        "--extractors", type=_names, default="dbce,trafilatura,readability,resiliparse", metavar="NAME,...",
        help="what to compare, or all; the others are tested against the first (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--output", required=True, metavar="DIR", help="a folder for the tables and the report, replaced if there"
    )
    command.add_argument(
        "--reuse", action="store_true", help="take texts that an earlier run left in DIR, where nothing has changed"
    )
    command.add_argument(
        "--folds", default="", metavar="DIR", help="what `train --folds` wrote: judge each site by what has not seen it"
    )
    command.add_argument("--floors", default="", metavar="FILE", help="fail where a mean F1 is under its floor")
    command.add_argument("--pin-floors", action="store_true", help="write what is reached as floors into that FILE")
    command.add_argument("--lower-floors", action="store_true", help="do so even where a floor sinks or pages changed")
    command.add_argument("--limit", type=_count, metavar="N", help="take the first N pages of each set only")
    command.add_argument(
        "--time-limit", type=_seconds, default=30.0, metavar="SECONDS",
        help="what an extractor may take for a page (default: %(default)s)",
    )  # fmt: skip
    command.set_defaults(run=_evaluate)


def _add_train(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "train",
        help="train the classifier on pages whose main text is known",
        description="Train the classifier on gold pages, and one without each fifth of the sites, to be judged on.",
    )
    command.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    command.add_argument("--output", required=True, metavar="FILE", help="where to write it, such as classifier.npz")
    command.add_argument(
        "--folds", metavar="DIR",
        help="also train one classifier without each fifth of the sites, for `evaluate --folds DIR`",
    )  # fmt: skip
    command.add_argument("--limit", type=_count, metavar="N", help="take the first N pages of each set only")
    command.set_defaults(run=_train)


def _add_convert(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "convert",
        help="write published sets of gold pages as JSON lines",
        description="Write gold pages of any format that evaluate reads as JSON lines.",
    )
    command.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    command.add_argument("--output", required=True, metavar="FILE", help="JSON lines; .xz and .gz are compressed")
    command.set_defaults(run=_convert)


def _add_thesis(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "thesis",
        help="repeat the experiments of the thesis",
        description="T001 to T006 and what chapter 6 leaves open, on gold pages: thesis.md (docs/method.md).",
    )
    command.add_argument("pages", nargs="+", metavar="PAGES", help="as for evaluate; sets of series are taken whole")
    command.add_argument(
        "--crawl", action="append", default=[], metavar="INPUT", help="an archive without gold, for its time series"
    )
    command.add_argument("--output", required=True, metavar="DIR", help="a folder for thesis.md, replaced if there")
    command.add_argument(
        "--limit", type=_count, default=40, metavar="N", help="take about N pages of each set (default: %(default)s)"
    )
    command.set_defaults(run=_thesis)


def _add_version(command: argparse.ArgumentParser) -> None:
    command.add_argument("--version", type=_count, metavar="N", help="of a collection (default: the last)")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def _counts(text: str) -> list[int]:
    return [_count(one) for one in _names(text)]


def _seconds(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return value


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _extract_and_tell(arguments: argparse.Namespace) -> None:
    told = Log(command=_command())
    with log.to(sys.stderr, as_json=arguments.log_format == "json", file=arguments.log), told.failing(), _stoppable():
        _extract(arguments, told)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Within the block SIGTERM, by which schedulers stop a job, ends it as Ctrl-C does: with a word."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _extract(arguments: argparse.Namespace, told: Log) -> None:
    started = time.monotonic()
    config = configuration.load(arguments.config, [*arguments.settings, *_asked(arguments)])
    wanted = places.wanted(config)
    files = sources.expand(arguments.input, config.input.patterns)
    indexes = places.indexes(arguments.index, config.input.index_patterns)
    base = sources.absolute(arguments.base)
    if not files and not indexes:
        raise InputError("nothing to read; give an INPUT, an --index, or both")
    if files and config.select.languages:
        raise InputError("only an index says which language a page is in; give an --index and no INPUT, or take rows by"
                         " their column `language`")  # fmt: skip
    if arguments.collection and ("://" in arguments.collection or arguments.limit or arguments.staging):
        raise InputError("--collection takes a folder of a file system, and neither --staging nor --limit")
    if arguments.dry_run:
        if files:
            _tell_files(files)
        if indexes:
            counts = Counts()
            found = index.wanted(indexes, base, wanted, config.fetch, counts)
            print(estimate.of_index(found, counts, config.fetch).text())
        return
    settings = _spark_settings(arguments.spark)
    from dbce_spark.spark import extension, job, summary  # only here: `dbce --help` needs neither Spark nor Java
    from dbce_spark.spark.session import session

    request = job.Request(
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
        new = extension.prepared(to, request, config)
        if new is None:
            print(f"nothing is new; {arguments.collection} stays as it is")
            return
        request = new
    job.check_output(request, config)
    job.name(told, request, config)
    told.tell("start", f"run {told.run_id}: {len(files):,} files; Spark starts", request.told(config))
    with told.waiting("Spark starts"):
        spark = session("dbce extract", master=arguments.master, settings=settings)
    report = extension.run(spark, to, request, config, told) if to else job.run(spark, request, config, told)
    print(summary.text(report, request.output))
    budget.check(report["failed_files"], config.input.max_failed_files)
    figures = {name: value for name, value in report.items() if name not in _NOT_LOGGED}
    told.tell("end", f"finished: {report['extractions']:,} extractions in {request.output}", figures)


def _spark_settings(given: Sequence[str]) -> dict[str, str]:
    """The settings of `--spark` by their keys."""
    if given and "PYSPARK_GATEWAY_PORT" in os.environ:
        raise ConfigError("--spark has no effect under spark-submit; give it --conf KEY=VALUE")
    pairs = [one.partition("=") for one in given]
    if wrong := next((one for one, (key, is_one, _) in zip(given, pairs, strict=True) if not (key and is_one)), None):
        raise ConfigError(f"--spark {wrong}: write KEY=VALUE, such as spark.ui.enabled=true")
    return {key: value for key, _, value in pairs}


def _command() -> str:
    """What was asked for, as a shell has it."""
    return log.without_credentials(f"cd {shlex.quote(str(Path.cwd()))} && {shlex.join(['dbce', *sys.argv[1:]])}")


def _tell_status(arguments: argparse.Namespace) -> int:
    from dbce_spark import status

    found = status.of(sources.absolute(arguments.extracted), sources.absolute(arguments.staging))
    print(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) if arguments.json else found.text())
    return found.exit_status


def _collection(arguments: argparse.Namespace) -> None:
    of = Collection(arguments.collection)
    latest = of.known()
    if arguments.what == "log":
        print(inventory.log([of.version(number) for number in of.numbers()]))
    elif arguments.what == "rollback":
        print(inventory.log([of.rollback(arguments.version)]))
    elif arguments.what == "compact":
        from dbce_spark.spark import compaction

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
            from dbce_spark import delta

            print("\n".join(map(str, delta.register(of, version, arguments.delta))))
        else:
            print(inventory.show(of, version) if arguments.what == "show" else inventory.files(of, version))


def _compare(of: Collection, version: Version, arguments: argparse.Namespace) -> None:
    from dbce_spark.report import crawl

    thresholds = configuration.load(arguments.config).comparison
    found = crawl.compared(of, version, thresholds)
    if arguments.output:
        crawl.write(found, of.folder, arguments.output, thresholds)
    print(crawl.text(found))


def _history(arguments: argparse.Namespace) -> None:
    of = Collection(arguments.collection)
    latest = of.known()
    version = latest if arguments.version is None else of.version(arguments.version)
    coloured = arguments.color == "always" or (arguments.color == "auto" and sys.stdout.isatty())
    line = timeline.moments(of, version, arguments.url)
    threshold = LshConfig(**version.settings["config"]["lsh"]).threshold_of(line[-1].site)
    print(timeline.text(arguments.url, line, threshold, everything=arguments.everything, coloured=coloured))


def _changes(arguments: argparse.Namespace) -> None:
    of = Collection(sources.absolute(arguments.collection))
    latest = of.known()
    version = latest if arguments.version is None else of.version(arguments.version)
    output = sources.absolute(arguments.output)
    if store.names(output):
        raise OutputError(f"{output} is not empty; give a folder that is not there yet")
    settings = _spark_settings(arguments.spark)
    from dbce_spark.spark import changes
    from dbce_spark.spark.session import session

    with _stoppable():
        spark = session("dbce changes", master=arguments.master, settings=settings)
        print(f"{changes.write(spark, of, version, output).text()}\nin {output}")


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


def _report(arguments: argparse.Namespace) -> None:
    from dbce_spark.report import write_report

    index = write_report(arguments.extracted, arguments.output, pages=arguments.pages, version=arguments.version)
    print(f"Report: {index}")


def _export(arguments: argparse.Namespace) -> None:
    from dbce_spark import export
    from dbce_spark.export.settings import Wanted, settings

    wanted = Wanted(
        site=frozenset(arguments.site),
        language=frozenset(arguments.language),
        status=frozenset([arguments.status] if arguments.status else []),
        min_words=arguments.min_words,
    )
    given = {name: getattr(arguments, name) for name in ("source", "compression", "shard_bytes")}
    request = export.Request(
        extracted=arguments.extracted,
        target=arguments.output,
        to=arguments.to,
        wanted=wanted,
        settings=settings(given),
        processes=arguments.processes,
        version=arguments.version,
    )
    print(export.export(request))


def _corpus(arguments: argparse.Namespace) -> None:
    from dbce_spark import corpus

    values = {
        "statuses": arguments.status and [arguments.status],
        "languages": arguments.language,
        "min_words": arguments.min_words,
        "min_probability": arguments.min_probability,
        "duplicates": arguments.duplicates,
        "within": arguments.within,
    }
    asked = [f"corpus.{name}={json.dumps(value)}" for name, value in values.items() if value is not None]
    config = configuration.load(arguments.config, asked)
    request = corpus.Request(
        output=arguments.extracted,
        target=arguments.to,
        columns=arguments.columns,
        overwrite=arguments.overwrite,
        version=arguments.version,
    )
    print(corpus.write(request, config.corpus))


def _sample_archive(arguments: argparse.Namespace) -> None:
    from dbce_spark.samples import write_archive, write_month
    from dbce_spark.samples.gold import write_gold

    made = {"pages": arguments.pages, "seed": arguments.seed, "weight": arguments.weight}
    if arguments.days:
        if arguments.gold:
            raise InputError("--gold is of three crawls; leave out --days, or --gold")
        print(write_month(arguments.folder, days=arguments.days, **made))
        return
    print(write_archive(arguments.folder, **made))
    if arguments.gold:
        print(f"{write_gold(arguments.gold, **made)} of them with their main text in {arguments.gold}")


def _bench(arguments: argparse.Namespace) -> None:
    from dbce_spark import bench

    files = sources.expand(arguments.input, configuration.default().input.patterns)
    print(bench.write(files, arguments.output, configuration.default()))


def _bench_scale(arguments: argparse.Namespace) -> None:
    from dbce_spark import scale

    request = scale.Request(
        work=sources.absolute(arguments.work),
        output=arguments.output,
        pages=arguments.pages,
        weight=arguments.weight,
        shape_pages=arguments.shape_pages,
        crawl_pages=arguments.crawl_pages,
        parts=arguments.parts or scale.PARTS,
        settings=arguments.settings,
    )
    print(scale.Measurement(request).write())


def _cost(arguments: argparse.Namespace) -> None:
    from dbce_spark import cost, skew

    config, prices = configuration.default(), cost.prices(arguments.prices)
    page = cost.measured(arguments.measured, {name: getattr(arguments, name) for name in cost.FIGURES})
    runs = [arguments.captures] if arguments.captures else list(cost.RUNS)
    print(cost.text(page, [cost.bill(run, page, arguments.hours, prices, config) for run in runs]))
    captures = arguments.captures or skew.CAPTURES
    partition = cost.bill(captures, page, arguments.hours, prices, config).partition_bytes
    print(f"\n{captures:,} captures, drawn:")
    print(skew.text(skew.drawn(captures, partition, config), page, config))


def _evaluate(arguments: argparse.Namespace) -> None:
    from dbce_spark.evaluation import harness

    request = harness.Request(
        paths=arguments.pages,
        extractors=arguments.extractors,
        output=arguments.output,
        limit=arguments.limit,
        time_limit=arguments.time_limit,
        reuse=arguments.reuse,
        folds=arguments.folds,
        floors=arguments.floors,
        pin_floors=arguments.pin_floors,
        lower_floors=arguments.lower_floors,
    )
    print(harness.evaluate(request, configuration.default()))


def _train(arguments: argparse.Namespace) -> None:
    from dbce_spark.training import job

    request = job.Request(paths=arguments.pages, output=arguments.output, folds=arguments.folds, limit=arguments.limit)
    print(job.train(request, configuration.default()))


def _convert(arguments: argparse.Namespace) -> None:
    from dbce_spark.evaluation import datasets

    print(f"{datasets.convert(arguments.pages, arguments.output):,} pages in {arguments.output}")


def _thesis(arguments: argparse.Namespace) -> None:
    from dbce_spark.evaluation.thesis import report

    request = report.Request(
        paths=arguments.pages, crawls=arguments.crawl, output=arguments.output, pages=arguments.limit
    )
    print(report.write(request, configuration.default()))


if __name__ == "__main__":
    sys.exit(main())
