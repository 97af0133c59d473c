"""The strategy for few texts: `dbce_spark.dbce.duplicates` alone, in the driver."""

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.dbce import duplicates
from dbce_spark.files import parquet
from dbce_spark.output.collection import DUPLICATES, REMARKED, SUPERSEDED, files
from dbce_spark.output.current_rows import TableFiles, replaced
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.spark.engine.batches import table_of
from dbce_spark.spark.run import duplicate_files, single_files, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.prior_state import PriorState
from dbce_spark.spark.run.stage_counts import DuplicateCounts
from dbce_spark.spark.stages import read_few

_BATCH_ROWS = 4096


def write(run: Run) -> DuplicateCounts:
    """Write the marks of the staged texts, and of prior ones that are marked again."""
    texts = read_few.staged(run.work, staging.TEXTS, duplicate_rows.TEXTS)
    prior = _prior_marks(run.prior)
    relabelled = replaced([(0, path) for path in files(run.output, SUPERSEDED)]) if run.prior else {}
    now = {text.capture_id: text for text in duplicate_rows.texts_from(texts)}
    again = {one: now.pop(one, None) for one in prior.column("capture_id").to_pylist() if one in relabelled}
    marked = duplicates.extend_marks(duplicate_rows.marked_from(prior), again, now.values(), run.config.duplicates)
    marks = pa.Table.from_batches([duplicate_rows.marks_batch(marked, texts)])
    is_prior = pc.is_null(marks.column("task"))
    _write_again(run.output, prior, marks.filter(is_prior))
    return duplicate_files.write_all(run.output, texts, marks.filter(pc.invert(is_prior)))


def _prior_marks(prior: PriorState) -> pa.Table:
    """Read the last marks of each prior text, as `prior_duplicates.prior_marks` does: DUPLICATES rows."""
    schema = duplicate_rows.DUPLICATES

    def numbered(*names: str) -> list[tuple[int, str]]:
        return [(number, path) for number, folder in enumerate(prior.folders) for path in files(folder, *names)]

    marks = TableFiles(DUPLICATES, numbered(DUPLICATES, REMARKED), numbered(SUPERSEDED, REMARKED), len(prior.folders))
    return table_of(marks.batches(schema.names, rows=_BATCH_ROWS), schema)


def _write_again(output: str, prior: pa.Table, marks: pa.Table) -> None:
    """Write the new marks of prior texts whose extractions stay as they are, as `prior_duplicates.write` does."""
    if not marks.num_rows:
        return
    at = pc.index_in(marks.column("capture_id"), prior.column("capture_id").combine_chunks())
    (texts,), (anew,) = (rows.combine_chunks().to_batches() for rows in (prior.take(at), marks))
    rows = pa.Table.from_batches([duplicate_rows.duplicates_batch(texts, anew)])
    path = single_files.path(output, REMARKED)
    parquet.write(path, duplicate_rows.DUPLICATES, single_files.in_order(rows, ["capture_id"]))
