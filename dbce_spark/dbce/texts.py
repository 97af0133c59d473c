"""Main texts for the comparison with each other: a digest, and a MinHash signature of their word shingles.

Broder 1997, "On the resemblance and containment of documents"; MMDS chapter 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from dbce_spark.config import DuplicatesConfig
from dbce_spark.html.tokens import hashed, mix_in_place
from dbce_spark.model import Hashes, digest

TextSignature = npt.NDArray[np.uint16]
"""16 bits of each minimum: unlike ones are equal once in 65,536 times (Li and König 2010), and half the bytes."""

_STEP = 0x9E3779B97F4A7C15
_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HIGH = np.uint64(32)
_TOGETHER = 1024
"""Shingles that are permuted at once: their products fit in the processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The main text of a capture, as far as the comparison with others needs it."""

    capture_id: str
    url_key: str
    timestamp: int  # microseconds since 1970-01-01 UTC
    digest: str
    signature: TextSignature | None  # None: too few words for a shingle


def digest_and_sign(text: str, config: DuplicatesConfig) -> tuple[str, TextSignature | None]:
    """Compute the digest and the signature of a text, whatever its case and the white space between its words."""
    folded = text.casefold()
    return digest(" ".join(folded.split())), sign(folded, config)


def sign(text: str, config: DuplicatesConfig) -> TextSignature | None:
    """Compute the MinHash of a text's shingles: uint16, shape (bands * rows,); None if it has fewer words than one.

    The share of equal rows estimates the Jaccard similarity of two sets of shingles. Not datasketch's, which takes four
    times as long for it calls Python for every shingle; its form, a product with an odd number per row, is the same.
    """
    found = shingles(hashed(text)[1], config.shingle_words)
    if not len(found):
        return None
    factors = _factors(config.permutations).astype(np.uint32)
    least = np.full(len(factors), np.iinfo(np.uint32).max, np.uint32)
    for start in range(0, len(found), _TOGETHER):
        products = factors[:, None] * found[start : start + _TOGETHER]
        np.minimum(least, products.min(axis=1), out=least)
    # The highest bits of a minimum are zeros wherever there are many shingles.
    signature: TextSignature = least.astype(np.uint16)
    return signature


def shingles(tokens: Hashes, words: int) -> npt.NDArray[np.uint32]:
    """Hash each run of so many tokens to 32 bits, in their order."""
    count = max(0, len(tokens) - words + 1)
    found = tokens[:count].copy()
    for further in range(1, words):
        found *= _FACTOR
        found += tokens[further : further + count]
    return (mix_in_place(found) >> _HIGH).astype(np.uint32)


def bands(signatures: TextSignature, config: DuplicatesConfig) -> npt.NDArray[np.int64]:
    """Hash each band of each signature: shape (signatures, bands), signed as Spark's integers are."""
    powers = _factors(config.rows)
    banded = signatures.reshape(len(signatures), config.bands, config.rows).astype(np.uint64)
    return mix_in_place((banded * powers).sum(axis=2, dtype=np.uint64)).view(np.int64)


def alike(signatures: TextSignature, threshold: float) -> Iterator[tuple[int, int, float]]:
    """Find the texts, in order of time, that are like an earlier one: (the later, the earlier, similarity), by index.

    A text leads if it is like no earlier leader; all later texts are compared with it, and none with one that does not
    lead. So texts that are all alike cost one comparison each.
    """
    leads = np.ones(len(signatures), np.bool_)
    for leader in range(len(signatures) - 1):
        if not leads[leader]:
            continue
        shares = (signatures[leader + 1 :] == signatures[leader]).mean(axis=1)
        for found in np.flatnonzero(shares >= threshold).tolist():
            later = leader + 1 + found
            leads[later] = False
            yield later, leader, float(shares[found])


@cache
def _factors(count: int) -> Hashes:
    """Make odd numbers without a pattern, always the same: signatures of different ones cannot be compared."""
    steps = np.array([_STEP * place % (1 << 64) for place in range(1, count + 1)], np.uint64)
    return mix_in_place(steps) | np.uint64(1)
