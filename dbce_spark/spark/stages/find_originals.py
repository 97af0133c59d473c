"""The stage `originals`: `dbce_spark.dbce.revisit_originals`, of what no input holds, over all indexes at once.

Tasks that read an index hold the names that are looked for; those come from staged rows, as what is found becomes such.
The driver holds counts, and at most `original_lookup.MOST_KEYS` keys.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from dbce_spark.archive import indexed_records
from dbce_spark.archive.index import index_file
from dbce_spark.archive.index.capture_filter import FilterCounts
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.original_lookup import MOST_KEYS, Lookup, Payload, lookup_selection
from dbce_spark.archive.revisits import OriginalName, indexed_names
from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import revisit_originals
from dbce_spark.dbce.revisit_originals import Lack, Original
from dbce_spark.files import parquet
from dbce_spark.html.charset import decode
from dbce_spark.model import Page, Reject, Skip
from dbce_spark.output.schemas import page_rows, revisit_rows
from dbce_spark.output.schemas.codec import PLACE
from dbce_spark.spark.engine import sandbox
from dbce_spark.spark.engine.batches import batch_of, lots, rows_of
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.engine.merge_tasks import BYTES_PER_GROUP, ROWS_PER_GROUP
from dbce_spark.spark.engine.numbered_tasks import one_task_each, task_numbers
from dbce_spark.spark.engine.sandbox import Sandbox
from dbce_spark.spark.run import checkpoints, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import Stage
from dbce_spark.spark.run.record_counts import RecordCounts
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import FoundOriginals
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.spark.stages import match_revisits, read_few, read_pages

NAME = staging.ORIGINALS
_LOST, _NAMES, _PAYLOADS, _CLAIMS, _OUTCOMES = "lost", "names", "payloads", "claims", staging.PAYLOAD_OUTCOMES

_ROWS = 8192
"""Rows of a batch: some 2 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalStaging:
    """The place of staged originals, their first file number, and the parameters that they are read by."""

    work: str
    first_no: int
    with_html: bool
    config: DbceConfig


def _find_originals(run: Run, account: RunAccount) -> FoundOriginals:
    """Look for the originals of revisits among the pages that were read, then in the indexes.

    Those of archives that are read up to a limit are looked for no further.
    """
    match_revisits.match(run)
    if not run.request.indexes or run.request.limit is not None:
        return FoundOriginals()
    return _look_in_indexes(run, first_no=len(account.by_source))


def _count(_run: Run, account: RunAccount, originals: FoundOriginals) -> None:
    account.originals = originals


def _applies(run: Run, account: RunAccount) -> bool:
    """Return whether there are revisits to match, other than the few that the next stage matches at once."""
    return account.has_revisits and not read_few.are_few(run, account)


STAGE = Stage(name=NAME, applies=_applies, work=_find_originals, count=_count)


def _look_in_indexes(run: Run, first_no: int) -> FoundOriginals:
    """Stage the pages of the originals of unmatched revisits, and what became of these revisits."""
    most = run.config.select.max_wanted
    unmatched = match_revisits.unmatched(run)
    count = unmatched.count()
    if not count:
        return FoundOriginals()
    first = unmatched.orderBy(*PLACE).limit(most) if count > most else unmatched
    lost = run.staged_from(first.select(*revisit_rows.LOST.names), _LOST, revisit_rows.LOST)
    wanted = match_revisits.staged(run).join(lost.select(*PLACE), on=PLACE, how="left_semi")
    run.stage_rows(match_revisits.wanted_names(wanted, indexed_names), _NAMES)
    run.stage_rows(_look_up(run, wanted), _PAYLOADS)
    claims = run.staged_from(_claims(run), _CLAIMS, revisit_rows.CLAIMS)
    by_part = _read(run, claims.where(F.col("original").isNull()), wanted, first_no)
    outcomes = _outcomes(run)
    if count > most:
        beyond = unmatched.join(lost.select(*PLACE), on=PLACE, how="left_anti")
        detail = F.lit(revisit_originals.beyond_limit_detail(most)).alias("lack")
        outcomes = outcomes.unionByName(beyond.select(*PLACE, detail), allowMissingColumns=True)
    match_revisits.stage_outcomes(run, outcomes)
    return FoundOriginals(looked_for=min(count, most), named=run.count_rows(_CLAIMS), by_part=by_part)


