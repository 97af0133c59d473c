"""Blocks that are kept: the best cut by score, and how right that is."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive import warc
from dbce_spark.dbce import pages
from dbce_spark.dbce.classifier.block_scores import Scores
from dbce_spark.dbce.kept.kept_blocks import (
    BETA_OF_FAVOR,
    DRAWS,
    choose_blocks,
    choose_of_article,
    estimate_confidence,
    is_left_empty,
)
from dbce_spark.model import Page
from tests.support.builders import capture, config

pages_of_scores = st.lists(st.tuples(st.integers(0, 10_000) | st.integers(0, 5), st.integers(1, 60)), min_size=1)


def story() -> Page:
    """Three paragraphs of twenty words, and a block apart."""
    text = "".join(f"<p>{' '.join(f'{begin}{nth}' for nth in range(20))}</p>" for begin in "abc")
    fetch = warc.Fetch(capture("http://a.example.org/"), f"<div>{text}</div><div><p>far away</p></div>".encode())
    page = pages.parse_fetch(fetch, config())
    assert isinstance(page, Page)
    return page


def columns(blocks: list[tuple[int, int]]) -> tuple[Scores, Any]:
    return np.array([score for score, _ in blocks]) / 10_000, np.array([words for _, words in blocks], np.int32)


@given(pages_of_scores, st.sampled_from(sorted(BETA_OF_FAVOR)))
def test_what_is_kept_is_the_best_cut(blocks: list[tuple[int, int]], favor: str) -> None:
    """No cut by score is expected to reach a higher F-beta; of equal cuts it is the lowest above 0."""
    weight = Fraction(BETA_OF_FAVOR[favor]) ** 2
    in_all = sum(score * words for score, words in blocks)
    draws = [(2 * nth + 1) * 10_000 // (2 * DRAWS) for nth in range(DRAWS)]

    def words_from(lowest: int) -> int:
        return sum(words for score, words in blocks if score >= lowest)

    def expected(lowest: int) -> float:
        kept_words = words_from(lowest)
        found = sum(score * words for score, words in blocks if score >= lowest)
        apart = Fraction(found) / (10_000 * kept_words + weight * in_all)
        of_draws = [words_from(draw + 1) for draw in draws]
        together = sum(min(kept_words, words) / (kept_words + weight * words) for words in of_draws)
        return float(apart + together / DRAWS)

    is_kept = choose_of_article(*columns(blocks), favor).tolist()
    cut = min((score for (score, _), kept_one in zip(blocks, is_kept, strict=True) if kept_one), default=10_001)
    best = max(expected(score) for score, _ in blocks)

    assert [score >= cut for score, _ in blocks] == is_kept
    assert cut > 0
    assert not in_all or abs(expected(cut) - best) < 1e-12
    assert all(expected(score) < best + 1e-12 for score, _ in blocks if 0 < score < cut)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 30), st.booleans()), min_size=1, max_size=8))
def test_confidence_is_the_expected_f1_of_what_is_kept(blocks: list[tuple[int, int, bool]]) -> None:
    """In fractions, block by block; where nothing is kept, the share that is expected to be no content."""
    content = [Fraction(score, 10_000) * words for score, words, _ in blocks]
    kept = sum(words for _, words, is_kept in blocks if is_kept)
    found = sum(one for one, (_, _, is_kept) in zip(content, blocks, strict=True) if is_kept)
    expected = 2 * found / (kept + sum(content)) if kept else 1 - sum(content) / sum(words for _, words, _ in blocks)
    scores, words, marks = zip(*blocks, strict=True)
    actual = estimate_confidence(np.array(scores) / 10_000, np.array(words, np.int32), np.array(marks))

    assert abs(actual - expected) <= Fraction(1, 1999)


def test_of_equal_cuts_the_lowest() -> None:
    """Blocks as likely as each other stay together."""
    assert [True, True, False] == choose_of_article(*columns([(9_000, 5), (9_000, 7), (0, 5)]), "balanced").tolist()


def test_many_unlikely_blocks_are_not_one_likely_one() -> None:
    """A short post stands above a hundred comments: were each draw its own, more words would be expected of those."""
    blocks = [(9_000, 90), *[(1_500, 25)] * 100]

    assert [True, *[False] * 100] == choose_of_article(*columns(blocks), "balanced").tolist()
    assert all(choose_of_article(*columns([(9_000, 90), *[(6_000, 25)] * 100]), "balanced").tolist())


@given(pages_of_scores)
def test_precision_keeps_some_of_balanced_and_that_some_of_recall(blocks: list[tuple[int, int]]) -> None:
    """Never another block, and none only where nothing can be content."""
    precision, balanced, recall = (
        choose_of_article(*columns(blocks), favor) for favor in ("precision", "balanced", "recall")
    )

    assert precision.any() == any(score for score, _ in blocks)
    assert (precision <= balanced).all()
    assert (balanced <= recall).all()


@pytest.mark.parametrize(
    ("score", "favor", "expected"),
    [
        (0.2, "balanced", [True, True, True, False]),
        (0.2, "precision", [False, False, False, False]),
        (0.16, "balanced", [False, False, False, False]),
    ],
)
def test_a_page_that_likely_has_a_text_is_not_left_without_one(score: float, favor: str, expected: list[bool]) -> None:
    """Of sixty words with 0.2 each, twelve are expected to be content, of as many with 0.16 fewer than ten."""
    scores = np.array([score, score, score, 0.01])

    assert expected == choose_blocks(story(), scores, config(f"label.favor={favor}").label).tolist()


@pytest.mark.parametrize(
    ("words", "favor", "expected"),
    [
        ([10], "balanced", [True]),
        ([10], "precision", [False]),
        ([9], "balanced", [False]),
        ([10, 10], "balanced", [False, False]),
    ],
)
def test_a_page_that_is_one_text_keeps_it_from_a_lower_score_on(
    words: list[int], favor: str, expected: list[bool]
) -> None:
    """A text has ten words; favor of precision goes before."""
    html = "".join(f"<p>{' '.join(f'word{nth}' for nth in range(count))}</p>" for count in words)
    page = pages.parse_fetch(warc.Fetch(capture("http://a.example.org/"), html.encode()), config())
    assert isinstance(page, Page)

    actual = choose_blocks(page, np.full(len(words), 0.2), config(f"label.favor={favor}").label)

    assert expected == actual.tolist()


def test_an_article_is_chosen_by_its_words_and_not_by_its_units() -> None:
    """A doubtful paragraph among likely ones is content of a whole page only."""
    scores = np.array([0.9, 0.25, 0.9, 0.9])
    labels = (config(f"label.content={content}").label for content in ("whole", "article"))
    whole, article = (choose_blocks(story(), scores, label).tolist() for label in labels)

    assert [True, True, True, True] == whole
    assert [True, False, True, True] == article


def test_a_page_that_keeps_a_block_keeps_no_unlikely_one_for_the_text() -> None:
    """Only where nothing is kept, less likely blocks are."""
    kept = choose_blocks(story(), np.array([0.2, 0.2, 0.2, 0.9]), config().label)

    assert [False, False, False, True] == kept.tolist()


@pytest.mark.parametrize(
    ("html", "scores", "expected"),
    [
        pytest.param(
            "<table><tr><td><pre>1\n2\n3</pre><td><pre>one\ntwo\nthree</pre></table>",
            [0.9, 0.9],
            ["one\ntwo\nthree"],
            id="numbers-of-lines",
        ),
        pytest.param(
            "".join(f"<li>News of {day} <a href=/{day}>(more)</a>" for day in ("Monday", "Tuesday", "Friday")),
            [0.9, 0.9, 0.1, 0.9, 0.9, 0.9],
            ["News of Monday", "News of Friday"],
            id="links-that-recur",
        ),
        pytest.param(
            "<h2>Old harbour</h2><h2>Old harbour</h2><p>It opens on Sunday.</p>",
            [0.9, 0.9, 0.9],
            ["Old harbour", "It opens on Sunday."],
            id="a-heading-that-follows-itself",
        ),
        pytest.param(
            "".join(f"<div><p>A lamp of the kind {kind}<p class=buy>Buy</div>" for kind in "abc"),
            [0.9, 0.4, 0.9, 0.4, 0.9, 0.4],
            ["A lamp of the kind a", "A lamp of the kind b", "A lamp of the kind c"],
            id="an-unlikely-text-that-recurs-in-its-slot",
        ),
        pytest.param(
            "<title>The harbour</title><div><p>Home page<p>Shop<h1>The harbour</h1></div><div><p>It opens.<p>See it.",
            [0.01, 0.01, 0.25, 0.9, 0.9],
            ["The harbour", "It opens.", "See it."],
            id="an-unlikely-main-heading-stays",
        ),
    ],
)
def test_rules_choose_among_the_blocks_of_a_page(html: str, scores: list[float], expected: list[str]) -> None:
    """Each has an effect on what is kept, whatever the score of the block."""
    page = pages.parse_fetch(warc.Fetch(capture("http://a.example.org/"), html.encode()), config())
    assert isinstance(page, Page)

    is_kept = choose_blocks(page, np.array(scores), config().label)

    assert expected == [page.blocks.text_of(at) for at in np.flatnonzero(is_kept).tolist()]


@pytest.mark.parametrize(
    ("contentless", "confidence", "words", "favor", "expected"),
    [
        (0.96, 0.79, 20, "balanced", True),
        (0.96, 0.79, 20, "precision", True),
        (0.96, 0.79, 20, "recall", False),
        (0.95, 0.79, 20, "balanced", False),
        (0.96, 0.80, 20, "balanced", False),
        (0.96, 0.79, 19, "balanced", False),
    ],
)
def test_a_page_is_left_empty(contentless: float, confidence: float, words: int, favor: str, expected: bool) -> None:
    """If it likely has no content, and what would be kept of it is unsure and not short; never if recall is favored."""
    label = config(f"label.favor={favor}", "label.no_content=0.95").label
    assert expected == is_left_empty(contentless, confidence, words, label)
