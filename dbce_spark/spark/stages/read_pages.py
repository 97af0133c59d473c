"""The stage `pages`: read files and the places that indexes name; every record becomes a staged page, a staged reject
or a count."""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dbce_spark.archive.index.range_reader import wait_to_start
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.pages import DUPLICATE, LIMIT, Source, losses
from dbce_spark.files import parquet, sources
from dbce_spark.log import Log, counted
from dbce_spark.model import RejectReason, Revisit
from dbce_spark.output.schemas import page_rows, reject_rows, revisit_rows
from dbce_spark.output.schemas.codec import PLACE
from dbce_spark.spark.engine import sandbox, worker
from dbce_spark.spark.engine.groups import groups
from dbce_spark.spark.engine.merge_tasks import BATCH_CAPTURES, BYTES_PER_GROUP, ROWS_PER_GROUP
from dbce_spark.spark.engine.numbered_tasks import one_task_each, task_numbers
from dbce_spark.spark.run import checkpoints, collection_state, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import Stage
from dbce_spark.spark.run.progress import Steps
from dbce_spark.spark.run.record_counts import ReadSource, RecordCounts
from dbce_spark.spark.run.record_outcomes import RecordOutcomes, page_batches
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.spark.stages import select_records

NAME = staging.PAGES
REJECTS = staging.REJECTS

_ROWS_THAT_WAIT = 1024
_BYTES_AT_ONCE = 32 << 20
"""Bytes of staged pages that are read at once, as they are on average in their row group: some 150 pages."""
_REPEATING = ["site", "mime", "charset", "charset_source", "declared_charset", "declared_language", "warc_file"]
DROPPED = "dropped"
_MERGED = [name for name in page_rows.PAGES.names if name not in ("tokens", "signature", "bands")]


def _stage_pages(run: Run, account: RunAccount) -> list[RecordCounts]:
    """Read the files, and then as many parts of the selected places, one task each; stage their pages and rejects.

    Returns the counts of each of them; parts are numbered behind the files.
    """
    files, parts = sorted(run.request.files), account.selected.parts
    all_files = run.spark.sparkContext.broadcast(files)
    staging_of = SourceStaging(run.work, run.config, run.request.keeps_html(run.config), run.request.limit)
    counter = run.progress.counted

    def staged(source: Source, at: int) -> RecordCounts:
        worker.prepare()
        counts = staging_of.once(source, at)
        counter.add(counts.by_name() + Counter(sources=1))
        return counts

    def read_files(batches: Iterator[pa.RecordBatch]) -> list[RecordCounts]:
        return [staged(all_files.value[at], at) for at in task_numbers(batches)]

    def read_places(batches: Iterator[pa.RecordBatch]) -> list[RecordCounts]:
        of_parts = ((part.column("part")[0].as_py(), part) for part in groups(batches, ["part"]))
        return [staged(select_records.places(part), len(all_files.value) + at) for at, part in of_parts]

    counts: list[list[RecordCounts]] = []
    if files:
        counts += task_results(one_task_each(run.spark, len(files)), read_files, list[RecordCounts])
    if parts:
        counts += task_results(select_records.places_in_parts(run, parts), read_places, list[RecordCounts])
    return [*chain.from_iterable(counts)]


def _steps(run: Run, account: RunAccount) -> Steps:
    request = run.request
    unit = "sources" if request.indexes else "files"
    return Steps(unit, "sources", len(request.files) + account.selected.parts, pages=("captures",))


def _count(run: Run, account: RunAccount, by_source: list[RecordCounts]) -> None:
    account.read(by_source)
    failed = account.failed_files()
    run.progress.set_counts(account.records.by_name() + Counter(sources=len(by_source), failed_files=failed["count"]))
    _warn(run.log, failed)


def _warn(log: Log, failed: dict[str, Any]) -> None:
    """Name the first files that failed, while there is time to look at them."""
    if failed["count"]:
        first = next(iter(failed["first"].items()))
        text = f"{failed['count']:,} of {counted(failed['of'], 'file')} failed; first {first[0]} ({first[1][:120]})"
        log.write("warning", text, {"failed_files": failed}, level=logging.WARNING)


STAGE = Stage(name=NAME, work=_stage_pages, steps=_steps, kept_as=list[RecordCounts], count=_count)


