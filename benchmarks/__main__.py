"""`python -m benchmarks`: make sample archives, and measure what the product takes in time, memory and money."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import benchmarks
from dbce_spark import config as configuration
from dbce_spark.commands import cli
from dbce_spark.commands.arguments import INPUT_HELP, add_output, add_settings, count, names, seconds
from dbce_spark.commands.command_parser import Command, Commands, add_command
from dbce_spark.errors import InputError
from dbce_spark.files import sources, storage
from dbce_spark.log import counted

_CONTENTS = ("article", "whole")
"""Values of `label.content`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one benchmark; return 0, or the status of an error that was printed in one line."""
    return cli.run(parser(), argv)


def parser() -> argparse.ArgumentParser:
    """Build the parser of all benchmarks."""
    parser = Command(prog="python -m benchmarks", description=benchmarks.__doc__)
    commands = parser.add_subparsers(title="benchmarks", required=True, metavar="BENCHMARK")
    _add_sample_archive(commands)
    _add_speed(commands)
    _add_scale(commands)
    _add_cost(commands)
    _add_archive_pages(commands)
    _add_package_pages(commands)
    _add_reader_gold(commands)
    _add_structure(commands)
    _add_metadata(commands)
    _add_phrase_pages(commands)
    _add_published_texts(commands)
    _add_leaderboard(commands)
    _add_stream_pages(commands)
    _add_stream_scores(commands)
    _add_confidence(commands)
    _add_urltree_study(commands)
    return parser


def _add_sample_archive(commands: Commands) -> None:
    command = add_command(
        commands, "sample-archive", _sample_archive, "make a web archive of invented sites, with known labels"
    )
    command.add_argument("folder", metavar="DIR", help="write the archive to this folder")
    command.add_argument(
        "--pages", type=count, default=300, metavar="N", help="invent about N URLs (default: %(default)s)"
    )
    command.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="draw pages from this seed; the same seed gives the same bytes (default: %(default)s)",
    )
    command.add_argument(
        "--weight", type=int, default=0, metavar="N",
        help="add N times 20 KB of scripts and 40 menu links to each page; 6 is like a news site (default:"
        " %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--gold", metavar="FILE", help="write the pages with their main text too, as JSON lines for `dbce evaluate`"
    )
    command.add_argument(
        "--days", type=count, metavar="N",
        help="make N daily crawls in folders of their own, with the faults of a real month, instead of three crawls"
        " (docs/collections.md)",
    )  # fmt: skip


def _add_speed(commands: Commands) -> None:
    command = add_command(
        commands, "speed", _speed, "measure the time for a page, beside trafilatura and resiliparse on the same pages"
    )
    command.add_argument("input", nargs="+", metavar="INPUT", help=INPUT_HELP)
    command.add_argument(
        "--output", default="bench.json", metavar="FILE", help="write the figures to this file (default: %(default)s)"
    )
    add_settings(command, "the measured run, as for `dbce extract`")


def counts(text: str) -> list[int]:
    """Parse numbers from 1 on, with commas between them."""
    return [count(one) for one in names(text)]


def _add_scale(commands: Commands) -> None:
    command = add_command(commands, "scale", _scale, "measure how time, memory and disk grow with the input")
    command.add_argument(
        "--output",
        default="bench-scale.json",
        metavar="FILE",
        help="write the figures to this file (default: %(default)s)",
    )
    command.add_argument(
        "--work", required=True, metavar="DIR", help="keep made archives in this folder, and run there"
    )
    command.add_argument(
        "--only", action="append", choices=("growth", "shapes", "workers", "collection"), metavar="PART", dest="parts",
        help="measure growth, shapes, workers or collection; may be repeated (default: all)",
    )  # fmt: skip
    command.add_argument(
        "--pages", type=counts, default="5000,20000,80000", metavar="N,...",
        help="measure growth over sample archives of these numbers of captures, and one worker and two on the"
        " largest (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--weight",
        type=int,
        default=0,
        metavar="N",
        help="make pages of this weight, as for `python -m benchmarks sample-archive` (default: %(default)s)",
    )
    command.add_argument(
        "--shape-pages", type=count, default=100_000, metavar="N",
        help="make archives of difficult shapes with N captures (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--crawl-pages", type=count, default=2_000, metavar="N",
        help="make each of the ten crawls of a collection with N captures (default: %(default)s)",
    )  # fmt: skip
    add_settings(command, "all runs, as for `dbce extract`")


def _add_cost(commands: Commands) -> None:
    command = add_command(commands, "cost", _cost, "estimate the cost of a large run")
    command.add_argument(
        "measured",
        nargs="?",
        metavar="BENCH_SCALE_JSON",
        help="read measured figures from this file, written by `python -m benchmarks scale`",
    )
    command.add_argument(
        "--captures",
        type=count,
        metavar="N",
        help="estimate a run over N captures (default: 1 million, 100 million and 3 billion)",
    )
    command.add_argument(
        "--hours", type=seconds, default=24.0, metavar="N", help="plan for a run of N hours (default: %(default)s)"
    )
    command.add_argument(
        "--prices",
        metavar="FILE",
        help="read prices from this TOML file; those that it leaves out keep their values in conf/prices.toml",
    )
    command.add_argument("--cpu-ms", type=float, metavar="MS", help="assume this processor time for a page")
    for name, of in (("shuffle", "shuffled"), ("staged", "staged"), ("output", "written"), ("input", "read")):
        command.add_argument(f"--{name}-bytes", type=float, metavar="N", help=f"assume N bytes {of} for a page")


def _sample_archive(arguments: argparse.Namespace) -> None:
    """Make a web archive of invented sites, crawled three times, as WARC with CDXJ and known labels."""
    from benchmarks.samples import write_archive, write_month
    from benchmarks.samples.sample_gold import write_gold

    made = {"pages": arguments.pages, "seed": arguments.seed, "weight": arguments.weight}
    if arguments.days:
        if arguments.gold:
            raise InputError("--gold cannot be combined with --days; leave out one of them")
        print(write_month(arguments.folder, days=arguments.days, **made))
        return
    print(write_archive(arguments.folder, **made))
    if arguments.gold:
        print(f"{write_gold(arguments.gold, **made)} of them with their main text in {arguments.gold}")


def _speed(arguments: argparse.Namespace) -> None:
    """Measure the time for a page, in total and by stage, beside trafilatura and resiliparse on the same pages."""
    from benchmarks import page_time

    config = configuration.load(settings=arguments.settings)
    print(page_time.write(sources.expand(arguments.input, config.input.patterns), arguments.output, config))


def _scale(arguments: argparse.Namespace) -> None:
    """Measure time, memory, shuffles and disk of runs over made archives of several sizes and difficult shapes, with
    one worker and with two (docs/measurements.md)."""
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
    """Estimate the cost of a large run from measured figures of a page and from prices (docs/operations.md)."""
    from benchmarks import cost

    config, prices = configuration.default(), cost.prices(arguments.prices)
    page = cost.measured(arguments.measured, {name: getattr(arguments, name) for name in cost.FIGURES})
    runs = [arguments.captures] if arguments.captures else list(cost.RUNS)
    print(cost.text(page, [cost.bill(run, page, arguments.hours, prices, config) for run in runs]))


def _add_archive_pages(commands: Commands) -> None:
    command = add_command(
        commands, "archive-pages", _archive_pages, "write the pages of archives as a set to be labelled"
    )
    command.add_argument("input", nargs="+", metavar="INPUT", help=INPUT_HELP)
    add_output(command, "FILE", "write the pages to this file")


def _archive_pages(arguments: argparse.Namespace) -> None:
    """Write each page of some archives once, as JSON lines like those of a gold set, without gold."""
    from benchmarks import archive_pages

    written = archive_pages.write(arguments.input, configuration.load(), arguments.output)
    print(f"{arguments.output}: {counted(written, 'page')}")


def _add_package_pages(commands: Commands) -> None:
    command = add_command(
        commands, "package-pages", _package_pages, "write the pages of packages as a set to be labelled"
    )
    command.add_argument(
        "packages", nargs="+", metavar="PACKAGE",
        help="read the pages from formasaurus' source distribution (tar.gz), or with --labels from a package of Debian"
        " (deb) or npm (tgz)",
    )  # fmt: skip
    command.add_argument("--labels", metavar="LABELS", help="write those pages that this file of labels names")
    add_output(command, "FILE", "write the pages to this file")


def _package_pages(arguments: argparse.Namespace) -> None:
    """Write pages that packages carry, as JSON lines like those of a gold set, without gold."""
    from benchmarks import package_pages

    written = package_pages.write(arguments.packages, arguments.labels, arguments.output)
    print(f"{arguments.output}: {counted(written, 'page')}")


def _add_reader_gold(commands: Commands) -> None:
    command = add_command(commands, "reader-gold", _reader_gold, "make gold pages from labels by a reader")
    command.add_argument("set", metavar="SET", help="read the pages from this file of the published set")
    command.add_argument("labels", metavar="LABELS", help="read the labels from this file")
    add_output(command, "FILE", "write the gold pages, as JSON lines")


def _reader_gold(arguments: argparse.Namespace) -> None:
    """Join labels by a reader (benchmarks/labels) with the set that has the pages: gold with `nodes`."""
    from benchmarks import reader_gold

    written = reader_gold.write(arguments.set, arguments.labels, arguments.output)
    print(f"{arguments.output}: {counted(written, 'page')}")


def _add_structure(commands: Commands) -> None:
    command = add_command(
        commands, "structure", _structure, "score the Markdown of extractors by tables, code and links"
    )
    command.add_argument("sets", nargs="+", metavar="SET", help="read gold pages from this file")
    command.add_argument(
        "--extractor", action="append", metavar="NAME", dest="extractors",
        help="score dbce, trafilatura, resiliparse, html-to-markdown or defuddle; may be repeated (default: dbce)",
    )  # fmt: skip


def _structure(arguments: argparse.Namespace) -> None:
    """Score how much of the tables, code and links in a page's gold text the Markdown of extractors has
    (docs/structure.md)."""
    from benchmarks import structure_scores

    names = arguments.extractors or ["dbce"]
    if unknown := [name for name in names if name not in structure_scores.EXTRACTORS]:
        raise InputError(f"--extractor: {unknown[0]} is none; there are {', '.join(structure_scores.EXTRACTORS)}")
    print(structure_scores.measure(arguments.sets, names))


def _add_metadata(commands: Commands) -> None:
    command = add_command(
        commands, "metadata", _metadata, "score titles, authors, days and descriptions by those that people noted"
    )
    command.add_argument("phrases", nargs="+", metavar="PHRASES", help="read pages with what was noted from this file")
    command.add_argument(
        "--extractor", action="append", metavar="NAME", dest="extractors",
        help="score about, about-htmldate, columns, trafilatura or extruct; may be repeated (default: about)",
    )  # fmt: skip


def _metadata(arguments: argparse.Namespace) -> None:
    """Score what extractors find of a page's title, author, day of publication and description by what people noted
    (docs/metadata.md)."""
    from benchmarks import metadata_scores

    names = arguments.extractors or ["about"]
    if unknown := [name for name in names if name not in metadata_scores.EXTRACTORS]:
        raise InputError(f"--extractor: {unknown[0]} is none; there are {', '.join(metadata_scores.EXTRACTORS)}")
    print(metadata_scores.measure(arguments.phrases, names))


def _add_phrase_pages(commands: Commands) -> None:
    command = add_command(
        commands, "phrase-pages", _phrase_pages, "write pages whose phrases readers chose for `dbce evaluate`"
    )
    command.add_argument("phrases", nargs="+", metavar="PHRASES", help="read pages with their phrases from this file")
    add_output(command, "FILE", "write the pages, as JSON lines")


def _phrase_pages(arguments: argparse.Namespace) -> None:
    """Write the pages of files of phrases as gold pages; `leaderboard` scores what extractors make of them."""
    from benchmarks.leaderboard import phrases

    written = phrases.write_pages(arguments.phrases, arguments.output)
    print(f"{arguments.output}: {counted(written, 'page')}")


def _add_published_texts(commands: Commands) -> None:
    command = add_command(
        commands, "published-texts", _published_texts, "make texts for `dbce evaluate` from published outputs"
    )
    command.add_argument(
        "archive",
        metavar="TAR_XZ",
        help="read outputs/model-outputs.tar.xz of chatnoir-eu/web-content-extraction-benchmark",
    )
    command.add_argument(
        "sets", nargs="+", metavar="SET", help="write the texts of the gold pages in this file or folder"
    )
    add_output(command, "FILE", "write the texts to this file, which should end in .parquet")
    command.add_argument(
        "--pages", metavar="FILE", help="write the gold pages that have texts to this file, as JSON lines"
    )


def _published_texts(arguments: argparse.Namespace) -> None:
    """Write what the extractors of a published benchmark made of the pages of some sets as texts that `dbce evaluate`
    takes (docs/benchmark.md)."""
    from benchmarks import published_texts

    found = published_texts.write(arguments.archive, arguments.sets, arguments.output, arguments.pages)
    pages = counted(sum(map(len, found.sets.values())), "page")
    print(f"{arguments.output}: {len(found.pages):,} of {pages}, by {', '.join(sorted(found.extractors))}")


def _add_leaderboard(commands: Commands) -> None:
    command = add_command(commands, "leaderboard", _leaderboard, "write what all extractors reach as one page")
    command.add_argument(
        "runs", nargs="+", metavar="RUN",
        help="read the results of `dbce evaluate` in the folders whole, articles and phrases of this folder; a later"
        " one replaces what it has measured again",
    )  # fmt: skip
    command.add_argument(
        "--phrases", nargs="+", default=[], metavar="FILE", help="score texts by the phrases in these files"
    )
    command.add_argument(
        "--readers", nargs="+", default=[], metavar="FILE",
        help="score by phrases what readers marked in these sets too, where a set is named as a file of phrases",
    )  # fmt: skip
    add_output(command, "FILE", "write the page, in Markdown, to this file")


def _leaderboard(arguments: argparse.Namespace) -> None:
    """Write the leaderboard of all extractors from results of `dbce evaluate`, and a plot of the same name beside it
    (docs/benchmark.md)."""
    from benchmarks.leaderboard import board, results, speed_plot

    read = results.read(arguments.runs, arguments.phrases, arguments.readers)
    plot = Path(arguments.output).with_suffix(".svg")
    storage.write(arguments.output, board.text(read, plot.name).encode())
    if read.evaluated:
        storage.write(str(plot), speed_plot.draw(next(iter(read.evaluated.values()))).encode())
    print(arguments.output)


def _add_stream_pages(commands: Commands) -> None:
    command = add_command(commands, "stream-pages", _stream_pages, "write the first pages of each site as sets")
    command.add_argument("sets", nargs="+", metavar="SET", help="read gold pages from this file or folder")
    command.add_argument(
        "--least", type=count, default=5, metavar="N", help="take sites with N pages and more (default: %(default)s)"
    )
    command.add_argument(
        "--most", type=count, default=45, metavar="N", help="take the first N pages of a site (default: %(default)s)"
    )
    add_output(command, "DIR", "write a file a set, as JSON lines, to this folder")


def _stream_pages(arguments: argparse.Namespace) -> None:
    """Write the first pages of each site that has enough of them, as sets for `dbce evaluate` (docs/streaming.md)."""
    from benchmarks import stream_pages

    bounds = stream_pages.Bounds(arguments.least, arguments.most)
    for name, written in stream_pages.write(arguments.sets, arguments.output, bounds).items():
        print(f"{arguments.output}/{name}.jsonl.xz: {counted(written, 'page')}")


def _add_stream_scores(commands: Commands) -> None:
    command = add_command(
        commands, "stream-scores", _stream_scores, "show F1 by the number of a page in its site as tables and a plot"
    )
    command.add_argument("sets", nargs="+", metavar="SET", help="read the gold pages that were scored from this file")
    for content in _CONTENTS:
        command.add_argument(
            f"--{content}", nargs="+", default=[], metavar="DIR",
            help=f'read results of `dbce evaluate` with label.content = "{content}" from this folder',
        )  # fmt: skip
    add_output(command, "FILE.svg", "write the plot to this file")


def _stream_scores(arguments: argparse.Namespace) -> None:
    """Print F1 by the number of a page in its site, from results of `dbce evaluate`, each extractor less the first
    with intervals, and write a plot of it (docs/streaming.md)."""
    from benchmarks import stream_scores
    from dbce_spark.evaluation import datasets

    given = {content: folders for content in _CONTENTS if (folders := getattr(arguments, content))}
    if not given:
        raise InputError("no results are given; add --article DIR, --whole DIR or both")
    parts = stream_scores.read(given, datasets.read(arguments.sets).sets)
    storage.write(arguments.output, stream_scores.draw(parts).encode())
    print(stream_scores.text(parts))


def _add_confidence(commands: Commands) -> None:
    command = add_command(commands, "confidence", _confidence, "plot the F1 that pages reach over their confidence")
    command.add_argument("results", metavar="DIR", help="read results of `dbce evaluate` from this folder")
    command.add_argument(
        "--extractor", default="dbce", metavar="NAME", help="plot the pages of this extractor (default: %(default)s)"
    )
    add_output(command, "FILE.svg", "write the plot to this file")


def _confidence(arguments: argparse.Namespace) -> None:
    """Write a plot of the F1 that pages reach over their confidence (docs/classifier.md)."""
    from benchmarks import confidence_plot

    storage.write(arguments.output, confidence_plot.draw(arguments.results, arguments.extractor).encode())
    print(arguments.output)


STUDIED = ("heuristics", "windows", "similarity", "kinds")
"""Parts of the study of URL Tree."""


def _add_urltree_study(commands: Commands) -> None:
    command = add_command(
        commands, "urltree-study", _urltree_study, "measure URL Tree on a long domain, invented or of gold pages"
    )
    command.add_argument(
        "gold", nargs="*", metavar="GOLD", help="read gold pages from this file (default: invent a daily)"
    )
    command.add_argument(
        "--only", action="append", choices=STUDIED, metavar="PART", dest="parts",
        help="measure heuristics, windows, similarity or kinds; may be repeated (default: all)",
    )  # fmt: skip
    command.add_argument(
        "--documents", type=count, default=6_000, metavar="N", help="invent N stories (default: %(default)s)"
    )
    command.add_argument(
        "--copies", type=share, default=0.02, metavar="SHARE",
        help="let this share of the stories appear a second time (default: %(default)s)",
    )  # fmt: skip
    command.add_argument("--seed", type=int, default=1, metavar="N", help="draw from this seed (default: %(default)s)")
    command.add_argument(
        "--extractors", type=names, default=[], metavar="NAME,...",
        help="compare heuristics and kinds with these, named as for `dbce evaluate`",
    )  # fmt: skip
    command.add_argument(
        "--folds", default="", metavar="DIR", help="use these classifiers for dbce, each on sites that it has not seen"
    )
    command.add_argument(
        "--every", type=count, default=1, metavar="N", help="score kinds on one document of N (default: %(default)s)"
    )
    add_output(command, "FILE", "write the tables, in Markdown, to this file")


def share(text: str) -> float:
    """Parse a number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _urltree_study(arguments: argparse.Namespace) -> None:
    """Measure how good URL Tree is on one long domain by heuristic, by window, with similarity hashes, and by kind of
    boilerplate (docs/urltree.md)."""
    from benchmarks.urltree_study import stream_study

    asked = stream_study.Study(
        gold=arguments.gold,
        documents=arguments.documents,
        copies=arguments.copies,
        seed=arguments.seed,
        extractors=arguments.extractors,
        every=arguments.every,
        folds=arguments.folds,
    )
    storage.write(arguments.output, stream_study.measure(asked, arguments.parts or STUDIED).encode())
    print(arguments.output)


if __name__ == "__main__":
    sys.exit(main())
