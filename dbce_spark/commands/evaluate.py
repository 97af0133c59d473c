"""`dbce evaluate`, `dbce train`, `dbce convert` and `dbce thesis`: what is measured on gold, and learnt of it."""

import argparse

from dbce_spark import config as configuration
from dbce_spark.commands.arguments import count, names, seconds

_PAGES_HELP = (
    "JSON lines with id, html and gold (plain, .xz or .gz), or a folder of a published set (readability,"
    " article-extraction-benchmark, CETD, CleanEval, dragnet)"
)


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds them to the commands of `dbce`."""
    _add_evaluate(commands)
    _add_train(commands)
    _add_convert(commands)
    _add_thesis(commands)


def _add_evaluate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "evaluate",
        help="score extractors on pages whose main text is known",
        description="Score extractors on gold pages: summary.md, report.html, scores.parquet, texts.parquet and"
        " pages.parquet (docs/benchmark.md).",
    )
    command.add_argument("pages", nargs="+", metavar="PAGES", help=_PAGES_HELP)
    command.add_argument(
        "--extractors", type=names, default="dbce,trafilatura,readability,resiliparse", metavar="NAME,...",
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
    command.add_argument("--limit", type=count, metavar="N", help="take the first N pages of each set only")
    command.add_argument(
        "--time-limit", type=seconds, default=30.0, metavar="SECONDS",
        help="what an extractor may take for a page (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--contrasts", type=int, default=10, metavar="N",
        help="show N pages of each extractor beside their gold, those it does worst on; 0: none (default: %(default)s)",
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
    command.add_argument("--limit", type=count, metavar="N", help="take the first N pages of each set only")
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
        "--limit", type=count, default=40, metavar="N", help="take about N pages of each set (default: %(default)s)"
    )
    command.set_defaults(run=_thesis)


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
        contrasts=arguments.contrasts,
    )
    print(harness.evaluate(request, configuration.default()))


def _train(arguments: argparse.Namespace) -> None:
    from dbce_spark.evaluation.training import train_job

    request = train_job.Request(
        paths=arguments.pages, output=arguments.output, folds=arguments.folds, limit=arguments.limit
    )
    print(train_job.train(request, configuration.default()))


def _convert(arguments: argparse.Namespace) -> None:
    from dbce_spark.evaluation import datasets

    print(f"{datasets.convert(arguments.pages, arguments.output):,} pages in {arguments.output}")


def _thesis(arguments: argparse.Namespace) -> None:
    from reproductions.thesis import thesis_report

    request = thesis_report.Request(
        paths=arguments.pages, crawls=arguments.crawl, output=arguments.output, pages=arguments.limit
    )
    print(thesis_report.write(request, configuration.default()))
