"""Large sites: buckets, and the crosses they find. Ids and signatures travel; no text, no tokens, no HTML."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from dbce_spark import tables
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import crosses
from dbce_spark.dbce.buckets import BucketKey, BucketSizes
from dbce_spark.model import Found, Member
from dbce_spark.spark import sites, staging
from dbce_spark.spark.groups import groups

NAME = "crosses"
_BUCKET = ["site", "band", "key"]
_BUCKETS = "buckets"
_SUMS = ["one_sum", "other_sum"]
_BUCKET_ROW = pa.schema(
    [
        ("site", pa.string()),
        ("band", pa.int32()),
        ("key", pa.int64()),
        ("size", pa.int64()),
        *((name, pa.int64()) for name in _SUMS),
    ]
)
"""A bucket: how many captures are in it, and two hashes that tell whether they are the same ones as in another."""
_NAMED_ROW = _BUCKET_ROW.append(pa.field("bucket_id", pa.string()))
_BATCH_ROWS = 1024
_NO_BANDS = np.empty(0, np.uint64)
"""In a bucket nobody asks for them any more."""


def stage(spark: SparkSession, output: str, config: DbceConfig) -> BucketSizes:
    """Stages the chosen crosses of every capture, as FOUND rows."""
    cap = config.bucket.cap
    members = memberships(sites.large(spark, output))
    staging.write(buckets(members), output, _BUCKETS)
    met = staging.read(spark, output, _BUCKETS, _BUCKET_ROW)
    staging.write(select(find(cut(members, asked(met), cap), cap), config.cross.per_capture), output, NAME)
    row = met.agg(F.max("size"), F.count_if(F.col("size") > cap)).first()
    return BucketSizes(largest=row[0] or 0, capped=row[1]) if row else BucketSizes()


def memberships(pages: DataFrame) -> DataFrame:
    """One row a page and band: _BUCKET, capture_id, url_key, url_hash, timestamp, signature."""
    return pages.where(F.col("signature").isNotNull()).select(
        "site",
        F.posexplode("bands").alias("band", "key"),
        "capture_id",
        "url_key",
        "url_hash",
        F.unix_micros("timestamp").alias("timestamp"),
        "signature",
    )


def buckets(members: DataFrame) -> DataFrame:
    """All buckets of some memberships, as _BUCKET_ROW: those of the same captures have the same sums."""
    sums = [F.bit_xor(F.xxhash64("capture_id", F.lit(salt))).alias(name) for salt, name in enumerate(_SUMS)]
    return members.groupBy(*_BUCKET).agg(F.count("*").alias("size"), *sums)


def asked(met: DataFrame) -> DataFrame:
    """The buckets that are asked for crosses: those of more than one capture, and of several with the same captures
    the one of the lowest id, as `dbce.sites` has it."""
    named = met.where("size > 1").mapInArrow(_named, staging.schema(_NAMED_ROW))
    first = F.min(F.struct("bucket_id", "band", "key")).alias("first")
    return named.groupBy("site", "size", *_SUMS).agg(first).select("site", "first.band", "first.key", "size")


def _named(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        keys = zip(*(batch.column(name).to_pylist() for name in _BUCKET), strict=True)
        ids = pa.array([crosses.bucket_id(BucketKey(*key)) for key in keys], pa.string())
        yield batch.append_column("bucket_id", ids)


def cut(members: DataFrame, asked: DataFrame, cap: int) -> DataFrame:
    """The memberships in these buckets, with their size and part, as `buckets.part_bits` and `part_of` have it."""
    return members.join(asked, on=_BUCKET, how="inner").withColumn("part", part_of(cap))


def part_of(cap: int) -> Column:
    """The part of a bucket that a membership is in, by its url_hash and the bucket's size."""
    bits = f"length(bin((size - 1) div {cap}))"
    cut_off = F.expr(f"shiftrightunsigned(url_hash, 64 - {bits})")
    return F.when(F.col("size") > cap, cut_off).otherwise(0)


def find(members: DataFrame, cap: int) -> DataFrame:
    """The crosses that each part of each bucket finds, as FOUND rows: the same cross once for every bucket."""
    by = [*_BUCKET, "part"]

    def in_parts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[Found] = []
        for part in groups(batches, by):
            if part.num_rows > 1:
                rows.extend(_in_part(part, cap))
            if len(rows) >= _BATCH_ROWS:
                yield tables.found_batch(rows)
                rows = []
        yield tables.found_batch(rows)

    return members.repartition(*by).sortWithinPartitions(*by).mapInArrow(in_parts, staging.schema(tables.FOUND))


def _in_part(part: pa.Table, cap: int) -> Iterator[Found]:
    """The crosses of the members in one group of rows."""
    first = part.slice(0, 1).to_pylist()[0]
    bucket = BucketKey(first["site"], first["band"], first["key"])
    signatures = np.frombuffer(b"".join(part.column("signature").to_pylist()), "<u4").reshape(part.num_rows, -1)
    ids, url_keys, timestamps = (part.column(name).to_pylist() for name in ("capture_id", "url_key", "timestamp"))
    members = [
        Member(
            capture_id=capture_id,
            site=bucket.site,
            url_key=url_key,
            timestamp=timestamp,
            signature=signature,
            bands=_NO_BANDS,
        )
        for capture_id, url_key, timestamp, signature in zip(ids, url_keys, timestamps, signatures, strict=True)
    ]
    return crosses.find(bucket, members, bucket_size=first["size"], part=first["part"], cap=cap)


def select(found: DataFrame, per_capture: int) -> DataFrame:
    """What `crosses.select` chooses, on FOUND rows."""
    of_cross = Window.partitionBy("cur", "cross_id").orderBy(F.desc("bucket_size"), "bucket_id")
    arms = F.length(F.replace("bits", F.lit("0"), F.lit("")))
    similarity = F.col("up_similarity") + F.col("down_similarity")
    of_capture = Window.partitionBy("cur").orderBy(arms.desc(), similarity.desc(), "cross_id")
    unique = found.repartition("cur").withColumn("nth", F.row_number().over(of_cross)).where("nth = 1")
    ranked = unique.withColumn("nth", F.row_number().over(of_capture)).where(F.col("nth") <= per_capture)
    return ranked.select(*tables.FOUND.names)


def staged(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, NAME, tables.FOUND)
