"""Tables of which one process holds all rows: sorted, and written as a single file. Needs no PySpark: the plain engine
writes the same."""

from collections.abc import Sequence

import pyarrow as pa

from dbce_spark.files import parquet
from dbce_spark.output.collection import CAPTURES, REJECTS
from dbce_spark.output.schemas import capture_rows, reject_rows

FILE = parquet.part_name(0)
"""The name of the single file of a table, and of the first of several."""
ROWS_PER_GROUP = 1 << 14
CAPTURES_ORDER = ("url_key", "timestamp", "capture_id")
REJECTS_ORDER = ("warc_file", "warc_offset", "reason", "url", "record_id")
_BATCH_ROWS = 256
"""Rows that Spark hands to Python at once: `spark.sql.execution.arrow.maxRecordsPerBatch` of conf/."""


def path(output: str, table: str) -> str:
    """Return the path of the single file of a table."""
    return f"{output}/{table}/{FILE}"


def in_order(rows: pa.Table, columns: Sequence[str]) -> list[pa.RecordBatch]:
    """Sort rows by some columns, and cut them into batches as Spark's tasks get them."""
    ordered = rows.sort_by([(name, "ascending") for name in columns])
    return list(ordered.combine_chunks().to_batches(_BATCH_ROWS))


def write_captures(output: str, rows: pa.Table) -> None:
    """Write CAPTURES rows, by URL key and time."""
    target, schema = path(output, CAPTURES), capture_rows.CAPTURES
    with parquet.writer(target, schema, dictionary=True, rows_per_group=ROWS_PER_GROUP) as file:
        for batch in in_order(rows, CAPTURES_ORDER):
            file.write(batch)


def write_rejects(output: str, rows: pa.Table) -> None:
    """Write REJECTS rows, in order of file and offset."""
    parquet.write(path(output, REJECTS), reject_rows.REJECTS, in_order(rows, REJECTS_ORDER))
