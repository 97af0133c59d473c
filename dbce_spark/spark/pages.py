"""The map over files, and over the places that indexes name: every record becomes a staged page, a staged reject, or a
count."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import storage
from dbce_spark.archive import sources, warc
from dbce_spark.archive.index.fetch import start_wait
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.pages import DUPLICATE, TOGETHER, Source, losses
from dbce_spark.errors import OutputError
from dbce_spark.html.charset import decode
from dbce_spark.model import Page, Reason, Reject, Revisit, Skip
from dbce_spark.spark import known as collection
from dbce_spark.spark import ledger, quarantine, selection, staging, worker
from dbce_spark.spark.groups import groups
from dbce_spark.spark.known import Known
from dbce_spark.spark.parts import ROWS_PER_GROUP
from dbce_spark.spark.tally import Read, Tally
from dbce_spark.tables import page_rows, reject_rows, revisit_rows

NAME = staging.PAGES
REJECTS = staging.REJECTS
LIMIT = Skip("limit")
"""A capture beyond `--limit`."""

_LOT_BYTES = 16 << 20
"""HTML that is held at once, but for the page that goes beyond it."""

_BATCH_CAPTURES = 128
_ROWS_THAT_WAIT = 1024
_REPEATING = ["site", "mime", "charset", "charset_source", "declared_charset", "declared_language", "warc_file"]
PLACE = ["file_no", "row_no"]
"""Where a row is staged."""
TALLIES = "file_no long, tally string"
_MERGED = [name for name in page_rows.PAGES.names if name not in ("tokens", "signature", "bands")]


def stage(
    spark: SparkSession,
    files: Sequence[str],
    parts: int,
    output: str,
    config: DbceConfig,
    *,
    with_html: bool,
    limit: int | None,
    seen: Callable[[Counter[str]], None],
) -> list[Tally]:
    """Reads the files, and then as many parts of the selected places, one task each, and stages their pages and
    rejects. `seen` takes the counts of each of them when it ends, and 1 more `sources`.

    Returns a tally for each of them; parts are numbered behind the files.
    """

    all_files = spark.sparkContext.broadcast(list(files))

    def staged(source: Source, at: int) -> pa.RecordBatch:
        worker.prepare()
        tally = stage_once(source, at, output, config, with_html=with_html, limit=limit)
        seen(tally.counts() + Counter(sources=1))
        return tally_batch(at, tally)

    def read_files(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for at in batch.column("id").to_pylist():
                yield staged(all_files.value[at], at)

    def read_places(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in groups(batches, ["part"]):
            yield staged(selection.places(part), len(all_files.value) + part.column("part")[0].as_py())

    tallies: dict[int, Tally] = {}
    works = []
    if files:
        works.append(spark.range(0, len(files), 1, len(files)).mapInArrow(read_files, TALLIES))
    if parts:
        works.append(selection.by_part(spark, output, parts).mapInArrow(read_places, TALLIES))
    for work in works:
        tallies |= collected(work)
    return [tallies[at] for at in range(len(files) + parts)]


def tally_batch(number: int, tally: Tally) -> pa.RecordBatch:
    """What a task tells the driver, as a row of TALLIES."""
    return pa.RecordBatch.from_pydict({"file_no": [number], "tally": [ledger.text(tally)]})


def collected(work: DataFrame) -> dict[int, Tally]:
    """Runs the tasks that give these rows of TALLIES."""
    return {row["file_no"]: ledger.parsed(row["tally"], Tally) for row in work.collect()}


def stage_once(
    source: Source, file_no: int, output: str, config: DbceConfig, *, with_html: bool, limit: int | None
) -> Tally:
    """Stages one source, or takes what an earlier attempt or an earlier run has staged of it.

    It is read again if it is a file that has another size now, or could not be read then.
    """
    path = staging.done(output, NAME, file_no)
    before = ledger.read(path, Read)
    if before is None:
        time.sleep(start_wait(source if isinstance(source, str) else source[0].path, config.fetch))
    size = _size(source)
    # A file that is gone was read, and is not needed any more.
    if before is not None and size in (before.size, -1):
        return before.tally
    tally = stage_file(source, file_no, output, config, with_html=with_html, limit=limit)
    is_lost = str(Reason.FILE_UNREADABLE) in tally.rejects
    ledger.write(path, Read(-1 if is_lost else size, tally))
    return tally


def _size(source: Source) -> int:
    try:
        return sources.size(source) if isinstance(source, str) else -1
    except (OSError, ValueError):
        return -1


def stage_file(
    source: Source, file_no: int, output: str, config: DbceConfig, *, with_html: bool, limit: int | None
) -> Tally:
    """Stages the pages, revisits and rejects of one source, as one Parquet file each, and stops behind `limit`
    captures."""
    tally = Tally()
    rejects: list[Reject] = []
    task = TaskContext.get()
    attempt = None if task is None else task.attemptNumber()
    with ExitStack() as open_files:
        revisits = _Revisits(output, file_no, open_files)
        staged = staging.file(output, NAME, file_no)
        out = open_files.enter_context(
            storage.parquet_file(staged, page_rows.PAGES, dictionary=_REPEATING, rows_per_group=ROWS_PER_GROUP)
        )
        reading = open_files.enter_context(quarantine.reading(source, config, attempt))
        for pages, htmls in page_batches(reading, tally, rejects, revisits, with_html=with_html, limit=limit):
            first_row = tally.captures - len(pages)
            out.write(page_rows.pages_batch(pages, htmls, file_no=file_no, first_row=first_row))
        revisits.flush()
    tally.revisits = revisits.written
    tally.losses = losses(source, rejects)
    rejected = staging.file(output, REJECTS, file_no)
    if rejects or Path(rejected).exists():  # of an attempt that found the file otherwise
        storage.write_parquet(rejected, reject_rows.REJECTS, [reject_rows.rejects_batch(rejects)])
    return tally


class Revisits(Protocol):
    """What takes the revisits that are read."""

    def add(self, revisit: Revisit) -> None: ...


@dataclass(slots=True)
class _Revisits:
    """The staged revisits of one source: a file that is there only if it has rows, and some rows that wait."""

    output: str
    file_no: int
    open_files: ExitStack
    written: int = 0
    waiting: list[Revisit] = field(default_factory=list)
    file: storage.ParquetFile | None = None

    def add(self, revisit: Revisit) -> None:
        self.waiting.append(revisit)
        if len(self.waiting) == _ROWS_THAT_WAIT:
            self.flush()

    def flush(self) -> None:
        path = staging.file(self.output, staging.REVISITS, self.file_no)
        is_stale = self.file is None and Path(path).exists()  # of an attempt that found the source otherwise
        if not self.waiting and not is_stale:
            return
        if self.file is None:
            self.file = self.open_files.enter_context(
                storage.parquet_file(path, revisit_rows.REVISITS, dictionary=True, rows_per_group=_ROWS_THAT_WAIT)
            )
        self.file.write(revisit_rows.revisits_batch(self.waiting, file_no=self.file_no, first_row=self.written))
        self.written += len(self.waiting)
        self.waiting = []


def merging_batches(path: str, group: int) -> Iterator[pa.RecordBatch]:
    """The pages of one row group of a staged file, with what merging needs of them, some at a time.

    Raises:
        OutputError: the file is broken.
    """
    try:
        with storage.open_parquet(path) as staged:
            yield from staged.iter_batches(_BATCH_CAPTURES, row_groups=[group], columns=_MERGED)
    except (pa.ArrowInvalid, OSError) as error:
        raise OutputError(f"{path} is broken: {error}") from error


def page_batches(
    reading: quarantine.Reading,
    tally: Tally,
    rejects: list[Reject],
    revisits: Revisits,
    *,
    with_html: bool,
    limit: int | None,
) -> Iterator[tuple[list[Page], list[bytes | None]]]:
    """The pages of one source, and their HTML where it is kept, in batches of bounded size. Counts every record into
    `tally` and collects the rejects and the revisits."""
    for lot in _lots(reading.found, tally, rejects, revisits, limit):
        pages: list[Page] = []
        htmls: list[bytes | None] = []
        for fetch, found in zip(lot, reading.pages(lot), strict=True):
            if isinstance(found, Reject):
                rejects.append(found)
                tally.rejects[str(found.reason)] += 1
                continue
            pages.append(found)
            htmls.append(_utf8(fetch) if with_html else None)
        tally.captures += len(pages)
        if pages:
            yield pages, htmls


def _lots(
    records: Iterator[quarantine.Found], tally: Tally, rejects: list[Reject], revisits: Revisits, limit: int | None
) -> Iterator[list[warc.Fetch]]:
    """The fetched captures of one source, as many at a time as are looked at together.

    No more than are left up to the limit: so nothing is read, and counted, that goes no further.
    """
    lot: list[warc.Fetch] = []
    held = 0
    for record in records:
        tally.records += 1
        if isinstance(record, Skip):
            tally.skipped[record.filter] += 1
        elif isinstance(record, Reject):
            rejects.append(record)
            tally.rejects[str(record.reason)] += 1
        elif isinstance(record, Revisit):
            revisits.add(record)
        else:
            lot.append(record)
            held += len(record.html)
        left = TOGETHER if limit is None else min(TOGETHER, limit - tally.captures)
        if len(lot) == left or held > _LOT_BYTES:
            yield lot
            lot, held = [], 0
        if tally.captures == limit:
            return
    if lot:
        yield lot


def _utf8(fetch: warc.Fetch) -> bytes:
    return decode(fetch.html, fetch.capture.declared_charset).html


def drop(spark: SparkSession, output: str, known: Known, *, limit: int | None) -> Counter[str]:
    """Stages the places of captures that go no further: those that are known, all but the first of the same capture,
    and those beyond the first `limit`.

    First by file and offset. Returns how many there are, by filter.
    """
    pages = staged(spark, output).select("capture_id", *PLACE)
    first = pages.groupBy("capture_id").agg(F.min(F.struct(*PLACE)).alias("first"), F.count("*").alias("copies"))
    repeated = first.where(F.col("copies") > 1)
    copies = pages.join(repeated, on="capture_id", how="inner").where(F.struct(*PLACE) > F.col("first"))
    if known:
        before = collection.capture_ids(spark, known)
        copies = pages.join(before, on="capture_id", how="left_semi").unionByName(
            copies.join(before, on="capture_id", how="left_anti").select("capture_id", *PLACE)
        )
    places = copies.select(*PLACE, F.lit(DUPLICATE.filter).alias("filter"))
    if limit is not None:
        chosen = first.orderBy("first").limit(limit).select("capture_id")
        beyond = pages.join(chosen, on="capture_id", how="left_anti").join(places, on=PLACE, how="left_anti")
        places = places.unionByName(beyond.select(*PLACE, F.lit(LIMIT.filter).alias("filter")))
    staging.write(places, output, "dropped")
    counted = dropped(spark, output).groupBy("filter").count().collect()
    return Counter({row["filter"]: row["count"] for row in counted})


def staged(spark: SparkSession, output: str) -> DataFrame:
    """All staged pages."""
    return staging.read(spark, output, NAME, page_rows.PAGES)


def dropped(spark: SparkSession, output: str) -> DataFrame:
    """Where the staged captures stand that go no further: file_no, row_no and the filter they are counted under."""
    schema = "file_no int, row_no int, filter string"
    return spark.read.schema(schema).parquet(staging.path(output, "dropped"))


def kept(spark: SparkSession, output: str) -> DataFrame:
    """The staged pages that go on. Few are dropped, so their places are sent to the pages and not the pages to them."""
    return staged(spark, output).join(dropped(spark, output), on=PLACE, how="left_anti")


def rejects(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, REJECTS, reject_rows.REJECTS)
