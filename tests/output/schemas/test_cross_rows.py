"""Crosses and annotations as rows, and back."""

from typing import Any

from hypothesis import given

from dbce_spark.model import Annotation, BucketCross
from dbce_spark.output.schemas import annotation_rows, cross_rows
from tests.output.schemas.samples import plain
from tests.support.builders import cross
from tests.support.strategies import annotations


def found(**fields: Any) -> BucketCross:
    known: dict[str, Any] = {
        "cross": cross("a", "b"),
        "bucket_id": "k",
        "bucket_urls": 2,
        "group": "g",
    }
    return BucketCross(**(known | fields))


def test_found_comes_back() -> None:
    """A cross and its bucket, from their row."""
    expected = [found(), found(cross=cross("a", "b", "c", "d", "e"), bucket_urls=9)]
    actual = [cross_rows.bucket_cross_from(row) for row in cross_rows.bucket_crosses_batch(expected).to_pylist()]

    assert expected == actual


def test_found_says_its_id_and_bits() -> None:
    """What a cross derives from its arms stands in its row."""
    (row,) = cross_rows.bucket_crosses_batch([found()]).to_pylist()

    assert (cross("a", "b").cross_id, "11000") == (row["cross_id"], row["bits"])


@given(annotations(9))
def test_annotations_come_back(some: list[Annotation]) -> None:
    """Runs and bits, from their row."""
    rows = annotation_rows.annotations_batch([(found(cross=one.cross), one) for one in some]).to_pylist()
    actual = [plain(annotation_rows.annotation_from(row)) for row in rows]

    assert [plain(one) for one in some] == actual
