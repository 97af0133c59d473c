"""The trust in a page's gold, and its share of the page: the study of extractors, sections 3.4 and 3.5.

Both compare the tokens of the gold with those of the whole page.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from lxml import etree

from dbce_spark.evaluation.scoring.metrics import words

MAX_GOLD_ERROR = 0.02
"""Share of a gold's words that the page has too few of. Pages above it the study leaves out (3100 became 2804)."""

ERROR_BINS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Bounds of gold errors in a distribution (figure 3.6); those of pages without any come before the first."""

GROUPS = ("complex", "mid-complex", "easy")

_SILENT = frozenset(("script", "style", "template", "head", "noscript"))
_INLINE = frozenset(
    (
        "a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd label mark nobr q rp rt ruby s samp small"
        " span strike strong sub sup time tt u var wbr"
    ).split()
)


class PageWords:
    """The words of a whole page, scripts and their likes left out.

    Markup within a line may part two words or stand inside one, without a sign of which. So a page holds a word as
    often as it does in the better of the two readings.
    """

    __slots__ = ("counts", "total")

    def __init__(self, root: Any):
        pieces = list(_pieces(root)) if root is not None else []
        whole = words("".join(pieces))
        self.counts = Counter(whole) | Counter(words("\n".join(pieces)))
        self.total = len(whole)


def gold_error(gold: Sequence[str], page: PageWords) -> float:
    """Measure E(K), equations 3.1 and 3.2: the share of the gold's distinct words that it has more often than the page.

    The study divides by the "total alphanumeric tokens"; only as distinct ones, which the sum is over, can they give
    the 100 % that it reports of two pages. An empty gold has no error.
    """
    counted = Counter(gold)
    wrong = sum(count > page.counts[word] for word, count in counted.items())
    return wrong / len(counted) if counted else 0.0


def error_counts(errors: Sequence[float]) -> list[tuple[str, int]]:
    """Count gold errors between the bounds of `ERROR_BINS`, the upper one included; those of none come first."""
    places = np.searchsorted(ERROR_BINS, errors, side="left")
    counts = np.bincount(places, minlength=len(ERROR_BINS)).tolist()
    names = ["0", *(f"{100 * low:g}-{100 * high:g} %" for low, high in pairwise(ERROR_BINS))]
    return list(zip(names, counts, strict=True))


def ratio(gold: Sequence[str], page: PageWords) -> float:
    """Measure C, equation 3.3, as a share, not in percent: the gold's words over the page's. 0 for a page without
    words."""
    return len(gold) / page.total if page.total else 0.0


def quartiles(ratios: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Compute P25, P50 and P75 of the ratios, as in table 3.3."""
    low, middle, high = np.percentile(ratios, (25, 50, 75))
    return float(low), float(middle), float(high)


def groups(ratios: npt.NDArray[np.float64]) -> list[str]:
    """Group each page by equation 3.4: up to P25 complex, from P75 on easy.

    The quartiles are those of the pages given. Where both bounds are the same value, equation 3.4 names easy first.
    """
    low, _, high = quartiles(ratios)
    return ["easy" if one >= high else "complex" if one <= low else "mid-complex" for one in ratios]


def _pieces(root: Any) -> Iterator[str]:
    """Iterate over the texts between tags, in document order, with a line break where a tag ends the line."""
    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, node in walk:
        if event == "start":
            if node.tag in _SILENT:
                walk.skip_subtree()
                continue
            if node.tag not in _INLINE:
                yield "\n"
            yield node.text or ""
        else:
            if event == "end" and node.tag not in _INLINE:
                yield "\n"
            if node is not root:
                yield node.tail or ""
