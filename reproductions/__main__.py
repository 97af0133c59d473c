"""`python -m reproductions`: make the experiments of the thesis, of the study of extractors and of KrdWrd again."""

import argparse
import sys
from collections.abc import Sequence

import reproductions
from dbce_spark import config as configuration
from dbce_spark.commands import cli
from dbce_spark.commands.arguments import add_output, count, local_path
from dbce_spark.commands.command_parser import Command, Commands, add_command

_PAGES_HELP = "JSON lines of pages as annotators had them (docs/groundtruth.md), plain, .xz or .gz"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one reproduction; return 0, or the status of an error that was printed in one line."""
    return cli.run(parser(), argv)


def parser() -> argparse.ArgumentParser:
    """Build the parser of all reproductions."""
    parser = Command(prog="python -m reproductions", description=reproductions.__doc__)
    commands = parser.add_subparsers(title="reproductions", required=True, metavar="REPRODUCTION")
    _add_thesis(commands)
    _add_study(commands)
    _add_labelled_crosses(commands)
    _add_learn(commands)
    _add_canola(commands)
    return parser


def _add_thesis(commands: Commands) -> None:
    command = add_command(commands, "thesis", _thesis, "repeat the experiments of the thesis")
    command.add_argument(
        "pages",
        nargs="+",
        metavar="PAGES",
        help="read gold pages, as `dbce evaluate` does; sets with snapshots are used whole",
    )
    add_output(command, "DIR", "write thesis.md to this folder, in place of an earlier one")
    command.add_argument(
        "--limit", type=count, default=40, metavar="N", help="use about N pages of each set (default: %(default)s)"
    )


def _add_study(commands: Commands) -> None:
    command = add_command(commands, "study", _study, "make the study's tables that need more than scores")
    command.add_argument(
        "results", metavar="DIR", help="read texts and scores from this folder that `dbce evaluate` wrote"
    )
    command.add_argument("pages", nargs="+", metavar="PAGES", help="read the gold pages that it was given")
    add_output(command, "DIR", "write study.md to this folder, in place of an earlier one")


def _add_labelled_crosses(commands: Commands) -> None:
    part = add_command(commands, "labelled-crosses", _labelled_crosses, "score T001 to T006 on labelled crosses")
    part.add_argument("crosses", nargs="+", metavar="CROSSES", help="read crosses that `dbce labels crosses` wrote")
    _add_labels(part)
    add_output(part, "FILE", "write Markdown to this file")


def _add_learn(commands: Commands) -> None:
    part = add_command(commands, "learn", _learn, "measure how well an SVM learns the labels, by kind of features")
    part.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    _add_labels(part)
    part.add_argument(
        "--rendering",
        default="",
        metavar="FILE",
        help="read the look of these pages from the file that `dbce labels render` wrote",
    )
    part.add_argument(
        "--screenshots",
        default="",
        type=local_path,
        metavar="DIR",
        help="read the pixels of these pages from the pictures that `dbce labels render --screenshots` kept here",
    )
    add_output(part, "FILE", "write Markdown to this file")
    part.add_argument(
        "--tags",
        default="",
        metavar="DIR",
        help="write the labels that each SVM gave to pages that it had not seen to this folder, for `dbce labels diff`",
    )


def _add_labels(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--labels",
        required=True,
        metavar="FILE",
        help="read labels from merged.jsonl of `dbce labels merge`, or JSON lines with page and tags",
    )


def _add_canola(commands: Commands) -> None:
    part = add_command(commands, "canola", _canola, "convert KrdWrd's corpus canola and its votes")
    part.add_argument("canola", metavar="CANOLA", help="read canola's pages from JSON lines with html_annotated")
    part.add_argument(
        "--votes",
        required=True,
        metavar="DIR",
        help="read canola's tables of votes (ID.stats), unpacked, from this folder",
    )
    add_output(part, "DIR", "write to this folder, in place of earlier files of the same names")


def _thesis(arguments: argparse.Namespace) -> None:
    """Repeat the experiments of the thesis's chapter 4 on gold pages, T001 to T006, and write thesis.md
    (docs/thesis.md)."""
    from reproductions.thesis import thesis_report

    request = thesis_report.Request(paths=arguments.pages, output=arguments.output, pages=arguments.limit)
    print(thesis_report.write(request, configuration.default()))


def _study(arguments: argparse.Namespace) -> None:
    """Make the tables of the study of extractors that need more than scores, and answer its open questions: learned
    ensembles, complexity without gold, clusters, which extractor to trust, categories (docs/benchmark.md)."""
    from reproductions.study import study_report

    print(study_report.write(arguments.results, arguments.pages, arguments.output), end="")


def _labelled_crosses(arguments: argparse.Namespace) -> None:
    """Score T001 to T006 on labelled crosses, as tables in Markdown (thesis, table 4.2, figure 4.3, tables D.1-D.4)."""
    from reproductions.krdwrd import label_experiments

    print(
        label_experiments.score_crosses(arguments.crosses, arguments.labels, arguments.output, configuration.default()),
        end="",
    )


def _learn(arguments: argparse.Namespace) -> None:
    """Measure how well an SVM learns the labels from words, from the DOM and from the look of pages, by each alone,
    together and by vote, as Markdown (KrdWrd, table 4.1; conf/learning.toml)."""
    from reproductions.krdwrd import label_experiments

    request = label_experiments.LearnRequest(
        pages=arguments.pages,
        labels=arguments.labels,
        output=arguments.output,
        renderings=arguments.rendering,
        screenshots=arguments.screenshots,
        predictions=arguments.tags,
    )
    print(label_experiments.learn(request), end="")


def _canola(arguments: argparse.Namespace) -> None:
    """Convert KrdWrd's corpus canola to pages.jsonl and gold.jsonl, and its votes, merged, to votes.jsonl, with a
    report of their agreement."""
    from reproductions.krdwrd import label_experiments

    print(label_experiments.convert_canola(arguments.canola, arguments.votes, arguments.output))


if __name__ == "__main__":
    sys.exit(main())
