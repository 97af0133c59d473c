"""Extractions of fetched captures, as the classifier labels them."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local, pages, pools
from dbce_spark.dbce.annotation_merge import label_by_patterns, label_by_scores
from dbce_spark.dbce.classifier_file import load_classifier, save_classifier
from dbce_spark.dbce.classify import ARTICLE, WHOLE
from dbce_spark.errors import ConfigError
from dbce_spark.evaluation.training import trainer
from dbce_spark.model import ComparedPage, Extraction, Label, Page, Reject
from tests.support import small_classifier
from tests.support.builders import annotation, capture, config, cross, page

FETCHES = [one.fetch(at) for at, one in enumerate(small_classifier.gold()[:20])]
EMPTY = Fetch(capture(warc_offset=99), b"<script>x</script>")


@pytest.fixture(scope="module")
def read(classifying: DbceConfig) -> list[Page]:
    return [one for one in pages.parse_fetches(FETCHES, classifying) if isinstance(one, Page)]


@pytest.fixture(scope="module")
def extracted(read: list[Page], classifying: DbceConfig) -> list[Extraction]:
    return local.extract_pages(pages.unique(read), classifying)


def single(of: Page) -> ComparedPage:
    """Gather a page without siblings and snapshots."""
    return local.gather(of, [], pools.page_evidence(of), "")


def same(one: Page, other: Page) -> bool:
    assert one.features is not None
    assert other.features is not None
    return one.capture_id == other.capture_id and all(
        np.array_equal(getattr(one.features, name), getattr(other.features, name))
        for name in ("codes", "first_scores", "keys")
    )


def test_batches_do_not_matter(read: list[Page], classifying: DbceConfig) -> None:
    """One by one, in order and in reverse, captures become the same pages."""
    alone = [pages.parse_fetch(fetch, classifying) for fetch in FETCHES]
    reverse = pages.parse_fetches(FETCHES[::-1], classifying)[::-1]
    for one, other, last in zip(read, alone, reverse, strict=True):
        assert isinstance(other, Page)
        assert isinstance(last, Page)
        assert same(one, other)
        assert same(one, last)


def test_rejects_keep_their_place(read: list[Page], classifying: DbceConfig) -> None:
    """A capture that gives no page takes nothing from those beside it."""
    made = pages.parse_fetches([EMPTY, FETCHES[0], EMPTY, FETCHES[1], EMPTY], classifying)

    assert [True, False, True, False, True] == [isinstance(one, Reject) for one in made]
    for one, other in zip(read[:2], made[1::2], strict=True):
        assert isinstance(other, Page)
        assert same(one, other)


def test_nothing_fetched_is_nothing_read() -> None:
    """No classifier is needed for nothing."""
    assert [] == pages.parse_fetches([], config("label.classifier=none.npz"))
    assert isinstance(pages.parse_fetch(EMPTY, config("label.classifier=none.npz")), Reject)


def test_missing_classifier_is_an_error() -> None:
    """A missing classifier is an error where it is used."""
    with pytest.raises(ConfigError, match=r"none\.npz is no classifier"):
        pages.parse_fetch(FETCHES[0], config("label.classifier=none.npz"))


def test_bit_patterns_need_no_classifier() -> None:
    """Pages come without features, and are labelled without."""
    settings = config("label.by=T002", "label.classifier=none.npz")
    (made,) = pages.parse_fetches(FETCHES[:1], settings)

    assert isinstance(made, Page)
    assert made.features is None
    assert ["single"] == [one.status for one in local.extract_pages([made], settings)]


def test_page_without_features_has_no_scores() -> None:
    """A page that was read for bit patterns cannot be scored."""
    with pytest.raises(ValueError, match="has no features"):
        small_classifier.classifier().second_scores([single(page("<p>x</p>"))])


def test_scores_do_not_depend_on_the_pages_beside(read: list[Page]) -> None:
    """Scores are the same bit for bit; they lie between 0 and 1, one a block."""
    classifier = small_classifier.classifier()
    for scores_of, content in product((classifier.scores, classifier.scores_with_replies), (WHOLE, ARTICLE)):
        together = scores_of(classifier.second_scores([single(one) for one in read]), content)
        alone = [scores_of(classifier.second_scores([single(one)]), content)[0] for one in read]

        assert [one.tolist() for one in alone] == [one.tolist() for one in together]
        assert all(len(one.blocks) == len(scores) for one, scores in zip(read, together, strict=True))
        assert all(0 <= scores.min() <= scores.max() <= 1 for scores in together)


def test_types_do_not_depend_on_the_pages_beside(read: list[Page], classifying: DbceConfig) -> None:
    """A page is of the same type alone, among others, and over the borders of batches; there are several types."""
    many = [single(one) for one in read] * 5
    alone = [local.label_pages([one], classifying.label)[0].page_type for one in many[: len(read)]]

    assert alone * 5 == [one.page_type for one in local.label_pages(many, classifying.label)]
    assert len(set(alone)) > 1
    assert None not in alone


def test_types_that_it_was_taught(read: list[Page], classifying: DbceConfig) -> None:
    """Pages that it was trained on are of the type that their gold says."""
    given = {
        one.page.capture_id: trainer.MERGED.get(one.gold.page_type, one.gold.page_type)
        for one in small_classifier.examples()
    }
    found = local.label_pages([single(one) for one in read], classifying.label)
    right = [one.page_type == given[one.page.capture_id] for one in found]

    assert sum(right) >= 0.9 * len(right)


def test_classifier_that_knows_no_types(read: list[Page], tmp_path: Path) -> None:
    """Trained on pages of one type it gives none, and no more does a bit pattern."""
    path = tmp_path / "untyped.npz"
    save_classifier(replace(small_classifier.classifier(), page_types=None), path)
    for settings in (config(f"label.classifier={path}"), config("label.by=T002")):
        assert [None] == [one.page_type for one in local.label_pages([single(read[0])], settings.label)]


def test_comments_only_add_to_the_scores(read: list[Page]) -> None:
    """Content or comment is at least as likely as content."""
    classifier = small_classifier.classifier()
    some = classifier.second_scores([single(one) for one in read])
    for content in (WHOLE, ARTICLE):
        alone, both = classifier.scores(some, content), classifier.scores_with_replies(some, content)
        assert all((one <= other).all() for one, other in zip(alone, both, strict=True))


def test_labels_do_not_depend_on_the_pages_beside(classifying: DbceConfig, read: list[Page]) -> None:
    """Labels are the same over the borders of batches."""
    many = [single(one) for one in read] * 5
    assert len(many) > pages.TOGETHER
    found = local.label_pages(many, classifying.label)
    alone = [local.label_pages([one], classifying.label)[0] for one in many[: len(read)]]

    assert [one.text for one in alone] * 5 == [one.text for one in found]
    for one, other in zip(alone * 5, found, strict=True):
        assert np.array_equal(one.segments.scores, other.segments.scores)


def test_segments_are_labelled_by_their_block(extracted: list[Extraction]) -> None:
    """Every segment has the score of its block, is content or boilerplate, and never undecided."""
    assert {"crossed"} <= {one.status for one in extracted}
    for one in extracted:
        labels, scores = one.segments.labels, one.segments.scores
        assert {int(Label.CONTENT), int(Label.BOILERPLATE)} >= set(labels.tolist())
        assert 0 <= scores.min() <= scores.max() <= 1
        for block in range(len(one.page.blocks)):
            here = one.segments.blocks == block
            assert 1 == len(set(zip(labels[here].tolist(), scores[here].tolist(), strict=True)))


def test_content_of_an_article_is_what_scores_highest(read: list[Page], classifying: DbceConfig) -> None:
    """No boilerplate has the score of a content segment of its page."""
    of_articles = replace(classifying, label=replace(classifying.label, content=ARTICLE))
    for one in local.extract_pages(pages.unique(read), of_articles):
        content = one.segments.labels == Label.CONTENT
        assert content.any()
        assert content.all() or one.segments.scores[~content].max() < one.segments.scores[content].min()


def test_order_of_the_pages_does_not_matter(
    extracted: list[Extraction], read: list[Page], classifying: DbceConfig
) -> None:
    """Pools and crosses are the same in any order."""
    again = {one.page.capture_id: one.text for one in local.extract_pages(read[::-1], classifying)}

    assert {one.page.capture_id: one.text for one in extracted} == again


@pytest.mark.parametrize(("less", "more"), [("precision", "balanced"), ("balanced", "recall")])
def test_favor_keeps_more_or_less(less: str, more: str, read: list[Page], classifying: DbceConfig) -> None:
    """Blocks kept for precision are kept for balance, and those for recall."""
    few, many = (
        local.label_pages([single(one) for one in read], replace(classifying.label, favor=favor))
        for favor in (less, more)
    )
    for one, other in zip(few, many, strict=True):
        assert ((one.segments.labels == Label.CONTENT) <= (other.segments.labels == Label.CONTENT)).all()


def test_by_score_keeps_the_evidence_of_the_crosses() -> None:
    """Segments are cut where bits change, and carry their counts of holders; label and score are the block's."""
    one = single(page("<p>one two three</p><p>four</p>"))
    crossed = replace(one, annotations=(annotation(cross(), ["11000", "10000", "10000", "11000"]),))
    made = label_by_scores(crossed, np.array([0.75, 0.25]), np.array([True, False]))
    pattern = label_by_patterns(crossed, "T001")

    assert [Label.CONTENT, Label.CONTENT, Label.BOILERPLATE] == made.labels.tolist()
    assert [0.75, 0.75, 0.25] == made.scores.tolist()
    for name in ("blocks", "starts", "ends", "bits", "siblings", "siblings_with", "conflicts"):
        assert getattr(pattern, name).tolist() == getattr(made, name).tolist()


