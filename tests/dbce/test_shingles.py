"""Shingles: what of a page they see, and what not."""

import numpy as np
import pytest
from hypothesis import given

from dbce_spark.dbce.shingles import TOKENISERS, layer_shingles, path_shingles
from tests.support.builders import parsed
from tests.support.strategies import documents

LIST = "<html><body><ul>{}</ul><p>y</p></body></html>"


@pytest.mark.parametrize("tokens", TOKENISERS)
def test_text_and_attributes_do_not_count(tokens: str) -> None:
    """Pages of one tree have one set of shingles, whatever they say."""
    one = TOKENISERS[tokens](parsed("<body><div class=a><p>one</p></div></body>").tree)
    other = TOKENISERS[tokens](parsed("<body><div id=b><p>and another thing</p></div></body>").tree)

    assert np.array_equal(one, other)


def test_path_is_blind_to_how_many() -> None:
    """A list of two items and one of nine are one template."""
    one, other = (path_shingles(parsed(LIST.format("<li>x</li>" * count)).tree) for count in (2, 9))

    assert np.array_equal(one, other)


def test_layer_counts() -> None:
    """To "layer" each item is one more shingle, counted from the end as the listing inserts at 0."""
    one, other = (set(layer_shingles(parsed(LIST.format("<li>x</li>" * count)).tree).tolist()) for count in (2, 9))

    assert one < other
    assert len(other) - len(one) == 7


@given(documents)
def test_shingles_are_sorted_and_unique(html: str) -> None:
    """Both kinds give a set, as uint32 in order."""
    for shingles in (path_shingles(parsed(html).tree), layer_shingles(parsed(html).tree)):
        assert shingles.dtype == np.uint32
        assert (np.diff(shingles.astype(np.int64)) > 0).all()
