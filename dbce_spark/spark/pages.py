"""First stage: the map over files. Every record of every file becomes a staged page, a staged reject, or a count."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import store, tables, warc
from dbce_spark.charset import decode
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.pages import DUPLICATE, TOGETHER, of_fetches
from dbce_spark.model import Page
from dbce_spark.rejects import Reject, Skip
from dbce_spark.spark import staging

NAME = "pages"
REJECTS = "rejects"
LIMIT = Skip("limit")
"""A capture beyond `--limit`."""

_LOT_BYTES = 16 << 20
"""HTML that is held at once, but for the page that goes beyond it."""

_BATCH_CAPTURES = 128
_REPEATING = ["site", "mime", "charset", "charset_source", "declared_charset", "warc_file"]
_PLACE = ["file_no", "row_no"]
_MERGED = [name for name in tables.PAGES.names if name not in ("tokens", "signature", "bands", "url_hash")]

ROWS_PER_GROUP = 512
"""Rows of a row group of a staged file: what is merged, and so held, together."""


@dataclass(slots=True)
class Tally:
    """What became of the records of some files. `skipped` by filter, `rejects` by reason."""

    records: int = 0
    captures: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    rejects: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.records + other.records,
            self.captures + other.captures,
            self.skipped + other.skipped,
            self.rejects + other.rejects,
        )


def stage(
    spark: SparkSession,
    files: Sequence[str],
    output: str,
    config: DbceConfig,
    *,
    with_html: bool,
    limit: int | None,
    seen: Callable[[int, int], None],
) -> list[Tally]:
    """Reads the files, one task each, and stages their pages and rejects. `seen` takes (records, captures) of ended
    tasks.

    Returns a tally for each file.
    """

    all_files = spark.sparkContext.broadcast(list(files))

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for at in batch.column("id").to_pylist():
                tally = stage_file(all_files.value[at], at, output, config, with_html=with_html, limit=limit)
                counts = json.dumps({"skipped": tally.skipped, "rejects": tally.rejects})
                seen(tally.records, tally.captures)
                yield pa.RecordBatch.from_pydict(
                    {"file_no": [at], "records": [tally.records], "captures": [tally.captures], "counts": [counts]}
                )

    one_task_a_file = spark.range(0, len(files), 1, len(files))
    tallies: dict[int, Tally] = {}
    for row in one_task_a_file.mapInArrow(read, "file_no long, records long, captures long, counts string").collect():
        counts = json.loads(row["counts"])
        tallies[row["file_no"]] = Tally(
            row["records"], row["captures"], Counter(counts["skipped"]), Counter(counts["rejects"])
        )
    return [tallies[at] for at in range(len(files))]


def stage_file(
    path: str, file_no: int, output: str, config: DbceConfig, *, with_html: bool, limit: int | None
) -> Tally:
    """Stages the pages and rejects of one file, as one Parquet file each, and stops behind `limit` captures."""
    tally = Tally()
    rejects: list[Reject] = []
    staged = staging.file(output, NAME, file_no)
    with store.parquet_file(staged, tables.PAGES, dictionary=_REPEATING, rows_per_group=ROWS_PER_GROUP) as out:
        for pages, htmls in _page_batches(path, config, tally, rejects, with_html=with_html, limit=limit):
            first_row = tally.captures - len(pages)
            out.write(tables.pages_batch(pages, htmls, file_no=file_no, first_row=first_row))
    if rejects:
        store.write_parquet(staging.file(output, REJECTS, file_no), tables.REJECTS, [tables.rejects_batch(rejects)])
    return tally


def merging_batches(output: str, file_no: int, group: int) -> Iterator[pa.RecordBatch]:
    """The pages of one row group of a staged file, with what merging needs of them, some at a time."""
    with store.open_parquet(staging.file(output, NAME, file_no)) as staged:
        yield from staged.iter_batches(_BATCH_CAPTURES, row_groups=[group], columns=_MERGED)


def _page_batches(
    path: str, config: DbceConfig, tally: Tally, rejects: list[Reject], *, with_html: bool, limit: int | None
) -> Iterator[tuple[list[Page], list[bytes | None]]]:
    """The pages of one file, and their HTML where it is kept, in batches of bounded size. Counts every record into
    `tally` and collects the rejects."""
    for fetches in _lots(path, config, tally, rejects, limit):
        pages: list[Page] = []
        htmls: list[bytes | None] = []
        for fetch, found in zip(fetches, of_fetches(fetches, config), strict=True):
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
    path: str, config: DbceConfig, tally: Tally, rejects: list[Reject], limit: int | None
) -> Iterator[list[warc.Fetch]]:
    """The fetched captures of one file, as many at a time as are looked at together.

    No more than are left up to the limit: so nothing is read, and counted, that goes no further.
    """
    lot: list[warc.Fetch] = []
    held = 0
    for record in warc.read(path, config.input, config.page.max_html_bytes):
        tally.records += 1
        if isinstance(record, Skip):
            tally.skipped[record.filter] += 1
        elif isinstance(record, Reject):
            rejects.append(record)
            tally.rejects[str(record.reason)] += 1
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


def drop(spark: SparkSession, output: str, *, limit: int | None) -> Counter[str]:
    """Stages the places of captures that go no further: all but the first of the same capture, and those beyond the
    first `limit`.

    First by file and offset. Returns how many there are, by filter.
    """
    pages = _staged(spark, output).select("capture_id", *_PLACE)
    first = pages.groupBy("capture_id").agg(F.min(F.struct(*_PLACE)).alias("first"), F.count("*").alias("copies"))
    repeated = first.where(F.col("copies") > 1)
    copies = pages.join(repeated, on="capture_id", how="inner").where(F.struct(*_PLACE) > F.col("first"))
    places = copies.select(*_PLACE, F.lit(DUPLICATE.filter).alias("filter"))
    if limit is not None:
        chosen = first.orderBy("first").limit(limit).select("capture_id")
        beyond = pages.join(chosen, on="capture_id", how="left_anti").join(places, on=_PLACE, how="left_anti")
        places = places.unionByName(beyond.select(*_PLACE, F.lit(LIMIT.filter).alias("filter")))
    staging.write(places, output, "dropped")
    counted = dropped(spark, output).groupBy("filter").count().collect()
    return Counter({row["filter"]: row["count"] for row in counted})


def _staged(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, NAME, tables.PAGES)


def dropped(spark: SparkSession, output: str) -> DataFrame:
    """Where the staged captures stand that go no further: file_no, row_no and the filter they are counted under."""
    schema = "file_no int, row_no int, filter string"
    return spark.read.schema(schema).parquet(staging.path(output, "dropped"))


def kept(spark: SparkSession, output: str) -> DataFrame:
    """The staged pages that go on. Few are dropped, so their places are sent to the pages and not the pages to them."""
    return _staged(spark, output).join(dropped(spark, output), on=_PLACE, how="left_anti")


def rejects(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, REJECTS, tables.REJECTS)
