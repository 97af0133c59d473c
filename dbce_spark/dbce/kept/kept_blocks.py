"""Choose the blocks of a page to keep by their scores, and estimate how right that is.

Of a whole page blocks are kept by the units that they lie in (`units.choose_of_whole_page`), of an article so that the
expected F-beta of what is kept is highest.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from dbce_spark.config import LabelConfig
from dbce_spark.dbce.classifier import units
from dbce_spark.dbce.classifier.block_scores import STEP, Scores, rounded
from dbce_spark.dbce.classifier.classify import ARTICLE
from dbce_spark.dbce.classifier.site_corrections import LabelledPage, SiteCorrections
from dbce_spark.dbce.kept.line_numbers import line_numbers
from dbce_spark.dbce.kept.recurring_links import recurring_links
from dbce_spark.dbce.kept.recurring_texts import without_recurring_texts
from dbce_spark.dbce.kept.repeated_blocks import without_repeats
from dbce_spark.dbce.kept.title_heading import is_of_title, main_heading, with_title
from dbce_spark.model import TEXT, BlockFeatures, Page

BETA_OF_FAVOR: Mapping[str, float] = {"precision": 0.5, "balanced": 1.0, "recall": 2.0}
"""The weight of recall over precision in articles (the beta of F-beta, van Rijsbergen 1979); whole pages
have `units.CUT_OF_FAVOR`."""

WORDS_OF_ONE_BLOCK = 10
"""The fewest words of a page's only block that is its content: a shorter one is a link to go on by, or a message."""

EXPECTED_WORDS = 10
"""The fewest words of content that a page is expected to have if it is not left without a text (docs/method.md)."""

SURE = 0.8
"""The expected F1 of a text from which on its page is not left empty, however likely it has no content."""

EMPTIED_WORDS = 20
"""The fewest words of a text whose page is left empty: shorter ones may be all that a form or a list of links has."""

DRAWS = 64
"""Evenly spaced thresholds that a page is drawn at."""


def choose_blocks(page: Page, scores: Scores, label: LabelConfig) -> npt.NDArray[np.bool_]:
    """Choose the blocks of a page to keep by their scores, as what is to be kept (`label.content`) asks for; no
    recurring links, no numbers of lines, and of a run that follows itself the first. That a title is dropped or a page
    left empty is decided behind this, in `page_labels.score_pages`.

    Raises:
        ValueError: the page has no features.
    """
    if page.features is None:
        raise ValueError(f"{page.capture_id} has no features")
    if label.content == ARTICLE:
        is_kept = choose_of_article(scores, page.blocks.words, label.favor)
    else:
        is_kept = _choose_of_whole_page(page, scores, page.features, label.favor)
    is_kept[[*recurring_links(page.blocks), *line_numbers(page.blocks)]] = False
    return without_repeats(page.blocks, page.features.keys[TEXT], is_kept)


def texts_read(page: Page) -> dict[int, str]:
    """Return the text of each block that decides what `choose_blocks` keeps, by its index: a stream stores no other."""
    found = recurring_links(page.blocks)
    for at in line_numbers(page.blocks):
        found += (at, at + 1)
    if (heading := main_heading(page)) is not None and is_of_title(page, heading):
        found.append(heading)
    return {at: page.blocks.text_of(at) for at in found}


def _choose_of_whole_page(page: Page, scores: Scores, features: BlockFeatures, favor: str) -> npt.NDArray[np.bool_]:
    """Choose the blocks of a whole page to keep by its units and recurring texts, and its main heading. As long as
    neither side is favored, a page that likely has a text is not left without one: then as with `recall`.

    A page that is one block is a text or a message by its words: the classifier has hardly seen any."""
    if favor != "recall" and len(page.blocks) == 1:
        if page.blocks.words[0] < WORDS_OF_ONE_BLOCK:
            return np.zeros(1, np.bool_)
        favor = "recall" if favor == "balanced" else favor
    is_kept = units.choose_of_whole_page(scores, features.units, favor)
    if favor == "balanced" and not is_kept.any() and _content(scores, page.blocks.words).sum() >= EXPECTED_WORDS * STEP:
        favor = "recall"
        is_kept = units.choose_of_whole_page(scores, features.units, favor)
    is_kept = without_recurring_texts(page.blocks, features.keys, scores, is_kept, favor)
    return with_title(page, scores, is_kept, favor)


