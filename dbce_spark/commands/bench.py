"""`dbce sample-archive`, `dbce bench`, `dbce bench-scale`, `dbce cost`: what is made to be measured, and its price."""

import argparse

from dbce_spark import config as configuration
from dbce_spark.archive import sources
from dbce_spark.commands.arguments import INPUT_HELP, count, counts, seconds
from dbce_spark.errors import InputError


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds them to the commands of `dbce`."""
    _add_sample_archive(commands)
    _add_bench(commands)
    _add_bench_scale(commands)
    _add_cost(commands)


def _add_sample_archive(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "sample-archive",
        help="write a web archive with known labels",
        description="Write a web archive of invented sites, crawled three times, as WARC with CDXJ and known labels.",
    )
    command.add_argument("folder", metavar="DIR", help="where to write it")
    command.add_argument(
        "--pages", type=count, default=300, metavar="N", help="about how many URLs (default: %(default)s)"
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
        "--days", type=count, metavar="N",
        help="in place of three crawls one a day, a folder each, and what goes wrong in a month (docs/collections.md)",
    )  # fmt: skip
    command.set_defaults(run=_sample_archive)


def _add_bench(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "bench",
        help="measure time a page, beside trafilatura and resiliparse on the same pages",
        description="Measure time a page and stage, beside trafilatura and resiliparse on the same pages.",
    )
    command.add_argument("input", nargs="+", metavar="INPUT", help=INPUT_HELP)
    command.add_argument(
        "--output", default="bench.json", metavar="FILE", help="where to write the figures (bench.json)"
    )
    command.add_argument(
        "--set", action="append", default=[], metavar="SECTION.NAME=VALUE", dest="settings",
        help="one parameter of what is measured, as for extract; may be repeated",
    )  # fmt: skip
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
        "--pages", type=counts, default="5000,20000,80000", metavar="N,...",
        help="captures of the sample archives whose growth is measured; the largest is for one worker and two"
        " (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--weight",
        type=int,
        default=0,
        metavar="N",
        help="of their pages, as for sample-archive (default: %(default)s)",
    )
    command.add_argument(
        "--shape-pages", type=count, default=100_000, metavar="N",
        help="captures of an archive of one shape (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--crawl-pages", type=count, default=2_000, metavar="N",
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
        "--captures", type=count, metavar="N", help="of the run (default: 1 million, 100 million and 3 billion)"
    )
    command.add_argument(
        "--hours", type=seconds, default=24.0, metavar="N", help="in which it is to end (default: %(default)s)"
    )
    command.add_argument("--prices", metavar="FILE", help="a TOML file; the rest stays as in conf/prices.toml")
    command.add_argument("--cpu-ms", type=float, metavar="MS", help="processor time of a page, as measured")
    for name, of in (("shuffle", "shuffled"), ("staged", "staged"), ("output", "written"), ("input", "read")):
        command.add_argument(f"--{name}-bytes", type=float, metavar="N", help=f"bytes {of} a page, as measured")
    command.set_defaults(run=_cost)


def _sample_archive(arguments: argparse.Namespace) -> None:
    from benchmarks.samples import write_archive, write_month
    from benchmarks.samples.sample_gold import write_gold

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
    from benchmarks import page_time

    config = configuration.load(settings=arguments.settings)
    print(page_time.write(sources.expand(arguments.input, config.input.patterns), arguments.output, config))


def _bench_scale(arguments: argparse.Namespace) -> None:
    from benchmarks import scale

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
    from benchmarks import cost, size_model

    config, prices = configuration.default(), cost.prices(arguments.prices)
    page = cost.measured(arguments.measured, {name: getattr(arguments, name) for name in cost.FIGURES})
    runs = [arguments.captures] if arguments.captures else list(cost.RUNS)
    print(cost.text(page, [cost.bill(run, page, arguments.hours, prices, config) for run in runs]))
    captures = arguments.captures or size_model.CAPTURES
    partition = cost.bill(captures, page, arguments.hours, prices, config).partition_bytes
    print(f"\n{captures:,} captures, drawn:")
    print(size_model.text(size_model.drawn(captures, partition, config), page, config))
