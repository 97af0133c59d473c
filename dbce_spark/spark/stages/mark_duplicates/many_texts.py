"""The strategy for many texts: `dbce_spark.dbce.duplicates` over tasks, band by band."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial, reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from dbce_spark.config import DuplicatesConfig
from dbce_spark.dbce import duplicates, texts
from dbce_spark.dbce.duplicates import EXACT, NEAR, Settled
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.output.schemas.capture_rows import CAPTURE_IDS
from dbce_spark.output.schemas.codec import INT, LONG
from dbce_spark.spark.engine.batches import batch_of, each_batch
from dbce_spark.spark.engine.groups import groups, numbered
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.stages.mark_duplicates import prior_duplicates

_FIRSTS, _LIKES, _SETTLED, _AGAIN, _TOUCHING = "firsts", "likes", "settled", "marked_again", "touching"
BUCKET = ["band", "key"]
CHUNK = [*BUCKET, "chunk"]
ORDER = ["arrived", "timestamp", "capture_id"]
_PRIOR, _NEW = 0, 1
"""Values of `arrived`."""
MOST_LIKES = 100_000
"""Pairs of texts that the driver settles by itself, in some 40 MB: sooner than one pass is begun."""


def extended_marks(run: Run, before: DataFrame, relabelled: DataFrame, texts: DataFrame) -> DataFrame:
    """Make MARKS rows as `duplicates.extend_marks` does, from prior DUPLICATES rows, the ids of relabelled captures,
    and TEXTS rows."""
    gone = prior_duplicates.stage_changed(run, before, texts, relabelled)
    reopened = prior_duplicates.stage_reopened(run, before, gone)
    lasting = prior_duplicates.lasting_marks(before, gone, reopened)
    ids = lasting.join(texts.select("capture_id"), on="capture_id", how="left_semi").select("capture_id")
    again = run.staged_from(ids, _AGAIN, CAPTURE_IDS)
    fresh = texts.join(again, on="capture_id", how="left_anti")
    unseen = reopened.join(texts.select("capture_id"), on="capture_id", how="left_anti")
    new = fresh.unionByName(unseen).select(*duplicate_rows.TEXTS.names)
    firsts_of_prior = lasting.where("copy_of is null")
    config = run.config.duplicates
    in_bands = [members(rows, config) for rows in (_arrived(firsts_of_prior, _PRIOR), _arrived(new, _NEW))]
    related = prior_duplicates.related_marks(lasting, new, *in_bands)
    touching = run.staged_from(related, _TOUCHING, duplicate_rows.DUPLICATES)
    same = texts.select("capture_id", "task", "row_no").join(lasting, on="capture_id", how="inner")
    return marks(run, new, touching).unionByName(same.select(*duplicate_rows.MARKS.names))


def marks(run: Run, new: DataFrame, prior: DataFrame | None = None) -> DataFrame:
    """Make MARKS rows as `dbce.duplicates.mark_texts` does, from TEXTS rows beside prior DUPLICATES rows."""
    every = _arrived(new, _NEW)
    if prior is not None:
        every = every.unionByName(_arrived(prior, _PRIOR), allowMissingColumns=True)
    first = run.staged_from(firsts(every), _FIRSTS, duplicate_rows.FIRSTS)
    likes = run.staged_from(find(first, run.config.duplicates), _LIKES, duplicate_rows.LIKES)
    settled = settle(run, first, likes)
    return _of_captures(every, of_texts(first, likes, settled)).select(*duplicate_rows.MARKS.names)


def _arrived(rows: DataFrame, arrived: int) -> DataFrame:
    micros = F.unix_micros("timestamp").alias("timestamp")
    rest = [F.col(name) for name in rows.columns if name not in ("timestamp", "site_part")]
    return rows.select(*rest, micros, F.lit(arrived).alias("arrived"))


def firsts(every: DataFrame) -> DataFrame:
    """Choose the different texts, as FIRSTS rows: each with the capture that had it first."""
    columns = [
        F.col(field.name) if field.name in every.columns else F.lit(None).cast(kind.dataType).alias(field.name)
        for field, kind in zip(duplicate_rows.FIRSTS, staging.schema(duplicate_rows.FIRSTS), strict=True)
    ]
    # Of a prior text the capture that others are copies of, though one that came later may be earlier.
    is_copy = F.col("copy_of").isNotNull() if "copy_of" in every.columns else F.lit(False)
    rows = every.select(*columns, is_copy.alias("is_copy"))
    rest = [name for name in duplicate_rows.FIRSTS.names if name not in (*ORDER, "text_digest", "signature")]
    whole = ["arrived", "is_copy", *ORDER[1:], *rest]
    first = rows.groupBy("text_digest").agg(F.min(F.struct(*whole)).alias("first"), F.first("signature").alias("sig"))
    return first.select("text_digest", F.col("sig").alias("signature"), "first.*").select(*duplicate_rows.FIRSTS.names)


def members(texts: DataFrame, config: DuplicatesConfig) -> DataFrame:
    """Make a row for each band of each text that is signed, as TEXT_MEMBERS rows."""
    signed = texts.where(F.col("signature").isNotNull()).select(*ORDER, "signature")
    return signed.mapInArrow(
        each_batch(partial(_memberships, config=config)), staging.schema(duplicate_rows.TEXT_MEMBERS)
    )


def find(first: DataFrame, config: DuplicatesConfig) -> DataFrame:
    """Find which new texts are like which earlier ones, as LIKES rows, each pair once."""

    def of_chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for chunk in groups(batches, CHUNK):
            if chunk.num_rows > 1:
                yield _of_chunk(chunk, config.threshold)

    signed = first.where(F.col("signature").isNotNull())
    placed_in = members(first, config)
    every = placed_in.groupBy(*BUCKET).agg(F.count("*").alias("size"), F.max("arrived").alias("latest"))
    searched = every.where((F.col("size") > 1) & (F.col("latest") == _NEW)).drop("latest")
    placed = in_chunks(placed_in, searched, config.cap).join(
        signed.select("capture_id", "signature"), on="capture_id", how="inner"
    )
    chunks = placed.repartition(*CHUNK).sortWithinPartitions(*CHUNK, *ORDER)
    return chunks.mapInArrow(of_chunks, staging.schema(duplicate_rows.LIKES)).distinct()


def _memberships(signed: pa.RecordBatch, config: DuplicatesConfig) -> pa.RecordBatch:
    """Make a row for each band of each text."""
    keys = texts.bands(duplicate_rows.text_signatures(signed.column("signature")), config) if len(signed) else None
    rows = pa.array([row for row in range(len(signed)) for _ in range(config.bands)], INT)
    columns = {name: signed.column(name).take(rows) for name in ORDER}
    columns["band"] = pa.array([*range(config.bands)] * len(signed), INT)
    columns["key"] = pa.array([] if keys is None else keys.reshape(-1), LONG)
    return pa.RecordBatch.from_arrays(
        [columns[name] for name in duplicate_rows.TEXT_MEMBERS.names], schema=duplicate_rows.TEXT_MEMBERS
    )


def in_chunks(members: DataFrame, chosen: DataFrame, cap: int) -> DataFrame:
    """Keep the memberships in the chosen buckets with their `chunk`; the first of a bucket is in all its chunks."""
    whole = members.join(chosen.where(F.col("size") <= cap), on=BUCKET, how="inner").withColumn(
        "chunk", F.lit(0).cast("long")
    )
    cut = numbered(members.join(chosen.where(F.col("size") > cap), on=BUCKET, how="inner"), BUCKET, ["arrived"])
    every_chunk = F.sequence(F.lit(0).cast("long"), F.expr(f"(size - 1) div {cap}"))
    own_chunk = F.array(F.expr(f"at div {cap}"))
    chunk = F.explode(F.when(F.col("at") == 0, every_chunk).otherwise(own_chunk))
    return whole.unionByName(cut.withColumn("chunk", chunk).drop("at")).drop("size")


def _of_chunk(chunk: pa.Table, threshold: float) -> pa.RecordBatch:
    """Find which new texts of one chunk are like earlier ones of it."""
    signatures = duplicate_rows.text_signatures(chunk.column("signature").combine_chunks())
    arrived, timestamps, ids = (chunk.column(name).to_pylist() for name in ORDER)
    rows = [
        (ids[later], timestamps[later], arrived[earlier], timestamps[earlier], ids[earlier], similarity)
        for later, earlier, similarity in texts.alike(signatures, threshold)
        if arrived[later] == _NEW
    ]
    return batch_of(rows, duplicate_rows.LIKES)


def settle(run: Run, first: DataFrame, likes: DataFrame) -> DataFrame:
    """Settle which of the texts that are like earlier ones, and of these, lead, as `dbce.duplicates.settle` does:
    duplicate_rows.SETTLED.

    Few are settled here, in one go; many in passes over those that are undecided, until there are none or as many steps
    are done as are allowed.
    """
    steps = run.config.duplicates.steps
    laters = likes.select(F.col("later").alias("capture_id")).distinct()
    run.stage_rows(_settled_before(first, likes, laters), f"{_SETTLED}-0")
    if run.count_rows(_LIKES) <= MOST_LIKES:
        return _settled_here(run, likes, steps)
    undecided = laters.count()
    for step in range(1, steps + 1):
        settled = _settled(run, step)
        if not undecided:
            return settled
        name = f"{_SETTLED}-{step}"
        run.stage_rows(_next(likes, settled, step), name)
        undecided -= run.count_rows(name)
    return _settled(run, steps + 1)


def _settled_here(run: Run, likes: DataFrame, steps: int) -> DataFrame:
    """Settle the same in this process, whose memory holds what texts are like."""
    before = _settled(run, 1)
    settled = {row["capture_id"]: Settled(row["leads"], row["steps"]) for row in before.toArrow().to_pylist()}
    earlier: dict[str, list[str]] = defaultdict(list)
    for row in likes.orderBy("later_time", "later").toArrow().to_pylist():
        earlier[row["later"]].append(row["earlier"])
    for later, before_it in earlier.items():
        outcome = duplicates.outcome([settled.get(one) for one in before_it])
        if outcome is not None and outcome.steps <= steps:
            settled[later] = outcome
    rows = [(capture_id, *one) for capture_id, one in settled.items()]
    return run.spark.createDataFrame(rows, staging.schema(duplicate_rows.SETTLED))


def _settled(run: Run, steps: int) -> DataFrame:
    """Read what was settled in so many passes, the one before all others among them."""
    passes = [run.staged(f"{_SETTLED}-{step}", duplicate_rows.SETTLED) for step in range(steps)]
    return reduce(DataFrame.unionByName, passes)


def _settled_before(first: DataFrame, likes: DataFrame, laters: DataFrame) -> DataFrame:
    """Settle the texts that others are like, and that are prior ones or like none themselves."""
    earlier = likes.select(F.col("earlier").alias("capture_id"), "arrived").distinct()
    new = earlier.where(F.col("arrived") == _NEW).join(laters, on="capture_id", how="left_anti")
    leading = new.select("capture_id", F.lit(True).alias("leads"), F.lit(0).alias("steps"))
    prior = first.where((F.col("arrived") == _PRIOR) & F.col("steps").isNotNull())
    alike = prior.join(earlier.select("capture_id"), on="capture_id", how="left_semi")
    return leading.unionByName(alike.select("capture_id", F.col("duplicate_of").isNull().alias("leads"), "steps"))


def _next(likes: DataFrame, settled: DataFrame, step: int) -> DataFrame:
    """Settle what one pass more can."""
    is_open = likes.join(settled, on=F.col("later") == F.col("capture_id"), how="left_anti")
    seen = settled.where(F.col("steps") < step)
    beside = is_open.select("later", "earlier").join(seen, on=F.col("earlier") == F.col("capture_id"), how="left")
    summed = beside.groupBy("later").agg(
        F.bool_or(F.coalesce("leads", F.lit(False))).alias("any_leads"),
        F.bool_and(F.coalesce(~F.col("leads"), F.lit(False))).alias("none_leads"),
    )
    clear = summed.where(F.col("any_leads") | F.col("none_leads"))
    return clear.select(
        F.col("later").alias("capture_id"), F.col("none_leads").alias("leads"), F.lit(step).alias("steps")
    )


def of_texts(first: DataFrame, likes: DataFrame, settled: DataFrame) -> DataFrame:
    """Mark each different text: its digest, its first capture, and its leader with that one's URL."""
    leading = settled.where("leads").select(F.col("capture_id").alias("earlier"))
    of_later = likes.join(leading, on="earlier", how="inner").groupBy("later")
    named = of_later.agg(F.min(F.struct("arrived", "timestamp", "earlier", "similarity")).alias("leader"))
    state = settled.select(F.col("capture_id").alias("later"), "leads", F.col("steps").alias("taken"))
    led = (
        likes.select("later")
        .distinct()
        .join(state, on="later", how="left")
        .join(named, on="later", how="left")
        .select(
            F.col("later").alias("capture_id"),
            F.lit(True).alias("is_like"),
            "taken",
            F.when(~F.col("leads"), F.col("leader.earlier")).alias("leader"),
            F.when(~F.col("leads"), F.col("leader.similarity")).alias("likeness"),
        )
    )
    taken = F.when(F.col("arrived") == _PRIOR, F.col("steps")).when(F.col("is_like"), F.col("taken")).otherwise(0)
    marked = first.join(led, on="capture_id", how="left").select(
        "text_digest",
        F.col("capture_id").alias("first"),
        F.coalesce("duplicate_of", "leader").alias("leader"),
        F.coalesce("similarity", "likeness").alias("likeness"),
        taken.alias("steps"),
        F.col("url_key").alias("first_url"),
    )
    urls = first.select(F.col("capture_id").alias("leader"), F.col("url_key").alias("leader_url"))
    return marked.join(urls, on="leader", how="left")


