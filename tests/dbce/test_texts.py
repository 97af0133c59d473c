"""Main texts as they are compared: digests, shingles, signatures and their bands."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce import texts
from tests.support.builders import config, words

CONFIG = config().duplicates


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=5), max_size=8))
def test_a_digest_is_of_the_words(some: list[str]) -> None:
    """Case and white space change no digest; another word does."""
    text = " ".join(some)
    one, other, third = (texts.digest_and_sign(each, CONFIG)[0] for each in (text, again(text), f"{text} further"))

    assert one == other != third


def again(text: str) -> str:
    return f"\n{text.replace(' ', '  ')}\t".casefold()


def test_shingles_are_runs_of_words() -> None:
    """There are as many shingles as places for five words; equal ones are equal wherever they stand."""
    one, other = texts.shingles(words("a b c d e f g"), 5), texts.shingles(words("x a b c d e"), 5)

    assert (3, 2) == (len(one), len(other))
    assert one[0] == other[1]
    assert len({*one.tolist(), *other.tolist()}) == 4


def test_too_few_words_for_a_shingle_have_no_signature() -> None:
    """Four words are no run of five; five are one."""
    assert texts.sign("a b c d", CONFIG) is None
    assert texts.sign("a b c d e", CONFIG) is not None


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    """A Japanese text has a token a character, so one that is changed at its end is like it."""
    one, other = (
        texts.sign("東京は日本の首都であり世界で最も人口の多い都市の一つである" + end, CONFIG) for end in "。!"
    )

    assert one is not None
    assert other is not None
    assert (one == other).mean() > 0.7


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("size", [60, 6000])
def test_equal_rows_estimate_the_similarity(share: float, size: int) -> None:
    """The share of equal rows is the Jaccard similarity of the sets of shingles, within five standard errors; also of
    long texts, whose minima are small numbers."""
    common = round(size * share)
    lines = [[f"w{at}" for at in range(common)] + [f"{own}{at}" for at in range((size - common) // 2)] for own in "xy"]
    sets = [{*texts.shingles(words(" ".join(line)), 5).tolist()} for line in lines]
    expected = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    one, other = (texts.sign(" ".join(line), CONFIG) for line in lines)

    assert one is not None
    assert other is not None
    assert abs((one == other).mean() - expected) < 5 * np.sqrt(expected * (1 - expected) / CONFIG.permutations)


def test_bands_are_keys_of_their_rows() -> None:
    """A row that differs changes the key of its band and no other."""
    signature = np.arange(CONFIG.permutations, dtype=np.uint16)
    changed = signature.copy()
    changed[CONFIG.rows * 3 + 1] += 1
    keys = texts.bands(np.stack([signature, changed]), CONFIG)

    assert (2, CONFIG.bands) == keys.shape
    assert [3] == np.flatnonzero(keys[0] != keys[1]).tolist()
    assert CONFIG.bands == len({*keys[0].tolist()})


def test_signatures_stay_as_they_are() -> None:
    """Stored signatures are compared with those of later versions."""
    signature = texts.sign("the quick brown fox jumps over the lazy dog", CONFIG)

    assert signature is not None
    assert signature[:4].tolist() == [28760, 35768, 15100, 47152]


def test_only_leaders_are_compared_with() -> None:
    """The second is like the first, the third like the second alone: it leads, since the second does not."""
    rows = np.array([[1, 1, 1, 1], [1, 1, 1, 2], [1, 1, 3, 2]], np.uint16)

    assert [(1, 0, 0.75)] == [*texts.alike(rows, 0.75)]