def choose_corrected(
    page: Page, labelled: LabelledPage, corrections: SiteCorrections, label: LabelConfig
) -> npt.NDArray[np.bool_]:
    """Choose the blocks of a labelled page to keep by its log-odds with some corrections, by `choose_blocks` alone."""
    log_odds = labelled.log_odds + corrections.of_page(labelled.site, labelled.keys)
    return choose_blocks(page, rounded(log_odds), label)


def choose_of_article(scores: Scores, words: npt.NDArray[np.int32], favor: str) -> npt.NDArray[np.bool_]:
    """Choose the blocks to keep: those from the score on at which the expected F-beta of the page's words is highest.

    What is expected depends on how the blocks of a page hang together, and the truth lies between two extremes, so the
    mean of both is taken. Of equal cuts the lowest; what certainly is no content is never kept.

    Each block for itself: with p how likely a block of w words is content, keeping the blocks K is expected to reach
    (1 + b^2) S(K: p w) / (S(K: w) + b^2 S(all: p w)) (Lewis, *Evaluating and optimizing autonomous text classification
    systems*, SIGIR 1995). A hundred comments of which each is content with p = 0.15 so count as fifteen.

    All together: one draw decides the page, content is whatever is likelier than the draw. The hundred comments are
    content all at once or, mostly, not at all.
    """
    weight = BETA_OF_FAVOR[favor] ** 2
    order = np.argsort(-scores, kind="stable")
    ten_thousandths = np.rint(scores * STEP).astype(np.int64)
    found = np.cumsum((ten_thousandths * words)[order])
    taken = np.cumsum(words[order].astype(np.int64))
    expected = found / (taken * STEP + weight * found[-1]) + _together(ten_thousandths[order], taken, weight)
    best = len(order) - 1 - int(np.argmax(expected[::-1]))
    is_kept: npt.NDArray[np.bool_] = (scores >= scores[order[best]]) & (scores > 0)
    return is_kept


def estimate_confidence(scores: Scores, words: npt.NDArray[np.int32], is_kept: npt.NDArray[np.bool_]) -> float:
    """Estimate the F1 that the words of the kept blocks are expected to reach, 0 to 1, in steps of 1/1000.

    With p how likely a block of w words is content and K the kept blocks: 2 S(K: p w) / (S(K: w) + S(all: p w)), as in
    `choose_of_article`. Of a page of which nothing is kept: the share of its words that is expected to be no content.
    How true it is: docs/classifier.md.
    """
    content = _content(scores, words)
    kept = int(words[is_kept].sum())
    if not kept:
        return round(1 - float(content.sum()) / (STEP * max(int(words.sum()), 1)), 3)
    return round(2 * float(content[is_kept].sum()) / (STEP * kept + float(content.sum())), 3)


def is_left_empty(contentless: float, confidence: float, words: int, label: LabelConfig) -> bool:
    """Decide whether nothing is kept of a page, by how likely it has no content, and by the confidence and the number
    of words of what is kept of it."""
    may_be = label.favor != "recall" and words >= EMPTIED_WORDS and confidence < SURE
    return may_be and contentless > label.no_content


def _content(scores: Scores, words: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Count the words of each block that are expected to be content, in 1/10,000: whole numbers have one sum."""
    expected: npt.NDArray[np.int64] = np.rint(scores * STEP).astype(np.int64) * words
    return expected


def _together(falling: npt.NDArray[np.int64], taken: npt.NDArray[np.int64], weight: float) -> Scores:
    """Compute the expected F-beta / (1 + b^2) of each cut if one draw decides the page: the mean over DRAWS of them.

    `falling` are the blocks' scores in 1/10,000, the highest first; `taken` the words down to each.
    """
    draws = (2 * np.arange(DRAWS) + 1) * STEP // (2 * DRAWS)
    content = np.concatenate(([0], taken))[np.searchsorted(-falling, -draws, side="left")]
    both = np.minimum(taken[:, None], content)
    reached: Scores = np.mean(both / (taken[:, None] + weight * content), axis=1)
    return reached
