"""Revisits and their originals: `archive.revisits` over all files at once. Names, ids and times are shuffled."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

from dbce_spark.archive.revisits import Name, Resolved, left, names, names_of
from dbce_spark.dbce.pages import DUPLICATE
from dbce_spark.model import Reason, Reject, Revisit, Skip
from dbce_spark.spark import known as collection
from dbce_spark.spark import pages, staging
from dbce_spark.spark.known import Known
from dbce_spark.spark.pages import LIMIT, PLACE
from dbce_spark.tables import capture_rows, reject_rows, revisit_rows

NAME = staging.REVISITS
_WANTED = "wanted"
_MATCHED = "matched"

PENDING = "pending"
_BEFORE = -1
"""The number of a file before all that a run reads."""
_NAMED = ["url_key", "timestamp", "record_id", "payload_digest", "declared_digest"]
ORIGINAL = pa.struct([("capture_id", pa.string()), ("payload_digest", pa.string())])
WANTED_ROW = pa.schema(
    [
        ("file_no", pa.int32()),
        ("row_no", pa.int32()),
        ("rank", pa.int32()),
        ("name", pa.string()),
        ("is_before", pa.bool_()),
        ("at", pa.int64()),
    ]
)
"""A name under which the original of a revisit is looked for; `at` is the revisit's time in microseconds."""
MATCHED_ROW = pa.schema([("file_no", pa.int32()), ("row_no", pa.int32()), ("original", ORIGINAL)])
"""A revisit's place, and its original."""
FATES_ROW = pa.schema([*MATCHED_ROW, ("filter", pa.string()), ("lack", pa.string()), ("is_page", pa.bool_())])
"""What became of a revisit beside the pages that were read: it shares an extraction, is passed over, lacks what a page
needs, or is a page of its own. Those of whose original nothing is known have no row."""
_FOUND_ROW = pa.schema([*capture_rows.CAPTURES, *(pa.field(name, pa.int32()) for name in PLACE)])
_FILTER = pa.field("filter", pa.string())
_SHARED_ROW, _LEFT_ROW = pa.schema([*capture_rows.CAPTURES, _FILTER]), pa.schema([*reject_rows.REJECTS, _FILTER])
"""A row of the output, or one that is counted under a filter and goes no further."""
_KNOWN_ROW = pa.schema([("name", pa.string()), ("at", pa.int64()), ("original", ORIGINAL)])
"""A name of a capture."""


@dataclass(frozen=True, slots=True)
class Account:
    """How many revisits share an extraction, how many have no original, and how many were passed over, by filter."""

    shared: int = 0
    rejects: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)


def match(spark: SparkSession, output: str, known_pages: Known) -> None:
    """Stages which of the pages that were read, or are known, is the original of which revisit."""
    wanted = staged(spark, output).mapInArrow(wanted_of(names), staging.schema(WANTED_ROW))
    staging.write(wanted, output, _WANTED)
    staging.write(
        find(staging.read(spark, output, _WANTED, WANTED_ROW), known(spark, output, known_pages)), output, _MATCHED
    )


def staged(spark: SparkSession, output: str) -> DataFrame:
    """All staged revisits."""
    return staging.read(spark, output, NAME, revisit_rows.REVISITS)


def unmatched(spark: SparkSession, output: str) -> DataFrame:
    """The staged revisits whose originals are none of the pages that were read."""
    return staged(spark, output).join(staging.read(spark, output, _MATCHED, MATCHED_ROW), on=PLACE, how="left_anti")


def settle(fates: DataFrame, output: str) -> None:
    """Stages what became of unmatched revisits, as FATES_ROW."""
    staging.write(fates.select(*FATES_ROW.names), output, staging.FATES)


def stage(spark: SparkSession, output: str, known_pages: Known, *, is_limited: bool) -> Account:
    """Stages the revisits that share an extraction as CAPTURES rows, those without an original as REJECTS rows.

    Of an archive that is read up to a limit, originals may lie behind it: revisits without one are then counted there.
    """
    placed = _placed(spark, output)
    found = placed.where(F.col("original").isNotNull()).mapInArrow(_resolved, staging.schema(_FOUND_ROW))
    staging.write(_sorted_out(spark, output, found, known_pages), output, staging.SHARED)
    lost = _lost(placed)
    if is_limited:
        lost = lost.withColumn("filter", F.coalesce("filter", F.lit(LIMIT.filter)))
    staging.write(lost.mapInArrow(_left, staging.schema(_LEFT_ROW)), output, staging.UNRESOLVED)
    return _account(staging.read(spark, output, staging.SHARED, _SHARED_ROW), _staged_left(spark, output))


