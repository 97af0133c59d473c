"""All extractors on all sets: `dbce evaluate`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tqdm import tqdm

from dbce_spark import store
from dbce_spark.config import DbceConfig
from dbce_spark.evaluation import datasets, extractors, scores, summary
from dbce_spark.evaluation.scores import Row

MAX_WORKERS = 2
"""Child processes an extractor runs in. Times are of CPU, so that more would change none of them; two leave a laptop
usable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to measure. `limit` is how many pages of each set, from its start; `time_limit` seconds a page."""

    paths: Sequence[str]
    extractors: Sequence[str]
    output: str
    limit: int | None
    time_limit: float


def evaluate(request: Request, config: DbceConfig) -> str:
    """Writes scores.parquet and summary.md into the output folder, in place of those there, and returns the summary.

    Raises:
        InputError: a file is not of gold pages, or there is none.
        ConfigError: an extractor that is not known.
        PlatformError: an extractor's package is not installed.
    """
    with tqdm(desc="pages", unit=" pages", disable=None) as bar:
        setting = extractors.Setting(
            config=config,
            time_limit=request.time_limit,
            workers=min(MAX_WORKERS, os.cpu_count() or 1),
            advance=bar.update,
        )
        chosen = extractors.by_name(request.extractors, setting)
        gold = datasets.read(request.paths, request.limit)
        bar.reset(total=len(chosen) * sum(map(len, gold.sets.values())))
        rows: list[Row] = []
        for dataset, pages in gold.sets.items():
            for name, extract in chosen.items():
                bar.set_description(f"{dataset}: {name}")
                rows += scores.rows(pages, name, extract(pages))
    scores.write(str(PurePosixPath(request.output) / "scores.parquet"), rows)
    told = summary.text(rows, gold.skipped)
    with store.whole_file(str(PurePosixPath(request.output) / "summary.md")) as file:
        file.write(told.encode())
    return told