@pytest.mark.parametrize(("case", "expected"), [("T001", Label.UNDECIDED), ("T002", Label.BOILERPLATE)])
def test_by_pattern_has_two_cases(case: str, expected: Label) -> None:
    """Patterns in no table are undecided under T001 and boilerplate under T002."""
    one = single(page("<p>one</p>"))
    unknown = annotation(cross("cur", "up", "down", "prev", "next"), ["10101"])

    assert [expected] == label_by_patterns(replace(one, annotations=(unknown,)), case).labels.tolist()


def test_by_pattern_without_a_cross_words_and_links_decide() -> None:
    """Words and links decide under either case."""
    long = " ".join(f"word{at}" for at in range(45))
    one = single(page(f"<p>{long}</p><ul><li><a href=/>link</a></li></ul>"))
    for case in ("T001", "T002"):
        assert [Label.CONTENT, Label.BOILERPLATE] == label_by_patterns(one, case).labels.tolist()


def test_evidence_changes_the_scores(read: list[Page], classifying: DbceConfig) -> None:
    """With siblings some scores are others than without."""
    together = {
        one.page.capture_id: one.segments.scores for one in local.extract_pages(pages.unique(read), classifying)
    }
    alone = {
        one.page.capture_id: one.segments.scores for one in local.label_pages([*map(single, read)], classifying.label)
    }

    assert any(set(together[one].tolist()) != set(alone[one].tolist()) for one in alone)
    assert load_classifier(classifying.label.classifier).card == small_classifier.classifier().card
