"""Tokens: words, their places, and their hashes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.html.tokens import begins_word, hashed, spans, token_counts, tokens, turns_upper

TEXTS = st.text(st.one_of(st.sampled_from(" \t\n\u3000\x85\u2028ab.日語ภา"), st.characters()), max_size=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two words", ["two", "words"]),
        ("日本語だ", ["日", "本", "語", "だ"]),
        ("Python言語 3.11", ["Python", "言", "語", "3.11"]),
        ("ภาษา", list("ภาษา")),
        ("བོད་ཡིག", list("བོད་ཡིག")),
        ("grün é\u00a0x", ["grün", "é", "x"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("ქართული ენა", ["ქართული", "ენა"]),
        ("𠀀𠀁", ["𠀀", "𠀁"]),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    """Words stand between white space; in scripts without spaces each character is one."""
    actual = tokens(text)

    assert expected == actual


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("Ann Lee", "Home", True),
        ("137", "9426", True),
        ("128", "今晚", True),
        ("By:", "Ann", True),
        ("(300)", "300", True),
        ("Only", "$209", True),
        ("1", "Report", True),
        ("Diagnosis:", "think", True),
        ("over", "lap", False),
        ("A", "BC", False),
        ("1", "2", False),
        ("12.", "99", False),
        ("3", "rd", False),
        ("www.x/", "Home", False),
        ("mid-", "1300s", False),
        ("岁末", "年初", False),
        ("It is done.", "then", True),
        ("Ann.", "Then", True),
        ("it is done.", "Then", True),
        ("12.", "Then", True),
        ("os.", "path", False),
        ("mako.template.", "Template", False),
        ("mako.Template.", "render", False),
        ("", "Home", False),
        ("word", "", False),
    ],
)
def test_a_capital_or_a_digit_begins_a_word(before: str, text: str, expected: bool) -> None:
    """Behind more than one letter, a full stop or a bracket; and what is written without spaces, behind a digit. Dotted
    names go on."""
    actual = begins_word(before, text)

    assert expected == actual


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("details", "Shipping", True),
        ("By:", "Ann", True),
        ("i", "Phone", False),
        ("over", "lap", False),
        ("CO", "2", False),
        ("java.lang.", "String", False),
        ("foo()", "Bar", False),
        ("std::", "Vector", False),
        ("", "Home", False),
        ("word", "", False),
    ],
)
def test_a_capital_behind_a_small_letter_is_a_turn(before: str, text: str, expected: bool) -> None:
    """So is one behind a colon or a bracket that follows a word."""
    actual = turns_upper(before, text)

    assert expected == actual


@pytest.mark.parametrize("text", ["two words", " Python言語\u00a03.11 ", "ภาษา a\tb", "a\x1cb\x85c\u2028d\u3000e"])
def test_token_spans_are_those_of_the_tokens(text: str) -> None:
    """The spans cut the text into the same words."""
    expected = tokens(text)
    actual = [text[start:end] for start, end in spans(text)]

    assert expected == actual


@given(st.lists(TEXTS))
def test_many_texts_are_counted_at_once(texts: list[str]) -> None:
    """Each has as many tokens as by itself: none goes over from one into the next."""
    assert [len(tokens(text)) for text in texts] == token_counts(texts).tolist()


@given(TEXTS)
def test_starts_are_those_of_the_spans(text: str) -> None:
    """Whatever the script, hashing finds the same tokens as cutting."""
    starts, hashes = hashed(text)

    assert [start for start, _ in spans(text)] == starts.tolist()
    assert len(tokens(text)) == len(hashes)


@given(TEXTS, TEXTS)
def test_a_hash_depends_on_its_token_alone(before: str, after: str) -> None:
    """A word has the same hash wherever it stands, and different words have different ones."""
    words = [*tokens(before), *tokens(after)]
    _, alone = hashed(" ".join(words))
    _, here = hashed(f"{before}\n{after}")

    assert np.array_equal(alone, here)
    assert len(set(words)) == len(set(here.tolist()))


def test_long_words_differ_by_any_of_their_characters() -> None:
    """Characters behind the sixty-fourth count as well."""
    _, hashes = hashed("x" * 100 + " " + "x" * 99 + "y" + " " + "x" * 99)

    assert 3 == len(set(hashes.tolist()))


def test_a_word_has_its_hash_anywhere_in_a_long_text() -> None:
    """Behind the first 65,536 characters as well."""
    _, hashes = hashed("word other " * 9000)

    assert {*hashed("word other")[1].tolist()} == {*hashes.tolist()}


def test_hashes_are_the_same_everywhere() -> None:
    """A word's hash is written to files, so it may never change."""
    assert [4734007549945956023] == hashed("boilerplate")[1].tolist()
