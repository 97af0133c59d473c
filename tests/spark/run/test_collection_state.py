"""The prior state of a collection, of all its increments."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbce_spark.files import parquet
from dbce_spark.output.collection import DIGESTS
from dbce_spark.output.schemas import increment_rows, page_rows
from dbce_spark.spark.run import collection_state
from dbce_spark.spark.run.prior_state import PriorState
from tests.support.evidence_pools import page_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("place", ["news", "increments/7/news", "a [1]{b,c}*?\\d"])
def test_the_last_digest_of_a_capture_counts(spark: "SparkSession", tmp_path: Path, place: str) -> None:
    """A later increment that labels a capture anew has another one, whatever the folders around the collection are
    called."""
    folders = [str(tmp_path / place / "increments" / f"{number:08}") for number in (1, 2)]
    for folder, digests in zip(folders, ({"a": "first", "b": "first"}, {"b": "second", "c": "second"}), strict=True):
        rows = {"capture_id": [*digests], "digest": [*digests.values()]}
        batch = increment_rows.DIGESTS.empty_table().from_pydict(rows, schema=increment_rows.DIGESTS).to_batches()
        parquet.write(f"{folder}/{DIGESTS}/part-00000.parquet", increment_rows.DIGESTS, batch)
    found = collection_state.digests(spark, PriorState(tuple(folders), (1, 1), 3)).collect()

    assert {"a": "first", "b": "second", "c": "second"} == {row["capture_id"]: row["digest"] for row in found}


def test_rows_that_a_later_increment_has_made_anew_do_not_count(spark: "SparkSession") -> None:
    """The latest of a capture do, as do all of a capture that was labelled once."""
    rows = spark.createDataFrame([("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 2)], ["capture_id", "increment"])
    again = spark.createDataFrame([("a", 2), ("a", 3), ("c", 2)], ["capture_id", "increment"])
    found = collection_state.counting(rows, again)

    assert [("a", 3), ("b", 1), ("c", 2)] == sorted(map(tuple, found.collect()))
    assert ["capture_id", "increment"] == found.columns


@pytest.mark.parametrize("bytes_per_group", [0, math.inf])
def test_pages_are_read_by_their_rows(tmp_path: Path, bytes_per_group: float) -> None:
    """Wherever row groups are cut, and none but the wanted."""
    made = [page_in([1, 2], f"u{at}", 1) for at in range(9)]
    path = str(tmp_path / "pages.parquet")
    with parquet.writer(
        path, page_rows.PAGES, dictionary=False, rows_per_group=4, bytes_per_group=bytes_per_group
    ) as file:
        for at, one in enumerate(made):
            file.write(page_rows.pages_batch([one], [None], file_no=0, first_row=at))
    found = [row for batch in collection_state.pages_at(path, [2, 3, 5]) for row in batch["capture_id"].to_pylist()]

    assert [made[at].capture_id for at in (2, 3, 5)] == found
