"""The table of captures: when each URL was fetched, and which extraction says what it said then."""

from collections.abc import Iterator
from contextlib import ExitStack

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dbce_spark import storage
from dbce_spark.spark import pages, revisits
from dbce_spark.tables import capture_rows

NAME = "captures"
ROWS_PER_FILE = 1 << 20
"""About 100 bytes each as stored."""
ROWS_PER_GROUP = 1 << 14
_ORDER = ["part", "url_key", "timestamp", "capture_id"]


def write(spark: SparkSession, output: str, tables_in: str, rows: int) -> None:
    """Writes `captures`, of what is staged under `output`, into the folder `tables_in`.

    It has this many rows: all fetches of one URL in one file, sorted by its key and the time.

    In which file they are follows from the URL and the number of rows alone.
    """
    target = f"{tables_in.rstrip('/')}/{NAME}"
    parts = max(1, -(-rows // ROWS_PER_FILE))

    def write_parts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with ExitStack() as open_files:
            current = -1
            for batch in batches:
                for part in pc.unique(batch.column("part")).to_pylist():
                    if part != current:
                        open_files.close()
                        path, current = f"{target}/part-{part:05}.parquet", part
                        file = open_files.enter_context(
                            storage.parquet_file(
                                path, capture_rows.CAPTURES, dictionary=True, rows_per_group=ROWS_PER_GROUP
                            )
                        )
                    of_part = batch.filter(pc.equal(batch.column("part"), part))
                    file.write(of_part.select(capture_rows.CAPTURES.names).cast(capture_rows.CAPTURES))
        yield pa.RecordBatch.from_pydict({"done": [True]})

    own = (
        pages.kept(spark, output).withColumn("extraction_id", F.col("capture_id")).select(*capture_rows.CAPTURES.names)
    )
    all_rows = own.unionByName(revisits.shared(spark, output))
    placed = all_rows.withColumn("part", F.pmod(F.xxhash64("url_key"), F.lit(parts)).cast("int"))
    placed.repartition(parts, "part").sortWithinPartitions(*_ORDER).mapInArrow(write_parts, "done boolean").collect()
    if not rows:
        storage.write_parquet(f"{target}/part-00000.parquet", capture_rows.CAPTURES, [])