def _look_up(run: Run, wanted: DataFrame) -> DataFrame:
    """Find what each part of the indexes has under the names of some revisits, as PAYLOADS rows."""
    config, base = run.config, run.request.base
    selected = indexed_records.index_selection(config)
    selection = lookup_selection(selected, _keys(wanted, selected.prefixes))
    parts = [*index_file.list_parts(sorted(run.request.indexes), selection, config.fetch)]
    all_parts = run.spark.sparkContext.broadcast(parts)
    names, lost = (staging.path(run.work, name) for name in (_NAMES, _LOST))

    def look_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for at in task_numbers(batches):
            lookup = Lookup.from_names(_names_in(names), _places_in(lost))
            for one in index_file.read_part(all_parts.value[at], base, selection, config.fetch, FilterCounts()):
                if isinstance(one, IndexEntry):
                    lookup.offer(one)
            yield from _payload_batches(lookup)

    schema = staging.schema(revisit_rows.PAYLOADS)
    if not parts:
        return run.spark.createDataFrame([], schema)
    return one_task_each(run.spark, len(parts)).mapInArrow(look_up, schema)


def _keys(wanted: DataFrame, prefixes: Sequence[str]) -> list[str]:
    """Collect the keys that revisits refer to beside those that are read anyway."""
    if not prefixes:
        return []
    key = F.col("refers_to_key")
    inside = reduce(lambda one, other: one | other, (key.startswith(prefix) for prefix in prefixes))
    rows = wanted.where(~inside).select(key).distinct().orderBy(key).limit(MOST_KEYS).collect()
    return [row["refers_to_key"] for row in rows]


def _names_in(path: str) -> Iterator[tuple[OriginalName, int]]:
    columns = ["name", "is_before", "at"]
    for batch in ds.dataset(path).to_batches(columns=columns):
        for name, is_before, at in rows_of(batch, columns):
            yield OriginalName(name, is_before), at


def _places_in(path: str) -> Iterator[tuple[str, int]]:
    columns = ["warc_file", "warc_offset"]
    for batch in ds.dataset(path).to_batches(columns=columns):
        yield from rows_of(batch, columns)


def _payload_batches(lookup: Lookup) -> Iterator[pa.RecordBatch]:
    rows = ((one.name, one.is_before, one.at, one.payload._asdict()) for one in lookup.found())
    for lot in lots(rows, _ROWS):
        yield batch_of(lot, revisit_rows.PAYLOADS)


def _claims(run: Run) -> DataFrame:
    """Find the payload of each revisit that has one, and the page if it was read of just that place."""
    named = run.staged(_PAYLOADS, revisit_rows.PAYLOADS)
    earliest = named.where(~F.col("is_before")).groupBy("name").agg(F.min(F.struct("at", "original")).alias("first"))
    payloads = (
        named.where("is_before")
        .select("name", "at", "original")
        .unionByName(earliest.select("name", "first.at", "first.original"))
    )
    claimed = match_revisits.find(run.staged(_NAMES, revisit_rows.WANTED), payloads)
    read_already = (
        read_pages.staged(run)
        .groupBy("warc_file", "warc_offset")
        .agg(F.min(F.struct("capture_id", "payload_digest")).alias("original"))
    )
    return (
        claimed.withColumnRenamed("original", "payload")
        .withColumns({"warc_file": F.col("payload.path"), "warc_offset": F.col("payload.offset")})
        .join(read_already, on=["warc_file", "warc_offset"], how="left")
        .select(*revisit_rows.CLAIMS.names)
    )


