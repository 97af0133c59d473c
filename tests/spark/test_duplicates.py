"""Duplicates on Spark: held to the plain function, for any partitions, with and without what is known."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from benchmarks.samples import write_archive
from dbce_spark import storage
from dbce_spark.archive import sources
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import duplicates as oracle
from dbce_spark.dbce import local
from dbce_spark.dbce.duplicates import Marked
from dbce_spark.dbce.texts import Text
from dbce_spark.output.collection import Collection
from dbce_spark.output.output_reader import table_files
from dbce_spark.spark.jobs import increment, job
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.stages.duplicates import over_tasks, text_duplicates
from dbce_spark.tables import duplicate_rows
from tests.builders import config
from tests.spark.partitions import spread_over
from tests.spark.runs import run_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SETTINGS = ("label.by=T002", "language.detect=false", "output.site_parts=3", "duplicates.cap=4")
HOUR = 3_600_000_000
TINY = config(
    *("duplicates.bands=3", "duplicates.rows=2", "duplicates.cap=5", "duplicates.threshold=0.5", "duplicates.steps=3")
).duplicates


def made(count: int) -> list[Text]:
    """Texts of few different rows, in no order of time: many are copies, many alike, and buckets are large."""
    random = np.random.default_rng(5)
    rows = random.integers(0, 3, (count, TINY.permutations)).astype(np.uint16)
    return [
        Text(
            capture_id=f"{at * 7919 % count:04}",
            url_key=f"u{random.integers(9)}",
            timestamp=int(random.integers(40)) * HOUR // 4,
            digest=row.tobytes().hex(),
            signature=None if row[0] == row[1] == 0 else row,
        )
        for at, row in enumerate(rows)
    ]


def staged(spark: "SparkSession", output: str, some: Sequence[Text]) -> "DataFrame":
    """Texts as TEXTS rows of the staged file 0."""
    rows = duplicate_rows.marked_batch([Marked(one, NOTHING) for one in some])
    columns = {name: rows.column(name) for name in rows.schema.names if name in duplicate_rows.TEXTS.names}
    columns |= {name: pa.array([0] * len(some), pa.int32()) for name in ("site_part", "task")}
    columns["row_no"] = pa.array(range(len(some)), pa.int32())
    batch = pa.RecordBatch.from_arrays(
        [columns[name] for name in duplicate_rows.TEXTS.names], schema=duplicate_rows.TEXTS
    )
    storage.write_parquet(staging.file(output, staging.TEXTS, 0), duplicate_rows.TEXTS, [batch])
    return staging.read(spark, output, staging.TEXTS, duplicate_rows.TEXTS)


def tiny(spark: "SparkSession", folder: Path) -> Run:
    """A run that compares texts as TINY says."""
    return run_in(spark, str(folder), replace(config(), duplicates=TINY))


NOTHING = oracle.Mark(duplicate_of=None, similarity=None, same_url=False, copy_of=None, repeats=None, steps=0)


def said(marks: "DataFrame", some: Sequence[Text]) -> dict[str, oracle.Mark]:
    """Marks by capture id, from MARKS rows, each in the place of its text."""
    rows = marks.toArrow().to_pylist()
    names = oracle.Mark.__dataclass_fields__
    assert all(row["task"] is None or some[row["row_no"]].capture_id == row["capture_id"] for row in rows)
    return {row["capture_id"]: oracle.Mark(**{name: row[name] for name in names}) for row in rows}


@pytest.mark.parametrize(("partitions", "most_likes"), [(1, 0), (3, 0), (7, 0), (3, 100_000)])
def test_spark_marks_what_plain_python_marks(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitions: int, most_likes: int
) -> None:
    """Large buckets, chains too long to follow, copies and texts without signature: the same marks for all, in passes
    or settled by the driver."""
    monkeypatch.setattr(over_tasks, "MOST_LIKES", most_likes)
    some = made(300)
    with spread_over(spark, partitions):
        found = said(over_tasks.marks(tiny(spark, tmp_path), staged(spark, str(tmp_path), some)), some)
    expected = {one.text.capture_id: one.mark for one in oracle.marks([], some, TINY)}

    assert expected == found
    assert {None, 0, 1, 2, 3} == {one.steps for one in expected.values()}
    assert {None, "exact", "near"} == {one.repeats for one in expected.values()}


@pytest.mark.parametrize("most_likes", [0, 100_000])
def test_new_texts_are_compared_with_known_ones(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_likes: int
) -> None:
    """Beside the table of an earlier part, some of whose captures are later in time, the rest is marked as the plain
    function marks it."""
    monkeypatch.setattr(over_tasks, "MOST_LIKES", most_likes)
    some = made(300)
    known = oracle.marks([], some[:170], TINY)
    storage.write_parquet(
        str(tmp_path / "known.parquet"), duplicate_rows.DUPLICATES, [duplicate_rows.marked_batch(known)]
    )
    table = spark.read.parquet(str(tmp_path / "known.parquet"))
    rest = some[170:]
    found = said(over_tasks.marks(tiny(spark, tmp_path), staged(spark, str(tmp_path), rest), table), rest)

    assert {one.text.capture_id: one.mark for one in oracle.marks(known, rest, TINY)} == found


@pytest.mark.parametrize("most_likes", [0, 100_000])
def test_known_texts_that_changed_are_marked_again(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_likes: int
) -> None:
    """A fifth of the known captures is labelled again, and has the same text, another one or none: Spark says of all of
    them, of those that were like them and of new ones what the plain function says."""
    monkeypatch.setattr(over_tasks, "MOST_LIKES", most_likes)
    some, others = made(300), made(340)
    known = oracle.marks([], some[:170], TINY)
    storage.write_parquet(
        str(tmp_path / "known.parquet"), duplicate_rows.DUPLICATES, [duplicate_rows.marked_batch(known)]
    )
    table = spark.read.parquet(str(tmp_path / "known.parquet"))
    relabelled = {
        one.text.capture_id: (one.text, replace(others[-at - 1], capture_id=one.text.capture_id), None)[at % 3]
        for at, one in enumerate(known[::5])
    }
    texts = [*some[170:], *(text for text in relabelled.values() if text)]
    ids = spark.createDataFrame([(one,) for one in relabelled], "capture_id string")
    found = over_tasks.extended_marks(tiny(spark, tmp_path), table, ids, staged(spark, str(tmp_path), texts))
    expected = oracle.extended(known, relabelled, some[170:], TINY)

    assert {one.text.capture_id: one.mark for one in expected} == said(found, texts)
    assert len(expected) > len(texts)


@pytest.mark.parametrize("few", [0, 20_000])
def test_a_collection_says_what_the_plain_function_says(
    spark: "SparkSession", archive: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """After each of two crawls, the rows that count are those of the plain function, which is given the same texts in
    the same order; each capture with a text has one."""
    monkeypatch.setattr(text_duplicates, "FEW", few)
    to, settings = Collection(str(tmp_path / "c")), config(*SETTINGS)
    state: dict[str, Marked] = {}
    for number in range(2):
        request = increment.prepared(to, request_of(archive[: number + 1], ""), settings)
        assert request
        increment.run(spark, to, request, settings)
        rows = pa.Table.from_batches(table_files(to, to.known(), "extractions").batches(rows=50))
        now = {one.capture_id: one for one in compared(rows, settings)}
        relabelled = {name: now.get(name) for name in superseded(to, number + 1)}
        new = [one for name, one in now.items() if name not in state and name not in relabelled]
        said_now = oracle.extended([*state.values()], relabelled, new, settings.duplicates)
        state |= {one.text.capture_id: one for one in said_now}
        state = {name: one for name, one in state.items() if name in now}
        table = pa.Table.from_batches(table_files(to, to.known(), "duplicates").batches(rows=50))

        assert rows_of(duplicate_rows.marked_batch([*state.values()])) == rows_of(table)
        assert rows.num_rows >= table.num_rows == len(now)
    assert any(one.mark.copy_of for one in state.values())


def compared(rows: pa.Table, settings: DbceConfig) -> list[Text]:
    """The texts of EXTRACTIONS rows."""
    zeros = pa.array([0] * rows.num_rows, pa.int32())
    (batch,) = rows.append_column("site_part", zeros).combine_chunks().to_batches()
    made = duplicate_rows.texts_batch(batch, settings.duplicates, task=0, first_row=0)
    return duplicate_rows.texts_from(pa.Table.from_batches([made]))


def superseded(of: Collection, increment: int) -> list[str]:
    """The captures that an increment labels again."""
    paths = [path for number, path in of.files(of.known(), "superseded") if number == increment]
    return [one for path in paths for one in pq.read_table(path).column("capture_id").to_pylist()]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A sample archive of three crawls: most pages are snapshots of others."""
    folder = tmp_path_factory.mktemp("archive")
    write_archive(folder, pages=40, seed=7)
    return sources.expand([str(folder)], config().input.patterns)


