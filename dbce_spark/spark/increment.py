"""An increment of a collection: a run whose output stays beside those before it, with all that later ones ask of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import storage
from dbce_spark.output.collection import INPUTS, MEMBERS, REMARKED, SUPERSEDED
from dbce_spark.spark import known as collection
from dbce_spark.spark import ledger, pages, revisits, sites, staging
from dbce_spark.spark.known import Known
from dbce_spark.spark.tally import Read
from dbce_spark.tables import member_rows, revisit_rows

NAME = "keep"
KEPT = (collection.PAGES, MEMBERS, collection.DIGESTS, SUPERSEDED, REMARKED, revisits.PENDING, INPUTS)
"""What an increment has beside the tables of an output."""
MEMBERS_PER_FILE = 1 << 20
ROWS_PER_GROUP = 1 << 12
"""Members have some 800 bytes, and are in order of their sites: who reads some sites skips the groups of others."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run, staged under `output`, keeps in the folder of its increment for later ones."""

    output: str
    folder: str
    known: Known

    def members(self, spark: SparkSession, count: int) -> None:
        """Who the new pages are, so many of them."""
        rows = sites.members(pages.kept(spark, self.output))
        placed = rows.withColumn("file_no", F.col("file_no") + self.known.next_file)
        parts = max(1, -(-count // MEMBERS_PER_FILE))
        ordered = placed.repartition(parts, "site").sortWithinPartitions("site", "capture_id")
        _write(ordered, f"{self.folder}/{MEMBERS}", member_rows.MEMBERS)

    def pending(self, spark: SparkSession) -> None:
        """The revisits whose originals may still come."""
        _write(revisits.pending(spark, self.output), f"{self.folder}/{revisits.PENDING}", revisit_rows.REVISITS)

    def pages(self, files: int) -> None:
        """The pages as they were staged, in so many files."""
        for number in range(files):
            source = Path(staging.file(self.output, pages.NAME, number))
            storage.link(source, Path(collection.page_file(self.folder, number)))

    def inputs(self, files: Sequence[str]) -> None:
        """Which files were read, with their bytes then: those that have as many are not read again."""
        read = [ledger.read(staging.done(self.output, pages.NAME, at), Read) for at in range(len(files))]
        sizes = {path: one.size for path, one in zip(files, read, strict=True) if one is not None}
        with storage.whole_file(f"{self.folder}/{INPUTS}") as file:
            file.write(ledger.text(sizes).encode())


def _write(rows: DataFrame, folder: str, schema: pa.Schema) -> None:
    """Writes a file for each partition; one without rows if there are none."""

    def write_part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        path = f"{folder}/part-{context.partitionId() if context else 0:05}.parquet"
        with storage.parquet_file(path, schema, dictionary=["site"], rows_per_group=ROWS_PER_GROUP) as file:
            for batch in batches:
                file.write(pa.RecordBatch.from_arrays([*batch.cast(schema).columns], schema=schema))
        yield pa.RecordBatch.from_pydict({"done": [True]})

    if not rows.mapInArrow(write_part, "done boolean").collect():
        storage.write_parquet(f"{folder}/part-00000.parquet", schema, [])
