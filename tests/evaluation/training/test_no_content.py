"""Whether a page has content at all: how a classifier learns it, and what comes of it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import page_labels, pages
from dbce_spark.dbce.classifier.classifier_file import load_classifier, save_classifier
from dbce_spark.dbce.classifier.classify import Classifier
from dbce_spark.dbce.kept import kept_blocks
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.folds import FOLDS_FILE
from dbce_spark.evaluation.reader_texts import reader_texts
from dbce_spark.evaluation.training import boosted_trees, no_content
from dbce_spark.evaluation.training.emptied_pages import emptied
from dbce_spark.html.dom import parse_tree
from dbce_spark.model import ComparedPage, Page
from tests.support import small_classifier
from tests.support.builders import alone_on_site, config


@cache
def labelled() -> tuple[GoldPage, ...]:
    """Pages of the sample, with labels as of a reader who copied their gold."""
    return tuple(replace(page, nodes=_nodes(page)) for page in small_classifier.gold())


def _nodes(page: GoldPage) -> list[tuple[int, str]]:
    texts = [one.text for one in reader_texts(parse_tree(page.body))]
    return [(int(text in page.gold), text) for text in texts]


@pytest.fixture(autouse=True)
def _small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(no_content, "TREES", 30)
    monkeypatch.setitem(boosted_trees.NO_CONTENT_PARAMETERS, "min_data_in_leaf", 2)
    monkeypatch.setitem(boosted_trees.NO_CONTENT_PARAMETERS, "num_threads", 1)


def added(folder: Path, gold: Sequence[GoldPage]) -> tuple[Classifier, dict[str, bytes]]:
    """Add what two folds of the pages teach to a classifier and to both folds; return the first, and all files."""
    folder.mkdir()
    sites = sorted({page.fetch(0).capture.site for page in gold})
    (folder / FOLDS_FILE).write_text(json.dumps({site: f"fold-{at % 2}.npz" for at, site in enumerate(sites)}))
    for name in ("fold-0.npz", "fold-1.npz", "shipped.npz"):
        save_classifier(small_classifier.classifier(), folder / name)
    no_content.add({"sample": [*gold]}, folder, folder / "shipped.npz", small_classifier.PATTERNS)
    files = {path.name: path.read_bytes() for path in folder.glob("*.npz")}
    return load_classifier(str(folder / "shipped.npz")), files


def settings(folder: Path) -> DbceConfig:
    return config(f"label.classifier={folder}/shipped.npz")


def a_page(settings: DbceConfig) -> ComparedPage:
    """The first page of the sample, as the classifier sees it without others."""
    (made,) = pages.parse_fetches(small_classifier.fetches()[:1], settings)
    assert isinstance(made, Page)
    return alone_on_site(made)


def test_emptied_pages_are_told_from_others(tmp_path: Path) -> None:
    """All that it learned from are told rightly; nothing else of the classifier is changed."""
    made, _ = added(tmp_path / "made", labelled())
    assert made.no_content is not None
    groups = [no_content._Group(labelled(), 1.0), no_content._Group([*filter(None, map(emptied, labelled()))], 0.25)]
    full, empty = (
        made.no_content.log_odds(
            np.stack([one.codes for one in no_content._see([group], settings(tmp_path / "made"))], 1)
        )
        for group in groups
    )

    assert full.max() < empty.min()
    save_classifier(replace(made, no_content=None), tmp_path / "without.npz")
    save_classifier(small_classifier.classifier(), tmp_path / "before.npz")
    assert (tmp_path / "without.npz").read_bytes() == (tmp_path / "before.npz").read_bytes()


def test_the_classifier_of_a_fold_learns_from_the_other_folds(tmp_path: Path) -> None:
    """Other labels of the pages that it is to be tested on change nothing of it, but all that learn from them."""
    _, one = added(tmp_path / "one", labelled())
    sites = sorted({page.fetch(0).capture.site for page in labelled()})
    of_first = {site for at, site in enumerate(sites) if at % 2 == 0}
    changed = [
        replace(page, nodes=[(0, text) for _, text in page.nodes]) if page.fetch(0).capture.site in of_first else page
        for page in labelled()
    ]
    _, other = added(tmp_path / "other", changed)

    assert {"fold-0.npz": True, "fold-1.npz": False, "shipped.npz": False} == {
        name: one[name] == other[name] for name in one
    }


def test_pages_that_no_reader_labelled_teach_nothing(tmp_path: Path) -> None:
    """The files stay as they are."""
    before = tmp_path / "before.npz"
    save_classifier(small_classifier.classifier(), before)
    made, files = added(tmp_path / "made", small_classifier.gold())

    assert made.no_content is None
    assert {before.read_bytes()} == {*files.values()}


def test_a_page_that_likely_has_no_content_is_left_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not if that is no likelier than the parameter, if recall is favored, if the text is sure, or if the classifier is
    corrected by labels of the site."""
    monkeypatch.setattr(kept_blocks, "SURE", 1.1)
    monkeypatch.setattr(kept_blocks, "EMPTIED_WORDS", 1)
    made, _ = added(tmp_path / "made", labelled())
    page = a_page(settings(tmp_path / "made"))
    (likely,) = made.contentless(made.second_scores([page])).tolist()
    label = replace(settings(tmp_path / "made").label, no_content=likely / 2)

    (empty,) = page_labels.label_pages([page], label)
    assert "" == empty.text
    for kept in (replace(label, no_content=likely), replace(label, favor="recall")):
        assert page_labels.label_pages([page], kept)[0].text
    monkeypatch.setattr(kept_blocks, "SURE", 0.1)
    assert page_labels.label_pages([page], label)[0].text
    corrected = replace(made, corrections=replace(made.corrections, sites=frozenset((page.page.capture.site,))))
    assert [0] == corrected.contentless(corrected.second_scores([page])).tolist()