@dataclass(frozen=True, slots=True)
class SourceStaging:
    """The place of staged sources, the parameters that they are read by, and the most captures."""

    work: str
    config: DbceConfig
    with_html: bool
    limit: int | None

    def once(self, source: Source, file_no: int) -> RecordCounts:
        """Stage one source, or take what an earlier attempt or an earlier run has staged of it.

        It is read again if it is a file that has another size now, or could not be read then.
        """
        path = staging.done(self.work, NAME, file_no)
        before = checkpoints.kept(path, ReadSource)
        if before is not None and not self._is_whole(file_no, before.counts):
            before = None
        if before is None and sources.is_remote(source if isinstance(source, str) else source[0].path):
            wait_to_start(self.config.fetch)
        size = sources.size_or(source, -1) if isinstance(source, str) else -1
        # A file that is gone was read, and is not needed any more.
        if before is not None and size in (before.size, -1):
            return before.counts
        counts = self.stage(source, file_no)
        is_lost = str(RejectReason.FILE_UNREADABLE) in counts.rejects
        checkpoints.write(path, ReadSource(-1 if is_lost else size, counts))
        return counts

    def _is_whole(self, file_no: int, counts: RecordCounts) -> bool:
        """Return whether the staged tables of a source have the rows that it was counted to have."""
        expected = {NAME: counts.captures, REJECTS: counts.rejects.total(), staging.REVISITS: counts.revisits}
        files = {name: staging.staged_file(self.work, name, file_no) for name in expected}
        try:
            return all(
                parquet.count_rows([path] if name == NAME or Path(path).exists() else []) == expected[name]
                for name, path in files.items()
            )
        except (pa.ArrowException, OSError):
            return False

    def stage(self, source: Source, file_no: int) -> RecordCounts:
        """Stage the pages, revisits and rejects of one source, as one Parquet file each, and stop behind `limit`
        captures."""
        task = TaskContext.get()
        attempt = None if task is None else task.attemptNumber()
        with ExitStack() as open_files:
            revisits = _StagedRevisits(self.work, file_no, open_files)
            outcomes = RecordOutcomes(revisits.add)
            staged = staging.staged_file(self.work, NAME, file_no)
            out = open_files.enter_context(
                parquet.writer(
                    staged,
                    page_rows.PAGES,
                    dictionary=_REPEATING,
                    rows_per_group=ROWS_PER_GROUP,
                    bytes_per_group=BYTES_PER_GROUP,
                )
            )
            reading = open_files.enter_context(sandbox.reading(source, self.config, attempt))
            for pages, htmls in page_batches(reading, outcomes, with_html=self.with_html, limit=self.limit):
                first_row = outcomes.counts.captures - len(pages)
                out.write(page_rows.pages_batch(pages, htmls, file_no=file_no, first_row=first_row))
            revisits.flush()
        counts, rejects = outcomes.counts, outcomes.rejects
        counts.losses = losses(source, rejects)
        rejected = staging.staged_file(self.work, REJECTS, file_no)
        if rejects or Path(rejected).exists():  # of an attempt that found the file otherwise
            parquet.write(rejected, reject_rows.REJECTS, [reject_rows.rejects_batch(rejects)])
        return counts


@dataclass(slots=True)
class _StagedRevisits:
    """The staged revisits of one source: a file that is there only if it has rows, and some rows that wait."""

    work: str
    file_no: int
    open_files: ExitStack
    written: int = 0
    waiting: list[Revisit] = field(default_factory=list)
    file: parquet.ParquetWriter | None = None

    def add(self, revisit: Revisit) -> None:
        self.waiting.append(revisit)
        if len(self.waiting) == _ROWS_THAT_WAIT:
            self.flush()

    def flush(self) -> None:
        path = staging.staged_file(self.work, staging.REVISITS, self.file_no)
        is_stale = self.file is None and Path(path).exists()  # of an attempt that found the source otherwise
        if not self.waiting and not is_stale:
            return
        if self.file is None:
            self.file = self.open_files.enter_context(
                parquet.writer(path, revisit_rows.REVISITS, dictionary=True, rows_per_group=_ROWS_THAT_WAIT)
            )
        self.file.write(revisit_rows.revisits_batch(self.waiting, file_no=self.file_no, first_row=self.written))
        self.written += len(self.waiting)
        self.waiting = []


def merging_batches(file: AbstractContextManager[pq.ParquetFile], group: int) -> Iterator[pa.RecordBatch]:
    """Open a file of pages, and iterate over those of the nth ROWS_PER_GROUP of its rows, with what merging needs of
    them, some at a time."""
    first = group * ROWS_PER_GROUP
    with file as rows:
        for number, _ in parquet.row_groups(rows, first, first + ROWS_PER_GROUP):
            held = rows.metadata.row_group(number)
            most = held.num_rows * _BYTES_AT_ONCE // held.total_byte_size
            yield from rows.iter_batches(min(max(most, 1), BATCH_CAPTURES), row_groups=[number], columns=_MERGED)


def drop(run: Run) -> Counter[str]:
    """Stage the places of captures that go no further: those of the prior state, all but the first of the same
    capture, and those beyond the first `limit`.

    First by file and offset. Returns how many there are, by filter.
    """
    limit = run.request.limit
    pages = staged(run).select("capture_id", *PLACE)
    first = pages.groupBy("capture_id").agg(F.min(F.struct(*PLACE)).alias("first"), F.count("*").alias("copies"))
    repeated = first.where(F.col("copies") > 1)
    copies = pages.join(repeated, on="capture_id", how="inner").where(F.struct(*PLACE) > F.col("first"))
    if run.prior:
        before = collection_state.capture_ids(run.spark, run.prior)
        copies = pages.join(before, on="capture_id", how="left_semi").unionByName(
            copies.join(before, on="capture_id", how="left_anti").select("capture_id", *PLACE)
        )
    places = copies.select(*PLACE, F.lit(DUPLICATE.filter).alias("filter"))
    if limit is not None:
        chosen = first.orderBy("first").limit(limit).select("capture_id")
        beyond = pages.join(chosen, on="capture_id", how="left_anti").join(places, on=PLACE, how="left_anti")
        places = places.unionByName(beyond.select(*PLACE, F.lit(LIMIT.filter).alias("filter")))
    run.stage_rows(places, DROPPED)
    return run.count_by(DROPPED, "filter")


def staged(run: Run) -> DataFrame:
    """Read all staged pages."""
    return run.staged(NAME, page_rows.PAGES)


def dropped(run: Run) -> DataFrame:
    """Read the places of staged captures that go no further: file_no, row_no and the filter they are counted under."""
    return run.staged(DROPPED, page_rows.DROPPED)


def kept(run: Run) -> DataFrame:
    """Read the staged pages that go on. Few are dropped, so their places are sent to the pages and not the pages to
    them."""
    if run.is_empty(DROPPED):
        return staged(run)
    return staged(run).join(dropped(run), on=PLACE, how="left_anti")


def rejects(run: Run) -> DataFrame:
    """Read the rejects of the reading, as REJECTS rows."""
    return run.staged(REJECTS, reject_rows.REJECTS)
