"""Near-copies: pages under several URLs that hold the same content."""

import numpy as np
from hypothesis import given

from dbce_spark.dbce.classifier.evidence import of_siblings
from dbce_spark.dbce.near_copies import under_one_url
from dbce_spark.model import (
    PageFeatures,
)
from tests.support.plain_pools import plainly_joined, pools


@given(pools())
def test_near_copies_are_joined_as_pair_by_pair(pool: list[PageFeatures]) -> None:
    """All captures of a URL go with its first, in order of URL and time."""
    expected = sorted(plainly_joined(pool), key=lambda one: (one.url_key, one.timestamp, one.capture_id))

    assert [(one.url_key, one.capture_id) for one in expected] == [
        (one.url_key, one.capture_id) for one in under_one_url(pool)
    ]


def test_a_print_view_is_no_sibling() -> None:
    """A page with the same story and another menu is a copy; one with the same menu and another story is a sibling."""

    def page(url: str, menu: int, story: int) -> PageFeatures:
        return PageFeatures(
            capture_id=url, url_key=url, timestamp=0, words=np.array([60, 50], np.int32),
            link_words=np.array([60, 0], np.int32), first_scores=np.array([20, 1000], np.uint16),
            keys=np.array([[menu, story]] * 6, np.uint32),
        )  # fmt: skip

    pool = [page("a", 1, 7), page("a?print=1", 2, 7), page("b", 1, 8)]
    found = of_siblings(pool, {"a", "a?print=1", "b"})

    assert {1.0} == {value for columns in found.values() for value in columns["siblings"].tolist()}
    assert [0.0, 0.0] == [found[url]["sibling_text"][1] for url in ("a", "a?print=1")]
