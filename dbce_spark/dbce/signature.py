"""MinHash signatures of templates, and the bands that put similar ones into the same bucket.

Thesis 2.2; MMDS chapter 3.
"""

from functools import lru_cache

import numpy as np
import xxhash
from datasketch import MinHash, MinHashLSH

from dbce_spark.config import LshConfig
from dbce_spark.dbce.shingles import Shingles
from dbce_spark.model import Hashes, Signature

SCHEME = "affine32"
"""datasketch's permutation scheme.

Signatures of different schemes cannot be compared, so it is named, never left to a default.
"""


def sign(shingles: Shingles, config: LshConfig) -> Signature:
    """Compute the MinHash of a set: uint32, shape (permutations,).

    The share of equal rows estimates the Jaccard similarity of two sets.
    """
    minhash = _empty(config.permutations, config.seed).copy()
    minhash.update_batch(shingles.tolist())
    signature: Signature = minhash.hashvalues.astype(np.uint32)
    return signature


def bands(signature: Signature, threshold: float) -> Hashes:
    """Hash each band of a signature: uint64, shape (bands,). Rows left over by the last whole band are not used."""
    count, rows = bands_and_rows(threshold, len(signature))
    stored = signature.astype("<u4").tobytes()
    width = rows * 4
    return np.fromiter(
        (xxhash.xxh3_64_intdigest(stored[start : start + width]) for start in range(0, count * width, width)),
        np.uint64,
        count,
    )


@lru_cache(maxsize=1024)
def bands_and_rows(threshold: float, permutations: int) -> tuple[int, int]:
    """Choose the number of bands, and of rows in each, so that sets share a band from `threshold` on (datasketch)."""
    lsh = MinHashLSH(threshold=threshold, num_perm=permutations)
    return int(lsh.b), int(lsh.r)


@lru_cache(maxsize=8)
def _empty(permutations: int, seed: int) -> MinHash:
    return MinHash(num_perm=permutations, seed=seed, scheme=SCHEME, hashfunc=_itself)


def _itself(shingle: int) -> int:
    return shingle
