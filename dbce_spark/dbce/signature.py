"""MinHash signatures of templates, and the bands that put similar ones into the same bucket.

Thesis 2.2; MMDS chapter 3. Signatures and bands are those of datasketch (its permutations "affine32", its choice of
bands), and tests hold them to it; it is not used, since it imports SciPy, which takes half a second.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import xxhash

from dbce_spark.config import LshConfig
from dbce_spark.dbce.shingles import Shingles
from dbce_spark.model import Hashes, Signature

_MIX = (np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35))
_SHIFTS = (np.uint32(16), np.uint32(13), np.uint32(16))
_TOGETHER = 1024
"""Shingles that are permuted at once: their products fit in the processor's cache."""


def sign(shingles: Shingles, config: LshConfig) -> Signature:
    """Compute the MinHash of a set: uint32, shape (permutations,).

    The share of equal rows estimates the Jaccard similarity of two sets.
    """
    factors, summands = _permutations(config.permutations, config.seed)
    mixed = _mixed(shingles)
    signature: Signature = np.full(config.permutations, np.iinfo(np.uint32).max, np.uint32)
    for start in range(0, len(mixed), _TOGETHER):
        permuted = factors[:, None] * mixed[start : start + _TOGETHER]
        permuted += summands[:, None]
        np.minimum(signature, permuted.min(axis=1), out=signature)
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
    """Choose the number of bands, and of rows in each, so that sets share a band from `threshold` on.

    Of all that fit, those whose false positives below it and false negatives from it on are fewest: the integrals, over
    similarity, of the chance to share a band and of the chance not to.
    """
    below, weights_below = _quadrature(0.0, threshold, permutations)
    above, weights_above = _quadrature(threshold, 1.0, permutations)
    least, chosen = float(np.inf), (0, 0)
    for count in range(1, permutations + 1):
        for rows in range(1, permutations // count + 1):
            positives = weights_below @ (1 - (1 - below**rows) ** count)
            negatives = weights_above @ ((1 - above**rows) ** count)
            if positives + negatives < least:
                least, chosen = float(positives + negatives), (count, rows)
    return chosen


def _quadrature(low: float, high: float, degree: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return places and weights that integrate polynomials up to this degree exactly (Gauss and Legendre)."""
    places, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    return low + (high - low) * (places + 1) / 2, weights * (high - low) / 2


@lru_cache(maxsize=8)
def _permutations(count: int, seed: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Draw the permutations h -> factor * h + summand modulo 2**32: odd factors, each (count,)."""
    generator = np.random.RandomState(seed)
    factors = generator.randint(0, 1 << 31, count, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    summands = generator.randint(0, 1 << 32, count, dtype=np.uint32)
    return factors, summands


def _mixed(shingles: Shingles) -> Shingles:
    """Mix shingles as MurmurHash3 ends: every bit depends on all."""
    mixed = shingles ^ (shingles >> _SHIFTS[0])
    for factor, shift in zip(_MIX, _SHIFTS[1:], strict=True):
        mixed = mixed * factor
        mixed ^= mixed >> shift
    return mixed
