"""The strategy for large sites: crosses are found bucket by bucket. Ids and signatures travel; no text, no tokens, no
HTML."""

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from dbce_spark.dbce import crosses
from dbce_spark.dbce.buckets import BucketKey, BucketSizes
from dbce_spark.model import Adjacent, BucketCross, Member, Signature
from dbce_spark.output.schemas import cross_rows
from dbce_spark.output.schemas.codec import FLOAT, STRING
from dbce_spark.output.schemas.cross_rows import ADJACENT_PAGES
from dbce_spark.output.schemas.page_rows import SIGNATURE
from dbce_spark.spark.engine.batches import each_batch, lots, rows_of
from dbce_spark.spark.engine.groups import groups, numbered
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import ComparedSites
from dbce_spark.spark.stages.compare_pages import compared_pages

NAME = staging.CROSSES
BUCKET = ["site", "band", "key"]
CHUNK = [*BUCKET, "chunk"]
"""The rows that meet in one task: a whole bucket, or one chunk of a capped one."""
_SUMS = ["one_sum", "other_sum"]
_ADJACENT = [*Adjacent.__dataclass_fields__]
_BATCH_ROWS = 1024
_NO_BANDS = np.empty(0, np.uint64)
"""Of no use within a bucket."""


def find_crosses(run: Run, _account: RunAccount) -> ComparedSites:
    """Stage the chosen crosses of every capture of large sites, as BUCKET_CROSSES rows."""
    cap = run.config.bucket.cap
    pages = compared_pages.of_large_sites(run)
    every = run.staged_from(buckets(memberships(pages)), staging.BUCKETS, cross_rows.BUCKETS)
    crosses_found = find(in_chunks(memberships(adjacent(pages)), searched(every), cap))
    run.stage_rows(select(crosses_found, run.config.cross.per_capture), NAME)
    row = every.where("size > 1").agg(F.max("size"), F.count_if(last_chunk(cap) > 0)).first()
    return ComparedSites(BucketSizes(largest=row[0] or 0, capped=row[1]) if row else BucketSizes())


def adjacent(pages: DataFrame) -> DataFrame:
    """Make ADJACENT_PAGES rows of PAGES rows with a signature, with the captures that `crosses.adjacent` gives."""
    line = Window.partitionBy("site", "url_key").orderBy("timestamp", "capture_id")
    signed = pages.where(F.col("signature").isNotNull()).select(
        "site", "capture_id", "url_key", F.unix_micros("timestamp").alias("timestamp"), "signature", "bands"
    )
    one = F.struct("capture_id", "signature")
    beside = signed.withColumns({"before": F.lag(one).over(line), "behind": F.lead(one).over(line)})
    return beside.mapInArrow(each_batch(_compared), staging.schema(ADJACENT_PAGES))


def _compared(batch: pa.RecordBatch) -> pa.RecordBatch:
    own = [_signature(one) for one in batch.column("signature").to_pylist()]
    columns = {name: batch.column(name) for name in ADJACENT_PAGES.names if name not in _ADJACENT}
    for arm, column in (("prev", "before"), ("next", "behind")):
        neighbours = batch.column(column).to_pylist()
        columns[arm] = pa.array([other["capture_id"] if other else "" for other in neighbours], STRING)
        similar = [
            crosses.similarity(one, _signature(other["signature"])) if other else 0.0
            for one, other in zip(own, neighbours, strict=True)
        ]
        columns[f"{arm}_similarity"] = pa.array(similar, FLOAT)
    return pa.RecordBatch.from_arrays([columns[name] for name in ADJACENT_PAGES.names], schema=ADJACENT_PAGES)


def _signature(stored: bytes) -> Signature:
    return np.frombuffer(stored, SIGNATURE)


def memberships(pages: DataFrame) -> DataFrame:
    """Make a row for each band of each page that has a signature: `band` and `key` in place of `bands`."""
    columns = [name for name in pages.columns if name in ADJACENT_PAGES.names and name != "bands"]
    signed = pages.where(F.col("signature").isNotNull())
    return signed.select(*columns, F.posexplode("bands").alias("band", "key"))


def buckets(members: DataFrame) -> DataFrame:
    """Make all buckets of some memberships, as BUCKETS rows: buckets of the same captures have the same sums."""
    sums = [F.bit_xor(F.xxhash64("capture_id", F.lit(salt))).alias(name) for salt, name in enumerate(_SUMS)]
    return members.groupBy(*BUCKET).agg(F.count("*").alias("size"), *sums)


