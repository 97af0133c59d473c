"""The files of `duplicates` that one task writes. Needs no PySpark: the plain engine writes the same."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.files import parquet
from dbce_spark.output.collection import DUPLICATES
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.spark.run import single_files
from dbce_spark.spark.run.stage_counts import DuplicateCounts


def write_all(output: str, texts: pa.Table, marks: pa.Table) -> DuplicateCounts:
    """Write the rows of all tasks, from TEXTS rows in order of task and row, and their MARKS rows; one file without any
    where there are none."""
    target, ordered = f"{output}/{DUPLICATES}", marks.sort_by("row_no")
    counts: Counter[str] = Counter()
    for task in pc.unique(texts.column("task")).to_pylist():
        of_task = (
            table.filter(pc.equal(table.column("task"), task)).combine_chunks().to_batches()[0]
            for table in (texts, ordered)
        )
        counts += write(target, task, *of_task)
    if not counts:
        write_none(target)
    return DuplicateCounts(**counts)


def write_none(target: str) -> None:
    """Write a file of no rows: readers find their columns."""
    parquet.write(single_files.path(target, "site_part=0"), duplicate_rows.DUPLICATES, [])


def write(target: str, task: int, texts: pa.RecordBatch, marks: pa.RecordBatch) -> Counter[str]:
    """Write the rows of one task, from its TEXTS and their MARKS rows in the same order; count them."""
    rows = duplicate_rows.duplicates_batch(texts, marks)
    parts = texts.column("site_part")
    for part in pc.unique(parts).to_pylist():
        of_part = rows.filter(pc.equal(parts, part))
        path = f"{target}/site_part={part}/{parquet.part_name(task)}"
        parquet.write(path, duplicate_rows.DUPLICATES, [of_part], dictionary=["same_url", "repeats", "steps"])
    return counted(rows)


def counted(rows: pa.RecordBatch) -> Counter[str]:
    """Count DUPLICATES rows by the fields of DuplicateCounts."""
    is_copy = pc.is_valid(rows.column("copy_of"))
    is_near = pc.and_not(pc.is_valid(rows.column("duplicate_of")), is_copy)
    is_unclear = pc.and_not(pc.is_null(rows.column("steps")), is_copy)
    sums = {
        name: pc.sum(mask).as_py() for name, mask in (("exact", is_copy), ("near", is_near), ("unclear", is_unclear))
    }
    return Counter({"texts": rows.num_rows, **sums})
