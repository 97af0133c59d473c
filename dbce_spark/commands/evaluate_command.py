"""`dbce evaluate`, `dbce train` and `dbce convert`: measure extractors on gold pages, and learn from them."""

import argparse

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import (
    add_local_output,
    add_output,
    add_settings,
    count,
    count_or_none,
    local_path,
    names,
    seconds,
)
from dbce_spark.commands.command_parser import Commands, add_command
from dbce_spark.errors import PlatformError, installs
from dbce_spark.log import counted

_PAGES_HELP = (
    "read JSON lines with id, html and gold (plain, .xz or .gz), or a folder of a published set (readability,"
    " article-extraction-benchmark, CETD, CleanEval, dragnet)"
)


def add(commands: Commands) -> None:
    """Add them to the commands of `dbce`."""
    _add_evaluate(commands)
    _add_train(commands)
    _add_convert(commands)


def _add_evaluate(commands: Commands) -> None:
    command = add_command(commands, "evaluate", _evaluate, "score extractors on pages whose main text is known")
    command.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    command.add_argument(
        "--extractors", type=names, default="dbce,trafilatura,readability,resiliparse", metavar="NAME,...",
        help="compare these extractors: names, all, own (those of this program), peers (those of others), or your own"
        " as MODULE:FUNCTION, NAME=COMMAND or NAME=texts.parquet (docs/benchmark.md); each is tested against the first"
        " (default: %(default)s)",
    )  # fmt: skip
    add_output(command, "DIR", "write tables and report to this folder, in place of earlier ones")
    command.add_argument(
        "--reuse",
        action="store_true",
        help="reuse the texts of an earlier run in the output folder, where nothing has changed",
    )
    command.add_argument(
        "--folds",
        default="",
        metavar="DIR",
        help="score each site with that classifier of `dbce train --folds` in this folder that has not seen it",
    )
    command.add_argument(
        "--floors", default="", metavar="FILE", help="fail if a mean F1 is under its floor in this file"
    )
    command.add_argument(
        "--pin-floors",
        action="store_true",
        help="write the scores that are reached as floors into the file of --floors",
    )
    command.add_argument(
        "--lower-floors",
        action="store_true",
        help="let --pin-floors lower floors, and replace those of other pages or folds",
    )
    command.add_argument("--limit", type=count, metavar="N", help="use only the first N pages of each set")
    command.add_argument(
        "--sample-size", type=count, metavar="N", help="use only N pages of each set, by a hash of their ids"
    )
    command.add_argument(
        "--time-limit", type=seconds, default=30.0, metavar="SECONDS",
        help="stop an extractor on a page after this time (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--contrasts", type=count_or_none, default=10, metavar="N",
        help="show the N worst pages of each extractor beside their gold; 0: none (default: %(default)s)",
    )  # fmt: skip
    add_settings(command, "conf/dbce.toml for this program's methods, such as label.content=article")


def _add_train(commands: Commands) -> None:
    command = add_command(commands, "train", _train, "train the classifier on pages whose main text is known")
    command.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    add_local_output(command, "FILE", "write the classifier to this file, such as classifier.npz")
    command.add_argument(
        "--folds", type=local_path, metavar="DIR",
        help="train one classifier without each fifth of the sites too, for `dbce evaluate --folds DIR`",
    )  # fmt: skip
    command.add_argument(
        "--pinned-folds", type=local_path, metavar="FILE",
        help="keep each site in the fold that it has in this file, folds.json of an earlier --folds; other sites go to"
        " the fold with the fewest pages",
    )  # fmt: skip
    command.add_argument("--limit", type=count, metavar="N", help="use only the first N pages of each set")


def _add_convert(commands: Commands) -> None:
    command = add_command(commands, "convert", _convert, "write published sets of gold pages as JSON lines")
    command.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    add_output(command, "FILE", "write JSON lines to this file; names ending in .xz or .gz are compressed")


def _evaluate(arguments: argparse.Namespace) -> None:
    """Score extractors on gold pages, and write summary.md, report.html, scores.parquet, texts.parquet, pages.parquet
    and evaluation.json (docs/benchmark.md)."""
    try:
        from dbce_spark.evaluation import evaluation_job
    except ImportError as error:
        raise PlatformError(f"{error.name} is not installed; run {installs('evaluate')}") from error

    request = evaluation_job.EvaluationRequest(
        paths=arguments.pages,
        extractors=arguments.extractors,
        output=arguments.output,
        limit=arguments.limit,
        time_limit=arguments.time_limit,
        sample=arguments.sample_size,
        reuse=arguments.reuse,
        folds=arguments.folds,
        floors=arguments.floors,
        pin_floors=arguments.pin_floors,
        lower_floors=arguments.lower_floors,
        contrasts=arguments.contrasts,
        settings=arguments.settings,
    )
    print(evaluation_job.evaluate(request, configuration.load(settings=arguments.settings)))


def _train(arguments: argparse.Namespace) -> None:
    """Train the classifier on gold pages, and with --folds one without each fifth of the sites, for unbiased scores
    (docs/classifier.md)."""
    from dbce_spark.evaluation.training import train_job

    request = train_job.TrainRequest(
        paths=arguments.pages,
        output=arguments.output,
        folds=arguments.folds,
        limit=arguments.limit,
        pinned_folds=arguments.pinned_folds,
    )
    print(train_job.train(request, configuration.default()))


def _convert(arguments: argparse.Namespace) -> None:
    """Write gold pages of any format that `dbce evaluate` reads as JSON lines."""
    from dbce_spark.evaluation import datasets

    print(f"{counted(datasets.convert(arguments.pages, arguments.output), 'page')} in {arguments.output}")
