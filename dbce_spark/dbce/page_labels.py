"""The labels of a page: its segments by the scores of the classifier, or by the bit patterns of its crosses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from dbce_spark.config import LabelConfig
from dbce_spark.dbce import pages
from dbce_spark.dbce.annotation_merge import label_by_patterns, label_by_scores
from dbce_spark.dbce.classifier.block_scores import Scores
from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.kept import kept_blocks, main_text
from dbce_spark.dbce.kept.title_heading import without_title
from dbce_spark.dbce.page_lots import TOGETHER, cut_lots
from dbce_spark.model import ComparedPage, Extraction, Reject, RejectStage, Segments


def label_or_reject(compared: Sequence[ComparedPage], label: LabelConfig) -> list[Extraction | Reject]:
    """Label the segments of some pages; one that cannot be labelled is a reject."""
    return pages.spared(partial(label_pages, label=label), compared, label_reject)


def label_reject(compared: ComparedPage, error: Exception) -> Reject:
    """Make the reject of a page that could not be labelled."""
    return pages.failed(compared.page.capture, RejectStage.LABEL, error)


def label_pages(compared: Sequence[ComparedPage], label: LabelConfig) -> list[Extraction]:
    """Label the segments of some pages. The labels of a page do not depend on the pages beside it."""
    if label.by != "classifier":
        return [build_extraction(page, label_by_patterns(page, label.by)) for page in compared]
    return [
        build_extraction(one.compared, label_by_scores(one.compared, one.scores, one.is_kept), one)
        for one in score_pages(compared, label)
    ]


@dataclass(frozen=True, slots=True)
class ScoredPage:
    """A page that was compared, with the score of each of its blocks, those that are kept, the F1 expected, and its
    type."""

    compared: ComparedPage
    scores: Scores
    is_kept: npt.NDArray[np.bool_]
    confidence: float
    page_type: str | None


def score_pages(compared: Sequence[ComparedPage], label: LabelConfig) -> Iterator[ScoredPage]:
    """Score the blocks of some pages by the classifier, and choose those to keep: none of a page that likely has no
    content."""
    classifier = load_classifier(label.classifier)
    scores_of = classifier.scores_with_replies if label.comments else classifier.scores
    for lot in cut_lots(compared, lambda one: len(one.page.blocks), TOGETHER):
        second = classifier.second_scores(lot)
        found = scores_of(second, label.content), classifier.types(second), classifier.contentless(second).tolist()
        for page, scores, page_type, contentless in zip(lot, *found, strict=True):
            words = page.page.blocks.words
            is_kept = kept_blocks.choose_blocks(page.page, scores, label)
            if label.title == "drop":
                is_kept = without_title(page.page, is_kept)
            confidence = kept_blocks.estimate_confidence(scores, words, is_kept)
            if kept_blocks.is_left_empty(contentless, confidence, int(words[is_kept].sum()), label):
                is_kept = np.zeros_like(is_kept)
                confidence = kept_blocks.estimate_confidence(scores, words, is_kept)
            yield ScoredPage(page, scores, is_kept, confidence, page_type)


def build_extraction(compared: ComparedPage, segments: Segments, scored: ScoredPage | None = None) -> Extraction:
    """Build the result row of a page whose segments are labelled, by its scores if it has some."""
    return Extraction(
        page=compared.page,
        status="crossed" if compared.annotations else "single",
        template_id=compared.template_id,
        crosses=tuple(annotation.cross for annotation in compared.annotations),
        segments=segments,
        text=main_text.text(compared.page.blocks.text, segments),
        confidence=scored.confidence if scored else None,
        page_type=scored.page_type if scored else None,
    )
