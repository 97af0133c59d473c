"""Chapter 4 of the thesis on gold pages, in one document: Markdown with its figures as inline SVG."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tqdm import tqdm

from dbce_spark.config import DbceConfig
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.files import storage
from reproductions.thesis import chapter4, gold_sample

FILE = "thesis.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The input of a report: files of gold pages, and about how many pages of each set are measured; a set of snapshots
    is measured whole."""

    paths: Sequence[str]
    output: str
    pages: int


def write(request: Request, config: DbceConfig) -> str:
    """Write thesis.md into the output folder, in place of one there, and return it.

    Raises:
        InputError: a file is not of gold pages, or there is none.
    """
    report = "\n\n".join(_parts(request, config)) + "\n"
    storage.write(str(PurePosixPath(request.output) / FILE), report.encode())
    return report


def _parts(request: Request, config: DbceConfig) -> Iterator[str]:
    measured = {
        name: chapter4.measure(gold_sample.read(_chosen(pages, request.pages), config), config)
        for name, pages in tqdm(datasets.read(request.paths).sets.items(), desc="sets", leave=False, disable=None)
    }
    yield "# The experiments of the thesis"
    yield from ("## Test cases (table 4.2)", chapter4.scores(measured))
    yield from (chapter4.figure_4_7(measured), chapter4.figure_4_8(measured))
    yield from ("## Nodes and DOM elements (figures 4.3 and 4.4)", chapter4.nodes(measured))
    yield from (chapter4.figure_4_3(measured), *chapter4.figure_4_4(measured))
    yield from ("## Milliseconds of CPU a page by phase (figures 4.5 and 4.6)", chapter4.times(measured))
    yield from (chapter4.figure_4_5(one, name) for name, one in measured.items())


def _chosen(pages: Sequence[GoldPage], count: int) -> list[GoldPage]:
    return gold_sample.across_versions(pages) if _is_series(pages) else gold_sample.chosen(pages, count)


def _is_series(pages: Sequence[GoldPage]) -> bool:
    """Test for a set of snapshots of the same URLs."""
    return len({page.url_key for page in pages}) < len(pages) / 2
