"""The uncertainty of a mean, by the bootstrap: pages or whole sites are drawn again and again, with repetition.

Pages of one site share a template and succeed or fail together. An interval from draws of pages takes them for so many
independent findings and is too narrow for the question "how good on other sites?"; draws of whole sites (the cluster
bootstrap; Cameron, Gelbach and Miller 2008) answer it. Weights of pages stay as they are in every draw.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

ROUNDS = 2000
"""Draws; the bounds of an interval then vary by about a twentieth of its width."""

SEED = 20170101
"""Of the draws, so that the same scores have the same intervals, and all extractors meet the same draws."""

COVERAGE = (2.5, 97.5)
"""Percentiles of a 95 % interval."""

MIN_SITES = 10
"""With fewer sites than this draws of sites say little and too surely (the study named above finds it from 5 to 30 on);
then pages are drawn."""

MIN_UNITS = 6
"""With fewer units than this there is no p: five pages are all better by chance once in 16 times (a sign test:
2 / 2**5), so that no p under 0.05 would be true."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval; nan of a single unit, which says nothing of others."""

    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Return whether there was more than one unit."""
        return not math.isnan(self.low)


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of one extractor less that of another on the same pages, its interval, and how likely chance makes it.

    `p` is two-sided: twice the share of draws in which the mean lies on the other side of 0, or on it, with one such
    draw added, so that it is never 0; nan of fewer units than MIN_UNITS.
    """

    mean: float
    low: float
    high: float
    p: float


def numbered(units: Sequence[str]) -> npt.NDArray[np.intp]:
    """Number the drawn units (sites, or pages) from 0, for `means`."""
    return np.unique(np.array(units, dtype=object), return_inverse=True)[1].astype(np.intp)


def drawn_units(sites: Sequence[str]) -> tuple[npt.NDArray[np.intp], str]:
    """Number the units that pages are drawn in, and name them: sites, where there are enough, else pages."""
    of_sites = numbered(sites)
    return (of_sites, "sites") if of_sites.max() + 1 >= MIN_SITES else (np.arange(len(sites)), "pages")


def means(values: Values, weights: Values, units: npt.NDArray[np.intp]) -> Values:
    """Average each row, weighted, in each draw of units.

    values: (rows, pages); weights: (pages); units: (pages), numbers from 0.  Returns (ROUNDS, rows);
    nan of a single unit.
    """
    count = int(units.max()) + 1
    if count == 1:
        return np.full((ROUNDS, len(values)), np.nan)
    weighed = np.bincount(units, weights, count)
    sums = np.stack([np.bincount(units, weights * row, count) for row in values], axis=1)
    times = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), ROUNDS).astype(np.float64)
    drawn: Values = (times @ sums) / (times @ weighed)[:, None]
    return drawn


def intervals(drawn: Values) -> list[Interval]:
    """Take the 95 % interval of each row of `means`."""
    low, high = np.percentile(drawn, COVERAGE, axis=0)
    return [Interval(float(least), float(most)) for least, most in zip(low, high, strict=True)]


def differences(values: Values, weights: Values, units: npt.NDArray[np.intp]) -> list[MeanDifference]:
    """Test each row of values against the first, paired."""
    pairs = values - values[0]
    drawn = means(pairs, weights, units)
    mean = pairs @ weights / weights.sum()
    tails = np.minimum(np.count_nonzero(drawn <= 0, axis=0), np.count_nonzero(drawn >= 0, axis=0))
    found = intervals(drawn)
    is_tested = units.max() + 1 >= MIN_UNITS
    p = [float(min(1.0, 2 * (tail + 1) / (ROUNDS + 1))) if is_tested else math.nan for tail in tails]
    return [MeanDifference(float(mean[at]), one.low, one.high, p[at]) for at, one in enumerate(found)]
