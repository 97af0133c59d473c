"""First stage: the map over files. Every record of every file becomes a staged page, a staged reject, or a count."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import store, tables, warc
from dbce_spark.charset import decode
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.pages import DUPLICATE, page_of
from dbce_spark.model import Page
from dbce_spark.rejects import Reject, Skip
from dbce_spark.spark import staging

NAME = "pages"
REJECTS = "rejects"
LIMIT = Skip("limit")
"""A capture beyond `--limit`."""

_BATCH_CAPTURES = 128
_BATCH_BYTES = 16 << 20
_REPEATING = ["site", "mime", "charset", "charset_source", "declared_charset", "warc_file"]
_PLACE = ["warc_file", "warc_offset"]


@dataclass(slots=True)
class Tally:
    """What became of the records of some files. `skipped` by filter, `rejects` by reason."""

    records: int = 0
    captures: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    rejects: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        self.records += other.records
        self.captures += other.captures
        self.skipped += other.skipped
        self.rejects += other.rejects


def stage(
    spark: SparkSession,
    files: Sequence[str],
    output: str,
    config: DbceConfig,
    *,
    with_html: bool,
    limit: int | None,
    seen: Callable[[int, int], None],
) -> Tally:
    """Reads the files, one task each, and stages their pages and rejects. `seen` takes (records, captures) of ended tasks."""

    all_files = spark.sparkContext.broadcast(list(files))

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for at in batch.column("id").to_pylist():
                tally = stage_file(all_files.value[at], output, config, with_html=with_html, limit=limit)
                counts = json.dumps({"skipped": tally.skipped, "rejects": tally.rejects})
                seen(tally.records, tally.captures)
                yield pa.RecordBatch.from_pydict(
                    {"records": [tally.records], "captures": [tally.captures], "counts": [counts]}
                )

    one_task_a_file = spark.range(0, len(files), 1, len(files))
    total = Tally()
    for row in one_task_a_file.mapInArrow(read, "records long, captures long, counts string").collect():
        counts = json.loads(row["counts"])
        total.add(Tally(row["records"], row["captures"], Counter(counts["skipped"]), Counter(counts["rejects"])))
    return total


def stage_file(path: str, output: str, config: DbceConfig, *, with_html: bool, limit: int | None) -> Tally:
    """Stages the pages and rejects of one file, as one Parquet file each, and stops behind `limit` captures."""
    name = blake2b(path.encode(), digest_size=16).hexdigest() + ".parquet"
    tally = Tally()
    rejects: list[Reject] = []
    batches = _page_batches(path, config, tally, rejects, with_html=with_html, limit=limit)
    store.write_parquet(f"{staging.path(output, NAME)}/{name}", tables.PAGES, batches, dictionary=_REPEATING)
    if rejects:
        rows = [tables.rejects_batch(rejects)]
        store.write_parquet(f"{staging.path(output, REJECTS)}/{name}", tables.REJECTS, rows)
    return tally


def _page_batches(
    path: str, config: DbceConfig, tally: Tally, rejects: list[Reject], *, with_html: bool, limit: int | None
) -> Iterator[pa.RecordBatch]:
    """The pages of one file in batches of bounded size. Counts every record into `tally` and collects the rejects."""
    pages: list[Page] = []
    htmls: list[bytes | None] = []
    held = 0
    for record in warc.read(path, config.input, config.page.max_html_bytes):
        tally.records += 1
        if isinstance(record, Skip):
            tally.skipped[record.filter] += 1
            continue
        found = page_of(record, config) if isinstance(record, warc.Fetch) else record
        if isinstance(found, Reject):
            rejects.append(found)
            tally.rejects[str(found.reason)] += 1
            continue
        html = decode(record.html, found.capture.declared_charset).html if with_html else None
        pages.append(found)
        htmls.append(html)
        tally.captures += 1
        held += len(found.blocks.text) + found.blocks.tokens.nbytes + len(html or b"")
        if len(pages) == _BATCH_CAPTURES or held > _BATCH_BYTES:
            yield tables.pages_batch(pages, htmls, config.output.site_parts)
            pages, htmls, held = [], [], 0
        if tally.captures == limit:
            break
    if pages:
        yield tables.pages_batch(pages, htmls, config.output.site_parts)


def drop(spark: SparkSession, output: str, *, limit: int | None) -> Counter[str]:
    """Stages the places of captures that go no further: all but the first of the same capture, and those beyond the first `limit`.

    First by file and offset. Returns how many there are, by filter.
    """
    pages = _staged(spark, output).select("capture_id", *_PLACE)
    first = pages.groupBy("capture_id").agg(F.min(F.struct(*_PLACE)).alias("first"), F.count("*").alias("copies"))
    repeated = first.where(F.col("copies") > 1)
    copies = pages.join(repeated, on="capture_id", how="inner").where(F.struct(*_PLACE) > F.col("first"))
    dropped = copies.select(*_PLACE, F.lit(DUPLICATE.filter).alias("filter"))
    if limit is not None:
        kept = first.orderBy("first").limit(limit).select("capture_id")
        beyond = pages.join(kept, on="capture_id", how="left_anti").join(dropped, on=_PLACE, how="left_anti")
        dropped = dropped.unionByName(beyond.select(*_PLACE, F.lit(LIMIT.filter).alias("filter")))
    staging.write(dropped.coalesce(1) if limit is None else dropped, output, "dropped")
    counted = _dropped(spark, output).groupBy("filter").count().collect()
    return Counter({row["filter"]: row["count"] for row in counted})


def _staged(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, NAME, tables.PAGES)


def _dropped(spark: SparkSession, output: str) -> DataFrame:
    schema = "warc_file string, warc_offset long, filter string"
    return spark.read.schema(schema).parquet(staging.path(output, "dropped"))


def kept(spark: SparkSession, output: str) -> DataFrame:
    """The staged pages that go on. Few are dropped, so their places are sent to the pages and not the pages to them."""
    return _staged(spark, output).join(_dropped(spark, output), on=_PLACE, how="left_anti")


def rejects(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, REJECTS, tables.REJECTS)
