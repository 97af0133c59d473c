"""`dbce labels`: merge, measure and export the labels that people gave."""

import argparse
from typing import TYPE_CHECKING

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import INPUT_HELP, add_output, count, default_of, local_path, names
from dbce_spark.commands.command_parser import Command, Commands, add_command
from dbce_spark.errors import InputError

if TYPE_CHECKING:
    from dbce_spark.annotation.labels import labels_job

_FILE = "labels.toml"
_PAGES_HELP = "read JSON lines of the pages that annotators labelled (docs/groundtruth.md), plain, .xz or .gz"


def add(commands: Commands) -> None:
    """Add it to the commands of `dbce`."""
    command = commands.add_parser(
        "labels",
        help="merge people's labels, measure their agreement, and make gold sets of them",
        description="Merge people's labels, measure their agreement, and make gold sets of them (docs/groundtruth.md).",
    )
    parts = command.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_inputs(add_command(parts, "merge", _merge, "merge submissions to the majority's label of every segment"))
    _add_inputs(add_command(parts, "agreement", _agreement, "measure how far annotators agree"))
    _add_export(parts)
    _add_diff(parts)
    _add_crosses(parts)
    _add_render(parts)


def _add_export(parts: Commands) -> None:
    part = add_command(parts, "export", _export, "write merged labels as a gold set")
    part.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    part.add_argument(
        "--merged", required=True, metavar="FILE", help="read merged labels from merged.jsonl of `dbce labels merge`"
    )
    add_output(part, "FILE", "write JSON lines to this file; names ending in .xz or .gz are compressed")
    part.add_argument("--dataset", default="labels", metavar="NAME", help="name the gold set (default: %(default)s)")


def _add_diff(parts: Commands) -> None:
    part = add_command(parts, "diff", _diff, "show two labellings of the same pages in colours")
    part.add_argument(
        "pages", nargs="+", metavar="PAGES", help=f"{_PAGES_HELP}; or gold pages, as `dbce evaluate` reads them"
    )
    labels = (
        "gold; DIR@EXTRACTOR for an extractor's texts that `dbce evaluate` wrote to DIR; FILE@ANNOTATOR for one"
        " annotator's submissions; or a file, merged.jsonl or other JSON lines with page and tags"
    )
    part.add_argument(
        "--reference", required=True, metavar="LABELS", help=f"show the colours of these labels: {labels}"
    )
    part.add_argument(
        "--given", required=True, metavar="LABELS", help="compare these labels with the reference; written like it"
    )
    add_output(part, "DIR", "write to this folder, in place of earlier files of the same names")


def _add_crosses(parts: Commands) -> None:
    part = add_command(parts, "crosses", _crosses, "choose crosses of archives for people to label")
    part.add_argument("inputs", nargs="+", metavar="INPUT", help=INPUT_HELP)
    add_output(part, "FILE", "write JSON lines to this file; names ending in .xz or .gz are compressed")
    part.add_argument(
        "--tasks",
        default="",
        metavar="DIR",
        help="write each cross as an HTML file too, to be labelled in a browser without a server",
    )
    part.add_argument(
        "--urls-per-site",
        type=count,
        metavar="N",
        help=f"draw N URLs of each site {default_of('urls_per_site', _FILE)}",
    )
    part.add_argument(
        "--crosses-per-url",
        type=count,
        metavar="N",
        help=f"choose N crosses of each URL, with different numbers of arms {default_of('crosses_per_url', _FILE)}",
    )


def _add_render(parts: Commands) -> None:
    part = add_command(parts, "render", _render, "record how a browser shows pages")
    part.add_argument(
        "pages",
        nargs="*",
        metavar="PAGES",
        help=f"{_PAGES_HELP}; they are shown with the styles in them alone, without pictures",
    )
    part.add_argument(
        "--store",
        default="",
        metavar="STORE",
        help="read the pages of this store of `dbce annotate`, with their archived styles and pictures",
    )
    add_output(part, "FILE", "write JSON lines to this file; names ending in .xz or .gz are compressed")
    part.add_argument(
        "--screenshots", default="", type=local_path, metavar="DIR",
        help="write a picture of each whole page to this folder",
    )  # fmt: skip


