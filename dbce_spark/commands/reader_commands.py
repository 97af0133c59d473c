"""`dbce report`, `dbce export` and `dbce corpus`: render or export an output, or a collection."""

import argparse
import os

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import (
    add_config,
    add_local_output,
    add_output,
    add_output_read,
    count,
    default_of,
    given_parameters,
    names,
)
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.commands.row_options import add_relative_to, add_row_options
from dbce_spark.errors import InputError

EXPORT_FORMATS = {
    "jsonl": "main texts, one document on each line",
    "markdown": "the same, of texts in Markdown",
    "text": "main texts, one file for each site",
    "dolma": "whole pages, one document on each line, with labels and evidence as attributes",
}
"""Formats of `dbce export`, and what each writes."""


def add(commands: Commands) -> None:
    """Add them to the commands of `dbce`."""
    _add_report(commands)
    _add_export(commands)
    _add_corpus(commands)


def _add_report(commands: Commands) -> None:
    command = add_command(commands, "report", _report, "write a report of an output as static HTML")
    add_output_read(command)
    add_local_output(command, "DIR", "write the report to this folder")
    command.add_argument(
        "--pages", type=count, default=12, metavar="N", help="show N sample pages (default: %(default)s)"
    )
    command.add_argument(
        "--url", default="", metavar="URL", help="show the captures of this URL instead of a sample, the newest first"
    )


def _add_export(commands: Commands) -> None:
    command = add_command(
        commands, "export", _export, "write an output as JSON lines, as plain text by site, or with Dolma's attributes"
    )
    add_output_read(command)
    command.add_argument(
        "--format", required=True, choices=EXPORT_FORMATS,
        help=f"write {'; '.join(f'{name}: {what}' for name, what in EXPORT_FORMATS.items())}",
    )  # fmt: skip
    add_output(command, "DIR", "write to this folder, new or empty, or URL")
    command.add_argument(
        "--source",
        metavar="NAME",
        help=f"set the field `source` of the documents {default_of('source', 'export.toml')}",
    )
    command.add_argument(
        "--compression",
        choices=("gz", "zst"),
        help=f"compress shards in this way {default_of('compression', 'export.toml')}",
    )
    command.add_argument(
        "--shard-bytes",
        type=count,
        metavar="N",
        help=f"begin a new shard after N bytes of documents, uncompressed {default_of('shard_bytes', 'export.toml')}",
    )
    command.add_argument(
        "--processes", type=count, default=os.cpu_count() or 1, metavar="N",
        help="write N parts of the output at once (default: one for each core, here %(default)s)",
    )  # fmt: skip
    add_relative_to(command)
    add_row_options(command, "filters", "export.toml")


def _add_corpus(commands: Commands) -> None:
    command = add_command(
        commands, "corpus", _corpus, "write the extractions that pass filters, with counts of what each filter removed"
    )
    add_output_read(command)
    add_output(command, "DIR", "write the corpus to this folder or URL")
    add_row_options(command, "corpus", "dbce.toml")
    command.add_argument(
        "--min-probability", type=float, dest="corpus.min_probability", metavar="P",
        help=f"keep texts with a mean score of at least P {default_of('corpus.min_probability')}",
    )  # fmt: skip
    command.add_argument(
        "--duplicates", choices=("keep", "exact", "near"), dest="corpus.duplicates",
        help=f"keep duplicates, or remove exact ones, or exact and near ones {default_of('corpus.duplicates')}",
    )  # fmt: skip
    command.add_argument(
        "--within", choices=("all", "url"), dest="corpus.within",
        help=f"keep a text once in the whole corpus, or once for each URL {default_of('corpus.within')}",
    )  # fmt: skip
    command.add_argument(
        "--columns", type=names, default=[], metavar="NAME,...", help="write only these columns (default: all)"
    )
    add_relative_to(command)
    add_config(command)
    command.add_argument("--overwrite", action="store_true", help="replace an existing corpus")


def _report(arguments: argparse.Namespace) -> None:
    """Write a report of an output as static HTML: totals, rejects, templates, sample pages with labels."""
    from dbce_spark.report import write_report

    index = write_report(
        arguments.extracted, arguments.output, pages=arguments.pages, version=arguments.version, url=arguments.url
    )
    print(f"Report: {index}")


def _export(arguments: argparse.Namespace) -> None:
    """Write an output as documents for corpus builders, as plain text by site, or as pages with Dolma's attributes
    (docs/export.md). Defaults are in conf/export.toml."""
    given: dict[str, object] = {name: getattr(arguments, name) for name in ("source", "compression", "shard_bytes")}
    unused = next((name.replace("_", "-") for name, value in given.items() if value is not None), "")
    from dbce_spark import export
    from dbce_spark.export.export_settings import settings

    if unused and not export.FORMATS[arguments.format].has_shards:
        raise InputError(
            f"--{unused} is for documents in shards, and --format {arguments.format} writes none; leave it out"
        )
    request = export.ExportRequest(
        extracted=arguments.extracted,
        target=arguments.output,
        format=arguments.format,
        settings=settings(given | given_parameters(arguments)),
        processes=arguments.processes,
        version=arguments.version,
        relative_to=arguments.relative_to,
    )
    print(export.export(request))


def _corpus(arguments: argparse.Namespace) -> None:
    """Write the extractions of an output that pass filters, with a table of what each filter removed
    (docs/corpus.md)."""
    from dbce_spark.export import corpus

    given = given_parameters(arguments)
    config = configuration.load(arguments.config, given=given)
    if (within := given.get("corpus.within")) and config.corpus.duplicates == "keep":
        raise InputError(f"--within {within} is for duplicates, which are kept; add --duplicates near or exact")
    request = corpus.CorpusRequest(
        output=arguments.extracted,
        target=arguments.output,
        columns=arguments.columns,
        overwrite=arguments.overwrite,
        version=arguments.version,
        relative_to=arguments.relative_to,
    )
    print(corpus.write(request, config.corpus))
