"""Train classifiers that are not shown all evidence, to see what each kind of it is worth:
`python -m benchmarks.programs.evidence_worth train FOLDER GOLD...`, and `... compare EVALUATION EVALUATION...`.

Each arm is trained as `dbce train --folds` does, without the evidence that it names: so it has no features of it.
FOLDER/ARM then goes to `dbce evaluate --folds`, and the folders of two evaluations or more to `compare`, which sets the
F1 of each beside that of the first, page by page, in intervals from draws of sites. Where only some folds were trained
(`--folds`), give `dbce evaluate` pages of their sites alone: the classifiers have seen all others. Snapshots are never
learned from: what they are worth is the difference of the extractors `dbce` and `dbce-siblings`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.programs.program_parser import program_parser
from dbce_spark import config
from dbce_spark.evaluation.datasets import unit_of
from dbce_spark.evaluation.folds import FOLDS_FILE
from dbce_spark.evaluation.scoring import bootstrap
from dbce_spark.evaluation.training import train_job
from dbce_spark.evaluation.training.shown_neighbours import ShownNeighbours

ARMS: Mapping[str, Mapping[str, tuple[()]]] = {
    "without-crosses": {"annotations": ()},
    "without-pools": {"siblings": ()},
    "alone": {"annotations": (), "siblings": ()},
}
"""The fields of `ShownNeighbours` that are empty in each arm."""
FEW = 3
_PAGE = ["dataset", "page_id"]


def train(folder: Path, gold: Sequence[str], folds: Sequence[int] | None) -> None:
    """Train folds of each arm into a folder of its name, arm after arm; one that is there already stays."""
    prepared = train_job.prepare(gold, None, config.default())
    for name, emptied in ARMS.items():
        if not (folder / name / FOLDS_FILE).exists():
            every, few = (_without(one, emptied) for one in (prepared.neighbours, prepared.few_neighbours))
            train_job.train_folds(replace(prepared, neighbours=every, few_neighbours=few), folder / name, folds)


def _without(shown: Mapping[str, ShownNeighbours], emptied: Mapping[str, tuple[()]]) -> dict[str, ShownNeighbours]:
    return {capture_id: replace(one, **emptied) for capture_id, one in shown.items()}


def compare(evaluations: Sequence[str]) -> Iterator[str]:
    """Iterate over rows of a table: of a group of pages the first evaluation's F1, and how those of others differ."""
    scores = [_f1(folder) for folder in evaluations]
    joined = pd.concat([one.f1 for one in scores], axis=1, join="inner", keys=range(len(scores)))
    pages = scores[0].loc[joined.index]
    for name, rows in _groups(pages):
        values = joined[rows].to_numpy().T
        sites = zip(pages.site[rows], pages.index[rows], strict=True)
        units = bootstrap.numbered([unit_of(site, dataset, page_id) for site, (dataset, page_id) in sites])
        _, *found = bootstrap.differences(values, np.ones(values.shape[1]), units)
        differences = (f"{one.mean:+.4f} ({one.low:+.4f} to {one.high:+.4f})" for one in found)
        yield f"| {name} | {values.shape[1]} | {values[0].mean():.4f} | {' | '.join(differences)} |"


def _f1(folder: str) -> pd.DataFrame:
    scores = pd.read_parquet(Path(folder, "scores.parquet"))
    return scores[scores.metric == "rouge_l"].set_index(_PAGE)


def _groups(pages: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[bool]"]]:
    """Name groups of pages: all, those with few siblings or more, those of each set and each type."""
    yield "all", pages.siblings >= 0
    yield "no sibling", pages.siblings == 0
    yield f"1 to {FEW - 1} siblings", (pages.siblings > 0) & (pages.siblings < FEW)
    yield f"{FEW} siblings or more", pages.siblings >= FEW
    for of_set in sorted({one for one, _ in pages.index}):
        yield of_set, pages.index.get_level_values(0) == of_set
    for page_type, count in pages.page_type.value_counts().items():
        if page_type and count >= bootstrap.MIN_SITES:
            yield str(page_type), pages.page_type == page_type


def main() -> None:
    """Train the arms, or print the table."""
    parser = program_parser()
    parser.add_argument("action", choices=["train", "compare"])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--folds", type=int, nargs="+", help="train only these")
    given = parser.parse_args()
    if given.action == "train":
        train(Path(given.paths[0]), given.paths[1:], given.folds)
    else:
        print("\n".join(compare(given.paths)))


if __name__ == "__main__":
    main()
