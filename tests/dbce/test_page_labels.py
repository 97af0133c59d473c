"""Labels of pages: by the classifier, whole pages at once."""

from dataclasses import replace

import numpy as np
import pytest

from dbce_spark.archive import warc
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, page_labels, pages, sites
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.classifier.classify import ARTICLE
from dbce_spark.dbce.page_lots import TOGETHER
from dbce_spark.model import Evidence, Extraction, Label, Page, Reject
from tests.support import small_classifier
from tests.support.builders import alone_on_site, capture, config

HOST = "http://www.example.org"
ARTICLES = config("label.content=article")
STORY = "The old bridge over the river was closed on Monday after engineers found cracks in two of its pillars."


def featured(html: str, url: str) -> Page:
    """A page that the classifier has looked at."""
    made = pages.parse_fetch(warc.Fetch(capture(url), html.encode()), ARTICLES)
    assert isinstance(made, Page), made
    return made


def test_a_page_that_cannot_be_labelled_is_a_reject() -> None:
    """Here one whose evidence is of another page; those beside it are labelled."""
    good, bad = (
        sites.compare_pages([page], ARTICLES)[0][0]
        for page in (featured(f"<p>{STORY}</p>", f"{HOST}/{name}") for name in ("good", "bad"))
    )
    strange = replace(bad, evidence=Evidence(siblings=np.ones((9, 9), np.uint8), snapshots=bad.evidence.snapshots))

    labelled, rejected = page_labels.label_or_reject([good, strange], ARTICLES.label)

    assert isinstance(labelled, Extraction)
    assert isinstance(rejected, Reject)
    assert (STORY, bad.page.capture.url, "label", "page_failed") == (
        labelled.text, rejected.url, rejected.stage, rejected.reason,
    )  # fmt: skip


def test_labels_do_not_depend_on_the_pages_beside(classifying: DbceConfig, trained_pages: list[Page]) -> None:
    """Labels are the same over the borders of batches."""
    many = [alone_on_site(one) for one in trained_pages] * 5
    assert len(many) > TOGETHER.pages
    found = page_labels.label_pages(many, classifying.label)
    alone = [page_labels.label_pages([one], classifying.label)[0] for one in many[: len(trained_pages)]]

    assert [one.text for one in alone] * 5 == [one.text for one in found]
    for one, other in zip(alone * 5, found, strict=True):
        assert np.array_equal(one.segments.scores, other.segments.scores)


def test_segments_are_labelled_by_their_block(trained_extractions: list[Extraction]) -> None:
    """Every segment has the score of its block, is content or boilerplate, and never undecided."""
    assert {"crossed"} <= {one.status for one in trained_extractions}
    for one in trained_extractions:
        labels, scores = one.segments.labels, one.segments.scores
        assert {int(Label.CONTENT), int(Label.BOILERPLATE)} >= set(labels.tolist())
        assert 0 <= scores.min() <= scores.max() <= 1
        for block in range(len(one.page.blocks)):
            here = one.segments.blocks == block
            assert 1 == len(set(zip(labels[here].tolist(), scores[here].tolist(), strict=True)))


def test_content_of_an_article_is_what_scores_highest(trained_pages: list[Page], classifying: DbceConfig) -> None:
    """No boilerplate has the score of a content segment of its page."""
    of_articles = replace(classifying, label=replace(classifying.label, content=ARTICLE))
    for one in local.extract_pages(pages.unique(trained_pages), of_articles):
        content = one.segments.labels == Label.CONTENT
        assert content.any()
        assert content.all() or one.segments.scores[~content].max() < one.segments.scores[content].min()


@pytest.mark.parametrize(("less", "more"), [("precision", "balanced"), ("balanced", "recall")])
def test_favor_keeps_more_or_less(less: str, more: str, trained_pages: list[Page], classifying: DbceConfig) -> None:
    """Blocks kept for precision are kept for balance, and those for recall."""
    few, many = (
        page_labels.label_pages([alone_on_site(one) for one in trained_pages], replace(classifying.label, favor=favor))
        for favor in (less, more)
    )
    for one, other in zip(few, many, strict=True):
        assert ((one.segments.labels == Label.CONTENT) <= (other.segments.labels == Label.CONTENT)).all()


def test_evidence_changes_the_scores(trained_pages: list[Page], classifying: DbceConfig) -> None:
    """With siblings some scores are others than without."""
    together = {
        one.page.capture_id: one.segments.scores
        for one in local.extract_pages(pages.unique(trained_pages), classifying)
    }
    alone = {
        one.page.capture_id: one.segments.scores
        for one in page_labels.label_pages([alone_on_site(one) for one in trained_pages], classifying.label)
    }

    assert any(set(together[one].tolist()) != set(alone[one].tolist()) for one in alone)
    assert load_classifier(classifying.label.classifier).card == small_classifier.classifier().card
