"""Give blocks alike hashes alike, and one key."""

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.urltree_study.similarity_hash import AlikeBlocks, similarity_hash
from dbce_spark.streaming.urltree.blocks import letters

LINE = "The agency endorsed the plan after a narrow vote, and read this on {}, as 1,204 others did."


def apart(one: str, other: str) -> int:
    """Count the bits that the hashes of two texts differ in."""
    return (similarity_hash(letters(one)) ^ similarity_hash(letters(other))).bit_count()


def test_texts_of_which_a_word_differs_are_nearer_than_others() -> None:
    """A day in a sentence changes few bits; another sentence changes about half of all."""
    assert 0 < apart(LINE.format("Monday"), LINE.format("Sunday")) < 14
    assert apart(LINE.format("Monday"), "Weather in the county: light rain, wind from the hills, and fog") > 16


def test_numbers_and_case_change_no_bit() -> None:
    """The hash is of the letters that a tree takes."""
    assert 0 == apart("Comments (12)", "comments: 7")


def test_texts_shorter_than_a_run_are_told_apart() -> None:
    """Such a text is one run."""
    assert apart("abc", "xyz") > 16


@given(st.text(max_size=40))
def test_any_text_has_a_hash_of_64_bits(text: str) -> None:
    """Texts without a letter, shorter than a run, or with surrogates have one too."""
    assert 0 <= similarity_hash(letters(text)) < 1 << 64


def test_block_has_the_number_of_the_first_that_is_near() -> None:
    """With no bit to differ, each text has a number of its own."""
    texts = [letters(LINE.format(day)) for day in ("Monday", "Sunday", "Monday")] + [letters("Menu")]

    assert [0, 0, 0, 1] == AlikeBlocks(12).number(texts).tolist()
    assert [0, 1, 0, 2] == AlikeBlocks(0).number(texts).tolist()
