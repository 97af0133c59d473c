"""A classifier as `dbce train` makes one, of fewer trees and from the pages of a small sample archive."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchmarks.samples.sample_gold import write_gold
from dbce_spark.archive.warc import Fetch
from dbce_spark.dbce.classifier.classify import Classifier
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.training import boosted_trees, prepared_pages, trainer, training_examples, word_weights
from dbce_spark.evaluation.training.prepared_pages import PreparedPages
from dbce_spark.evaluation.training.shown_neighbours import ShownNeighbours
from dbce_spark.evaluation.training.training_examples import Example
from tests.support.builders import config

PATTERNS = config("label.by=T002")
"""For pages that no classifier needs to look at."""


@cache
def gold() -> tuple[GoldPage, ...]:
    """Pages of eight sites in five languages, some of them with snapshots."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "gold.jsonl"
        write_gold(path, pages=24, seed=1)
        (pages,) = datasets.read([str(path)]).sets.values()
    return tuple(pages)


@cache
def fetches() -> tuple[Fetch, ...]:
    """Fetch the first twenty of them."""
    return tuple(one.fetch(at) for at, one in enumerate(gold()[:20]))


@cache
def examples() -> tuple[Example, ...]:
    return tuple(training_examples.read(gold(), PATTERNS))


@cache
def prepared() -> PreparedPages:
    return prepared_pages.prepare(examples(), PATTERNS)


def train(of: PreparedPages) -> Classifier:
    """The trainer's own way, with trees so few and small that it is done in a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "FIRST_TREES", 6)
        patch.setattr(trainer, "SECOND_TREES", 12)
        patch.setattr(trainer, "ARTICLE_TREES", 12)
        patch.setattr(trainer, "WHOLE_TREES", 12)
        patch.setattr(trainer, "REPLY_TREES", 4)
        patch.setattr(trainer, "TYPE_TREES", 12)
        patch.setattr(word_weights, "HOSTS", 2)
        for parameters in (boosted_trees.PARAMETERS, boosted_trees.WHOLE_PARAMETERS):
            patch.setitem(parameters, "min_data_in_leaf", 20)
            patch.setitem(parameters, "num_threads", 1)
        patch.setitem(boosted_trees.TYPE_PARAMETERS, "num_threads", 1)
        return trainer.train(of, {"pages": len(of.examples)})


@cache
def classifier() -> Classifier:
    """One that has seen all of the pages."""
    return train(prepared())


def alone(examples: Sequence[Example]) -> dict[str, ShownNeighbours]:
    """Hide all neighbours of each page: none are shown, by capture id."""
    return {one.page.capture_id: ShownNeighbours((), ()) for one in examples}
