"""Spearman's rank correlation, of columns with gaps."""

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


def rank_correlation(values: Values) -> Values:
    """Correlate the columns by rank (Spearman): how alike two metrics rank the extractors (section 6.2 of the study).

    values: (extractors, metrics).  Returns (metrics, metrics); NaN where under three extractors have both, or one of
    them ranks all the same.
    """
    count = values.shape[1]
    found = np.full((count, count), np.nan)
    for row in range(count):
        for column in range(count):
            both = ~np.isnan(values[:, row]) & ~np.isnan(values[:, column])
            one, other = _ranks(values[both, row]), _ranks(values[both, column])
            if both.sum() >= 3 and np.ptp(one) and np.ptp(other):
                found[row, column] = np.corrcoef(one, other)[0, 1]
    return found


def _ranks(values: Values) -> Values:
    """Rank values from 0; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends: Values = np.cumsum(counts) - (counts + 1) / 2
    return ends[place]
