"""What a collection holds already, as the stages of a run read it that extends it.

The pages of all increments stay as they were staged. Their files are numbered on, from FIRST, so that a place, a file
and a row, is one place whoever staged it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark.output.collection import CAPTURES, MEMBERS, Collection, Version, files
from dbce_spark.output.output_reader import parquet as opened
from dbce_spark.spark import staging
from dbce_spark.spark.groups import groups
from dbce_spark.spark.parts import ROWS_PER_GROUP
from dbce_spark.tables import capture_rows, increment_rows, member_rows

FIRST = 1 << 30
"""The number of the first file of pages of a collection; those of a run count from 0."""
PAGES, DIGESTS = "pages", "told"
_PLACE = ["file_no", "row_no"]
_NUMBER = r"/increments/(\d+)/"


@dataclass(frozen=True, slots=True)
class Known:
    """The increments of a version, the oldest first: their folders, how many files of pages each keeps, and how many
    captures all of them have."""

    folders: tuple[str, ...] = ()
    page_files: tuple[int, ...] = ()
    captures: int = 0

    def __bool__(self) -> bool:
        return bool(self.folders)

    @property
    def next_file(self) -> int:
        """The number that the next file of pages gets."""
        return FIRST + sum(self.page_files)

    def page_file(self, file_no: int) -> str:
        """The path of a file of pages."""
        starts = [*accumulate(self.page_files, initial=FIRST)][:-1]
        at = bisect_right(starts, file_no) - 1
        return page_file(self.folders[at], file_no - starts[at])


NOTHING = Known()


def of(collection: Collection, version: Version | None) -> Known:
    increments = version.increments if version else ()
    return Known(
        tuple(collection.increment(one.number) for one in increments),
        tuple(one.page_files for one in increments),
        sum(one.captures for one in increments),
    )


def page_file(folder: str, number: int) -> str:
    """A file of pages by its number within an increment."""
    return f"{folder}/{PAGES}/{number:08}.parquet"


def members(spark: SparkSession, known: Known) -> DataFrame:
    """Who is known: MEMBERS rows."""
    return _read(spark, known, MEMBERS, member_rows.MEMBERS)


def captures(spark: SparkSession, known: Known) -> DataFrame:
    """All captures that are known, revisits too: CAPTURES rows."""
    return _read(spark, known, CAPTURES, capture_rows.CAPTURES)


def capture_ids(spark: SparkSession, known: Known) -> DataFrame:
    """All captures that are known, revisits too, by id."""
    return captures(spark, known).select("capture_id")


def revisited(spark: SparkSession, known: Known) -> DataFrame:
    """The known captures that share the extraction of another one: CAPTURES rows."""
    return captures(spark, known).where("capture_id <> extraction_id")


def digests(spark: SparkSession, known: Known) -> DataFrame:
    """What others said of each capture when it was labelled last: DIGESTS rows."""
    told = _read(spark, known, DIGESTS, increment_rows.DIGESTS).select("*", F.col("_metadata.file_path").alias("path"))
    return told.groupBy("capture_id").agg(F.max_by("digest", "path").alias("digest"))


def said(spark: SparkSession, known: Known, arrow: pa.Schema, *names: str) -> DataFrame:
    """The rows of some tables that any increment has, with the number of their `increment`."""
    return numbered(spark, [path for folder in known.folders for path in files(folder, *names)], arrow)


def numbered(spark: SparkSession, paths: Sequence[str], arrow: pa.Schema) -> DataFrame:
    """The rows of some files, with the number of their `increment`."""
    kind = staging.schema(arrow)
    if not paths:
        return spark.createDataFrame([], kind).withColumn("increment", F.lit(0))
    number = F.regexp_extract("_metadata.file_path", _NUMBER, 1).cast("int").alias("increment")
    return spark.read.schema(kind).parquet(*paths).select(*arrow.names, number)


def counting(rows: DataFrame, again: DataFrame) -> DataFrame:
    """As `output.counting`: `rows` without those of captures of which a later increment says something else.
    `again` says of which ones which increments do: capture_id, increment."""
    last = again.groupBy("capture_id").agg(F.max("increment").alias("last"))
    return rows.join(last, on="capture_id", how="left").where("last is null or increment >= last").drop("last")


def neighbours(places: DataFrame, known: Known) -> DataFrame:
    """The pages at some places (file_no, row_no), as NEIGHBOURS rows."""

    def fetched(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for group in groups(batches, ["file_no", "row_group"]):
            file_no, number = (group.column(name)[0].as_py() for name in ("file_no", "row_group"))
            at = [row - number * ROWS_PER_GROUP for row in group.column("row_no").to_pylist()]
            yield from _rows(known.page_file(file_no), number, at)

    grouped = places.select(*_PLACE, row_group()).repartition("file_no", "row_group")
    return grouped.sortWithinPartitions("file_no", "row_group", "row_no").mapInArrow(
        fetched, staging.schema(member_rows.NEIGHBOURS)
    )


def row_group() -> Column:
    return F.floor(F.col("row_no") / ROWS_PER_GROUP).cast("int").alias("row_group")


def _rows(path: str, number: int, at: Sequence[int]) -> Iterator[pa.RecordBatch]:
    with opened(path) as file:
        found = file.read_row_group(number, columns=member_rows.NEIGHBOURS.names)
    yield from found.select(member_rows.NEIGHBOURS.names).take(pa.array(at)).combine_chunks().to_batches()


def _read(spark: SparkSession, known: Known, name: str, arrow: pa.Schema) -> DataFrame:
    return spark.read.schema(staging.schema(arrow)).parquet(*(f"{folder}/{name}" for folder in known.folders))
