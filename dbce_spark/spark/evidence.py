"""Large sites: each page is judged beside its siblings and its own snapshots.

What travels is how many words each block has, the page's own verdict on it, and hashes; no text, no tokens, no HTML.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import classify
from dbce_spark.dbce.evidence import NEAREST
from dbce_spark.dbce.pools import Judge
from dbce_spark.model import Codes
from dbce_spark.spark import crosses, growth, sites, staging
from dbce_spark.spark.groups import groups
from dbce_spark.tables import evidence_rows, member_rows

NAME = "evidence"
_POOL = ["kind", "site", "pool"]
_BATCH_ROWS = 256


def stage(spark: SparkSession, output: str, config: DbceConfig, *, has_large: bool) -> None:
    """Stages the EVIDENCE rows of every capture that has siblings or snapshots."""
    judge = partial(classify.of, config.label.classifier)
    asked = growth.seats(spark, output)
    if has_large:
        asked = asked.unionByName(seats(sites.large(spark, output), config.bucket.cap))
    staging.write(heard(asked, sites.met(spark, output), judge), output, NAME)


def evidence(pages: DataFrame, cap: int, judge: Callable[[], Judge]) -> DataFrame:
    """What `pools.evidence` gives for NEIGHBOURS rows, as EVIDENCE rows. Each worker asks for a judge of its own."""
    return heard(seats(pages, cap), pages, judge)


def heard(seats: DataFrame, pages: DataFrame, judge: Callable[[], Judge]) -> DataFrame:
    """What is heard in some pools, who is in which being told by `seats`, as EVIDENCE rows."""

    def in_pools(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[str, int, Codes]] = []
        for kind, codes in _heard(batches, judge):
            rows.extend((capture_id, kind, of_capture) for capture_id, of_capture in codes.items())
            if len(rows) >= _BATCH_ROWS:
                yield evidence_rows.evidence_batch(rows)
                rows = []
        yield evidence_rows.evidence_batch(rows)

    rows = seats.join(witnesses(pages.where(F.col("verdicts").isNotNull())), on="capture_id", how="inner")
    ordered = rows.repartition(*_POOL).sortWithinPartitions(*_POOL, "timestamp", "capture_id")
    return ordered.mapInArrow(in_pools, staging.schema(evidence_rows.EVIDENCE))


def seats(pages: DataFrame, cap: int) -> DataFrame:
    """Who is in which pool: kind, site, pool, capture_id, wanted."""
    looked_at = pages.where(F.col("verdicts").isNotNull())
    return siblings(looked_at, cap).unionByName(snapshots(looked_at, cap))


def witnesses(pages: DataFrame) -> DataFrame:
    """What `member_rows.witnesses_from` reads."""
    return pages.select(*sites.witnesses())


def siblings(pages: DataFrame, cap: int) -> DataFrame:
    """The pools that `pools.siblings` makes, a row a capture: kind, site, pool, capture_id, wanted."""
    run = Window.partitionBy(*crosses.RUN)
    asked = homes(pages, cap).withColumn("asked", F.bool_or("wanted").over(run)).where("asked")
    pool = F.concat_ws(" ", "band", "key", "run").alias("pool")
    return asked.select(F.lit(evidence_rows.SIBLINGS).alias("kind"), "site", pool, "capture_id", "wanted")


def homes(pages: DataFrame, cap: int) -> DataFrame:
    """The memberships in runs of two URLs and more, and whether each is the capture's home as `pools.homes` has it."""
    thin = pages.select("site", "capture_id", "url_key", _micros(), "signature", "bands")
    members = crosses.memberships(thin).drop("signature")
    met = members.groupBy(*crosses.BUCKET).agg(F.count("*").alias("size")).where("size > 1")
    in_runs = crosses.in_runs(members, met, cap).drop("size")
    of_url = in_runs.groupBy(*crosses.RUN, "url_key").agg(F.lit(1).alias("one"))
    urls = of_url.groupBy(*crosses.RUN).agg(F.count("*").alias("urls")).where("urls > 1")
    of_capture = Window.partitionBy("capture_id").orderBy(F.desc("urls"), "band")
    home = F.row_number().over(of_capture) == 1
    return in_runs.join(urls, on=crosses.RUN, how="inner").withColumn("wanted", home).drop("urls")


def snapshots(pages: DataFrame, cap: int) -> DataFrame:
    """The captures that `pools.snapshots` sets beside each other, as rows like those of `siblings`, `cap` at a time.

    Each such stretch has, beside those that are wanted in it, those that the first and the last of these hear.
    """
    of_url = Window.partitionBy("site", "url_key")
    seated = (
        pages.select("site", "url_key", _micros(), "capture_id")
        .withColumn("captures", F.count("*").over(of_url))
        .where("captures > 1")
        .withColumn("seat", F.row_number().over(of_url.orderBy("timestamp", "capture_id")) - 1)
        .withColumn("own", F.expr(f"seat div {cap}"))
    )
    near = F.array(*(F.expr(f"(seat + {step}) div {cap}") for step in (-NEAREST, 0, NEAREST)))
    heard_in = F.array_distinct(F.filter(near, lambda one: (one >= 0) & (one <= F.expr(f"(captures - 1) div {cap}"))))
    return seated.withColumn("stretch", F.explode(heard_in)).select(
        F.lit(evidence_rows.SNAPSHOTS).alias("kind"),
        "site",
        F.concat_ws(" ", "stretch", "url_key").alias("pool"),
        "capture_id",
        (F.col("stretch") == F.col("own")).alias("wanted"),
    )


def _micros() -> Column:
    return F.unix_micros("timestamp").alias("timestamp")


def _heard(batches: Iterator[pa.RecordBatch], judge: Callable[[], Judge]) -> Iterator[tuple[int, Mapping[str, Codes]]]:
    """What comes of each pool, with its kind."""
    for rows in groups(batches, _POOL):
        kind = rows.column("kind")[0].as_py()
        here = member_rows.witnesses_from(rows)
        wanted = {*rows.filter(rows.column("wanted")).column("capture_id").to_pylist()}
        if kind == evidence_rows.SIBLINGS:
            yield kind, judge().of_siblings(here, wanted)
        else:
            said = judge().of_snapshots(here)
            yield kind, {capture_id: codes for capture_id, codes in said.items() if capture_id in wanted}


def staged(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, NAME, evidence_rows.EVIDENCE)
