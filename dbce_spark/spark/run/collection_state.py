"""The prior state of a collection, as the stages of a run that extends it read it.

Files of pages are numbered as `prior_state` does it.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark.files import parquet
from dbce_spark.output.collection import CAPTURES, DIGESTS, MEMBERS, files
from dbce_spark.output.schemas import capture_rows, increment_rows, member_rows
from dbce_spark.output.schemas.codec import PLACE
from dbce_spark.output.stored_rows import opened
from dbce_spark.spark.engine import merge_tasks
from dbce_spark.spark.engine.batches import table_of
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.prior_state import PriorState

_NUMBER = r"^.*/increments/(\d+)/"
"""Finds the last folder of that name: those around a collection may be called so, too."""


def members(spark: SparkSession, prior: PriorState) -> DataFrame:
    """Read the members of all sites: MEMBERS rows."""
    return _read(spark, prior, MEMBERS, member_rows.MEMBERS)


def captures(spark: SparkSession, prior: PriorState) -> DataFrame:
    """Read all captures, revisits too: CAPTURES rows."""
    return _read(spark, prior, CAPTURES, capture_rows.CAPTURES)


def capture_ids(spark: SparkSession, prior: PriorState) -> DataFrame:
    """Read the ids of all captures, revisits too: capture_id."""
    return captures(spark, prior).select("capture_id")


def revisited(spark: SparkSession, prior: PriorState) -> DataFrame:
    """Read the captures that share the extraction of another one: CAPTURES rows."""
    return captures(spark, prior).where("capture_id <> extraction_id")


def digests(spark: SparkSession, prior: PriorState) -> DataFrame:
    """Read the digest of the evidence by which each capture was labelled last: DIGESTS rows."""
    rows = rows_of_increments(spark, prior, increment_rows.DIGESTS, DIGESTS)
    return rows.groupBy("capture_id").agg(F.max_by("digest", "increment").alias("digest"))


def rows_of_increments(spark: SparkSession, prior: PriorState, arrow: pa.Schema, *names: str) -> DataFrame:
    """Read the rows of some tables of all increments, with the number of their `increment`."""
    return numbered(spark, paths(prior, *names), arrow)


def paths(prior: PriorState, *names: str) -> list[str]:
    """List the files of some tables of all increments, the oldest first."""
    return [path for folder in prior.folders for path in files(folder, *names)]


def batches(prior: PriorState, columns: list[str], *names: str) -> Iterator[pa.RecordBatch]:
    """Read some columns of some tables of all increments without Spark, the oldest first.

    Raises:
        OutputError: a file of one is broken.
    """
    for path in paths(prior, *names):
        with opened(path) as file:
            yield from file.iter_batches(columns=columns)


def table(prior: PriorState, schema: pa.Schema, columns: Sequence[str], *names: str) -> pa.Table:
    """Read some columns of tables of one schema, of all increments, without Spark. Raises as `batches` does."""
    kept = pa.schema([schema.field(name) for name in columns])
    return table_of(batches(prior, kept.names, *names), kept)


def numbered(spark: SparkSession, paths: Sequence[str], arrow: pa.Schema) -> DataFrame:
    """Read the rows of some files, with the number of their `increment`."""
    if not paths:
        return spark.createDataFrame([], staging.schema(arrow)).withColumn("increment", F.lit(0))
    number = F.regexp_extract("_metadata.file_path", _NUMBER, 1).cast("int").alias("increment")
    return staging.read_parquet(spark, arrow, paths).select(*arrow.names, number)


def counting(rows: DataFrame, again: DataFrame) -> DataFrame:
    """Drop rows of captures that a later increment has labelled again, as `current_rows.mark_current` does.

    `again` names these captures and increments: capture_id, increment."""
    last = again.groupBy("capture_id").agg(F.max("increment").alias("last"))
    return rows.join(last, on="capture_id", how="left").where("last is null or increment >= last").drop("last")


def neighbours(places: DataFrame, prior: PriorState) -> DataFrame:
    """Read the pages at some places (file_no, row_no) as NEIGHBOURS rows."""

    def fetched(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for group in groups(batches, ["file_no", "row_group"]):
            path = prior.page_file(group.column("file_no")[0].as_py())
            yield from pages_at(path, group.column("row_no").to_pylist())

    grouped = places.select(*PLACE, merge_tasks.row_group()).repartition("file_no", "row_group")
    return grouped.sortWithinPartitions("file_no", "row_group", "row_no").mapInArrow(
        fetched, staging.schema(member_rows.NEIGHBOURS)
    )


def pages_at(path: str, rows: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Read some rows of a file of pages, one or more, as NEIGHBOURS rows."""
    with opened(path) as file:
        for group, start in parquet.row_groups(file, 0, max(rows) + 1):
            stop = start + file.metadata.row_group(group).num_rows
            if at := [row - start for row in rows if start <= row < stop]:
                found = file.read_row_group(group, columns=member_rows.NEIGHBOURS.names)
                yield from found.select(member_rows.NEIGHBOURS.names).take(pa.array(at)).combine_chunks().to_batches()


def _read(spark: SparkSession, prior: PriorState, name: str, arrow: pa.Schema) -> DataFrame:
    return staging.read_parquet(spark, arrow, [f"{folder}/{name}" for folder in prior.folders])
