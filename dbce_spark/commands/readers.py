"""`dbce report`, `dbce export` and `dbce corpus`: what is made of an output, or of a collection."""

import argparse
import json
import os

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import add_version, count, names


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds them to the commands of `dbce`."""
    _add_report(commands)
    _add_export(commands)
    _add_corpus(commands)


def _add_report(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "report",
        help="show an output as static HTML",
        description="Show an output as static HTML: totals, rejects, templates, sample pages with labels.",
    )
    command.add_argument("extracted", metavar="OUTPUT_DIR", help="what `dbce extract --output` wrote, or a collection")
    add_version(command)
    command.add_argument("--output", required=True, metavar="DIR", help="a folder for the report")
    command.add_argument(
        "--pages", type=count, default=12, metavar="N", help="sample pages to show (default: %(default)s)"
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
    add_version(command)
    command.add_argument(
        "--to", required=True, choices=("jsonl", "text", "dolma"),
        help="jsonl: main texts, a document a line; text: main texts, a file a site; dolma: whole pages, a document a"
        " line, with labels and evidence as attributes over them",
    )  # fmt: skip
    command.add_argument("--output", required=True, metavar="DIR", help="a folder that is not there yet, or a URL")
    command.add_argument("--source", metavar="NAME", help="`source` of the documents (default: as configured, dbce)")
    command.add_argument("--compression", choices=("gz", "zst"), help="of shards (default: as configured, gz)")
    command.add_argument(
        "--shard-bytes", type=count, metavar="N", help="of a shard's documents uncompressed (default: as configured)"
    )
    command.add_argument(
        "--processes", type=count, default=os.cpu_count() or 1, metavar="N",
        help="how many site parts are written side by side (default: one a core, here %(default)s)",
    )  # fmt: skip
    wanted = command.add_argument_group("rows", "which are exported; without these all are")
    wanted.add_argument("--site", action="append", default=[], metavar="NAME", help="of this site; may be repeated")
    wanted.add_argument(
        "--language", action="append", default=[], metavar="TAG", help="in this language (de); may be repeated"
    )
    wanted.add_argument("--status", choices=("crossed", "single"), help="judged beside siblings, or alone")
    wanted.add_argument("--min-words", type=count, default=0, metavar="N", help="with a main text of N words or more")
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
    add_version(command)
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
    command.add_argument("--columns", type=names, default=[], metavar="NAME,...", help="what to write (default: all)")
    command.add_argument("--config", metavar="FILE", help="a TOML file; what it leaves out stays as in conf/dbce.toml")
    command.add_argument("--overwrite", action="store_true", help="replace a corpus that exists")
    command.set_defaults(run=_corpus)


def _report(arguments: argparse.Namespace) -> None:
    from dbce_spark.report import write_report

    index = write_report(arguments.extracted, arguments.output, pages=arguments.pages, version=arguments.version)
    print(f"Report: {index}")


def _export(arguments: argparse.Namespace) -> None:
    from dbce_spark import export
    from dbce_spark.export.export_settings import Wanted, settings

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
    from dbce_spark.export import corpus

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
