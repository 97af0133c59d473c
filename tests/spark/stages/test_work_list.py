"""The work list of the last stage: what is brought to each row group of staged pages before it is merged."""

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from dbce_spark import config
from dbce_spark.dbce import pools
from dbce_spark.files import parquet
from dbce_spark.model import Annotation, BucketCross
from dbce_spark.output.schemas import annotation_rows, comparison_rows, evidence_rows, page_rows
from dbce_spark.spark.engine import merge_tasks
from dbce_spark.spark.run import extraction_files, staging
from dbce_spark.spark.run.compared_captures import Compared
from dbce_spark.spark.run.prior_state import PriorState
from dbce_spark.spark.stages import work_list, write_extractions
from tests.support.builders import annotation, cross
from tests.support.evidence_pools import Echo, page_in
from tests.support.partitions import spread_over
from tests.support.spark_runs import run_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("partitions", [1, 3])
def test_evidence_and_annotations_come_to_their_pages(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitions: int
) -> None:
    """Each row group gets what belongs to its kept captures, all of it before the mark that says it can be merged."""
    monkeypatch.setattr(merge_tasks, "ROWS_PER_GROUP", 2)
    output = str(tmp_path)
    run = run_in(spark, output, config.default())
    made = [page_in([1], url, day) for url in "abc" for day in (1, 2)]
    by_file = [made[:5], made[5:]]
    evidence = pools.evidence(made, 9, Echo)
    # Those of the first file come from a site that was looked at whole, with their places; the others by their ids.
    places = {one.capture_id: (0, at) for at, one in enumerate(by_file[0])}
    codes = [(key, evidence_rows.SIBLINGS, one.siblings) for key, one in evidence.items()]
    codes += [(key, evidence_rows.SNAPSHOTS, one.snapshots) for key, one in evidence.items()]
    annotated = [_annotated(one.capture_id) for one in made if one.capture_id != made[1].capture_id]
    for file_no, some in enumerate(by_file):
        batch = page_rows.pages_batch(some, [None] * len(some), file_no=file_no, first_row=0)
        parquet.write(staging.staged_file(output, "pages", file_no), page_rows.PAGES, [batch])
    in_place = [one for one in codes if one[0] in places and one[0] != made[1].capture_id]
    elsewhere = evidence_rows.evidence_batch([one for one in codes if one[0] not in places])
    parquet.write(staging.staged_file(output, "evidence", 0), evidence_rows.EVIDENCE, [elsewhere])
    batch = annotation_rows.annotations_batch([one for one in annotated if one[0].cross.cur not in places])
    parquet.write(staging.staged_file(output, "annotations", 0), annotation_rows.ANNOTATIONS, [batch])
    with_place = [one for one in annotated if one[0].cross.cur in places]
    batch = comparison_rows.placed_batch([places[one[0]] for one in in_place], evidence_rows.evidence_batch(in_place))
    parquet.write(staging.staged_file(output, staging.PAGE_EVIDENCE, 0), comparison_rows.PAGE_EVIDENCE, [batch])
    batch = comparison_rows.placed_batch(
        [places[found.cross.cur] for found, _ in with_place], annotation_rows.annotations_batch(with_place)
    )
    parquet.write(staging.staged_file(output, staging.PAGE_ANNOTATIONS, 0), comparison_rows.PAGE_ANNOTATIONS, [batch])
    gone = spark.createDataFrame([(0, 1, "duplicate")], "file_no int, row_no int, filter string")
    staging.write(gone, output, "dropped")

    with spread_over(spark, partitions):
        rows = work_list.of_many(run, merge_tasks.cut([5, 1], 1)).rows.toArrow().to_pylist()
    brought: dict[tuple[int, int], list[str]] = {}
    for row in rows:
        brought.setdefault((row["file_no"], row["row_group"]), []).append(_what(row))

    assert {(0, 0), (0, 1), (0, 2), (1, 0)} == set(brought)
    for (file_no, group), events in brought.items():
        here = [
            one.capture_id
            for at, one in enumerate(by_file[file_no])
            if at // 2 == group and (file_no, at) != (0, 1)  # the one that was dropped
        ]
        expected = [f"{what} {key}" for key in here for what in ("annotation", "evidence 0", "evidence 1")]
        assert sorted(expected) == sorted(one for one in events if one not in ("merge", "drop 1"))
        assert events[-1] == "merge"
        assert events.count("drop 1") == ((file_no, group) == (0, 0))


def _what(row: dict[str, Any]) -> str:
    """Name the content of a row of the work list."""
    if row["annotation"]:
        return f"annotation {row['annotation']['cur']}"
    if row["evidence"]:
        return f"evidence {row['evidence']['kind']} {row['evidence']['capture_id']}"
    return "merge" if row["row_no"] is None else f"drop {row['row_no']}"


def _annotated(capture_id: str) -> tuple[BucketCross, Annotation]:
    made = cross(capture_id, "up")
    return BucketCross(cross=made, bucket_id="k", bucket_urls=2, group="g"), annotation(made, ["11000"])


def test_what_waits_to_be_written_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many site parts a task writes into; and all of it is written."""
    some = pa.RecordBatch.from_pydict(
        {
            name: pa.nulls(9, kind)
            for name, kind in zip(extraction_files.SCHEMA.names, extraction_files.SCHEMA.types, strict=True)
        }
    )
    rows = some.set_column(0, extraction_files.SCHEMA.field(0), pa.array(["x" * 100] * 9))
    monkeypatch.setattr(extraction_files, "HELD_BYTES", 3 * rows.nbytes)
    with ExitStack() as open_files:
        files = extraction_files.ExtractionFiles(str(tmp_path), 0, open_files)
        for at in range(20):
            files.write_part(at % 10, rows)
            assert sum(file.held_bytes for file in files.by_path.values()) <= 3 * rows.nbytes

    written = [pq.read_metadata(path) for path in tmp_path.rglob("*.parquet")]
    assert 180 == sum(file.num_rows for file in written)
    assert len(written) == 10


def test_a_page_that_cannot_be_merged_is_staged_as_a_reject(tmp_path: Path) -> None:
    """Here one whose HTML is not its own: the task ends well, with all other rows; and with none of a first attempt."""
    made = [page_in([1], url, 1) for url in "abc"]
    htmls = [one.blocks.text.encode() for one in made]
    staged, unlabelled = (staging.staged_file(str(tmp_path), name, 0) for name in ("pages", staging.UNLABELLED))
    merging = write_extractions.Merging(
        str(tmp_path), f"{tmp_path}/out", PriorState(), config.load(settings=['label.by="T002"']), True, False
    )
    group = work_list.RowGroup(0, 0, Compared())
    outcomes = []
    for second in (b"", htmls[1]):
        batch = page_rows.pages_batch(made, [htmls[0], second, htmls[2]], file_no=0, first_row=0)
        parquet.write(staged, page_rows.PAGES, [batch])
        counts = merging.run(0, iter([group]))
        rejects = pq.read_table(unlabelled).to_pylist() if Path(unlabelled).exists() else []
        written = ds.dataset(tmp_path / "out" / "extractions").to_table(["url"]).column("url").to_pylist()
        outcomes.append(
            (counts, sorted(written), [(one["capture_id"], one["stage"], one["reason"]) for one in rejects])
        )

    urls = sorted(one.capture.url for one in made)
    assert outcomes == [
        (
            Counter({"single": 2, "unlabelled": 1, "rejects.page_failed": 1}),
            [one for one in urls if one != made[1].capture.url],
            [(made[1].capture_id, "label", "page_failed")],
        ),
        (Counter(single=3), urls, []),
    ]
