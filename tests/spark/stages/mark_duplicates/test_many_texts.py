"""Duplicates on Spark: held to the plain function, for any partitions, with and without what is known."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import duplicates as oracle
from dbce_spark.dbce import local
from dbce_spark.dbce.duplicates import MarkedText
from dbce_spark.dbce.texts import Text
from dbce_spark.files import parquet
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.prior_state import PriorState
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.stages.mark_duplicates import many_texts, text_duplicates
from tests.support.builders import config, marked_batch
from tests.support.partitions import spread_over
from tests.support.spark_collections import Grown
from tests.support.spark_runs import BY_ITSELF, MANY, Runs, run_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

HOUR = 3_600_000_000
TINY = config(
    *("duplicates.bands=3", "duplicates.rows=2", "duplicates.cap=5", "duplicates.threshold=0.5", "duplicates.steps=2")
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
    rows = marked_batch([MarkedText(one, NOTHING) for one in some])
    columns = {name: rows.column(name) for name in rows.schema.names if name in duplicate_rows.TEXTS.names}
    columns |= {name: pa.array([0] * len(some), pa.int32()) for name in ("site_part", "task")}
    columns["row_no"] = pa.array(range(len(some)), pa.int32())
    batch = pa.RecordBatch.from_arrays(
        [columns[name] for name in duplicate_rows.TEXTS.names], schema=duplicate_rows.TEXTS
    )
    parquet.write(staging.staged_file(output, staging.TEXTS, 0), duplicate_rows.TEXTS, [batch])
    return staging.read(spark, output, staging.TEXTS, duplicate_rows.TEXTS)


def tiny(spark: "SparkSession", folder: Path) -> Run:
    """A run that compares texts as TINY says."""
    return run_in(spark, str(folder), replace(config(), duplicates=TINY))


NOTHING = oracle.Mark(duplicate_of=None, similarity=None, same_url=False, copy_of=None, repeats=None, steps=0)


def marks_of(marks: "DataFrame", some: Sequence[Text]) -> dict[str, oracle.Mark]:
    """Marks by capture id, from MARKS rows, each in the place of its text."""
    rows = marks.toArrow().to_pylist()
    names = oracle.Mark.__dataclass_fields__
    assert all(row["task"] is None or some[row["row_no"]].capture_id == row["capture_id"] for row in rows)
    return {row["capture_id"]: oracle.Mark(**{name: row[name] for name in names}) for row in rows}


def settled_in_both_ways(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[set[tuple[Any, ...]]]:
    """Settle the texts that a run has staged, in passes and by the driver."""
    first, likes = run.staged("firsts", duplicate_rows.FIRSTS), run.staged("likes", duplicate_rows.LIKES)
    found = []
    for most_likes in (0, 100_000):
        monkeypatch.setattr(many_texts, "MOST_LIKES", most_likes)
        rows = many_texts.settle(run, first, likes).toArrow().to_pylist()
        found.append({tuple(row.values()) for row in rows})
    return found


@pytest.mark.parametrize("partitions", [1, 7])
def test_spark_marks_what_plain_python_marks(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitions: int
) -> None:
    """Large buckets, chains too long to follow, copies and texts without signature: the same marks for all, in passes
    or settled by the driver."""
    monkeypatch.setattr(many_texts, "MOST_LIKES", 0)
    some, run = made(300), tiny(spark, tmp_path)
    with spread_over(spark, partitions):
        found = marks_of(many_texts.marks(run, staged(spark, str(tmp_path), some)), some)
        in_passes, by_driver = settled_in_both_ways(run, monkeypatch)
    expected = {one.text.capture_id: one.mark for one in oracle.mark_texts([], some, TINY)}

    assert expected == found
    assert in_passes == by_driver
    assert {None, 0, 1, 2} == {one.steps for one in expected.values()}
    assert {None, "exact", "near"} == {one.repeats for one in expected.values()}


def test_new_texts_and_known_ones_that_changed_are_marked(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the table of an earlier part, some of whose captures are later in time, a fifth of the known captures is
    labelled again, and has the same text, another one or none: Spark says of all of them, of those that were like them
    and of new ones what the plain function says, in passes or settled by the driver."""
    monkeypatch.setattr(many_texts, "MOST_LIKES", 0)
    some, others = made(300), made(340)
    known = oracle.mark_texts([], some[:170], TINY)
    parquet.write(str(tmp_path / "known.parquet"), duplicate_rows.DUPLICATES, [marked_batch(known)])
    table = spark.read.parquet(str(tmp_path / "known.parquet"))
    relabelled = {
        one.text.capture_id: (one.text, replace(others[-at - 1], capture_id=one.text.capture_id), None)[at % 3]
        for at, one in enumerate(known[::5])
    }
    texts = [*some[170:], *(text for text in relabelled.values() if text)]
    ids, run = spark.createDataFrame([(one,) for one in relabelled], "capture_id string"), tiny(spark, tmp_path)
    found = many_texts.extended_marks(run, table, ids, staged(spark, str(tmp_path), texts))
    expected = oracle.extend_marks(known, relabelled, some[170:], TINY)
    in_passes, by_driver = settled_in_both_ways(run, monkeypatch)

    assert {one.text.capture_id: one.mark for one in expected} == marks_of(found, texts)
    assert in_passes == by_driver
    assert len(expected) > len(texts)


