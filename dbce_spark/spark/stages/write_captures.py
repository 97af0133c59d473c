"""The stage `captures`: write when each URL was fetched, and which extraction holds its content then."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from types import NoneType

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dbce_spark.files import parquet
from dbce_spark.output.collection import CAPTURES
from dbce_spark.output.schemas import capture_rows
from dbce_spark.spark.engine.groups import parted_by_url
from dbce_spark.spark.run import single_files
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import Stage
from dbce_spark.spark.run.run_account import UNLABELLED, RunAccount
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.spark.stages import match_revisits, read_few, read_pages, write_extractions

NAME = CAPTURES
ROWS_PER_FILE = 1 << 20
"""About 100 bytes each as stored."""


def write(run: Run, account: RunAccount) -> None:
    """Write `captures`: all fetches of one URL in one file, sorted by its key and the time.

    Their file follows from the URL and the number of rows alone.
    """
    parts = max(1, -(-account.captures // ROWS_PER_FILE))
    if parts == 1 and read_few.are_few(run, account) and not account.statuses[UNLABELLED]:
        single_files.write_captures(run.output, read_few.captures(run.work))
        return
    ordered = parted_by_url(_rows(run, account), parts, *single_files.CAPTURES_ORDER)
    task_results(ordered, partial(_write_parts, f"{run.output}/{CAPTURES}"), NoneType)
    if not account.captures:
        single_files.write_captures(run.output, capture_rows.CAPTURES.empty_table())


def _rows(run: Run, account: RunAccount) -> DataFrame:
    """Read the pages that have an extraction, and the revisits that share one, as CAPTURES rows."""
    own = read_pages.kept(run).withColumn("extraction_id", F.col("capture_id")).select(*capture_rows.CAPTURES.names)
    rows = own.unionByName(match_revisits.shared(run))
    if not account.statuses[UNLABELLED]:
        return rows
    lost = write_extractions.unlabelled(run).select(F.col("capture_id").alias("extraction_id"))
    return rows.join(lost, on="extraction_id", how="left_anti").select(*capture_rows.CAPTURES.names)


def _write_parts(target: str, batches: Iterator[pa.RecordBatch]) -> None:
    """Write rows that are in order of their `part` to a file for each."""
    schema = capture_rows.CAPTURES
    with ExitStack() as open_files:
        current = -1
        for batch in batches:
            for part in pc.unique(batch.column("part")).to_pylist():
                if part != current:
                    open_files.close()
                    path, current = f"{target}/{parquet.part_name(part)}", part
                    file = open_files.enter_context(
                        parquet.writer(path, schema, dictionary=True, rows_per_group=single_files.ROWS_PER_GROUP)
                    )
                of_part = batch.filter(pc.equal(batch.column("part"), part))
                file.write(of_part.select(schema.names).cast(schema))


STAGE = Stage(name=NAME, work=write)
