"""Crosses and annotations as rows, and back."""

from typing import Any

from hypothesis import given

from dbce_spark.model import Annotation, BucketCross
from dbce_spark.output.schemas import annotation_rows, cross_rows
from tests.support.builders import cross
from tests.support.sample_rows import plain
from tests.support.strategies import annotations


def found(**fields: Any) -> BucketCross:
    defaults: dict[str, Any] = {
        "cross": cross("a", "b"),
        "bucket_id": "k",
        "bucket_urls": 2,
        "group": "g",
    }
    return BucketCross(**(defaults | fields))


def test_bucket_crosses_come_back() -> None:
    """A cross and its bucket are restored from their row."""
    expected = [found(), found(cross=cross("a", "b", "c", "d", "e"), bucket_urls=9)]
    actual = [cross_rows.bucket_cross_from(row) for row in cross_rows.bucket_crosses_batch(expected).to_pylist()]

    assert expected == actual


def test_bucket_crosses_have_their_id_and_bits() -> None:
    """A row has the id and the bits that a cross derives from its arms."""
    (row,) = cross_rows.bucket_crosses_batch([found()]).to_pylist()

    assert (cross("a", "b").cross_id, "11000") == (row["cross_id"], row["bits"])


@given(annotations(9))
def test_annotations_come_back(some: list[Annotation]) -> None:
    """The runs and bits of an annotation are restored from its row."""
    rows = annotation_rows.annotations_batch([(found(cross=one.cross), one) for one in some]).to_pylist()
    actual = [plain(annotation_rows.annotation_from(row)) for row in rows]

    assert [plain(one) for one in some] == actual
