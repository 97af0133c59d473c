"""The weight of a page in an average: equal, but the pages of one site together weigh no more than a share."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

MAX_SHARE = 0.05
"""Of a pooled average, what the pages of one site may weigh together. Pages of one template are nearly one measurement:
a set may hold hundreds of one site (240 of one European portal, one template in 20 languages) and would otherwise
measure that template more than the web."""


def capped(sites: Sequence[str]) -> Values:
    """Weigh pages by their sites, with the sum 1: equally, but no site above `MAX_SHARE`.

    Where there are fewer than 1 / `MAX_SHARE` sites the cap cannot be kept; then all sites weigh the same, which comes
    nearest.
    """
    names, of_page, counts = np.unique(np.array(sites, dtype=object), return_inverse=True, return_counts=True)
    share = max(MAX_SHARE, 1 / len(names))
    largest_first = np.sort(counts)[::-1]
    rest = float(counts.sum())
    cap = rest  # pages that a site counts as
    for at, count in enumerate(largest_first):
        cap = share * rest / (1 - at * share)  # the cap if only the sites before this one are cut
        if count <= cap * (1 + 1e-12):
            break
        rest -= count
    weights: Values = (np.minimum(counts, cap) / counts)[of_page]
    weights /= weights.sum()
    return weights


def by_site(sites: Sequence[str]) -> Values:
    """Weigh pages so that every site counts the same, with the sum 1 (macro over sites)."""
    _, of_page, counts = np.unique(np.array(sites, dtype=object), return_inverse=True, return_counts=True)
    return 1.0 / counts[of_page] / len(counts)


def equal(pages: int) -> Values:
    """Weigh every page the same, with the sum 1 (macro over pages)."""
    return np.full(pages, 1.0 / pages)


def mean(values: Values, weights: Values) -> Values:
    """Average the last axis. Equal rows have equal means, which share a rank: a matrix product adds some rows in
    another order, and parts them by a last bit."""
    averaged: Values = (values * weights).sum(axis=-1) / weights.sum()
    return averaged


def largest_share(sites: Sequence[str], weights: Values) -> float:
    """Return the share of all weight of the site that weighs most."""
    of_page = np.unique(np.array(sites, dtype=object), return_inverse=True)[1]
    return float(np.bincount(of_page, weights).max() / weights.sum())


def median(values: Values, weights: Values) -> float:
    """Return the value at half of the weight."""
    return quantile(values, weights, 0.5)


def quantile(values: Values, weights: Values, share: float) -> float:
    """Return the value at this share of the weight; between two values their middle, as for a plain median."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    low = int(np.searchsorted(reached, share - 1e-9))
    high = int(np.searchsorted(reached, share + 1e-9))
    return float((values[order][low] + values[order][min(high, len(values) - 1)]) / 2)
