"""Measure what labels of a few pages of a site bring on its other pages, by classifiers that have not seen the site:
`python -m benchmarks.programs.adaptation_gain FOLDS GOLD...`.

FOLDS is what `dbce train --folds` wrote, GOLD sets that it was given. Of each site with enough pages that readers
labelled some are drawn, many times; their labels are those of the reader, block by block. Prints a row a site: the F1
of all other pages without labels, and how much higher it is with 1, 2, 4 and 8 labelled pages.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.programs.program_parser import program_parser
from dbce_spark import config as configuration
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local
from dbce_spark.dbce.classifier import site_corrections
from dbce_spark.dbce.classifier.block_scores import Scores, log_odds_of
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.classifier.site_corrections import LabelledPage, SiteCorrections
from dbce_spark.dbce.kept.kept_blocks import choose_corrected
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.folds import FOLDS_FILE
from dbce_spark.evaluation.training import training_examples
from dbce_spark.evaluation.training.training_examples import Example
from dbce_spark.files import markdown_table
from dbce_spark.model import Page

PAGES = (1, 2, 4, 8)
"""Numbers of labelled pages; a site has at least twice as many."""
DRAWS = 12
"""Draws of labelled pages for each number of them."""
LEAST = 6
"""Pages of a site that is measured."""
SEED = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """A page, what a reader marked on it, and how many words of each block are counted and content."""

    page: Page
    labelled: LabelledPage
    counted: Scores
    held: Scores

    def f1(self, corrections: SiteCorrections, config: DbceConfig) -> float:
        is_kept = choose_corrected(self.page, self.labelled, corrections, config.label)
        both, either = self.held[is_kept].sum(), self.held.sum() + self.counted[is_kept].sum()
        return float(2 * both / either) if either else 1.0


def measure(folds: Path, gold: Sequence[str]) -> Iterator[list[str]]:
    """Iterate over the cells of each site's row, and of one with the means of all."""
    fold_of: Mapping[str, str] = json.loads((folds / FOLDS_FILE).read_text("utf-8"))
    config = configuration.default()
    pages = datasets.read(gold).pages
    of_site: dict[str, list[Example]] = defaultdict(list)
    for one in training_examples.read(pages, config):
        if one.by_reader is not None:
            of_site[one.page.capture.site].append(one)
    gains: dict[int, list[float]] = defaultdict(list)
    for site, examples in sorted(of_site.items()):
        if len(examples) < LEAST or site not in fold_of:
            continue
        label = replace(config.label, classifier=str(folds / fold_of[site]))
        measured = _measured(examples, replace(config, label=label))
        alone = np.array([one.f1(SiteCorrections(), config) for one in measured])
        of_pages = {count: _gain(measured, alone, count, config) for count in PAGES if 2 * count <= len(measured)}
        for count, gain in of_pages.items():
            gains[count].append(gain)
        yield [site, f"{len(measured)}", f"{alone.mean():.3f}", *(_signed(of_pages.get(count)) for count in PAGES)]
    yield ["all", "", "", *(f"{_signed(float(np.mean(gains[count])))} ({len(gains[count])})" for count in PAGES)]


def _measured(examples: Sequence[Example], config: DbceConfig) -> list[Measured]:
    """Score the pages of a site beside each other, as one crawl."""
    classifier = load_classifier(config.label.classifier)
    features = [
        one
        for batch in training_examples.batches(examples)
        for one in classifier.block_features([e.parsed for e in batch])
    ]
    example_of = {one.page.capture_id: one for one in examples}
    with_features = [replace(one.page, features=found) for one, found in zip(examples, features, strict=True)]
    compared = {one.page.capture_id: one for one in local.extract_pages(with_features, config)}
    measured = []
    for capture_id, extraction in sorted(compared.items()):
        example, segments = example_of[capture_id], extraction.segments
        scores = np.zeros(len(extraction.page.blocks))
        scores[segments.blocks] = segments.scores
        features_of = extraction.page.features
        assert features_of is not None
        held, counted = example.marked.held, example.counted
        labelled = LabelledPage(
            site=extraction.page.capture.site,
            keys=features_of.keys,
            log_odds=log_odds_of(scores),
            is_content=2 * held >= counted,
            is_labelled=counted > 0,
        )
        measured.append(Measured(extraction.page, labelled, counted.astype(float), held.astype(float)))
    return measured


def _gain(pages: Sequence[Measured], alone: Scores, count: int, config: DbceConfig) -> float:
    """Compute the mean gain in F1 over `alone` of the pages that are not labelled, over DRAWS of `count` that are."""
    random = np.random.default_rng(SEED)
    gains = []
    for _ in range(DRAWS):
        order = random.permutation(len(pages))
        corrections = site_corrections.learn([pages[at].labelled for at in order[:count]])
        gains += [pages[at].f1(corrections, config) - alone[at] for at in order[count:]]
    return float(np.mean(gains))


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


def main() -> None:
    """Print the table."""
    parser = program_parser()
    parser.add_argument("folds", type=Path, metavar="FOLDS")
    parser.add_argument("gold", nargs="+", metavar="GOLD")
    given = parser.parse_args()
    head = ["site", "pages", "F1", *(f"{count} labelled" for count in PAGES)]
    print(markdown_table.table(head, measure(given.folds, given.gold)))


if __name__ == "__main__":
    main()
