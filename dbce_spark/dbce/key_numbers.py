"""Numbers for keys: pairs of keys mixed to one, and small numbers for large keys, equal ones alike."""

import numpy as np

from dbce_spark.model import Hashes, Numbers

ODD = np.uint64(0x9E3779B97F4A7C15)
MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""Factors of SplitMix64, which spread the bits of a number (Steele, Lea and Flood, OOPSLA 2014)."""

_OF_ONE_PAGE = 4096
"""Things that are grouped by sorting, which takes less time than to load the other way: few pages have more."""

Groups = tuple[Numbers, Numbers]
"""The number of the group of each of some things, from 0 on, and the size of each group."""


def mixed_pairs(first: Hashes, second: Hashes) -> Hashes:
    """Mix pairs of numbers to one well-spread 64-bit number each."""
    both = first * ODD + second
    both ^= both >> np.uint64(31)
    both *= MIX[0]
    both ^= both >> np.uint64(29)
    return both


def numbered(keys: Hashes) -> tuple[Numbers, int]:
    """Number some keys from 0 on, equal keys alike; also count the different ones.

    By a hash table: to sort the keys takes five times as long.
    """
    import pyarrow as pa  # only here: a page that is compared with no other need not wait for it

    # By buffers, not by `array` and `to_numpy`: these import pandas where there is one, half a second.
    plain = np.ascontiguousarray(keys)
    encoded = pa.Array.from_buffers(pa.uint64(), len(plain), [None, pa.py_buffer(plain)]).dictionary_encode()
    _, of_keys = encoded.indices.buffers()
    return np.frombuffer(of_keys, np.int32, len(plain)).astype(np.int64), len(encoded.dictionary)


def keys_of_groups(of_keys: Numbers, groups: Numbers, count: int) -> Numbers:
    """Find for each of `count` groups the one key, by number, that all in it have."""
    found = np.empty(count, np.int64)
    found[groups] = of_keys
    return found


def grouped(within: Numbers, keys: Hashes) -> Groups:
    """Group things by key, each within its own page or element."""
    both = mixed_pairs(within.astype(np.uint64), keys)
    if len(both) > _OF_ONE_PAGE:
        group, count = numbered(both)
        return group, np.bincount(group, minlength=count)
    _, group, counts = np.unique(both, return_inverse=True, return_counts=True)
    return group, counts
