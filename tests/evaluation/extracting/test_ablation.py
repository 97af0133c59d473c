"""The ablation hides evidence from the classifier, and nothing else."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.samples.sample_gold import write_gold
from dbce_spark import config
from dbce_spark.dbce import local, pages
from dbce_spark.evaluation import datasets
from dbce_spark.evaluation.extracting import ablation
from dbce_spark.model import Extraction, Page

CONFIG = config.default()
EVERYTHING = 1000


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Page]:
    """Pages of several sites with siblings and snapshots."""
    path: Path = tmp_path_factory.mktemp("ablation") / "gold.jsonl"
    write_gold(str(path), pages=40, seed=1, weight=0)
    gold = datasets.read([str(path)]).pages
    made = pages.parse_fetches([page.fetch(at) for at, page in enumerate(gold)], CONFIG)
    return pages.unique(page for page in made if isinstance(page, Page))


def _block_scores(one: Extraction) -> list[float]:
    scored: list[float] = one.segments.scores.tolist()
    return scored


def scores(found: Sequence[Extraction]) -> dict[str, list[float]]:
    return {one.page.capture_id: _block_scores(one) for one in found}


def test_with_nothing_hidden_it_is_the_method_itself(captures: list[Page]) -> None:
    shown = ablation.extractions(captures, CONFIG, siblings=None, snapshots=True)
    assert scores(shown) == scores(local.extract_pages(captures, CONFIG))


def test_a_page_that_is_shown_nothing_is_labelled_as_if_it_were_the_only_one(captures: list[Page]) -> None:
    hidden = ablation.extractions(captures, CONFIG, siblings=0, snapshots=False)
    alone = [local.extract_pages([page], CONFIG)[0] for page in captures]
    assert scores(hidden) == scores(alone)


def test_siblings_change_the_labels_of_a_page(captures: list[Page]) -> None:
    few = scores(ablation.extractions(captures, CONFIG, siblings=1, snapshots=True))
    all_of_them = scores(ablation.extractions(captures, CONFIG, siblings=EVERYTHING, snapshots=True))
    none = scores(ablation.extractions(captures, CONFIG, siblings=0, snapshots=True))
    assert few != none
    assert few != all_of_them


def test_hidden_siblings_are_not_in_its_crosses_either(captures: list[Page]) -> None:
    for one in ablation.extractions(captures, CONFIG, siblings=0, snapshots=True):
        assert not any(cross.up or cross.down for cross in one.crosses)
        assert not np.any(one.segments.siblings)


def test_hidden_snapshots_move_nothing(captures: list[Page]) -> None:
    """With siblings or without, of two captures of one URL only the other siblings are left to each."""
    shown, hidden = (ablation.extractions(captures, CONFIG, siblings=0, snapshots=one) for one in (True, False))
    urls = Counter(page.capture.url_key for page in captures)
    moved = {
        one.page.capture.url_key
        for one, other in zip(shown, hidden, strict=True)
        if _block_scores(one) != _block_scores(other)
    }
    assert moved
    assert all(urls[url_key] > 1 for url_key in moved)


def test_the_same_siblings_are_shown_whatever_the_order_of_the_pages(captures: list[Page]) -> None:
    backwards = scores(ablation.extractions(captures[::-1], CONFIG, siblings=2, snapshots=True))
    assert backwards == scores(ablation.extractions(captures, CONFIG, siblings=2, snapshots=True))
