"""The stage `revisits`: `dbce_spark.archive.revisits` over all files at once. Names, ids and times are shuffled.

Few captures are matched by the strategy of `few_revisits`; the rows are the same.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

from dbce_spark.archive.revisits import (
    LOST_ORIGINAL,
    OriginalName,
    Resolved,
    capture_names,
    original_names,
    unresolved,
)
from dbce_spark.dbce.pages import DUPLICATE, LIMIT
from dbce_spark.model import Reject, RejectReason, RejectStage, Revisit, Skip
from dbce_spark.output.schemas import capture_rows, reject_rows, revisit_rows
from dbce_spark.output.schemas.codec import PLACE, STRING
from dbce_spark.spark.engine.batches import batch_of, each_batch, rows_of
from dbce_spark.spark.run import collection_state, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import Stage
from dbce_spark.spark.run.prior_state import BEFORE
from dbce_spark.spark.run.record_counts import by_reason
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import RevisitCounts
from dbce_spark.spark.stages import few_revisits, read_few, read_pages

NAME = staging.REVISITS
_WANTED = "wanted"
_MATCHED = "matched"

_NAMED = ["url_key", "timestamp", "record_id", "payload_digest", "declared_digest"]


def match(run: Run) -> None:
    """Stage which page, of those that were read and those of the prior state, is the original of which revisit."""
    wanted = run.staged_from(wanted_names(staged(run), original_names), _WANTED, revisit_rows.WANTED)
    run.stage_rows(find(wanted, _page_names(run)), _MATCHED)


def staged(run: Run) -> DataFrame:
    """Read all staged revisits."""
    return run.staged(NAME, revisit_rows.REVISITS)


def unmatched(run: Run) -> DataFrame:
    """Read the staged revisits whose originals are none of the pages that were read."""
    return staged(run).join(run.staged(_MATCHED, revisit_rows.MATCHED), on=PLACE, how="left_anti")


def stage_outcomes(run: Run, outcomes: DataFrame) -> None:
    """Stage what became of unmatched revisits, as OUTCOMES rows."""
    run.stage_rows(outcomes.select(*revisit_rows.OUTCOMES.names), staging.REVISIT_OUTCOMES)


def _resolve(run: Run, account: RunAccount) -> RevisitCounts:
    """Stage the pages that go no further, and, where there are revisits, what becomes of each."""
    if read_few.are_few(run, account):
        return few_revisits.stage(run)
    dropped = read_pages.drop(run)
    return replace(_stage_revisits(run) if account.has_revisits else RevisitCounts(), dropped=dropped)


def _count(run: Run, account: RunAccount, counts: RevisitCounts) -> None:
    account.revisits = counts
    run.progress.set_counts(by_reason(account.records.rejects + counts.rejects))


STAGE = Stage(name=NAME, work=_resolve, count=_count)


def _stage_revisits(run: Run) -> RevisitCounts:
    """Stage the revisits that share an extraction as CAPTURES rows, those without an original as REJECTS rows.

    Of an archive that is read up to a limit, originals may lie behind it: revisits without one are then counted there.
    """
    placed = _placed(run)
    resolved = placed.where(F.col("original").isNotNull()).mapInArrow(
        each_batch(_resolved), staging.schema(revisit_rows.FOUND)
    )
    run.stage_rows(_filtered(run, resolved), staging.SHARED)
    lost = _lost(placed)
    if run.request.limit is not None:
        lost = lost.withColumn("filter", F.coalesce("filter", F.lit(LIMIT.filter)))
    run.stage_rows(lost.mapInArrow(_left, staging.schema(revisit_rows.LEFT)), staging.UNRESOLVED)
    return _counted(run)


def _placed(run: Run) -> DataFrame:
    """Read all staged revisits, each beside its outcome if there is one yet."""
    matched = run.staged(_MATCHED, revisit_rows.MATCHED)
    outcomes = matched.unionByName(
        run.staged(staging.REVISIT_OUTCOMES, revisit_rows.OUTCOMES), allowMissingColumns=True
    )
    return staged(run).join(outcomes, on=PLACE, how="left")


def _lost(placed: DataFrame) -> DataFrame:
    """Keep the revisits without an original that are no page either."""
    return placed.where(F.col("original").isNull() & F.col("is_page").isNull())


def _filtered(run: Run, resolved: DataFrame) -> DataFrame:
    """Make SHARED rows of revisits with an original: those of pages beyond the limit, and those that are the same
    capture as a page or an earlier revisit, are counted under a filter."""
    kept = read_pages.kept(run).select("capture_id")
    same = read_pages.staged(run).select("capture_id")
    if run.prior:
        kept = kept.unionByName(collection_state.members(run.spark, run.prior).select("capture_id"))
        same = same.unionByName(collection_state.capture_ids(run.spark, run.prior))
    of_page = kept.withColumnRenamed("capture_id", "extraction_id").withColumn("is_kept", F.lit(True))
    same = same.distinct().withColumn("is_page", F.lit(True))
    nth = F.row_number().over(Window.partitionBy("capture_id").orderBy(*PLACE))
    is_duplicate = F.col("is_page").isNotNull() | (F.col("nth") > 1)
    counted_under = F.when(F.col("is_kept").isNull(), LIMIT.filter).when(is_duplicate, DUPLICATE.filter)
    return (
        resolved.withColumn("nth", nth)
        .join(of_page, on="extraction_id", how="left")
        .join(same, on="capture_id", how="left")
        .withColumn("filter", counted_under)
        .select(*revisit_rows.SHARED.names)
    )


def _counted(run: Run) -> RevisitCounts:
    """Count the staged rows of both tables by filter; those without one go on."""
    shared, left = (run.count_by(name, "filter") for name in (staging.SHARED, staging.UNRESOLVED))
    return RevisitCounts(
        shared=shared.pop(None, 0),
        rejects=+Counter({str(RejectReason.REVISIT_UNRESOLVED): left.pop(None, 0)}),
        skipped=shared + left,
    )


def _page_names(run: Run) -> DataFrame:
    """Make CAPTURE_NAMES rows of every name of every page that is staged, or of the prior state."""
    at = F.unix_micros("timestamp").alias("timestamp")
    named = read_pages.staged(run).select("capture_id", *(at if name == "timestamp" else name for name in _NAMED))
    if run.prior:
        named = named.unionByName(collection_state.members(run.spark, run.prior).select("capture_id", *_NAMED))
    return named.mapInArrow(each_batch(_named), staging.schema(revisit_rows.CAPTURE_NAMES))


def find(wanted: DataFrame, captures: DataFrame) -> DataFrame:
    """Find the original of each revisit that has one, as `archive.revisits.resolve` does: file_no, row_no, original.

    `wanted` and `captures` are rows of names; an `original` may be anything that can be sorted. Under a name, both are
    sorted by time, and each revisit sees the last capture that went before.
    """
    candidates = captures.join(wanted.select("name").distinct(), on="name", how="left_semi")
    under = wanted.unionByName(candidates, allowMissingColumns=True)
    is_revisit = F.col("rank").isNotNull()
    until = _last_of(Window.partitionBy("name").orderBy("at", is_revisit, "original"))
    behind = _last_of(Window.partitionBy("name").orderBy(F.desc("at"), is_revisit, F.desc("original")))
    claims = under.select(*PLACE, "rank", F.coalesce(until, F.when(~F.col("is_before"), behind)).alias("original"))
    resolved = claims.where(F.col("rank").isNotNull() & F.col("original").isNotNull())
    return resolved.groupBy(*PLACE).agg(F.min_by("original", "rank").alias("original"))


def _last_of(window: WindowSpec) -> Column:
    return F.last("original", ignorenulls=True).over(window.rowsBetween(Window.unboundedPreceding, Window.currentRow))


def shared(run: Run) -> DataFrame:
    """Read the revisits that share an extraction, as CAPTURES rows."""
    rows = run.staged(staging.SHARED, revisit_rows.SHARED)
    return rows.where(F.col("filter").isNull()).drop("filter")


def lost_originals(run: Run, unlabelled: DataFrame) -> DataFrame:
    """Make REJECTS rows of the revisits that share the extraction of a page that could not be labelled."""
    lost = shared(run).join(
        unlabelled.select(F.col("capture_id").alias("extraction_id")), on="extraction_id", how="left_semi"
    )
    constants = {"stage": RejectStage.LABEL, "reason": RejectReason.ORIGINAL_UNLABELLED, "detail": LOST_ORIGINAL}
    names = reject_rows.REJECTS.names
    columns = (F.lit(str(constants[name])).alias(name) if name in constants else name for name in names)
    return lost.select(*columns)


def fetched_again(run: Run) -> DataFrame:
    """Read the captures whose extractions revisits share: capture_id."""
    return shared(run).select(F.col("extraction_id").alias("capture_id")).distinct()


def seen(run: Run) -> DataFrame:
    """Sum up when the revisits of each extraction were fetched: capture_id, and as `seen` that and the fields of
    `Seen`."""
    revisited = shared(run).select("extraction_id", "timestamp")
    if run.prior:
        before = collection_state.revisited(run.spark, run.prior).select("extraction_id", "timestamp")
        revisited = revisited.unionByName(before)
    by_extraction = revisited.groupBy(F.col("extraction_id").alias("capture_id"))
    counted = by_extraction.agg(
        F.unix_micros(F.min("timestamp")).alias("first"),
        F.unix_micros(F.max("timestamp")).alias("last"),
        F.sum(F.lit(1))
        .cast("int")
        .alias("revisits"),  # not a count, which cannot be null: rows of other kinds have none
    )
    return counted.select("capture_id", F.struct("*").alias("seen"))


def rejects(run: Run) -> DataFrame:
    """Read the revisits without an original, as REJECTS rows."""
    rows = run.staged(staging.UNRESOLVED, revisit_rows.LEFT)
    return rows.where(F.col("filter").isNull()).drop("filter")


def pending(run: Run) -> DataFrame:
    """Read the revisits without an original, as REVISITS rows: what comes later may hold it. They stand before all that
    is read then."""
    lost = _lost(_placed(run)).where(F.col("filter").isNull())
    rows = lost.repartition(1).sortWithinPartitions("warc_file", "warc_offset", "url", "timestamp")
    return rows.mapInArrow(_pending, staging.schema(revisit_rows.REVISITS))


def _pending(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    first_row = 0
    for batch in batches:
        lacks = batch.column("lack").to_pylist()
        waiting = [
            revisit
            for revisit, lack in zip(revisit_rows.revisits_from(batch), lacks, strict=True)
            if isinstance(unresolved(revisit, lack or ""), Reject)
        ]
        yield revisit_rows.revisits_batch(waiting, file_no=BEFORE, first_row=first_row)
        first_row += len(waiting)


def wanted_names(revisits: DataFrame, naming: Callable[[Revisit], list[OriginalName]]) -> DataFrame:
    """Make WANTED rows of REVISITS rows, one for each name that the original of a revisit may have; `rank` is the order
    in which they are tried."""

    def wanted(batch: pa.RecordBatch) -> pa.RecordBatch:
        rows = [
            (*place, rank, name.name, name.is_before, revisit.timestamp)
            for revisit, place in zip(revisit_rows.revisits_from(batch), rows_of(batch, PLACE), strict=True)
            for rank, name in enumerate(naming(revisit))
        ]
        return batch_of(rows, revisit_rows.WANTED)

    return revisits.mapInArrow(each_batch(wanted), staging.schema(revisit_rows.WANTED))


def _named(batch: pa.RecordBatch) -> pa.RecordBatch:
    rows = [
        (name, row["timestamp"], {field: row[field] for field in revisit_rows.ORIGINAL.names})
        for row in batch.to_pylist()
        for name in capture_names(*(row[column] for column in _NAMED))
    ]
    return batch_of(rows, revisit_rows.CAPTURE_NAMES)


def _resolved(batch: pa.RecordBatch) -> pa.RecordBatch:
    originals = batch.column("original").to_pylist()
    resolved = [
        Resolved(revisit, original["capture_id"], original["payload_digest"])
        for revisit, original in zip(revisit_rows.revisits_from(batch), originals, strict=True)
    ]
    rows = capture_rows.revisited_batch(resolved)
    for name in PLACE:
        rows = rows.append_column(name, batch.column(name))
    return rows


def _left(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Make REJECTS rows, and rows that have nothing but the filter that passes a revisit over."""
    for batch in batches:
        outcomes = rows_of(batch, ("filter", "lack"))
        made = [
            Skip(passed_over) if passed_over else unresolved(revisit, lack or "")
            for revisit, (passed_over, lack) in zip(revisit_rows.revisits_from(batch), outcomes, strict=True)
        ]
        rejects = reject_rows.rejects_batch([one for one in made if isinstance(one, Reject)])
        yield rejects.append_column("filter", pa.nulls(rejects.num_rows, STRING))
        filters = [one.filter for one in made if isinstance(one, Skip)]
        nothing = [pa.nulls(len(filters), kind) for kind in reject_rows.REJECTS.types]
        yield pa.RecordBatch.from_arrays([*nothing, pa.array(filters, STRING)], schema=revisit_rows.LEFT)
