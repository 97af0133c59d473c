"""The marks that a collection holds already: which of them last when captures come and others are labelled again, and
which have to do with new texts. `dbce_spark.dbce.duplicates.split_prior`, over all at once."""

from collections.abc import Iterator
from functools import reduce
from types import NoneType

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark.files import parquet
from dbce_spark.output.collection import DUPLICATES, REMARKED, SUPERSEDED, files
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.output.schemas.capture_rows import CAPTURE_IDS
from dbce_spark.output.stored_rows import count_rows
from dbce_spark.spark.run import collection_state, single_files
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.prior_state import PriorState
from dbce_spark.spark.run.task_results import task_results

_GONE, _REOPENED = "gone", "reopened"


def count(prior: PriorState) -> int:
    """Count the rows of duplicates of all increments.

    Raises:
        OutputError: a file of one is broken.
    """
    return sum(map(count_rows, collection_state.paths(prior, DUPLICATES, REMARKED)))


def prior_marks(spark: SparkSession, prior: PriorState) -> DataFrame:
    """Read the last marks of each prior text: DUPLICATES rows. Of captures that were labelled or marked again, those of
    earlier increments count no more."""
    marks = collection_state.rows_of_increments(spark, prior, duplicate_rows.DUPLICATES, DUPLICATES, REMARKED)
    again = collection_state.rows_of_increments(spark, prior, CAPTURE_IDS, SUPERSEDED, REMARKED)
    return collection_state.counting(marks, again).select(*duplicate_rows.DUPLICATES.names)


def relabelled(spark: SparkSession, output: str) -> DataFrame:
    """Read the prior captures that this run has labelled again: capture_id."""
    return collection_state.numbered(spark, files(output, SUPERSEDED), CAPTURE_IDS).select("capture_id")


def stage_changed(run: Run, before: DataFrame, texts: DataFrame, again: DataFrame) -> DataFrame:
    """Stage the prior captures that have another text now, or none: capture_id."""
    now = texts.select("capture_id", F.col("text_digest").alias("now"))
    beside = before.join(again, on="capture_id", how="left_semi").join(now, on="capture_id", how="left")
    changed = beside.where(F.col("now").isNull() | (F.col("now") != F.col("text_digest")))
    return run.staged_from(changed.select("capture_id"), _GONE, CAPTURE_IDS)


def stage_reopened(run: Run, before: DataFrame, gone: DataFrame) -> DataFrame:
    """Stage the prior texts that were marked as like one that is gone, as TEXTS rows that are staged nowhere."""
    left = before.join(gone, on="capture_id", how="left_anti")
    like = [
        left.join(gone.select(F.col("capture_id").alias(name)), on=name, how="left_semi").select(*left.columns)
        for name in ("duplicate_of", "copy_of")
    ]
    reopened = texts_of(reduce(DataFrame.unionByName, like).dropDuplicates(["capture_id"]))
    return run.staged_from(reopened, _REOPENED, duplicate_rows.TEXTS)


def lasting_marks(before: DataFrame, gone: DataFrame, reopened: DataFrame) -> DataFrame:
    """Keep the prior marks that last: DUPLICATES rows."""
    past = gone.unionByName(reopened.select("capture_id"))
    return before.join(past, on="capture_id", how="left_anti").select(*duplicate_rows.DUPLICATES.names)


def texts_of(prior: DataFrame) -> DataFrame:
    """Make TEXTS rows that are staged nowhere of DUPLICATES rows."""
    nowhere = {name: F.lit(None).cast("int") for name in ("site_part", "task", "row_no")}
    return prior.withColumns(nowhere).select(*duplicate_rows.TEXTS.names)


def related_marks(prior: DataFrame, new: DataFrame, prior_members: DataFrame, new_members: DataFrame) -> DataFrame:
    """Choose the prior DUPLICATES rows that have to do with new texts: of the same text, of the same URL, in a bucket
    with one; and those that these name. `*_members` are the rows of both in the bands."""
    related = [prior.join(new.select(name).distinct(), on=name, how="left_semi") for name in ("text_digest", "url_key")]
    buckets = new_members.select("band", "key").distinct()
    related.append(prior_members.join(buckets, on=["band", "key"], how="left_semi"))
    ids = reduce(DataFrame.unionByName, [rows.select("capture_id") for rows in related]).distinct()
    own = prior.join(ids, on="capture_id", how="left_semi")
    named = own.select(F.explode(F.array("capture_id", "duplicate_of", "copy_of")).alias("capture_id")).distinct()
    return prior.join(named, on="capture_id", how="left_semi").select(*duplicate_rows.DUPLICATES.names)


def write(marks: DataFrame, before: DataFrame, output: str) -> None:
    """Write the new marks of prior texts whose extractions stay as they are: DUPLICATES rows from MARKS rows."""
    path = single_files.path(output, REMARKED)

    def write_all(batches: Iterator[pa.RecordBatch]) -> None:
        rows = [batch.cast(duplicate_rows.DUPLICATES) for batch in batches if batch.num_rows]
        if rows:
            parquet.write(path, duplicate_rows.DUPLICATES, rows)

    anew = marks.where("task is null").drop("task", "row_no")
    beside = before.select(
        "capture_id", *(name for name in duplicate_rows.DUPLICATES.names if name not in duplicate_rows.MARKS.names)
    )
    rows = beside.join(anew, on="capture_id", how="inner").select(*duplicate_rows.DUPLICATES.names)
    task_results(rows.repartition(1).sortWithinPartitions("capture_id"), write_all, NoneType)