def _placed(spark: SparkSession, output: str) -> DataFrame:
    """All staged revisits, beside what became of each as far as it is known."""
    matched = staging.read(spark, output, _MATCHED, MATCHED_ROW)
    fates = matched.unionByName(staging.read(spark, output, staging.FATES, FATES_ROW), allowMissingColumns=True)
    return staged(spark, output).join(fates, on=PLACE, how="left")


def _lost(placed: DataFrame) -> DataFrame:
    """Those without an original that are no page either."""
    return placed.where(F.col("original").isNull() & F.col("is_page").isNull())


def _sorted_out(spark: SparkSession, output: str, found: DataFrame, known_pages: Known) -> DataFrame:
    """Revisits with an original as _SHARED_ROW: those of pages beyond the limit, and those that are the same capture as
    a page or an earlier revisit, are counted under a filter."""
    kept = pages.kept(spark, output).select("capture_id")
    same = pages.staged(spark, output).select("capture_id")
    if known_pages:
        kept = kept.unionByName(collection.members(spark, known_pages).select("capture_id"))
        same = same.unionByName(collection.capture_ids(spark, known_pages))
    of_page = kept.withColumnRenamed("capture_id", "extraction_id").withColumn("is_kept", F.lit(True))
    same = same.distinct().withColumn("is_page", F.lit(True))
    nth = F.row_number().over(Window.partitionBy("capture_id").orderBy(*PLACE))
    is_duplicate = F.col("is_page").isNotNull() | (F.col("nth") > 1)
    counted_under = F.when(F.col("is_kept").isNull(), LIMIT.filter).when(is_duplicate, DUPLICATE.filter)
    return (
        found.withColumn("nth", nth)
        .join(of_page, on="extraction_id", how="left")
        .join(same, on="capture_id", how="left")
        .withColumn("filter", counted_under)
        .select(*_SHARED_ROW.names)
    )


def _account(shared: DataFrame, left: DataFrame) -> Account:
    found, lost = _counts(shared), _counts(left)
    unresolved = lost.pop("", 0)
    return Account(
        shared=found.pop("", 0),
        rejects=Counter({str(Reason.REVISIT_UNRESOLVED): unresolved} if unresolved else {}),
        skipped=found + lost,
    )


def _counts(rows: DataFrame) -> Counter[str]:
    """How many rows have each `filter`; "": none."""
    return Counter({row["filter"] or "": row["count"] for row in rows.groupBy("filter").count().collect()})


def known(spark: SparkSession, output: str, known_pages: Known) -> DataFrame:
    """Every name of every page that is staged, or known."""
    at = F.unix_micros("timestamp").alias("timestamp")
    named = pages.staged(spark, output).select("capture_id", *(at if name == "timestamp" else name for name in _NAMED))
    if known_pages:
        named = named.unionByName(collection.members(spark, known_pages).select("capture_id", *_NAMED))
    return named.mapInArrow(_known, staging.schema(_KNOWN_ROW))


def find(wanted: DataFrame, captures: DataFrame) -> DataFrame:
    """The original of each revisit that has one, as `archive.revisits.resolve` finds it: file_no, row_no, original.

    `wanted` and `captures` are rows of names; an `original` may be anything that can be sorted. Under a name, both are
    sorted by time, and each revisit sees the last capture that went before.
    """
    asked_for = captures.join(wanted.select("name").distinct(), on="name", how="left_semi")
    under = wanted.unionByName(asked_for, allowMissingColumns=True)
    is_revisit = F.col("rank").isNotNull()
    until = _last_of(Window.partitionBy("name").orderBy("at", is_revisit, "original"))
    behind = _last_of(Window.partitionBy("name").orderBy(F.desc("at"), is_revisit, F.desc("original")))
    found = under.select(*PLACE, "rank", F.coalesce(until, F.when(~F.col("is_before"), behind)).alias("original"))
    resolved = found.where(F.col("rank").isNotNull() & F.col("original").isNotNull())
    return resolved.groupBy(*PLACE).agg(F.min_by("original", "rank").alias("original"))


def _last_of(window: WindowSpec) -> Column:
    return F.last("original", ignorenulls=True).over(window.rowsBetween(Window.unboundedPreceding, Window.currentRow))


