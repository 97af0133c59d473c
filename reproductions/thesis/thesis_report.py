"""All experiments in one document: Markdown with its figures as inline SVG."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tqdm import tqdm

from dbce_spark.archive import warc
from dbce_spark.config import DbceConfig
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.files import sources, storage
from reproductions.thesis import chapter4, gold_sample, learner, merges, prepared, snapshots
from reproductions.thesis.gold_sample import Sample

FILE = "thesis.md"

Experiment = Callable[[Sample, DbceConfig], str]

ON_SITES: Mapping[str, Experiment] = {
    "Class balancing": learner.balancing,
    "Tuned parameters, chosen on other sites": learner.tuning,
    "Wider crosses, and merging them": merges.wider,
}
"""Experiments on pages of many sites, by title."""

ON_SERIES: Mapping[str, Experiment] = {
    "Fullness of the cross": snapshots.fullness,
    "Time between snapshots": snapshots.distances,
    "Undecided nodes by their neighbours": snapshots.context,
}
"""Experiments on snapshots of the same pages, by title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The input of a report: files of gold pages, archives without gold, and about how many pages of each set without
    series; those with series are measured whole."""

    paths: Sequence[str]
    crawls: Sequence[str]
    output: str
    pages: int


def write(request: Request, config: DbceConfig) -> str:
    """Write thesis.md into the output folder, in place of one there, and return it.

    Raises:
        InputError: a file is not of gold pages, or there is none.
    """
    report = "\n\n".join(_parts(request, config)) + "\n"
    with storage.atomic_file(str(PurePosixPath(request.output) / FILE)) as file:
        file.write(report.encode())
    return report


def _parts(request: Request, config: DbceConfig) -> Iterator[str]:
    sets = datasets.read(request.paths).sets
    series = {name: gold_sample.across_versions(pages) for name, pages in sets.items() if _is_series(pages)}
    chosen = {name: series.get(name) or gold_sample.chosen(pages, request.pages) for name, pages in sets.items()}
    samples = {name: gold_sample.read(pages, config) for name, pages in chosen.items()}
    yield from _chapter4(samples, config)
    sites = gold_sample.read([page for name, pages in chosen.items() if name not in series for page in pages], config)
    for title, experiment in tqdm(ON_SITES.items(), desc="sites", leave=False, disable=None):
        if sites.captures:
            yield from (f"## {title}", experiment(sites, config))
    for title, experiment in tqdm(ON_SERIES.items(), desc="series", leave=False, disable=None):
        for name in series:
            yield from (f"## {title}: {name}", experiment(samples[name], config))
    for name, fetches in crawls(request.crawls, config):
        archive = prepared.archive(fetches, config)
        yield from (f"## Time between snapshots: {name}, without gold", snapshots.crawled(archive, config))


def _chapter4(samples: Mapping[str, Sample], config: DbceConfig) -> Iterator[str]:
    measured = {
        name: chapter4.measure(one, config)
        for name, one in tqdm(samples.items(), desc="chapter 4", leave=False, disable=None)
    }
    yield "# The experiments of the thesis"
    yield from ("## Test cases (table 4.2)", chapter4.scores(measured))
    yield from (chapter4.figure_4_7(measured), chapter4.figure_4_8(measured))
    yield from ("## Milliseconds of CPU a page by phase (figures 4.4 to 4.6)", chapter4.times(measured))


def _is_series(pages: Sequence[GoldPage]) -> bool:
    """Test for a set of snapshots of the same URLs."""
    return len({page.url_key for page in pages}) < len(pages) / 2


def crawls(paths: Iterable[str], config: DbceConfig) -> Iterator[tuple[str, list[warc.Fetch]]]:
    """Iterate over the arguments, each a file or a folder of them, and their fetches."""
    for path in paths:
        files = sources.expand([path], config.input.patterns)
        read = (found for file in files for found in warc.read(file, config.input, config.page.max_html_bytes))
        yield PurePosixPath(path).name, [found for found in read if isinstance(found, warc.Fetch)]
