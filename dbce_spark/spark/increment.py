"""An increment of a collection: a run whose output stays beside those before it, with all that later ones ask of it."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import store, tables
from dbce_spark.collection import INPUTS, MEMBERS, SUPERSEDED
from dbce_spark.spark import known as collection
from dbce_spark.spark import ledger, pages, revisits, sites, staging
from dbce_spark.spark.known import Known

NAME = "keep"
KEPT = (collection.PAGES, MEMBERS, collection.DIGESTS, SUPERSEDED, revisits.PENDING, INPUTS)
"""What an increment has beside the tables of an output."""
MEMBERS_PER_FILE = 1 << 20
ROWS_PER_GROUP = 1 << 12
"""Members have some 800 bytes, and are in order of their sites: who reads some sites skips the groups of others."""


def keep(spark: SparkSession, output: str, folder: str, known: Known, page_files: int, *, has_revisits: bool) -> None:
    """Writes into the folder of the increment what later ones ask of it: the pages as they were staged, who they are,
    and the revisits whose originals may still come."""
    members = sites.members(pages.kept(spark, output)).withColumn("file_no", F.col("file_no") + known.next_file)
    parts = max(1, -(-members.count() // MEMBERS_PER_FILE))
    placed = members.repartition(parts, "site").sortWithinPartitions("site", "capture_id")
    _write(placed, f"{folder}/{MEMBERS}", tables.MEMBERS)
    if has_revisits:
        _write(revisits.pending(spark, output), f"{folder}/{revisits.PENDING}", tables.REVISITS)
    for number in range(page_files):
        link(Path(staging.file(output, pages.NAME, number)), Path(collection.page_file(folder, number)))


def keep_inputs(output: str, folder: str, files: Sequence[str]) -> None:
    """Writes which files were read, with their bytes then: those that have as many are not read again."""
    read = [ledger.read(staging.done(output, pages.NAME, at), pages.Read) for at in range(len(files))]
    sizes = {path: one.size for path, one in zip(files, read, strict=True) if one is not None}
    with store.whole_file(f"{folder}/{INPUTS}") as file:
        file.write(ledger.text(sizes).encode())


def _write(rows: DataFrame, folder: str, schema: pa.Schema) -> None:
    """Writes a file for each partition; one without rows if there are none."""

    def write_part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        path = f"{folder}/part-{context.partitionId() if context else 0:05}.parquet"
        with store.parquet_file(path, schema, dictionary=["site"], rows_per_group=ROWS_PER_GROUP) as file:
            for batch in batches:
                file.write(pa.RecordBatch.from_arrays([*batch.cast(schema).columns], schema=schema))
        yield pa.RecordBatch.from_pydict({"done": [True]})

    if not rows.mapInArrow(write_part, "done boolean").collect():
        store.write_parquet(f"{folder}/part-00000.parquet", schema, [])


def link(source: Path, target: Path) -> None:
    """The same file under another name; a copy where the file system has no links."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        partial = target.with_name(f"_{target.name}")
        shutil.copy(source, partial)
        partial.replace(target)
