"""Features of a segment's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.krdwrd.segment_features import textual


def features_of(text: str, *others: str) -> dict[str, float]:
    return dict(zip(textual.NAMES, textual.features([text, *others])[0].tolist(), strict=True))


def test_there_are_as_many_as_in_table_41() -> None:
    """21, which is what KrdWrd took over from Victor."""
    assert len(textual.NAMES) == 21


@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        ("ends as a sentence", 'He said: "No."', "Read more"),
        ("begins with a capital", "Home", "home"),
        ("ends with a colon or comma", "Topics:", "Topics"),
        ("a question or an exclamation", "Really?", "Really."),
        ("a date or a time", "Posted 12:30", "Posted late"),
        ("a date or a time", "In 1999 it", "In 19999 it"),
        ("a copyright", "All Rights Reserved", "All lefts"),
    ],
)
def test_signs_are_seen(name: str, has: str, lacks: str) -> None:
    """Each is 1 where it stands and 0 where it does not."""
    assert (features_of(has)[name], features_of(lacks)[name]) == (1.0, 0.0)


def test_shares_are_of_characters_or_words() -> None:
    """Eight characters: four letters, of which two are large, two digits, two signs."""
    found = features_of("Ab C1 d2 |!")
    shares = {
        name: round(found[name], 3) for name in ("letters", "digits", "punctuation", "capitals", "capitalised words")
    }

    assert shares == {"letters": 0.5, "digits": 0.25, "punctuation": 0.25, "capitals": 0.25, "capitalised words": 0.5}
    assert found["words without a letter"] == 0.25


def test_what_recurs_and_what_stands_beside_it_counts() -> None:
    """A text that stands twice, and the three words behind the first, are counted."""
    found = features_of("Reply", "one two three", "reply")

    assert (round(found["recurs on the page"], 3), found["words before"], round(found["words behind"], 3)) == (
        0.693,
        0.0,
        1.386,
    )


@given(st.lists(st.text()))
def test_every_text_has_features(texts: list[str]) -> None:
    """A row each, all of them finite, whatever it is made of."""
    found = textual.features(texts)

    assert found.shape == (len(texts), 21)
    assert bool((abs(found) < 1e6).all())
