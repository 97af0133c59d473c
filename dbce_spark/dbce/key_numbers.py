"""Small numbers for large keys, by a hash table: sorting the keys takes five times as long."""

import numpy as np

from dbce_spark.model import Hashes, Numbers


def numbered(keys: Hashes) -> tuple[Numbers, int]:
    """Number some keys from 0 on, equal keys alike; also count the different ones."""
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