def shared(spark: SparkSession, output: str) -> DataFrame:
    """The revisits that share an extraction, as CAPTURES rows."""
    rows = staging.read(spark, output, staging.SHARED, _SHARED_ROW)
    return rows.where(F.col("filter").isNull()).drop("filter")


def fetched_again(spark: SparkSession, output: str) -> DataFrame:
    """The captures whose extractions revisits share: capture_id."""
    return shared(spark, output).select(F.col("extraction_id").alias("capture_id")).distinct()


def seen(spark: SparkSession, output: str, known_pages: Known) -> DataFrame:
    """When the revisits of each extraction were fetched: capture_id, and as `seen` that and the fields of `Seen`."""
    revisited = shared(spark, output).select("extraction_id", "timestamp")
    if known_pages:
        before = collection.revisited(spark, known_pages).select("extraction_id", "timestamp")
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


def rejects(spark: SparkSession, output: str) -> DataFrame:
    """The revisits without an original, as REJECTS rows."""
    return _staged_left(spark, output).where(F.col("filter").isNull()).drop("filter")


def _staged_left(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, staging.UNRESOLVED, _LEFT_ROW)


def pending(spark: SparkSession, output: str) -> DataFrame:
    """The revisits without an original, as REVISITS rows: what comes later may hold it. They stand before all that is
    read then."""
    lost = _lost(_placed(spark, output)).where(F.col("filter").isNull())
    rows = lost.repartition(1).sortWithinPartitions("warc_file", "warc_offset", "url", "timestamp")
    return rows.mapInArrow(_pending, staging.schema(revisit_rows.REVISITS))


def _pending(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    first_row = 0
    for batch in batches:
        lacks = batch.column("lack").to_pylist()
        some = [
            revisit
            for revisit, lack in zip(revisit_rows.revisits_from(batch), lacks, strict=True)
            if isinstance(left(revisit, lack or ""), Reject)
        ]
        yield revisit_rows.revisits_batch(some, file_no=_BEFORE, first_row=first_row)
        first_row += len(some)


def wanted_of(
    naming: Callable[[Revisit], list[Name]],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """To WANTED_ROWs, one for each name that the original of a revisit may have; `rank` is the order in which they are
    tried."""

    def wanted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            places = zip(batch.column("file_no").to_pylist(), batch.column("row_no").to_pylist(), strict=True)
            rows = [
                (*place, rank, name.name, name.is_before, revisit.timestamp)
                for revisit, place in zip(revisit_rows.revisits_from(batch), places, strict=True)
                for rank, name in enumerate(naming(revisit))
            ]
            columns = list(zip(*rows, strict=True)) or [()] * len(WANTED_ROW)
            arrays = [pa.array(column, kind) for column, kind in zip(columns, WANTED_ROW.types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=WANTED_ROW)

    return wanted


def _known(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = batch.to_pylist()
        named = [(name, row) for row in rows for name in names_of(*(row[column] for column in _NAMED))]
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([name for name, _ in named], pa.string()),
                pa.array([row["timestamp"] for _, row in named], pa.int64()),
                pa.array([{name: row[name] for name in ORIGINAL.names} for _, row in named], ORIGINAL),
            ],
            schema=_KNOWN_ROW,
        )


def _resolved(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        originals = batch.column("original").to_pylist()
        resolved = [
            Resolved(revisit, original["capture_id"], original["payload_digest"])
            for revisit, original in zip(revisit_rows.revisits_from(batch), originals, strict=True)
        ]
        rows = capture_rows.revisited_batch(resolved)
        for name in PLACE:
            rows = rows.append_column(name, batch.column(name))
        yield rows


def _left(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """REJECTS rows, and rows that have nothing but the filter that passes a revisit over."""
    for batch in batches:
        fates = zip(*(batch.column(name).to_pylist() for name in ("filter", "lack")), strict=True)
        some = [
            Skip(passed_over) if passed_over else left(revisit, lack or "")
            for revisit, (passed_over, lack) in zip(revisit_rows.revisits_from(batch), fates, strict=True)
        ]
        rejects = reject_rows.rejects_batch([one for one in some if isinstance(one, Reject)])
        yield rejects.append_column("filter", pa.nulls(rejects.num_rows, pa.string()))
        filters = [one.filter for one in some if isinstance(one, Skip)]
        nothing = [pa.nulls(len(filters), kind) for kind in reject_rows.REJECTS.types]
        yield pa.RecordBatch.from_arrays([*nothing, pa.array(filters, pa.string())], schema=_LEFT_ROW)