def _add_inputs(part: Command) -> None:
    part.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    part.add_argument(
        "--submissions", nargs="+", required=True, metavar="FILE", help="read submissions from JSON lines"
    )
    add_output(part, "DIR", "write to this folder, in place of earlier files of the same names")
    part.add_argument(
        "--min-submissions",
        type=count,
        dest="minimum_submissions",
        metavar="N",
        help=f"leave out pages with fewer than N submissions {default_of('minimum_submissions', _FILE)}",
    )
    part.add_argument(
        "--min-pages",
        type=count,
        dest="minimum_pages",
        metavar="N",
        help=f"leave out annotators with fewer than N pages {default_of('minimum_pages', _FILE)}",
    )
    part.add_argument(
        "--tolerated-bias",
        type=float,
        metavar="SHARE",
        help=f"keep annotators up to this bias, even as outliers; 1: keep all {default_of('tolerated_bias', _FILE)}",
    )
    part.take_earlier("--minimum", "--min-submissions")
    part.take_earlier("--minimum-pages", "--min-pages")
    part.add_argument("--exclude", type=names, default=[], metavar="NAME,...", help="leave out these annotators")


def _merge(arguments: argparse.Namespace) -> None:
    """Merge submissions to the majority's label of every segment, in merged.jsonl; refused.jsonl lists the submissions
    that were left out, with reasons."""
    from dbce_spark.annotation.labels import labels_job

    print(labels_job.merge(_request(arguments)))


def _agreement(arguments: argparse.Namespace) -> None:
    """Measure how far annotators agree: Fleiss's multi-pi of every page in agreement.jsonl; agreement, bias and time of
    annotators in report.html."""
    from dbce_spark.annotation.labels import labels_job

    print(labels_job.agree(_request(arguments)))


def _export(arguments: argparse.Namespace) -> None:
    """Write merged labels as a gold set: JSON lines that `dbce evaluate` and `dbce train` read."""
    from dbce_spark.annotation.labels import labels_job

    print(labels_job.export(arguments.pages, arguments.merged, arguments.output, dataset=arguments.dataset))


def _diff(arguments: argparse.Namespace) -> None:
    """Show two labellings of the same pages in colours, as HTML, with an index that begins with those that differ
    most."""
    from dbce_spark.commands import labelling_diff

    print(labelling_diff.write(arguments.pages, arguments.reference, arguments.given, arguments.output))


def _crosses(arguments: argparse.Namespace) -> None:
    """Choose crosses of archives, and write them as pages for people to label, cut where the occurrence bits change,
    with their neighbours (thesis 4.1)."""
    from dbce_spark.annotation.labels import labels_job
    from dbce_spark.annotation.labels.labels_settings import rules

    given = {"urls_per_site": arguments.urls_per_site, "crosses_per_url": arguments.crosses_per_url}
    print(
        labels_job.choose_crosses(
            arguments.inputs, arguments.output, arguments.tasks, rules(given), configuration.default()
        )
    )


def _render(arguments: argparse.Namespace) -> None:
    """Record where a headless Chromium shows every segment, how large its letters are, and whether it is visible. No
    script runs, and nothing is loaded from the network."""
    from dbce_spark.annotation.markup import render_job

    if not arguments.pages and not arguments.store:
        raise InputError("there is nothing to show; give files of pages, or a --store")
    print(render_job.render(arguments.pages, arguments.store, arguments.output, arguments.screenshots))


def _request(arguments: argparse.Namespace) -> "labels_job.LabelsRequest":
    from dbce_spark.annotation.labels import labels_job
    from dbce_spark.annotation.labels.labels_settings import rules

    given = {name: getattr(arguments, name) for name in ("minimum_submissions", "minimum_pages", "tolerated_bias")}
    return labels_job.LabelsRequest(
        pages=arguments.pages,
        submissions=arguments.submissions,
        excluded=arguments.exclude,
        output=arguments.output,
        rules=rules(given),
    )
