"""Small numbers for keys of 64 bits: as many as there are different keys, and the groups that they make."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.dbce import key_numbers
from dbce_spark.dbce.key_numbers import keys_of_groups, numbered

KEYS = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), min_size=1, max_size=50)


@given(KEYS)
def test_equal_keys_have_one_number(keys: list[int]) -> None:
    """Keys have the same number where they are equal, and the numbers run from 0 on without a gap."""
    numbers, count = numbered(np.array(keys, np.uint64))

    assert sorted(set(numbers.tolist())) == [*range(count)]
    assert len({*zip(keys, numbers.tolist(), strict=True)}) == len({*keys}) == count


@given(KEYS)
def test_key_of_a_group(keys: list[int]) -> None:
    """The key of a group is that of each thing in it, however many groups have one key."""
    of_keys, _ = numbered(np.array(keys, np.uint64))
    groups, count = numbered((2 * of_keys + np.arange(len(keys)) % 2).astype(np.uint64))

    assert (keys_of_groups(of_keys, groups, count)[groups] == of_keys).all()


def test_many_things_are_grouped_as_few_are() -> None:
    """More things than one page has are grouped as those of one page, whatever the numbers of their groups."""
    keys = (np.arange(key_numbers._OF_ONE_PAGE + 1) * 7919 % 500).astype(np.uint64)
    within = np.arange(len(keys)) % 3
    group, counts = key_numbers.grouped(within, keys)
    pairs = [*zip(within.tolist(), keys.tolist(), strict=True)]

    assert len({*zip(pairs, group.tolist(), strict=True)}) == len({*pairs}) == len(counts)
    assert (counts[group] == [pairs.count(pair) for pair in pairs]).all()
    few, few_counts = key_numbers.grouped(within[:60], keys[:60])
    assert (few_counts[few] == [pairs[:60].count(pair) for pair in pairs[:60]]).all()
