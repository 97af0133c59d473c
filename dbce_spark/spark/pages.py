"""First stage: the map over files. Every record of every file becomes a staged page, a staged reject, or a count."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.accumulators import Accumulator
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import tables, warc
from dbce_spark.charset import decode
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.pages import page_of
from dbce_spark.model import Page
from dbce_spark.rejects import Reject, Skip
from dbce_spark.spark import staging

NAME = "pages"
LIMIT = Skip("limit")
"""A capture beyond `--limit`."""

_BATCH_CAPTURES = 64
_BATCH_BYTES = 16 << 20


def stage(
    spark: SparkSession,
    files: Sequence[str],
    output: str,
    config: DbceConfig,
    *,
    with_html: bool,
    limit: int | None,
    seen: "Accumulator[int]",
) -> None:
    """Reads the files, one task each, and stages STAGED rows. `seen` counts captures as tasks end, for the progress bar."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path in batch.column("path").to_pylist():
                for out in read_file(path, config, with_html=with_html, limit=limit):
                    seen.add(out.num_rows)
                    yield out

    rows = spark.sparkContext.parallelize([(path,) for path in files], len(files)).toDF("path string")
    staged = rows.mapInArrow(read, staging.schema(tables.STAGED))
    staged.write.mode("overwrite").partitionBy("kind").parquet(staging.path(output, NAME))


def read_file(
    path: str, config: DbceConfig, *, with_html: bool, limit: int | None
) -> Iterator[pa.RecordBatch]:
    """The STAGED rows of one file: pages and rejects as they come, counts at its end. Stops behind `limit` captures."""
    pages: list[Page] = []
    htmls: list[bytes | None] = []
    rejects: list[Reject] = []
    counts: Counter[str] = Counter()
    captures = held = 0
    for record in warc.read(path, config.input, config.page.max_html_bytes):
        counts[""] += 1
        if isinstance(record, Skip):
            counts[record.filter] += 1
            continue
        found = page_of(record, config) if isinstance(record, warc.Fetch) else record
        if isinstance(found, Reject):
            rejects.append(found)
            continue
        pages.append(found)
        html = decode(record.html, found.capture.declared_charset).html if with_html else None
        htmls.append(html)
        captures += 1
        held += len(found.blocks.text) + 8 * len(found.blocks.tokens) + len(html or b"")
        if len(pages) == _BATCH_CAPTURES or held > _BATCH_BYTES:
            yield tables.pages_batch(pages, htmls, config.output.site_parts)
            pages, htmls, held = [], [], 0
        if captures == limit:
            break
    if pages:
        yield tables.pages_batch(pages, htmls, config.output.site_parts)
    if rejects:
        yield tables.rejects_batch(rejects)
    if counts:
        yield tables.tallies_batch(path, dict(counts))


def staged(spark: SparkSession, output: str) -> DataFrame:
    return staging.read(spark, output, NAME, tables.STAGED)


def keep(spark: SparkSession, output: str, *, limit: int | None) -> Counter[str]:
    """Stages which rows go on: of each capture the first by file and offset, of all captures the first `limit`.

    Returns how many it passed over, by filter.
    """
    place = F.struct("warc_file", "warc_offset")
    pages = staged(spark, output).where(staging.is_kind(tables.PAGE))
    firsts = pages.groupBy("capture_id").agg(F.min(place).alias("place"), F.count("*").alias("copies"))
    chosen = firsts if limit is None else firsts.orderBy("place").limit(limit)
    kept = chosen.select("capture_id", "place.warc_file", "place.warc_offset", "copies")
    kept.write.mode("overwrite").parquet(staging.path(output, "kept"))
    captures = pages.count()
    row = _kept(spark, output).agg(F.count("*").alias("kept"), F.sum("copies").alias("copies")).first()
    kept_count, copies = (row["kept"], row["copies"] or 0) if row else (0, 0)
    return Counter({"duplicate": copies - kept_count, LIMIT.filter: captures - copies})


def _kept(spark: SparkSession, output: str) -> DataFrame:
    return spark.read.schema("capture_id string, warc_file string, warc_offset long, copies long").parquet(
        staging.path(output, "kept")
    )


def kept_pages(spark: SparkSession, output: str) -> DataFrame:
    """The staged pages that go on."""
    pages = staged(spark, output).where(staging.is_kind(tables.PAGE))
    return pages.join(_kept(spark, output), on=["capture_id", "warc_file", "warc_offset"], how="left_semi")
