"""Decoded pages as staged rows, and back."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.model import Page
from dbce_spark.output.schemas import page_rows, reject_rows
from tests.support.builders import block_features, page
from tests.support.sample_rows import LOOKED_AT, PAGES, plain, staged
from tests.support.strategies import documents


def bare(one: Page) -> Page:
    """Reduce a page to the fields that its rows keep for the merge."""
    nothing = np.empty(0, np.uint64)
    blocks = dataclasses.replace(one.blocks, tokens=nothing)
    return dataclasses.replace(one, blocks=blocks, signature=None, bands=nothing)


def test_pages_come_back() -> None:
    """A page's row gives the page, but for tokens and signature."""
    batch = staged(PAGES, [None] * len(PAGES))
    expected = [plain(bare(one)) for one in PAGES]
    actual = [plain(one) for one in page_rows.pages_from(batch)]

    assert expected == actual


def test_slice_of_pages_comes_back() -> None:
    """Rows out of the middle of a batch are read as what they are."""
    batch = staged(PAGES, [None] * len(PAGES)).slice(1, 2)
    expected = [plain(bare(one)) for one in PAGES[1:3]]
    actual = [plain(one) for one in page_rows.pages_from(batch)]

    assert expected == actual


@given(documents)
def test_any_blocks_come_back(html: str) -> None:
    """The row of any page restores its blocks."""
    one = page(html)
    (actual,) = page_rows.pages_from(staged([one], [None]))

    assert plain(bare(one).blocks) == plain(actual.blocks)


def test_staged_pages_hold_what_the_buckets_need() -> None:
    """Tokens, signature and bands are stored as fixed-width numbers, in bytes of one order."""
    (row,) = staged(PAGES[:1], [b"<p>"]).to_pylist()
    one = PAGES[0]

    assert one.signature is not None
    assert np.array_equal(one.blocks.tokens, np.frombuffer(row["tokens"], "<u8"))
    assert np.array_equal(one.signature, np.frombuffer(row["signature"], "<u4"))
    assert one.bands.view(np.int64).tolist() == row["bands"]
    assert row["html"] == b"<p>"


@given(documents, st.integers(1, 5))
def test_any_features_come_back(html: str, features: int) -> None:
    """Codes, first_scores and keys of any page, in their shapes and types."""
    one = page(html)
    made = block_features(one, features)
    (actual,) = page_rows.pages_from(staged([dataclasses.replace(one, features=made)], [None]))

    assert actual.features is not None
    assert plain(made) == plain(actual.features)
    for name in ("codes", "first_scores", "keys"):
        assert getattr(made, name).dtype == getattr(actual.features, name).dtype
    for field in dataclasses.fields(made.units):
        expected, found = getattr(made.units, field.name), getattr(actual.features.units, field.name)
        assert expected.dtype == found.dtype
        assert expected.tolist() == found.tolist()


def test_page_that_no_classifier_saw_has_null_features() -> None:
    """A page without features has nulls beside pages whose columns are bytes."""
    rows = staged([PAGES[0], LOOKED_AT[1]], [None, None]).to_pylist()

    for name in ("feature_codes", "first_scores", "keys", "units", "holders"):
        assert [True, False] == [row[name] is None for row in rows]


def test_staged_pages_say_where_they_are() -> None:
    """Each row names its file and its place there."""
    rows = staged(PAGES, [None] * len(PAGES)).to_pylist()

    assert [(3, 7), (3, 8), (3, 9), (3, 10)] == [(row["file_no"], row["row_no"]) for row in rows]


def test_batch_of_nothing() -> None:
    """No rows are rows of the schema, too."""
    assert staged([], []).schema == page_rows.PAGES
    assert reject_rows.rejects_batch([]).num_rows == 0
