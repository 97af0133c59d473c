"""What comparing whole sites gives waits to be staged, but not for long. No Spark is started."""

import numpy as np
import pytest

from dbce_spark.model import BucketCross
from dbce_spark.output.schemas import evidence_rows
from dbce_spark.spark.stages.compare_pages import whole_sites
from tests.support.builders import annotation, cross


@pytest.mark.parametrize(
    ("rows", "size", "are_many"), [(3, 46, False), (2, 46, True), (3, 45, True)], ids=["few", "rows", "bytes"]
)
def test_rows_that_wait_are_few_and_small(
    monkeypatch: pytest.MonkeyPatch, rows: int, size: int, are_many: bool
) -> None:
    """Here evidence of 40 bytes, and an annotation of one run, of five bytes."""
    made = cross()
    waiting = whole_sites.ComparedRows()
    waiting.evidence.append(((0, 0), ("cur", evidence_rows.SIBLINGS, np.zeros((4, 10), np.uint8))))
    found = BucketCross(cross=made, bucket_id="k", bucket_urls=2, group="g")
    waiting.annotations.append(((0, 0), (found, annotation(made, ["11000", "11000"]))))
    monkeypatch.setattr(whole_sites, "_BATCH_ROWS", rows)
    monkeypatch.setattr(whole_sites, "_BATCH_BYTES", size)

    assert are_many is waiting.are_many()
