"""Signatures and bands: similarity estimated, similar pages brought together."""

import numpy as np
import pytest
from datasketch import MinHash, MinHashLSH
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce.signature import bands, bands_and_rows, sign
from tests.support.builders import CONFIG, config

numbers = st.integers(0, 2**32 - 1)


@given(st.sets(numbers, min_size=1, max_size=150), st.sets(numbers, max_size=150), st.sets(numbers, max_size=150))
def test_signatures_estimate_jaccard_similarity(common: set[int], one: set[int], other: set[int]) -> None:
    """The share of equal rows lies within five standard errors of the exact similarity."""
    a, b = common | one, common | other
    exact = len(a & b) / len(a | b)
    rows_a, rows_b = (sign(np.array(sorted(some), np.uint32), CONFIG.lsh) for some in (a, b))
    estimate = float((rows_a == rows_b).mean())

    assert abs(exact - estimate) <= 5 * (max(exact * (1 - exact), 0.02) / len(rows_a)) ** 0.5


@given(st.lists(numbers, min_size=1, max_size=50))
def test_signature_is_of_a_set(shingles: list[int]) -> None:
    """Order and repetition do not count."""
    one = sign(np.array(shingles, np.uint32), CONFIG.lsh)
    other = sign(np.array(sorted(shingles * 2), np.uint32), CONFIG.lsh)

    assert np.array_equal(one, other)


def test_signature_never_changes() -> None:
    """Signatures of different runs are compared, so their numbers are fixed by seed and scheme."""
    actual = sign(np.arange(10, dtype=np.uint32), CONFIG.lsh)

    assert (128, "uint32") == (len(actual), actual.dtype.name)
    assert [214548472, 1644390130, 432229322, 194758406] == actual[:4].tolist()


@given(st.lists(numbers, max_size=3000), st.integers(1, 9))
def test_signatures_are_those_of_datasketch(shingles: list[int], seed: int) -> None:
    """Of any set, with any seed: sets of more shingles than are permuted at once included."""
    of_others = MinHash(num_perm=128, seed=seed, scheme="affine32", hashfunc=int)
    of_others.update_batch(shingles)
    actual = sign(np.array(shingles, np.uint32), config(f"lsh.seed={seed}").lsh)

    assert of_others.hashvalues.tolist() == actual.tolist()


@pytest.mark.parametrize("permutations", [16, 64, 128])
@pytest.mark.parametrize("threshold", [0.05, 0.1, 0.25, 0.4, 0.5, 0.65, 0.8, 0.95])
def test_bands_are_those_of_datasketch(threshold: float, permutations: int) -> None:
    """Both choose what has the fewest false positives and false negatives."""
    try:
        of_others = MinHashLSH(threshold=threshold, num_perm=permutations)
    except ValueError:  # it wants two bands at least
        assert bands_and_rows(threshold, permutations)[0] == 1
    else:
        assert (of_others.b, of_others.r) == bands_and_rows(threshold, permutations)


def test_seed_makes_another_signature() -> None:
    """Another seed is another set of permutations."""
    shingles = np.arange(10, dtype=np.uint32)
    other = sign(shingles, config("lsh.seed=2").lsh)

    assert not np.array_equal(sign(shingles, CONFIG.lsh), other)


signatures = st.lists(st.integers(0, 1), min_size=24, max_size=24).map(lambda rows: np.array(rows, np.uint32))


@given(signatures, signatures, st.sampled_from([0.2, 0.5, 0.8]))
def test_bands_collide_where_all_their_rows_are_equal(one: np.ndarray, other: np.ndarray, threshold: float) -> None:
    """A band's keys are equal if and only if its rows are."""
    count, rows = bands_and_rows(threshold, 24)
    expected = [
        np.array_equal(one[at * rows : (at + 1) * rows], other[at * rows : (at + 1) * rows]) for at in range(count)
    ]
    actual = (bands(one, threshold) == bands(other, threshold)).tolist()

    assert expected == actual


def test_bands_of_the_shipped_threshold() -> None:
    """18 bands of 7 rows, as conf/dbce.toml says."""
    assert bands_and_rows(CONFIG.lsh.threshold, CONFIG.lsh.permutations) == (18, 7)


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.6, 0.9])
def test_bands_fit_into_the_signature(threshold: float) -> None:
    """However bands are cut, they use no row twice and none that is not there."""
    count, rows = bands_and_rows(threshold, 128)

    assert count * rows <= 128
    assert len(bands(np.arange(128, dtype=np.uint32), threshold)) == count