def searched(every: DataFrame) -> DataFrame:
    """Choose the buckets that are searched for crosses: those of more than one capture, and of several with the same
    captures the one of the lowest id, as `dbce.sites` does."""
    named = every.where("size > 1").mapInArrow(each_batch(_named), staging.schema(cross_rows.NAMED_BUCKETS))
    first = F.min(F.struct("bucket_id", "band", "key")).alias("first")
    return named.groupBy("site", "size", *_SUMS).agg(first).select("site", "first.band", "first.key", "size")


def _named(batch: pa.RecordBatch) -> pa.RecordBatch:
    ids = pa.array([crosses.bucket_id(BucketKey(*key)) for key in rows_of(batch, BUCKET)], STRING)
    return batch.append_column("bucket_id", ids)


def in_chunks(members: DataFrame, chosen: DataFrame, cap: int) -> DataFrame:
    """Keep the memberships in the chosen buckets, with the `chunk` that `buckets.chunks` puts each into.

    The captures of a large bucket never meet in one task.
    """
    first = F.lit(0).cast("long")
    whole = members.join(chosen.where(last_chunk(cap) == 0), on=BUCKET, how="inner").withColumn("chunk", first)
    cut = members.join(chosen.where(last_chunk(cap) > 0), on=BUCKET, how="inner")
    chunk = F.least(F.expr(f"at div {cap}"), last_chunk(cap))
    return whole.unionByName(numbered(cut, BUCKET).withColumn("chunk", chunk).drop("at")).drop("size")


def last_chunk(cap: int) -> Column:
    """Return the number of a bucket's last chunk, as `buckets.last_chunk` of `size`."""
    return F.expr(f"greatest(0L, (2 * size + {cap}) div {2 * cap} - 1)")


def find(members: DataFrame) -> DataFrame:
    """Find the crosses in each chunk of each bucket, as BUCKET_CROSSES rows: the same cross once for every bucket."""

    def of_chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        crosses_of = map(_crosses_of, (chunk for chunk in groups(batches, CHUNK) if chunk.num_rows > 1))
        yield from map(cross_rows.bucket_crosses_batch, lots(chain.from_iterable(crosses_of), _BATCH_ROWS))

    return (
        members.repartition(*CHUNK)
        .sortWithinPartitions(*CHUNK)
        .mapInArrow(of_chunks, staging.schema(cross_rows.BUCKET_CROSSES))
    )


def _crosses_of(chunk: pa.Table) -> Iterator[BucketCross]:
    """Find the crosses of the members in one group of rows."""
    first = chunk.slice(0, 1).to_pylist()[0]
    bucket = BucketKey(first["site"], first["band"], first["key"])
    signatures = np.frombuffer(b"".join(chunk.column("signature").to_pylist()), SIGNATURE).reshape(chunk.num_rows, -1)
    ids, url_keys, timestamps = (chunk.column(name).to_pylist() for name in ("capture_id", "url_key", "timestamp"))
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
    beside = [Adjacent(**row) for row in chunk.select(_ADJACENT).to_pylist()]
    return crosses.find(bucket, members, first["chunk"], dict(zip(ids, beside, strict=True)))


def select(crosses: DataFrame, per_capture: int) -> DataFrame:
    """Choose among BUCKET_CROSSES rows as `crosses.select` does."""
    of_cross = Window.partitionBy("cur", "cross_id").orderBy(F.desc("bucket_urls"), "bucket_id")
    arms = F.length(F.replace("bits", F.lit("0"), F.lit("")))
    similarity = F.col("up_similarity") + F.col("down_similarity")
    of_capture = Window.partitionBy("cur").orderBy(arms.desc(), similarity.desc(), "cross_id")
    unique = crosses.repartition("cur").withColumn("nth", F.row_number().over(of_cross)).where("nth = 1")
    ranked = unique.withColumn("nth", F.row_number().over(of_capture)).where(F.col("nth") <= per_capture)
    return ranked.select(*cross_rows.BUCKET_CROSSES.names)


def staged(run: Run) -> DataFrame:
    """Read the chosen crosses, as BUCKET_CROSSES rows."""
    return run.staged(NAME, cross_rows.BUCKET_CROSSES)
