"""Errors of the gold and the part of a page that it is, by hand."""

import numpy as np
import pytest
from lxml import html

from dbce_spark.evaluation.scoring.complexity import PageWords, error_counts, gold_error, groups, quartiles, ratio
from dbce_spark.evaluation.scoring.metrics import words

PAGE = (
    "<html><head><title>Head</title><style>b {}</style></head><body><!-- hidden --><p>one two two</p>"
    "<script>var three</script>four<b>teen</b> <td>five</td><td>six</td></body></html>"
)


def page_words(source: str = PAGE) -> PageWords:
    return PageWords(html.document_fromstring(source))


def test_a_page_has_the_words_that_can_be_read() -> None:
    """Neither head nor script nor comment; cells are apart, and a word with markup inside is read both ways."""
    expected = {"one": 1, "two": 2, "fourteen": 1, "four": 1, "teen": 1, "five": 1, "six": 1}
    assert expected == page_words().counts
    assert 6 == page_words().total


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ("one two two", 0.0),
        ("fourteen five", 0.0),
        ("one two two two", 0.5),  # equation 3.1: two stands three times in the gold, twice in the page
        ("one seven eight nine", 0.75),
        ("hidden", 1.0),
        ("", 0.0),
    ],
)
def test_gold_errors_by_hand(gold: str, expected: float) -> None:
    """The share of the gold's distinct words that stand in it more often than in the page."""
    assert expected == gold_error(words(gold), page_words())


def test_gold_errors_are_counted_between_bounds() -> None:
    """An error on a bound is below it; pages without any stand apart, and none is lost."""
    counts = error_counts([0.0, 0.0, 0.005, 0.01, 0.02, 0.3, 1.0])
    assert [("0", 2), ("0-1 %", 2), ("1-2 %", 1), ("2-5 %", 0)] == counts[:4]
    assert [("20-50 %", 1), ("50-100 %", 1)] == counts[-2:]


def test_the_complexity_ratio_counts_all_words() -> None:
    """Three of six; of a page without words none."""
    assert 0.5 == ratio(words("one two two"), page_words())
    assert 0.0 == ratio(words("one"), page_words("<p></p>"))


def test_groups_by_quartiles() -> None:
    """Equation 3.4: the bounds themselves are complex and easy."""
    ratios = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert pytest.approx((0.2, 0.3, 0.4)) == quartiles(ratios)
    assert ["complex", "complex", "mid-complex", "easy", "easy"] == groups(ratios)
