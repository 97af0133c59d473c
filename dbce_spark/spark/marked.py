"""What a collection says of duplicates already: which of it still holds when captures come and others are labelled
again, and which of it has to do with what is new. `dbce_spark.dbce.duplicates.parted`, over all at once."""

from collections.abc import Iterator
from functools import reduce

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import storage
from dbce_spark.output.collection import DUPLICATES, REMARKED, SUPERSEDED, files
from dbce_spark.spark import known as collection
from dbce_spark.spark import staging
from dbce_spark.spark.known import Known
from dbce_spark.tables import duplicate_rows

ID = pa.schema([("capture_id", pa.string())])
_GONE = "gone"


def count(known: Known) -> int:
    """How many rows its increments have of duplicates."""
    paths = (path for folder in known.folders for path in files(folder, DUPLICATES, REMARKED))
    return sum(pq.read_metadata(path).num_rows for path in paths)


def before(spark: SparkSession, known: Known) -> DataFrame:
    """What was said last of each known text: DUPLICATES rows. Of captures that were labelled or marked again, what
    earlier increments say counts no more."""
    said = collection.said(spark, known, duplicate_rows.DUPLICATES, DUPLICATES, REMARKED)
    again = collection.said(spark, known, ID, SUPERSEDED, REMARKED)
    return collection.counting(said, again).select(*duplicate_rows.DUPLICATES.names)


def relabelled(spark: SparkSession, tables_in: str) -> DataFrame:
    """The known captures that this run has labelled again: capture_id."""
    return collection.numbered(spark, files(tables_in, SUPERSEDED), ID).select("capture_id")


def gone(spark: SparkSession, output: str, known: DataFrame, texts: DataFrame, again: DataFrame) -> DataFrame:
    """The known captures that have another text now, or none: capture_id. Staged under `output`."""
    now = texts.select("capture_id", F.col("text_digest").alias("now"))
    beside = known.join(again, on="capture_id", how="left_semi").join(now, on="capture_id", how="left")
    changed = beside.where(F.col("now").isNull() | (F.col("now") != F.col("text_digest")))
    staging.write(changed.select("capture_id"), output, _GONE)
    return staging.read(spark, output, _GONE, ID)


def standing(known: DataFrame, gone: DataFrame) -> DataFrame:
    """What is known and still holds: DUPLICATES rows."""
    left = known
    for name in ("capture_id", "duplicate_of", "copy_of"):
        left = left.join(gone.select(F.col("capture_id").alias(name)), on=name, how="left_anti")
    return left.select(*duplicate_rows.DUPLICATES.names)


def asked(known: DataFrame, gone: DataFrame) -> DataFrame:
    """Known texts that were said to be like one that is gone, as TEXTS rows that are staged nowhere."""
    left = known.join(gone, on="capture_id", how="left_anti")
    like = [
        left.join(gone.select(F.col("capture_id").alias(name)), on=name, how="left_semi").select(*left.columns)
        for name in ("duplicate_of", "copy_of")
    ]
    return texts_of(reduce(DataFrame.unionByName, like).dropDuplicates(["capture_id"]))


def texts_of(known: DataFrame) -> DataFrame:
    """DUPLICATES rows as TEXTS rows that are staged nowhere."""
    nowhere = {name: F.lit(None).cast("int") for name in ("site_part", "task", "row_no")}
    return known.withColumns(nowhere).select(*duplicate_rows.TEXTS.names)


def touching(known: DataFrame, new: DataFrame, known_members: DataFrame, new_members: DataFrame) -> DataFrame:
    """Those of the known DUPLICATES rows that have to do with new texts: of the same text, of the same URL, in a bucket
    with one; and whom these name. `*_members` are the rows of both in the bands."""
    met = [known.join(new.select(name).distinct(), on=name, how="left_semi") for name in ("text_digest", "url_key")]
    buckets = new_members.select("band", "key").distinct()
    met.append(known_members.join(buckets, on=["band", "key"], how="left_semi"))
    ids = reduce(DataFrame.unionByName, [some.select("capture_id") for some in met]).distinct()
    own = known.join(ids, on="capture_id", how="left_semi")
    named = own.select(F.explode(F.array("capture_id", "duplicate_of", "copy_of")).alias("capture_id")).distinct()
    return known.join(named, on="capture_id", how="left_semi").select(*duplicate_rows.DUPLICATES.names)


def write(said: DataFrame, known: DataFrame, tables_in: str) -> None:
    """Writes what is said anew of known texts whose extractions stay as they are: DUPLICATES rows from MARKS rows."""
    path = f"{tables_in.rstrip('/')}/{REMARKED}/part-00000.parquet"

    def write_all(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [batch.cast(duplicate_rows.DUPLICATES) for batch in batches if batch.num_rows]
        if rows:
            storage.write_parquet(path, duplicate_rows.DUPLICATES, rows)
        yield pa.RecordBatch.from_pydict({"done": [True]})

    anew = said.where("task is null").drop("task", "row_no")
    beside = known.select(
        "capture_id", *(name for name in duplicate_rows.DUPLICATES.names if name not in duplicate_rows.MARKS.names)
    )
    rows = beside.join(anew, on="capture_id", how="inner").select(*duplicate_rows.DUPLICATES.names)
    rows.repartition(1).sortWithinPartitions("capture_id").mapInArrow(write_all, "done boolean").collect()
