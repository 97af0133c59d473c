"""`dbce labels`: what comes of the labels that people gave."""

import argparse
from typing import TYPE_CHECKING

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import INPUT_HELP, count, names
from dbce_spark.errors import InputError

if TYPE_CHECKING:
    pass

_PAGES_HELP = "JSON lines of pages as annotators had them (docs/groundtruth.md), plain, .xz or .gz"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds it to the commands of `dbce`."""
    command = commands.add_parser(
        "labels",
        help="merge labels of people, measure their agreement, make a gold set of them",
        description="Merge what annotators submitted, measure how far they agree, and make a gold set of it"
        " (docs/groundtruth.md).",
    )
    parts = command.add_subparsers(title="parts", required=True, metavar="PART")
    _add_merge(parts)
    _add_agreement(parts)
    _add_export(parts)
    _add_diff(parts)
    _add_crosses(parts)
    _add_thesis(parts)
    _add_render(parts)
    _add_learn(parts)
    _add_krdwrd(parts)


def _add_merge(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    part = parts.add_parser(
        "merge",
        help="the majority's label of every segment",
        description="Write merged.jsonl, the majority's label of every segment, and refused.jsonl, what did not count"
        " and why.",
    )
    _add_inputs(part)
    part.set_defaults(run=_merge)


def _add_agreement(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    part = parts.add_parser(
        "agreement",
        help="how far annotators agree, and what else is known of them",
        description="Write agreement.jsonl, Fleiss's multi-pi of every page, and report.html: agreement, bias and time"
        " of annotators.",
    )
    _add_inputs(part)
    part.set_defaults(run=_agreement)


def _add_export(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    part = parts.add_parser(
        "export",
        help="merged labels as a gold set",
        description="Write merged labels as the JSON lines that evaluate and train read.",
    )
    part.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    part.add_argument("--merged", required=True, metavar="FILE", help="merged.jsonl of `labels merge`")
    part.add_argument("--output", required=True, metavar="FILE", help="JSON lines; .xz and .gz are compressed")
    part.add_argument("--dataset", default="labels", metavar="NAME", help="of the set (default: %(default)s)")
    part.set_defaults(run=_export)


def _add_diff(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    part = parts.add_parser(
        "diff",
        help="two labellings over the pages they are of",
        description="Write two labellings over the pages that both have, in colours, and an index of them from those"
        " that differ most.",
    )
    part.add_argument("pages", nargs="+", metavar="PAGES", help=f"{_PAGES_HELP}; or gold pages, as evaluate reads them")
    labels = (
        "gold; DIR@EXTRACTOR, of what `dbce evaluate` wrote to DIR; merged.jsonl, or other JSON lines with page and"
        " tags; of submissions FILE@ANNOTATOR"
    )
    part.add_argument("--reference", required=True, metavar="LABELS", help=f"whose colours are shown: {labels}")
    part.add_argument("--given", required=True, metavar="LABELS", help="what is set beside it, of any kind")
    part.add_argument("--output", required=True, metavar="DIR", help="a folder; files of this name are replaced")
    part.set_defaults(run=_diff)


def _add_crosses(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    part = parts.add_parser(
        "crosses",
        help="choose crosses of archives to be labelled",
        description="Write crosses as pages to be labelled, cut where the occurrence bits change, with the neighbours"
        " beside them (thesis 4.1).",
    )
    part.add_argument("inputs", nargs="+", metavar="INPUT", help=INPUT_HELP)
    part.add_argument("--output", required=True, metavar="FILE", help="JSON lines; .xz and .gz are compressed")
    part.add_argument("--tasks", default="", metavar="DIR", help="a file a cross, to label it in a browser")
    part.add_argument("--urls-per-site", type=count, metavar="N", help="drawn by chance (conf/labels.toml)")
    part.add_argument("--crosses-per-url", type=count, metavar="N", help="that differ in how many arms they have")
    part.set_defaults(run=_crosses)


def _add_thesis(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    part = parts.add_parser(
        "thesis",
        help="T001 to T006 on labelled crosses",
        description="Write a table of T001 to T006 on labelled crosses, as Markdown (thesis, tables 4.2 and D.1-D.4).",
    )
    part.add_argument("crosses", nargs="+", metavar="CROSSES", help="what `labels crosses` wrote")
    part.add_argument("--labels", required=True, metavar="FILE", help="merged.jsonl, or JSON lines with page and tags")
    part.add_argument("--output", required=True, metavar="FILE", help="Markdown")
    part.set_defaults(run=_thesis)


def _add_render(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    part = parts.add_parser(
        "render",
        help="how a browser shows pages",
        description="Write where a headless Chromium puts every segment, how large its letters are, and whether it is"
        " seen. No script runs, and nothing is asked of the network.",
    )
    part.add_argument("pages", nargs="*", metavar="PAGES", help=f"{_PAGES_HELP}; without what they load")
    part.add_argument(
        "--store", default="", metavar="STORE", help="pages of `dbce annotate`, with styles and pictures as archived"
    )
    part.add_argument("--output", required=True, metavar="FILE", help="JSON lines; .xz and .gz are compressed")
    part.add_argument("--screenshots", default="", metavar="DIR", help="a picture of each whole page")
    part.set_defaults(run=_render)


def _add_learn(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    part = parts.add_parser(
        "learn",
        help="what machines learn of labels, by kinds of features",
        description="Write how well an SVM tells content by words, by the DOM and by how pages look, by each alone,"
        " together and by vote, as Markdown (KrdWrd, table 4.1; conf/learning.toml).",
    )
    part.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    part.add_argument("--labels", required=True, metavar="FILE", help="merged.jsonl, or JSON lines with page and tags")
    part.add_argument("--rendering", default="", metavar="FILE", help="what `labels render` wrote of these pages")
    part.add_argument("--output", required=True, metavar="FILE", help="Markdown")
    part.add_argument(
        "--said",
        default="",
        metavar="DIR",
        help="what each machine said of pages that it had not seen, for `labels diff`",
    )
    part.set_defaults(run=_learn)


def _add_krdwrd(parts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    part = parts.add_parser(
        "krdwrd",
        help="take over KrdWrd's corpus canola and its votes",
        description="Write KrdWrd's corpus canola as pages.jsonl and gold.jsonl, its votes, merged, as votes.jsonl, and"
        " the report of their agreement.",
    )
    part.add_argument("canola", metavar="CANOLA", help="its pages as JSON lines with html_annotated")
    part.add_argument("--votes", required=True, metavar="DIR", help="its tables of votes (ID.stats), unpacked")
    part.add_argument("--output", required=True, metavar="DIR", help="a folder; files of this name are replaced")
    part.set_defaults(run=_krdwrd)


def _add_inputs(part: argparse.ArgumentParser) -> None:
    part.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    part.add_argument(
        "--submissions", nargs="+", required=True, metavar="FILE", help="JSON lines of what annotators submitted"
    )
    part.add_argument("--output", required=True, metavar="DIR", help="a folder; files of this name are replaced")
    part.add_argument("--minimum", type=count, metavar="N", help="submissions that a page must have (conf/labels.toml)")
    part.add_argument("--minimum-pages", type=count, metavar="N", help="pages that an annotator must have")
    part.add_argument(
        "--tolerated-bias", type=float, metavar="SHARE", help="below it no annotator is excluded; 1: none"
    )
    part.add_argument("--exclude", type=names, default=[], metavar="NAME,...", help="annotators who do not count")


def _merge(arguments: argparse.Namespace) -> None:
    from dbce_spark.annotation import labels_job

    print(labels_job.merge(_request(arguments)))


def _agreement(arguments: argparse.Namespace) -> None:
    from dbce_spark.annotation import labels_job

    print(labels_job.agree(_request(arguments)))


def _export(arguments: argparse.Namespace) -> None:
    from dbce_spark.annotation import labels_job

    print(labels_job.export(arguments.pages, arguments.merged, arguments.output, dataset=arguments.dataset))


def _diff(arguments: argparse.Namespace) -> None:
    from dbce_spark.evaluation import labelling_diff

    print(labelling_diff.write(arguments.pages, arguments.reference, arguments.given, arguments.output))


def _crosses(arguments: argparse.Namespace) -> None:
    from dbce_spark.annotation import labels_job
    from dbce_spark.annotation.merge_rules import rules

    given = {"urls_per_site": arguments.urls_per_site, "crosses_per_url": arguments.crosses_per_url}
    print(
        labels_job.choose_crosses(
            arguments.inputs, arguments.output, arguments.tasks, rules(given), configuration.default()
        )
    )


def _thesis(arguments: argparse.Namespace) -> None:
    from reproductions.krdwrd import label_experiments

    print(
        label_experiments.thesis(arguments.crosses, arguments.labels, arguments.output, configuration.default()), end=""
    )


def _render(arguments: argparse.Namespace) -> None:
    from reproductions.krdwrd import label_experiments

    if not arguments.pages and not arguments.store:
        raise InputError("there is nothing to show; give files of pages, or a --store")
    print(label_experiments.render(arguments.pages, arguments.store, arguments.output, arguments.screenshots))


def _learn(arguments: argparse.Namespace) -> None:
    from reproductions.krdwrd import label_experiments

    print(
        label_experiments.learn(
            arguments.pages, arguments.labels, arguments.rendering, arguments.output, arguments.said
        ),
        end="",
    )


def _krdwrd(arguments: argparse.Namespace) -> None:
    from reproductions.krdwrd import label_experiments

    print(label_experiments.take_krdwrd(arguments.canola, arguments.votes, arguments.output))


def _request(arguments: argparse.Namespace) -> "job.Request":
    from dbce_spark.annotation import labels_job
    from dbce_spark.annotation.merge_rules import rules

    return labels_job.Request(
        pages=arguments.pages,
        submissions=arguments.submissions,
        excluded=arguments.exclude,
        output=arguments.output,
        rules=rules(
            {
                "minimum_submissions": arguments.minimum,
                "minimum_pages": arguments.minimum_pages,
                "tolerated_bias": arguments.tolerated_bias,
            }
        ),
    )
