"""Spearman's rank correlation by hand."""

import math

import numpy as np
import pytest

from dbce_spark.evaluation.scoring.rank_correlation import rank_correlation


def test_rank_correlation_by_hand() -> None:
    """Equal orders give 1, the reverse -1, whatever the distances; one column without an order gives none."""
    values = np.array([[0.1, 0.9, 5.0], [0.2, 0.3, 5.0], [0.9, 0.2, 5.0]])
    found = rank_correlation(values)
    assert pytest.approx(np.array([[1.0, -1.0], [-1.0, 1.0]])) == found[:2, :2]
    assert math.isnan(found[0, 2])


def test_equal_values_share_a_rank() -> None:
    """1, 2.5, 2.5, 4 against 1, 2, 3, 4: Spearman's of tied ranks."""
    found = rank_correlation(np.array([[0.1, 1.0], [0.5, 2.0], [0.5, 3.0], [0.7, 4.0]]))
    assert pytest.approx(np.corrcoef([1, 2.5, 2.5, 4], [1, 2, 3, 4])[0, 1]) == found[0, 1]
