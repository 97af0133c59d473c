"""Pages alike in their tags are of one group, the same each time."""

import numpy as np
import pytest
from lxml import html

from dbce_spark.evaluation.scoring.clusters import MAX_PLACED, TAGS, groups, plane, sample, shares

DRAW = np.random.default_rng(3)
KINDS = np.eye(14)[[0] * 30 + [5] * 20 + [9] * 10] + DRAW.normal(0, 0.01, (60, 14))


def test_shares_of_tags_by_hand() -> None:
    """Two of the six tags of a page are p and one is a."""
    found = dict(zip(TAGS, shares(html.document_fromstring("<p>x<a>y</a><p>z<i>w</i>")), strict=True))
    assert pytest.approx((2 / 6, 1 / 6, 0.0)) == (found["p"], found["a"], found["div"])
    assert (0.0,) * 14 == shares(None)


def test_three_kinds_of_pages_are_three_groups_the_largest_first() -> None:
    """Thirty, twenty and ten pages, in any order."""
    order = DRAW.permutation(60)
    expected = np.array([0] * 30 + [1] * 20 + [2] * 10)[order]
    assert expected.tolist() == groups(KINDS[order])


def test_pages_that_are_all_alike_are_one_group() -> None:
    """There are no three centres."""
    assert [0, 0, 0] == groups(np.zeros((3, 14)))


def test_a_picture_is_the_same_each_time_and_keeps_kinds_apart() -> None:
    """Every page lies nearer to the middle of its kind than to that of another."""
    placed = plane(KINDS)
    kinds = np.array([0] * 30 + [1] * 20 + [2] * 10)
    middles = np.stack([placed[kinds == kind].mean(axis=0) for kind in range(3)])
    nearest = np.linalg.norm(placed[:, None] - middles, axis=2).argmin(axis=1)
    assert np.array_equal(placed, plane(KINDS))
    assert kinds.tolist() == nearest.tolist()


def test_too_few_pages_have_no_picture() -> None:
    """Neither a handful, nor many that are all alike."""
    assert (0, 2) == plane(KINDS[:5]).shape == plane(np.zeros((50, 14))).shape


def test_of_many_pages_some_at_even_distances_are_shown() -> None:
    """All of few; of many as many as can be seen, from the first to the last."""
    assert list(range(7)) == sample(7).tolist()
    assert (MAX_PLACED, 0, 99_999) == (len(sample(100_000)), sample(100_000)[0], sample(100_000)[-1])