def _read(run: Run, claims: DataFrame, wanted: DataFrame, first_no: int) -> list[RecordCounts]:
    """Stage the originals as pages of their first revisits, a task for each `input.records_per_task` of them."""
    per_part = run.config.input.records_per_task
    place = [F.col("payload.path").alias("path"), F.col("payload.offset").alias("offset")]
    timed = claims.select(*PLACE, *place, "payload").join(
        wanted.select(*PLACE, F.unix_micros("timestamp").alias("at")), on=PLACE, how="inner"
    )
    first = timed.groupBy("path", "offset").agg(
        F.min("payload").alias("payload"), F.min(F.struct("at", *PLACE)).alias("first")
    )
    # One window over all of them: they are select.max_wanted at most.
    nth = F.row_number().over(Window.orderBy("path", "offset"))
    numbered = first.select(
        "payload", "first.file_no", "first.row_no", F.floor((nth - 1) / per_part).cast("int").alias("part")
    )
    parts = -(-claims.select(*place).distinct().count() // per_part)
    if not parts:
        return []
    of_parts = numbered.join(wanted, on=PLACE, how="inner").repartitionById(parts, F.col("part"))
    ordered = of_parts.sortWithinPartitions("part", "payload.path", "payload.offset")
    to = OriginalStaging(
        work=run.work, first_no=first_no, with_html=run.request.keeps_html(run.config), config=run.config
    )
    return [*chain.from_iterable(task_results(ordered, partial(_read_parts, to=to), list[RecordCounts]))]


def _read_parts(batches: Iterator[pa.RecordBatch], to: OriginalStaging) -> list[RecordCounts]:
    counts = []
    for part in groups(batches, ["part"]):
        file_no = to.first_no + part.column("part")[0].as_py()
        work = partial(stage_part, part, file_no, to)
        counts.append(checkpoints.once(staging.done(to.work, NAME, file_no), RecordCounts, work))
    return counts


def stage_part(part: pa.Table, file_no: int, to: OriginalStaging) -> RecordCounts:
    """Stage the pages of some originals, and what became of each: REVISITS rows with `payload`, in order of path and
    offset."""
    (batch,) = part.combine_chunks().to_batches()
    payloads = [
        Payload(**(one | {"languages": tuple(one["languages"])})) for one in batch.column("payload").to_pylist()
    ]
    wanted = map(Original, payloads, revisit_rows.revisits_from(batch))
    places_of = dict(zip(payloads, batch.select(PLACE).to_pylist(), strict=True))
    rows = [_outcome(one, outcome) | places_of[one.payload] for one, outcome in _staged(wanted, file_no, to)]
    outcomes = pa.RecordBatch.from_pylist(rows, schema=revisit_rows.PAYLOAD_OUTCOMES)
    parquet.write(staging.staged_file(to.work, _OUTCOMES, file_no), revisit_rows.PAYLOAD_OUTCOMES, [outcomes])
    return RecordCounts(captures=sum("original" in row for row in rows))


def _staged(
    wanted: Iterable[Original], file_no: int, to: OriginalStaging
) -> Iterator[tuple[Original, Page | Skip | Lack]]:
    """Read some originals as pages, and stage those; iterate over the originals with what became of each."""
    path = staging.staged_file(to.work, read_pages.NAME, file_no)
    sizes = {"rows_per_group": ROWS_PER_GROUP, "bytes_per_group": BYTES_PER_GROUP}
    captures = 0
    with (
        parquet.writer(path, page_rows.PAGES, dictionary=True, **sizes) as out,
        sandbox.parser(to.config) as parser,
    ):
        for one, fetched in revisit_originals.read(wanted, to.config):
            if not isinstance(fetched, Fetch):
                yield one, fetched
                continue
            outcome = _page(fetched, parser)
            if isinstance(outcome, Page):
                html = decode(fetched.html, fetched.capture.declared_charset).html if to.with_html else None
                out.write(page_rows.pages_batch([outcome], [html], file_no=file_no, first_row=captures))
                captures += 1
            yield one, outcome


def _page(fetch: Fetch, parser: Sandbox[Fetch, Page | Reject]) -> Page | Lack:
    (parsed,) = sandbox.pages_apart(parser, [fetch])
    return revisit_originals.page_or_lack(parsed)


def _outcome(one: Original, outcome: Page | Skip | Lack) -> dict[str, Any]:
    place = {"path": one.payload.path, "offset": one.payload.offset}
    if isinstance(outcome, Lack):
        return place | {"lack": revisit_originals.lack_detail(one.payload, outcome)}
    if isinstance(outcome, Skip):
        return place | {"filter": outcome.filter}
    return place | {"original": {"capture_id": outcome.capture_id, "payload_digest": outcome.capture.payload_digest}}


def _outcomes(run: Run) -> DataFrame:
    """Read what became of each revisit that has a payload."""
    claims = run.staged(_CLAIMS, revisit_rows.CLAIMS)
    of_pages = claims.where(F.col("original").isNotNull()).select(*PLACE, "original")
    outcomes = run.staged(_OUTCOMES, revisit_rows.PAYLOAD_OUTCOMES)
    first = F.struct(*PLACE).alias("first")
    by_place = outcomes.select("path", "offset", "original", "filter", "lack", first)
    of_payloads = (
        claims.where(F.col("original").isNull())
        .select(*PLACE, F.col("payload.path").alias("path"), F.col("payload.offset").alias("offset"))
        .join(by_place, on=["path", "offset"], how="inner")
    )
    is_page = F.col("original").isNotNull() & (F.struct(*PLACE) == F.col("first"))
    return of_pages.unionByName(
        of_payloads.select(
            *PLACE,
            F.when(~is_page, F.col("original")).alias("original"),
            "filter",
            "lack",
            F.when(is_page, True).alias("is_page"),
        ),
        allowMissingColumns=True,
    )
