"""Page types: the same alone and among others, and those that the classifier was taught."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import page_labels
from dbce_spark.dbce.classifier import page_types
from dbce_spark.dbce.classifier.classifier_file import save_classifier
from dbce_spark.evaluation.training import trainer
from dbce_spark.model import Page
from tests.support import small_classifier
from tests.support.builders import alone_on_site, config


def test_types_do_not_depend_on_the_pages_beside(trained_pages: list[Page], classifying: DbceConfig) -> None:
    """A page is of the same type alone, among others, and over the borders of batches; there are several types."""
    many = [alone_on_site(one) for one in trained_pages] * 5
    alone = [page_labels.label_pages([one], classifying.label)[0].page_type for one in many[: len(trained_pages)]]

    assert alone * 5 == [one.page_type for one in page_labels.label_pages(many, classifying.label)]
    assert len(set(alone)) > 1
    assert None not in alone


@pytest.mark.parametrize("at_once", [1, 7, 50])
def test_types_do_not_depend_on_how_many_blocks_are_added_up_at_once(
    trained_pages: list[Page], monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """The bins that they follow from are the same."""
    second = small_classifier.classifier().second_scores([alone_on_site(one) for one in trained_pages])
    expected = second.page_codes
    monkeypatch.setattr(page_types, "_BLOCKS_AT_ONCE", at_once)

    assert np.array_equal(expected, second.page_codes)


def test_types_that_it_was_taught(trained_pages: list[Page], classifying: DbceConfig) -> None:
    """Pages that it was trained on are of the type that their gold says."""
    given = {
        one.page.capture_id: trainer.MERGED.get(one.gold.page_type, one.gold.page_type)
        for one in small_classifier.examples()
    }
    found = page_labels.label_pages([alone_on_site(one) for one in trained_pages], classifying.label)
    right = [one.page_type == given[one.page.capture_id] for one in found]

    assert sum(right) >= 0.9 * len(right)


def test_classifier_that_knows_no_types(trained_pages: list[Page], tmp_path: Path) -> None:
    """Trained on pages of one type it gives none, and no more does a bit pattern."""
    path = tmp_path / "untyped.npz"
    save_classifier(replace(small_classifier.classifier(), page_types=None), path)
    for settings in (config(f"label.classifier={path}"), config("label.by=T002")):
        assert [None] == [
            one.page_type for one in page_labels.label_pages([alone_on_site(trained_pages[0])], settings.label)
        ]
