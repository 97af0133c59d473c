"""Last stage: each capture's annotations are merged, and what came of it is written."""

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import tables
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import crosses, local, postprocess
from dbce_spark.model import Extraction
from dbce_spark.spark import annotations, staging
from dbce_spark.spark.pages import kept_pages, staged

_MIN_ROWS_PER_TASK = 500
_PAGE_COLUMNS = [
    name for name in tables.STAGED.names
    if name not in ("kind", "tokens", "signature", "bands", "stage", "reason", "detail", "filter", "count")
]


def write(spark: SparkSession, output: str, config: DbceConfig) -> None:
    """Writes `extractions` and `rejects`."""
    pages = kept_pages(spark, output).select(*_PAGE_COLUMNS)
    rows_per_file = config.output.rows_per_file
    files = files_of_parts(pages, rows_per_file, spark.sparkContext.defaultParallelism)
    written = extractions(pages, annotations.staged(spark, output), files, config)
    (
        written.write.mode("overwrite")
        .option("maxRecordsPerFile", rows_per_file)
        .partitionBy("site_part")
        .parquet(f"{output.rstrip('/')}/extractions")
    )
    rejects = staged(spark, output).where(staging.is_kind(tables.REJECT)).select(*tables.REJECTS.names)
    ordered = rejects.repartition(1).sortWithinPartitions("warc_file", "warc_offset", "reason", "url")
    ordered.write.mode("overwrite").option("maxRecordsPerFile", 1_000_000).parquet(f"{output.rstrip('/')}/rejects")


def files_of_parts(pages: DataFrame, rows_per_file: int, cores: int) -> dict[int, int]:
    """How many files each site part is written as: enough for the rows, and for all cores to have something to do."""
    sizes = {row["site_part"]: row["count"] for row in pages.groupBy("site_part").count().collect()}
    wanted = max(_MIN_ROWS_PER_TASK, sum(sizes.values()) // (2 * cores))
    return {part: -(-size // min(rows_per_file, wanted)) for part, size in sorted(sizes.items())}


def extractions(pages: DataFrame, annotated: DataFrame, files: Mapping[int, int], config: DbceConfig) -> DataFrame:
    """Staged pages and ANNOTATIONS rows to EXTRACTIONS rows, laid out in partitions as they are to be written.

    Both sides are partitioned by the file their row goes to, so that the page's text travels once: to the task that merges
    the capture and writes it.
    """

    def merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield merged(batch, config)

    of_capture = ["file", "capture_id"]
    texts = pages.withColumn("file", _file(files)).repartition(sum(files.values()) or 1, "file")
    evidence = annotated.withColumn("file", _file(files)).withColumnRenamed("cur", "capture_id")
    rows = F.struct(F.col("capture_id").alias("cur"), *[name for name in tables.ANNOTATIONS.names if name != "cur"])
    lists = (
        evidence.repartition(sum(files.values()) or 1, "file")
        .groupBy(*of_capture)
        .agg(F.collect_list(rows).alias("annotations"))
    )
    joined = texts.join(lists, on=of_capture, how="left")
    return joined.mapInArrow(merge, staging.schema(tables.EXTRACTIONS))


def _file(files: Mapping[int, int]) -> Column:
    """The number of the file that a row with `site_part` and `url_hash` goes to: all captures of a URL to the same."""
    file = F.lit(0)
    first = 0
    for part, count in files.items():
        file = F.when(F.col("site_part") == part, F.lit(first) + F.pmod("url_hash", F.lit(count))).otherwise(file)
        first += count
    return file


def merged(batch: pa.RecordBatch, config: DbceConfig) -> pa.RecordBatch:
    """The EXTRACTIONS rows of some pages with their annotations beside them."""
    results: list[Extraction] = []
    htmls: list[str | None] = []
    evidence = batch.column("annotations").to_pylist()
    stored = batch.column("html").to_pylist()
    for page, rows, html in zip(tables.pages_from(batch), evidence, stored, strict=True):
        found = [tables.found_from(row) for row in rows or []]
        annotated = [tables.annotation_from(row) for row in rows or []]
        result = local.extraction(page, annotated, crosses.template_id(found), config.label.undecided)
        results.append(result)
        htmls.append(None if html is None else postprocess.labelled_html(html, page.blocks.text, result.segments))
    return tables.extractions_batch(results, htmls, config.output.site_parts)