def test_the_driver_writes_of_few_texts_what_tasks_write(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes, beside two increments of which the second has marked texts of the first anew: rows of new texts,
    and new marks of prior ones whose leaders have changed, which are counted."""
    some, others = made(300), made(340)
    known = oracle.mark_texts([], some[:170], TINY)
    folders = [str(tmp_path / f"increments/{number:08}") for number in (1, 2)]
    write_marked(
        f"{folders[0]}/duplicates/site_part=0", [one._replace(mark=NOTHING) for one in known[:60]] + known[60:]
    )
    write_marked(f"{folders[1]}/remarked", known[:60])
    again = [replace(others[-at - 1], capture_id=one.text.capture_id) for at, one in enumerate(known[:170:5])]
    written = []
    for few in (text_duplicates.FEW, 0):
        monkeypatch.setattr(text_duplicates, "FEW", few)
        run = tiny(spark, tmp_path / f"increments/3-{few}")
        of_collection = replace(run.request, prior=PriorState(tuple(folders), (1, 1), 170))
        staged(spark, run.work, [*some[170:], *again])
        ids = pa.RecordBatch.from_pydict({"capture_id": [one.capture_id for one in again]})
        parquet.write(f"{run.output}/superseded/part-00000.parquet", ids.schema, [ids])
        counts = text_duplicates.STAGE.work(
            replace(run, request=of_collection), RunAccount(sources=0, is_increment=True)
        )
        tables = [
            [one.read_bytes() for one in Path(run.output, name).rglob("*.parquet")]
            for name in ("duplicates", "remarked")
        ]
        written.append((counts, tables))
        assert counts.remarked == ds.dataset(f"{run.output}/remarked").count_rows() > 0

    assert written[0] == written[1]
    assert len(written[0][1]) == 2


def write_marked(folder: str, some: Sequence[MarkedText]) -> None:
    """Write texts and their marks as the only file of a table."""
    batch = marked_batch(some)
    parquet.write(f"{folder}/part-00000.parquet", duplicate_rows.DUPLICATES, [batch])


@pytest.mark.usefixtures("spark")  # so that it is tried where the session is
@pytest.mark.parametrize("way", ["grown_in_time", "grown_late"])
def test_a_collection_says_what_the_plain_function_says(way: str, request: pytest.FixtureRequest) -> None:
    """After each crawl, the rows that count are those of the plain function, which is given the same texts in the same
    order, whether that was asked or Spark; each capture with a text has one."""
    grown: Grown = request.getfixturevalue(way)
    state: dict[str, MarkedText] = {}
    for step in grown.steps:
        now = {one.capture_id: one for one in compared(step.extractions, config(*grown.settings))}
        relabelled = {name: now.get(name) for name in step.superseded}
        new = [one for name, one in now.items() if name not in state and name not in relabelled]
        marked = oracle.extend_marks([*state.values()], relabelled, new, config(*grown.settings).duplicates)
        state |= {one.text.capture_id: one for one in marked}
        state = {name: one for name, one in state.items() if name in now}

        assert rows_of(marked_batch([*state.values()])) == rows_of(step.duplicates)
        assert step.extractions.num_rows >= step.duplicates.num_rows == len(now)
    assert any(one.mark.copy_of for one in state.values())


def compared(rows: pa.Table, settings: DbceConfig) -> list[Text]:
    """The texts of EXTRACTIONS rows."""
    zeros = pa.array([0] * rows.num_rows, pa.int32())
    (batch,) = rows.append_column("site_part", zeros).combine_chunks().to_batches()
    made = duplicate_rows.texts_batch(batch, settings.duplicates, task=0, first_row=0)
    return duplicate_rows.texts_from(pa.Table.from_batches([made]))


@pytest.mark.parametrize("way", [BY_ITSELF, MANY])
def test_a_run_writes_its_duplicates(runs: Runs, expected: local.Result, way: str) -> None:
    """The table has the rows of the plain function, whether that was asked or Spark, in files beside those of the
    extractions and in their order; the account is in run.json."""
    output, report = runs[way]
    marked = expected.duplicates
    table = ds.dataset(output / "duplicates", schema=duplicate_rows.DUPLICATES).to_table()
    copies = [one for one in marked if one.mark.copy_of]
    near = [one for one in marked if one.mark.duplicate_of and not one.mark.copy_of]

    assert rows_of(marked_batch(marked)) == rows_of(table)
    counts = {"texts": len(marked), "exact": len(copies), "near": len(near), "unclear": 0, "remarked": 0}
    assert counts == report["duplicates"]
    assert copies
    assert near
    assert ids_below(output / "duplicates") == {
        name: ids for name, ids in ids_below(output / "extractions", with_text=True).items() if ids
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
