"""The study's tables that need more than scores, in one document: Markdown with its figures as inline SVG."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import numpy as np

from dbce_spark.evaluation.extracting.ensembles import THIRTEEN, is_name
from dbce_spark.evaluation.extracting.joint_extractors import is_ours
from dbce_spark.evaluation.scoring import complexity
from dbce_spark.evaluation.scoring.scores import Values
from dbce_spark.files import storage
from reproductions.study import (
    ensemble_learning,
    estimated_complexity,
    routing,
    study_pages,
    tag_clusters,
    topics,
)
from reproductions.study.routing import Choices
from reproductions.study.study_pages import StudyPages
from reproductions.study.tag_clusters import Groups

FILE = "study.md"

MIN_CANDIDATES = 2
"""Extractors among which there is a choice."""


def write(results: str, paths: Sequence[str], output: str) -> str:
    """Write study.md into the output folder, in place of one there, and return it.

    results: a folder that `dbce evaluate` wrote; paths: the gold pages that it was given.

    Raises:
        InputError: the folder holds no results, or they are not of these pages.
    """
    report = "\n\n".join(_parts(study_pages.read(results, paths))) + "\n"
    storage.write(str(PurePosixPath(output) / FILE), report.encode())
    return report


def _parts(of: StudyPages) -> Iterator[str]:
    pages = estimated_complexity.of_pages(of)
    texts = estimated_complexity.of_texts(of, pages)
    estimates = estimated_complexity.estimates(of, pages, texts)
    clustered = tag_clusters.both(of)
    sites = len(np.unique(of.units))
    yield "# Tables of the study of extractors"
    yield (
        f"{len(of.pages):,} pages of {sites:,} sites. All that is learned is learned from other sites; F1 is by"
        " ROUGE-L, pages of one site weigh at most 5 % together, and intervals are of 95 %, from draws of sites."
    )
    yield "## Learned ensembles (table 5.2)"
    if missing := [name for name in THIRTEEN if name not in of.extractors]:
        yield f"Not measured: {', '.join(missing)} did not run."
    else:
        yield ensemble_learning.report(ensemble_learning.measure(ensemble_learning.votes(of), of.units))
    yield from ("## Complexity without gold", estimated_complexity.report(of, estimates))
    yield from ("## Tags, and a t-SNE of them (figure 3.8, table 3.6)", tag_clusters.report(of, clustered))
    yield from tag_clusters.figures(of, clustered)
    yield "## Which extractor to trust with a page"
    by_estimate = _numbers(complexity.groups(estimates[1].ratios))
    groups = {"complexity, estimated": by_estimate, **{f"cluster {name}": one for name, one in clustered.items()}}
    single = [name for name in of.extractors if not is_name(name)]
    for candidates in ([name for name in single if not is_ours(name)], single):
        if len(candidates) < MIN_CANDIDATES:
            continue
        yield routing.report(
            of.extractors[0],
            candidates,
            routing.measure(of, candidates, _choices(of, candidates, groups, (pages, texts))),
        )
    yield from ("## Categories (table 3.2)", topics.report(of))


def _choices(
    of: StudyPages, candidates: Sequence[str], groups: dict[str, Groups], seen: tuple[Values, Values]
) -> dict[str, Choices]:
    """Choose among the candidates in all ways; seen: what pages show, and how much of them each extractor keeps."""
    f1 = of.f1[[of.extractors.index(name) for name in candidates]]
    return {
        "one for all": routing.one_for_all(f1, of.units),
        **{f"one for each {name}": routing.by_group(f1, numbers, of.units) for name, numbers in groups.items()},
        "by a forest that sees the page": routing.by_forest(f1, seen[0], of.units),
        "by a forest that sees what each keeps, too": routing.by_forest(f1, np.hstack(seen), of.units),
        "the best of each page": routing.best(f1),
    }


def _numbers(groups: Sequence[str]) -> Groups:
    return np.array([complexity.GROUPS.index(group) for group in groups])
