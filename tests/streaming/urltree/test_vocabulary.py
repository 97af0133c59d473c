"""Number block keys as a dict would."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.streaming.urltree.vocabulary import Vocabulary, build_vocabulary

batches = st.lists(st.lists(st.integers(0, 300), max_size=60), max_size=12)


@pytest.mark.parametrize("words", [1, 2])
@given(batches)
def test_every_key_keeps_one_number_of_its_own(words: int, some: list[list[int]]) -> None:
    """Each key keeps its number in whatever order keys come, and though all of them want the same slot."""
    vocabulary = Vocabulary(words)
    expected: dict[int, int] = {}
    for batch in some:
        keys = np.array([[value << 32] * words for value in batch], np.uint64).reshape(len(batch), words)
        for value, number in zip(batch, vocabulary.numbers(keys).tolist(), strict=True):
            assert expected.setdefault(value, number) == number

    assert set(range(len(expected))) == set(expected.values())
    assert len(expected) == len(vocabulary)


def test_second_word_tells_keys_apart() -> None:
    """Keys of 128 bits with the same first half are two keys."""
    vocabulary = Vocabulary(2)

    assert [0, 1] == sorted(vocabulary.numbers(np.array([[7, 1], [7, 2]], np.uint64)).tolist())


def test_keys_taken_over_keep_their_place() -> None:
    """A vocabulary that is restored gives the same numbers as the one that was packed."""
    keys = np.random.default_rng(1).integers(0, 1 << 63, (1000, 1)).astype(np.uint64)

    assert (np.arange(1000) == build_vocabulary(keys).numbers(keys)).all()
