"""The body of a page is the stretch with most words in it and most tags around it."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.evaluation.extracting import bte

TOKENS = st.lists(st.integers(0, 1), max_size=30)
"""1 for a tag, 0 for a word, as in the paper."""


def objective(tokens: list[int], first: int, end: int) -> int:
    """T(i, j) of the paper, as it stands there."""
    return sum(tokens[:first]) + sum(1 - token for token in tokens[first:end]) + sum(tokens[end:])


@given(TOKENS)
def test_no_stretch_is_better_by_the_formula_of_the_paper(tokens: list[int]) -> None:
    """One pass finds what trying all pairs of ends finds."""
    first, end = bte.heaviest([1 - 2 * token for token in tokens])
    best = max((objective(tokens, i, j) for i, j in combinations(range(len(tokens) + 1), 2)), default=0)
    assert max(best, sum(tokens)) == objective(tokens, first, end)


@given(TOKENS)
def test_the_ends_of_a_body_are_words(tokens: list[int]) -> None:
    """The shortest of equal stretches is taken: no tag is at either end."""
    first, end = bte.heaviest([1 - 2 * token for token in tokens])
    assert 1 not in tokens[first:end][:1] + tokens[first:end][-1:]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("", ""),
        ("no tags at all", "no tags at all"),
        ("<ul><li><a>menu</a><li><a>menu</a></ul><p>one two <b>three</b> four five<p>", "one two three four five"),
        ("<p>one two three</p><p>four five six</p><i><i><i><i>end", "one two three\n\nfour five six"),
        ("<script>var words = 'many words in here, more than outside'</script><p>one two", "one two"),
        ("<!-- many words of a comment --><p>one two</p>", "one two"),
        ("<p title='a > b'>one two<br>three &amp; &eacute;</p>", "one two\nthree & é"),
        ("a < b and c > d", "a < b and c > d"),
        ("<p>one two <b", "one two"),
        ("<style>p { color: red }", ""),
    ],
)
def test_body(page: str, expected: str) -> None:
    """Markup counts as a tag, as a word, or as neither."""
    assert expected == bte.extract(page)


def test_a_language_without_spaces_has_words_too() -> None:
    """Each character is one, as everywhere in the method: one paragraph outweighs its tags."""
    assert "灰色海豹星期二上岸" == bte.extract("<ul><li>首页</li><li>新闻</li></ul><p>灰色海豹星期二上岸</p><i><i><i>")