def extract(spark: "SparkSession", files: Sequence[str], output: Path, settings: DbceConfig) -> dict[str, Any]:
    return job.run(spark, request_of(files, str(output)), settings)


def request_of(files: Sequence[str], output: str) -> RunRequest:
    return RunRequest(files=files, output=output, with_html=False, limit=None, started=0.0)


@pytest.mark.parametrize("few", [0, 20_000])
def test_a_run_writes_its_duplicates(
    spark: "SparkSession", archive: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """The table has the rows of the plain function, whether that was asked or Spark, in files beside those of the
    extractions and in their order; the account is in run.json."""
    monkeypatch.setattr(text_duplicates, "FEW", few)
    settings = config(*SETTINGS)
    report = extract(spark, archive, tmp_path, settings)
    expected = local.extract(archive, settings).duplicates
    table = ds.dataset(tmp_path / "duplicates", schema=duplicate_rows.DUPLICATES).to_table()
    copies = [one for one in expected if one.mark.copy_of]
    near = [one for one in expected if one.mark.duplicate_of and not one.mark.copy_of]

    assert rows_of(duplicate_rows.marked_batch(expected)) == rows_of(table)
    assert {"texts": len(expected), "exact": len(copies), "near": len(near), "unclear": 0} == report["duplicates"]
    assert copies
    assert near
    assert ids_below(tmp_path / "duplicates") == {
        name: ids for name, ids in ids_below(tmp_path / "extractions", with_text=True).items() if ids
    }


def rows_of(table: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist()
    return sorted(rows, key=lambda row: row["capture_id"])


def ids_below(folder: Path, *, with_text: bool = False) -> dict[str, list[str]]:
    """The capture ids of each file, in its order."""
    found = {}
    for path in sorted(folder.rglob("*.parquet")):
        rows = ds.dataset(path).to_table().to_pylist()
        ids = [row["capture_id"] for row in rows if not with_text or row["text_words"]]
        found[str(path.relative_to(folder))] = ids
    return found


def test_nothing_is_compared_where_it_is_not_asked_for(
    spark: "SparkSession", archive: list[str], tmp_path: Path
) -> None:
    """Without `duplicates.find` there is no table and no account, and all else is the same."""
    settings = config(*SETTINGS)
    without = replace(settings, duplicates=replace(settings.duplicates, find=False))
    reports = [
        extract(spark, archive[:1], tmp_path / name, one) for name, one in (("with", settings), ("without", without))
    ]

    assert ["duplicates" in report for report in reports] == [True, False]
    assert not (tmp_path / "without" / "duplicates").exists()
    assert files_of(tmp_path / "with") == files_of(tmp_path / "without")
    assert not local.extract(archive[:1], without).duplicates


def files_of(output: Path) -> dict[str, bytes]:
    return {str(path.relative_to(output)): path.read_bytes() for path in output.rglob("extractions/*/*.parquet")}


def test_without_captures_there_is_an_empty_table(spark: "SparkSession", tmp_path: Path) -> None:
    """Whoever reads `duplicates` of a run that found no page finds its columns and no rows."""
    empty = tmp_path / "empty.warc"
    empty.write_bytes(b"")
    report = extract(spark, [str(empty)], tmp_path / "out", config(*SETTINGS))
    table = ds.dataset(tmp_path / "out" / "duplicates", partitioning=None).to_table()

    assert (duplicate_rows.DUPLICATES.names, 0) == (table.column_names, table.num_rows)
    assert {"texts": 0, "exact": 0, "near": 0, "unclear": 0} == report["duplicates"]
