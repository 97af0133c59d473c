"""Annotation: the occurrence bits of every token of a cross's `cur`.

Thesis 2.3, listing 2.9, extended to keep all occurrences.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from dbce_spark.dbce.diff import Mask, shared
from dbce_spark.model import ARMS, Annotation, Bits, Cross, Hashes, arm_bit


def annotate(crosses: Iterable[Cross], tokens: Mapping[str, Hashes], *, exact_limit: int) -> Iterator[Annotation]:
    """Annotate each cross, in order. `tokens` holds the token hashes of every capture in them, by id."""
    masks: dict[tuple[str, str], tuple[Mask, Mask]] = {}
    for cross in crosses:
        bits = np.full(len(tokens[cross.cur]), arm_bit("cur"), np.uint8)
        for arm, other in zip(ARMS[1:], cross.arms[1:], strict=True):
            if other:
                # One diff serves both captures, and its result must not depend on which of them comes first.
                pair = (min(cross.cur, other), max(cross.cur, other))
                if pair not in masks:
                    masks[pair] = shared(tokens[pair[0]], tokens[pair[1]], exact_limit)
                bits[masks[pair][pair.index(cross.cur)]] |= arm_bit(arm)
        yield run_lengths(cross, bits)


def run_lengths(cross: Cross, bits: Bits) -> Annotation:
    """Encode occurrence bits per token by run lengths."""
    ends = np.append(np.flatnonzero(np.diff(bits)) + 1, len(bits)).astype(np.int32)
    return Annotation(cross=cross, ends=ends, bits=bits[ends - 1])
