"""Last stage: each capture's annotations are merged, and what came of it is written."""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import store, tables
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import crosses, local, postprocess
from dbce_spark.model import Extraction
from dbce_spark.spark import annotations, pages, staging

NAME = "extractions"
REJECTS = "rejects"
_FILES_OF_SMALL_RUN = 64
_MIN_ROWS_PER_FILE = 250
_ROWS_PER_GROUP = 1024
_NOT_MERGED = ("tokens", "signature", "bands")
_REPEATING = [
    *("site", "mime", "charset", "charset_source", "warc_file", "status", "template_id"),
    *(f"segments.list.element.{name}" for name in ("xpath", "label", "bits", "score", "conflict")),
    *(f"segments.list.element.{name}" for name in ("siblings", "siblings_with", "snapshots", "snapshots_with")),
    *(f"crosses.list.element.{name}" for name in ("bits", "up", "down", "prev", "next")),
]


def write(spark: SparkSession, output: str, config: DbceConfig) -> Counter[str]:
    """Writes `extractions` and `rejects`. Returns how many extractions there are, by status."""
    target = f"{output.rstrip('/')}/{NAME}"

    def write_files(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        statuses: Counter[str] = Counter()
        for file, of_file in by_file(batches):
            statuses += write_file(target, file, of_file, config)
        yield pa.RecordBatch.from_pydict(
            {"status": pa.array(list(statuses), pa.string()), "n": pa.array(list(statuses.values()), pa.int64())}
        )

    kept = pages.kept(spark, output).drop(*_NOT_MERGED)
    files = files_of_parts(kept, config.output.rows_per_file)
    rows = with_annotations(kept, annotations.staged(spark, output), files)
    written = rows.mapInArrow(write_files, "status string, n long").collect()
    _write_rejects(spark, output)
    counts: Counter[str] = Counter()
    for row in written:
        counts[row["status"]] += row["n"]
    return counts


def files_of_parts(kept: DataFrame, rows_per_file: int) -> dict[int, int]:
    """How many files each site part is written as. A matter of the rows alone, so that the same input gives the same files."""
    sizes = {row["site_part"]: row["count"] for row in kept.groupBy("site_part").count().collect()}
    rows = min(rows_per_file, max(_MIN_ROWS_PER_FILE, sum(sizes.values()) // _FILES_OF_SMALL_RUN))
    return {part: -(-size // rows) for part, size in sorted(sizes.items())}


def with_annotations(kept: DataFrame, annotated: DataFrame, files: Mapping[int, int]) -> DataFrame:
    """Staged pages with the list of their ANNOTATIONS rows, laid out in partitions and sorted as they are to be written.

    Both sides are partitioned by the file their row goes to, so that the page's text travels once: to the task that merges
    the capture and writes it.
    """
    of_capture = ["file", "capture_id"]
    count = max(1, sum(files.values()))
    texts = kept.withColumn("file", _file(files)).repartition(count, "file")
    evidence = annotated.withColumn("file", _file(files)).withColumn("capture_id", F.col("cur"))
    rows = F.struct(*tables.ANNOTATIONS.names)
    lists = evidence.repartition(count, "file").groupBy(*of_capture).agg(F.collect_list(rows).alias("annotations"))
    return texts.join(lists, on=of_capture, how="left").sortWithinPartitions(*of_capture)


def _file(files: Mapping[int, int]) -> Column:
    """The number of the file that a row with `site_part` and `url_hash` goes to: all captures of a URL to the same."""
    file = F.lit(0)
    first = 0
    for part, count in files.items():
        file = F.when(F.col("site_part") == part, F.lit(first) + F.pmod("url_hash", F.lit(count))).otherwise(file)
        first += count
    return file


def by_file(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Iterator[pa.RecordBatch]]]:
    """The sorted stream as (file, its batches), one file after the other. A file's batches are read before the next file's."""
    pieces = _pieces(batches)
    piece = next(pieces, None)

    def of_file(file: int) -> Iterator[pa.RecordBatch]:
        nonlocal piece
        while piece is not None and piece[0] == file:
            yield piece[1]
            piece = next(pieces, None)

    while piece is not None:
        yield piece[0], of_file(piece[0])


def _pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches cut where the file changes."""
    for batch in batches:
        files = batch.column("file").to_numpy()
        edges = [0, *(np.flatnonzero(np.diff(files)) + 1).tolist(), len(files)]
        for start, end in zip(edges[:-1], edges[1:], strict=True):
            if end > start:
                yield int(files[start]), batch.slice(start, end - start)


def write_file(target: str, file: int, batches: Iterator[pa.RecordBatch], config: DbceConfig) -> Counter[str]:
    """Merges and writes the rows of one file. A second attempt writes the same bytes under the same name."""
    statuses: Counter[str] = Counter()
    first = next(batches)
    path = f"{target}/site_part={first.column('site_part')[0].as_py()}/part-{file:05}.parquet"
    schema = tables.EXTRACTIONS.remove(tables.EXTRACTIONS.get_field_index("site_part"))
    with store.parquet_file(path, schema, dictionary=_REPEATING, rows_per_group=_ROWS_PER_GROUP) as out:
        for batch in (first, *batches):
            merged = merge(batch, config)
            statuses.update(merged.column("status").to_pylist())
            out.write(merged.select(schema.names))
    return statuses


def merge(batch: pa.RecordBatch, config: DbceConfig) -> pa.RecordBatch:
    """The EXTRACTIONS rows of some pages with their annotations beside them."""
    results: list[Extraction] = []
    htmls: list[str | None] = []
    evidence = batch.column("annotations").to_pylist()
    stored = batch.column("html").to_pylist()
    for page, rows, html in zip(tables.pages_from(batch), evidence, stored, strict=True):
        template_id = crosses.template_id(tables.found_from(row) for row in rows or [])
        annotated = [tables.annotation_from(row) for row in rows or []]
        result = local.extraction(page, annotated, template_id, config.label.undecided)
        results.append(result)
        htmls.append(None if html is None else postprocess.labelled_html(html, page.blocks.text, result.segments))
    return tables.extractions_batch(results, htmls, config.output.site_parts)


def _write_rejects(spark: SparkSession, output: str) -> None:
    """All rejects, in order of file and offset, as one file or as many as they fill."""

    def write_part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        store.write_parquet(f"{target}/part-00000.parquet", tables.REJECTS, batches)
        yield pa.RecordBatch.from_pydict({"done": [True]})

    target = f"{output.rstrip('/')}/{REJECTS}"
    ordered = pages.rejects(spark, output).repartition(1).sortWithinPartitions("warc_file", "warc_offset", "reason", "url")
    ordered.mapInArrow(write_part, "done boolean").collect()
