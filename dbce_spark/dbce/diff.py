"""The diff under the annotation: the words of one text that stand in another, in order (thesis 2.3).

The meaning is that of `lxml.html.diff.html_annotate`: matching runs of words count from three words on (from fewer in
texts under eight words), so that words that stand everywhere do not match by chance. We therefore match runs directly:
the texts become sequences of three-word grams, grams the other text lacks are dropped, and what is left is aligned by a
longest common subsequence. That is exact where `difflib` is greedy, and quick: little is left in two pages that differ.
"""

from bisect import bisect_left
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Indel

from dbce_spark.dbce import key_numbers
from dbce_spark.model import Hashes, Indexes, Ints

Mask = npt.NDArray[np.bool_]

GRAM = 3
"""Words a matching run must have: lxml's `InsensitiveSequenceMatcher.threshold` is 2, and a run must be longer."""

MOST_ROUNDS = 32
"""Rounds of cuts at anchors: each cuts what the one before left above the limit. A text where each cut makes but one
more gram unique ("from A to B, from B to C") would take a round for every gram."""

_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
"""Odd numbers without a pattern, so that other words, or another order, give another hash."""
_SURROGATES = 0xD800
"""The first of 2,048 code points that are no characters."""


def shared(a: Hashes, b: Hashes, exact_limit: int) -> tuple[Mask, Mask]:
    """Mark the tokens of `a` that are found in `b`, and those of `b` in `a`: two masks as long as the texts.

    Symmetric up to ties of the alignment: call it with the texts in one fixed order, whichever side you want.
    """
    size = min(GRAM, min(len(a), len(b)) // 4 + 1)
    grams_a, grams_b = _numbered(_grams(a, size), _grams(b, size))
    kept_a, kept_b = _common(grams_a, grams_b)
    matched_a, matched_b = _align(grams_a[kept_a], grams_b[kept_b], exact_limit)
    return _spread(kept_a[matched_a], size, len(a)), _spread(kept_b[matched_b], size, len(b))


def _grams(tokens: Hashes, size: int) -> Hashes:
    """Hash each run of `size` tokens to 64 bits."""
    count = max(0, len(tokens) - size + 1)
    grams = tokens[:count].copy()
    for step in range(1, size):
        grams *= _FACTORS[step - 1]
        grams += tokens[step : step + count]
    return grams


def _numbered(a: Hashes, b: Hashes) -> tuple[Ints, Ints]:
    """Number the grams: small numbers, equal for equal grams."""
    numbers = key_numbers.numbered(np.concatenate((a, b)))[0].astype(np.int32)
    return numbers[: len(a)], numbers[len(a) :]


def _common(a: Ints, b: Ints) -> tuple[Indexes, Indexes]:
    """Find the places in each text of grams that stand in both."""
    count = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    in_a, in_b = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    in_a[a], in_b[b] = True, True
    return np.flatnonzero(in_b[a]), np.flatnonzero(in_a[b])


def _align(a: Ints, b: Ints, exact_limit: int, rounds: int = MOST_ROUNDS) -> tuple[Indexes, Indexes]:
    """Find a common subsequence: the longest if the product of the lengths allows, else anchored at unique grams."""
    if len(a) * len(b) <= exact_limit:
        return _longest_common(a, b)
    anchors_a, anchors_b = _anchors(a, b)
    if not len(anchors_a) or not rounds:
        # Only repetition is left (tables of numbers, logs): order means nothing, so being in both texts is enough.
        return _common(a, b)
    cuts = _cuts(anchors_a.tolist(), anchors_b.tolist(), len(a), len(b), exact_limit)
    found_a, found_b = [anchors_a[cuts]], [anchors_b[cuts]]
    edges_a, edges_b = [-1, *anchors_a[cuts].tolist(), len(a)], [-1, *anchors_b[cuts].tolist(), len(b)]
    for (before_a, after_a), (before_b, after_b) in zip(pairwise(edges_a), pairwise(edges_b), strict=True):
        within_a, within_b = _align(a[before_a + 1 : after_a], b[before_b + 1 : after_b], exact_limit, rounds - 1)
        found_a.append(within_a + before_a + 1)
        found_b.append(within_b + before_b + 1)
    return np.sort(np.concatenate(found_a)), np.sort(np.concatenate(found_b))


def _cuts(anchors_a: list[int], anchors_b: list[int], length_a: int, length_b: int, exact_limit: int) -> list[int]:
    """Choose the anchors to cut at, by index: as few as leave pieces under the limit; each piece costs a call."""
    cuts: list[int] = []
    start_a = start_b = -1
    last = -1
    for at, (place_a, place_b) in enumerate(zip([*anchors_a, length_a], [*anchors_b, length_b], strict=True)):
        if (place_a - start_a) * (place_b - start_b) > exact_limit and last >= 0:
            cuts.append(last)
            start_a, start_b = anchors_a[last], anchors_b[last]
        last = at
    return cuts


def _longest_common(a: Ints, b: Ints) -> tuple[Indexes, Indexes]:
    in_a, in_b = np.ones(len(a), np.bool_), np.ones(len(b), np.bool_)
    edits: list[Any] = Indel.editops(_as_text(a), _as_text(b)).as_list()
    in_a[[place for kind, place, _ in edits if kind == "delete"]] = False
    in_b[[place for kind, _, place in edits if kind == "insert"]] = False
    return np.flatnonzero(in_a), np.flatnonzero(in_b)


def _as_text(numbers: Ints) -> str:
    """Encode numbers as characters, which rapidfuzz reads fastest. Surrogates are no characters and skipped."""
    codes = numbers.astype("<u4")
    codes[codes >= _SURROGATES] += 0x800
    return codes.tobytes().decode("utf-32-le")


def _anchors(a: Ints, b: Ints) -> tuple[Indexes, Indexes]:
    """Find the longest chain, ascending in both texts, of grams that stand exactly once in each (patience diff)."""
    count = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    once = (np.bincount(a, minlength=count) == 1) & (np.bincount(b, minlength=count) == 1)
    places_a = np.flatnonzero(once[a])
    place_in_b = np.empty(count, np.intp)
    place_in_b[b] = np.arange(len(b))
    chain = _longest_ascending(place_in_b[a[places_a]].tolist())
    chosen = places_a[chain]
    return chosen, place_in_b[a[chosen]]


def _longest_ascending(values: list[int]) -> list[int]:
    """Find the indexes of a longest ascending subsequence of distinct values, in order."""
    tails: list[int] = []
    tail_at: list[int] = []
    before: list[int] = []
    for at, value in enumerate(values):
        length = bisect_left(tails, value)
        before.append(tail_at[length - 1] if length else -1)
        if length == len(tails):
            tails.append(value)
            tail_at.append(at)
        else:
            tails[length], tail_at[length] = value, at
    chain, at = [], tail_at[-1] if tail_at else -1
    while at >= 0:
        chain.append(at)
        at = before[at]
    return chain[::-1]


def _spread(starts: Indexes, size: int, length: int) -> Mask:
    """Mark the tokens that the grams at `starts` cover."""
    mask = np.zeros(length, np.bool_)
    for step in range(size):
        mask[starts + step] = True
    return mask