def _of_captures(every: DataFrame, marked: DataFrame) -> DataFrame:
    """Make MARKS rows of the new captures from the marks of their texts."""
    rows = every.select("task", "row_no", "url_key", "text_digest", *ORDER).join(marked, on="text_digest", how="inner")
    group = F.coalesce("leader", "first")
    same_text = _is_later("group", "url_key", "text_digest")
    repeats = F.when(same_text, EXACT).when(_is_later("group", "url_key"), NEAR)
    placed = rows.withColumn("group", group).withColumn("repeats", repeats)
    is_copy = F.col("capture_id") != F.col("first")
    copy_of = F.when(is_copy, F.col("first"))
    url = F.when(F.col("leader").isNotNull(), F.col("leader_url")).when(is_copy, F.col("first_url"))
    return placed.where(F.col("arrived") == _NEW).select(
        "capture_id",
        "task",
        "row_no",
        F.coalesce("leader", copy_of).alias("duplicate_of"),
        F.coalesce("likeness", F.when(is_copy, 1.0)).alias("similarity"),
        F.coalesce(url == F.col("url_key"), F.lit(False)).alias("same_url"),
        copy_of.alias("copy_of"),
        "repeats",
        "steps",
    )


def _is_later(*keys: str) -> Column:
    """Return whether another row of equal keys goes before."""
    return F.row_number().over(Window.partitionBy(*keys).orderBy(*ORDER)) > 1
