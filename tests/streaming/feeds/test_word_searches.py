"""Searches for words that are drawn from a list."""

from math import comb
from urllib.parse import parse_qs, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.streaming.feeds import word_searches


@given(
    st.sets(st.text("abc", min_size=1), min_size=3, max_size=8),
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(0, 9),
)
def test_searches_are_different_sets_of_the_words(words: set[str], searches: int, size: int, seed: int) -> None:
    """As many as are wanted, or all there are; the same whatever order the words come in, and however often."""
    drawn = word_searches.draw(words, searches, size, seed)

    assert len({frozenset(one) for one in drawn}) == len(drawn) == min(searches, comb(len(words), size))
    assert all(len(one) == size and words.issuperset(one) for one in drawn)
    assert drawn == word_searches.draw([*sorted(words, reverse=True), *words], searches, size, seed)


def test_another_seed_draws_others() -> None:
    """Of many words."""
    words = [f"word{at}" for at in range(30)]

    assert word_searches.draw(words, 10, 3, 1) != word_searches.draw(words, 10, 3, 2)


@given(st.lists(st.text(min_size=1).filter(lambda text: " " not in text and '"' not in text), min_size=1, max_size=4))
def test_a_server_reads_the_words_that_were_drawn(words: list[str]) -> None:
    """Whatever letters they have: the address has them encoded, and a phrase in quotes."""
    (address,) = word_searches.addresses("https://a.example/search?format=rss&q={words}", [[*words, "old mill"]])

    assert {"format": ["rss"], "q": [" ".join([*words, '"old mill"'])]} == parse_qs(urlsplit(address).query)
