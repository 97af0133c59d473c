"""Evidence of large and grown sites: each page beside its siblings and its own snapshots, in pools.

What travels is how many words each block has, the page's first score of it, and hashes; no text, no tokens, no HTML.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from dbce_spark.dbce.classifier.classifier_file import load_classifier
from dbce_spark.dbce.moments import NEAREST
from dbce_spark.dbce.page_lots import LotSize, cut_lots
from dbce_spark.dbce.pools import EvidenceModel
from dbce_spark.model import Codes
from dbce_spark.output.schemas import evidence_rows, member_rows
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.stages.compare_pages import bucket_crosses, compared_pages, grown_sites

NAME = staging.EVIDENCE
_POOL = ["kind", "site", "pool"]
_BATCH = LotSize(pages=256, blocks=500_000)
"""The size of a batch of EVIDENCE rows: 20 MB at most, but for a row that is larger."""


def stage_evidence(run: Run, account: RunAccount) -> None:
    """Stage the EVIDENCE rows of every capture that has siblings or snapshots."""
    load_model = partial(load_classifier, run.config.label.classifier)
    members = grown_sites.pool_members(run)
    if account.compared.has_large:
        members = members.unionByName(pool_members(compared_pages.of_large_sites(run), run.config.bucket.cap))
    run.stage_rows(evidence_of_pools(members, compared_pages.not_in_place(run), load_model), NAME)


def evidence_of_pools(members: DataFrame, pages: DataFrame, load_model: Callable[[], EvidenceModel]) -> DataFrame:
    """Make EVIDENCE rows of pools, given by POOL_MEMBERS rows and the NEIGHBOURS rows of these, as `pools.evidence`
    does. Each worker loads a model of its own."""

    def in_pools(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        by_pool = _of_pools(batches, load_model)
        rows = ((capture_id, kind, codes) for kind, by_capture in by_pool for capture_id, codes in by_capture.items())
        yield from map(evidence_rows.evidence_batch, cut_lots(rows, lambda row: row[2].shape[1], _BATCH))

    scored = pages.where(F.col("first_scores").isNotNull()).select(*compared_pages.feature_columns())
    rows = members.join(scored, on="capture_id", how="inner")
    ordered = rows.repartition(*_POOL).sortWithinPartitions(*_POOL, "timestamp", "capture_id")
    return ordered.mapInArrow(in_pools, staging.schema(evidence_rows.EVIDENCE))


def pool_members(pages: DataFrame, cap: int) -> DataFrame:
    """Put the captures of NEIGHBOURS rows into pools, as POOL_MEMBERS rows."""
    scored = pages.where(F.col("first_scores").isNotNull())
    return siblings(scored, cap).unionByName(snapshots(scored, cap))


def siblings(pages: DataFrame, cap: int) -> DataFrame:
    """Make the pools that `pools.sibling_pools` makes, as POOL_MEMBERS rows."""
    chunk = Window.partitionBy(*bucket_crosses.CHUNK)
    used = home_buckets(pages, cap).withColumn("is_used", F.bool_or("wanted").over(chunk)).where("is_used")
    pool = F.concat_ws(" ", "band", "key", "chunk").alias("pool")
    return used.select(F.lit(evidence_rows.SIBLINGS).alias("kind"), "site", pool, "capture_id", "wanted")


def home_buckets(pages: DataFrame, cap: int) -> DataFrame:
    """Keep the memberships in chunks of two URLs and more; `wanted`: in the capture's home bucket."""
    thin = pages.select("site", "capture_id", "url_key", _micros(), "signature", "bands")
    members = bucket_crosses.memberships(thin).drop("signature")
    shared = members.groupBy(*bucket_crosses.BUCKET).agg(F.count("*").alias("size")).where("size > 1")
    in_chunks = bucket_crosses.in_chunks(members, shared, cap)
    urls = in_chunks.groupBy(*bucket_crosses.CHUNK).agg(F.count_distinct("url_key").alias("urls")).where("urls > 1")
    of_capture = Window.partitionBy("capture_id").orderBy(F.desc("urls"), "band")
    home = F.row_number().over(of_capture) == 1
    return in_chunks.join(urls, on=bucket_crosses.CHUNK, how="inner").withColumn("wanted", home).drop("urls")


def snapshots(pages: DataFrame, cap: int) -> DataFrame:
    """Make the pools that `pools.snapshot_sequences` makes, as POOL_MEMBERS rows, `cap` moments at a time.

    Each such stretch has, beside those that are wanted in it, the captures of the moments near its first and its last
    one. A URL of one moment has no snapshots.
    """
    of_url = Window.partitionBy("site", "url_key")
    numbered = (
        pages.select("site", "url_key", _micros(), "capture_id")
        .withColumn("nth", F.dense_rank().over(of_url.orderBy("timestamp")) - 1)
        .withColumn("last", F.max("nth").over(of_url))
        .where("last > 0")
        .withColumn("own", F.expr(f"nth div {cap}"))
    )
    near = F.array(*(F.expr(f"(nth + {step}) div {cap}") for step in (-NEAREST, 0, NEAREST)))
    stretches = F.array_distinct(F.filter(near, lambda one: (one >= 0) & (one <= F.expr(f"last div {cap}"))))
    return numbered.withColumn("stretch", F.explode(stretches)).select(
        F.lit(evidence_rows.SNAPSHOTS).alias("kind"),
        "site",
        F.concat_ws(" ", "stretch", "url_key").alias("pool"),
        "capture_id",
        (F.col("stretch") == F.col("own")).alias("wanted"),
    )


def _micros() -> Column:
    return F.unix_micros("timestamp").alias("timestamp")


def _of_pools(
    batches: Iterator[pa.RecordBatch], load_model: Callable[[], EvidenceModel]
) -> Iterator[tuple[int, Mapping[str, Codes]]]:
    """Iterate over the kind of each pool and the codes of its wanted captures."""
    for rows in groups(batches, _POOL):
        kind = rows.column("kind")[0].as_py()
        features = member_rows.page_features_from(rows)
        wanted = {*rows.filter(rows.column("wanted")).column("capture_id").to_pylist()}
        if kind == evidence_rows.SIBLINGS:
            yield kind, load_model().of_siblings(features, wanted)
        else:
            of_all = load_model().of_snapshots(features)
            yield kind, {capture_id: codes for capture_id, codes in of_all.items() if capture_id in wanted}


def staged(run: Run) -> DataFrame:
    """Read the evidence of large and grown sites, as EVIDENCE rows."""
    return run.staged(NAME, evidence_rows.EVIDENCE)
