"""The stage `keep`: write what later increments of a collection need of this one."""

from collections.abc import Iterable, Iterator
from types import NoneType

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dbce_spark.files import parquet, storage
from dbce_spark.output.collection import INPUTS, MEMBERS, PENDING
from dbce_spark.output.schemas import member_rows, revisit_rows
from dbce_spark.spark.run import checkpoints, prior_state, single_files, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import Stage
from dbce_spark.spark.run.record_counts import ReadSource
from dbce_spark.spark.run.run_account import UNLABELLED, RunAccount
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.spark.stages import few_revisits, match_revisits, read_few, read_pages, write_extractions
from dbce_spark.spark.stages.compare_pages import compared_pages

NAME = "keep"
MEMBERS_PER_FILE = 1 << 20
ROWS_PER_GROUP = 1 << 12
"""Members have some 800 bytes, and are in order of their sites: a reader of some sites skips the groups of others."""

_ORDER = ("site", "capture_id")


def _keep(run: Run, account: RunAccount) -> None:
    """Write, beside the tables of an increment, all that later ones need of it."""
    _keep_members(run, account)
    if account.has_revisits:
        _keep_pending(run, account)
    _link_pages(run, len(account.page_files))
    _keep_inputs(run)


STAGE = Stage(name=NAME, applies=lambda run, account: run.request.is_increment, work=_keep)


def _keep_members(run: Run, account: RunAccount) -> None:
    """Write the MEMBERS rows of the new pages, in order of their sites. A page that could not be labelled is none: a
    later revisit would share an extraction that is not there."""
    parts = max(1, -(-account.extractions // MEMBERS_PER_FILE))
    if parts == 1 and read_few.are_few(run, account):
        _keep_few_members(run)
        return
    rows = compared_pages.members(read_pages.kept(run))
    if account.statuses[UNLABELLED]:
        rows = rows.join(write_extractions.unlabelled(run).select("capture_id"), on="capture_id", how="left_anti")
    placed = rows.withColumn("file_no", F.col("file_no") + run.prior.next_file)
    ordered = placed.repartition(parts, "site").sortWithinPartitions(*_ORDER)
    _write(ordered, run.output, MEMBERS, member_rows.MEMBERS)


def _keep_few_members(run: Run) -> None:
    schema = member_rows.MEMBERS
    columns = ["first_scores", *(name for name in schema.names if name != "has_features")]
    pages, unlabelled = read_few.kept(run.work, columns), write_extractions.unlabelled_ids(run)
    rows = compared_pages.held_members(
        pages.filter(pc.invert(pc.is_in(pages.column("capture_id"), unlabelled))), schema.names
    )
    at = schema.get_field_index("file_no")
    placed = rows.set_column(at, schema.field(at), pc.add(rows.column(at), pa.scalar(run.prior.next_file, pa.int32())))
    _write_file(single_files.path(run.output, MEMBERS), schema, single_files.in_order(placed, _ORDER))


def _keep_pending(run: Run, account: RunAccount) -> None:
    """Write the revisits without an original."""
    if read_few.are_few(run, account):
        rows = few_revisits.pending(run).to_batches()
        _write_file(single_files.path(run.output, PENDING), revisit_rows.REVISITS, rows)
    else:
        _write(match_revisits.pending(run), run.output, PENDING, revisit_rows.REVISITS)


def _link_pages(run: Run, files: int) -> None:
    """Link the pages as they were staged, in so many files."""
    for number in range(files):
        source = staging.staged_file(run.work, read_pages.NAME, number)
        storage.link(source, prior_state.page_file(run.output, number))


def _keep_inputs(run: Run) -> None:
    """Write which files were read, with their bytes then: those that have as many are not read again."""
    files = sorted(run.request.files)
    read = [checkpoints.kept(staging.done(run.work, read_pages.NAME, at), ReadSource) for at in range(len(files))]
    sizes = {path: one.size for path, one in zip(files, read, strict=True) if one is not None}
    storage.write(f"{run.output}/{INPUTS}", checkpoints.text(sizes).encode())


def _write(rows: DataFrame, output: str, table: str, schema: pa.Schema) -> None:
    """Write a file for each partition; one without rows if there are none."""

    def write_part(batches: Iterator[pa.RecordBatch]) -> None:
        context = TaskContext.get()
        path = f"{output}/{table}/{parquet.part_name(context.partitionId() if context else 0)}"
        _write_file(path, schema, batches)

    if not task_results(rows, write_part, NoneType):
        parquet.write(single_files.path(output, table), schema, [])


def _write_file(path: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    with parquet.writer(path, schema, dictionary=["site"], rows_per_group=ROWS_PER_GROUP) as file:
        for batch in batches:
            file.write(pa.RecordBatch.from_arrays([*batch.cast(schema).columns], schema=schema))
