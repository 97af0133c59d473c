"""Large sites: each page is judged beside its siblings and its own snapshots.

What travels is how many words each block has, the page's own verdict on it, and hashes; no text, no tokens, no HTML.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from dbce_spark import tables
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import classify, pools
from dbce_spark.dbce.pools import Judge
from dbce_spark.model import Codes, Witness
from dbce_spark.spark import crosses, sites, staging
from dbce_spark.spark.groups import groups

NAME = "evidence"
_BUCKET = ["site", "band", "key"]
_PART = [*_BUCKET, "part"]
_POOL = ["kind", "site", "pool"]
_SITTING = [*_POOL, "sitting"]
_BATCH_ROWS = 256


def stage(spark: SparkSession, output: str, config: DbceConfig) -> None:
    """Stages the EVIDENCE rows of every capture that has siblings or snapshots."""
    judge = partial(classify.of, config.label.classifier)
    staging.write(evidence(sites.large(spark, output), config.bucket.cap, judge), output, NAME)


def evidence(pages: DataFrame, cap: int, judge: Callable[[], Judge]) -> DataFrame:
    """What `pools.evidence` gives for PAGES rows, as EVIDENCE rows. Each worker asks for a judge of its own."""

    def in_sittings(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[str, int, Codes]] = []
        for kind, codes in _heard(batches, cap, judge):
            rows.extend((capture_id, kind, of_capture) for capture_id, of_capture in codes.items())
            if len(rows) >= _BATCH_ROWS:
                yield tables.evidence_batch(rows)
                rows = []
        yield tables.evidence_batch(rows)

    looked_at = pages.where(F.col("verdicts").isNotNull())
    seats = siblings(looked_at, cap).unionByName(snapshots(looked_at, cap))
    rows = seats.join(witnesses(looked_at), on="capture_id", how="inner")
    ordered = rows.repartition(*_POOL).sortWithinPartitions(*_SITTING, "seat")
    return ordered.mapInArrow(in_sittings, staging.schema(tables.EVIDENCE))


def witnesses(pages: DataFrame) -> DataFrame:
    """What `tables.witnesses_from` reads."""
    return pages.select(*sites.witnesses())


def siblings(pages: DataFrame, cap: int) -> DataFrame:
    """The pools that `pools.siblings` makes, a row a capture: kind, site, pool, sitting, seat, capture_id, wanted.

    Rows of later sittings are the wanted captures alone: `_heard` still has those of the first to set beside them.
    """
    part, url = Window.partitionBy(*_PART), Window.partitionBy(*_PART, "url_key")
    members = (
        homes(pages, cap)
        .repartition(*_PART)
        .withColumn("nth", F.row_number().over(url.orderBy("timestamp", "capture_id")))
    )
    counts = {"urls": F.count_if(F.col("nth") == 1).over(part), "asked": F.bool_or("wanted").over(part)}
    seat = F.row_number().over(part.orderBy("nth", "capture_id")) - 1
    sitting = F.when(F.col("seat") < cap, 0).otherwise(F.expr(f"1 + (seat - {cap}) div {pools.later(cap)}"))
    seated = (
        members.withColumns(counts)
        .where("asked and urls > 1")
        .withColumn("seat", seat)
        .withColumn("sitting", sitting.cast("long"))
    )
    return seated.where("sitting = 0 or wanted").select(
        F.lit(tables.SIBLINGS).alias("kind"),
        "site",
        F.concat_ws(" ", "band", "key", "part").alias("pool"),
        "sitting",
        "seat",
        "capture_id",
        "wanted",
    )


def homes(pages: DataFrame, cap: int) -> DataFrame:
    """The memberships in buckets of two URLs and more, each with its part, and whether it is the capture's home as
    `pools.homes` has it."""
    members = crosses.memberships(pages).drop("signature")
    # Counted by URL first, and so in parts: the captures of a large bucket never meet in one task.
    of_url = members.groupBy(*_BUCKET, "url_key").agg(F.count("*").alias("captures"))
    sizes = of_url.groupBy(*_BUCKET).agg(F.count("*").alias("urls"), F.sum("captures").alias("size")).where("urls > 1")
    of_capture = Window.partitionBy("capture_id").orderBy(F.desc("urls"), "band")
    return (
        members.join(sizes, on=_BUCKET, how="inner")
        .withColumn("part", crosses.part_of(cap))
        .withColumn("wanted", F.row_number().over(of_capture) == 1)
        .drop("urls", "size", "url_hash")
    )


def snapshots(pages: DataFrame, cap: int) -> DataFrame:
    """The stretches that `pools.snapshots` makes, as rows like those of `siblings`; all are wanted."""
    of_url = Window.partitionBy("site", "url_key")
    sitting = F.expr(f"least(seat div {cap}, (captures - 2) div {cap})")  # as pools.stretch_of
    return (
        pages.select("site", "url_key", "timestamp", "capture_id")
        .withColumn("captures", F.count("*").over(of_url))
        .where("captures > 1")
        .withColumn("seat", F.row_number().over(of_url.orderBy("timestamp", "capture_id")) - 1)
        .select(
            F.lit(tables.SNAPSHOTS).alias("kind"),
            "site",
            F.col("url_key").alias("pool"),
            sitting.alias("sitting"),
            "seat",
            "capture_id",
            F.lit(True).alias("wanted"),
        )
    )


def _heard(
    batches: Iterator[pa.RecordBatch], cap: int, judge: Callable[[], Judge]
) -> Iterator[tuple[int, Mapping[str, Codes]]]:
    """What comes of each sitting, with its kind. A pool's first sitting is kept for those that follow it."""
    first: list[Witness] = []
    for rows in groups(batches, _SITTING):
        kind, sitting = (rows.column(name)[0].as_py() for name in ("kind", "sitting"))
        here = tables.witnesses_from(rows)
        if kind == tables.SNAPSHOTS:
            yield kind, judge().of_snapshots(here)
            continue
        if sitting == 0:
            first = here
        wanted = rows.filter(rows.column("wanted")).column("capture_id").to_pylist()
        if wanted:
            yield kind, judge().of_siblings(here if sitting == 0 else pools.beside(first, here, cap), wanted)


def staged(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, NAME, tables.EVIDENCE)
