"""The strategy for few captures (`spark.dbce.fewCaptures`): `dbce_spark.archive.revisits` alone, in one task.

Spark takes tenths of a second for each job, and some fifteen to share out what one process does in hundredths.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa

from dbce_spark.dbce.pages import DUPLICATE
from dbce_spark.errors import OutputError
from dbce_spark.files import storage
from dbce_spark.model import Capture
from dbce_spark.output.schemas import capture_rows, page_rows, reject_rows, revisit_rows
from dbce_spark.output.schemas.codec import decode
from dbce_spark.spark.engine import small_run_settings
from dbce_spark.spark.engine.batches import batch_of
from dbce_spark.spark.engine.numbered_tasks import one_task_each
from dbce_spark.spark.run import matched_revisits, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import RevisitCounts
from dbce_spark.spark.run.task_results import task_results
from dbce_spark.spark.stages import read_pages
from dbce_spark.spark.stages.read_pages import PLACE

_PART = "part-00000.parquet"
_CAPTURE = [name for name in Capture.__dataclass_fields__ if name in page_rows.PAGES.names]


def are_few(run: Run, account: RunAccount) -> bool:
    """Return whether one task does it: captures that are few, and all of those that revisits may refer to."""
    request = run.request
    is_whole = not (request.is_increment or request.indexes or request.limit is not None)
    return is_whole and small_run_settings.are_few(run.spark, account.records.captures + account.records.revisits)


def stage(run: Run) -> RevisitCounts:
    """Stage the pages that go no further, the revisits that share an extraction, and those without an original."""
    work = run.work

    def match(_: Iterator[pa.RecordBatch]) -> RevisitCounts:
        return _match(work)

    (counts,) = task_results(one_task_each(run.spark, 1), match, RevisitCounts)
    return counts


def _match(work: str) -> RevisitCounts:
    pages = _staged(work, read_pages.NAME, page_rows.PAGES, [*_CAPTURE, *PLACE])
    captures = [*decode(Capture, pages)]
    waiting = _staged(work, staging.REVISITS, revisit_rows.REVISITS, revisit_rows.REVISITS.names)
    revisits = [*chain.from_iterable(map(revisit_rows.revisits_from, waiting.to_batches()))]
    matched = matched_revisits.match(captures, revisits)
    tables = {
        read_pages.DROPPED: _repeated(captures, pages),
        staging.SHARED: capture_rows.revisited_batch(matched.shared),
        staging.UNRESOLVED: reject_rows.rejects_batch(matched.rejects),
    }
    for name, rows in tables.items():
        storage.write_parquet(f"{staging.path(work, name)}/{_PART}", rows.schema, [rows])
    return matched.counts


def _repeated(captures: list[Capture], pages: pa.Table) -> pa.RecordBatch:
    """Find the places of captures that came before."""
    seen: set[str] = set()
    places = zip(*(pages.column(name).to_pylist() for name in PLACE), strict=True)
    repeated = []
    for capture, place in zip(captures, places, strict=True):
        if capture.capture_id in seen:
            repeated.append((*place, DUPLICATE.filter))
        seen.add(capture.capture_id)
    return batch_of(repeated, read_pages.DROPPED_ROW)


def _staged(work: str, name: str, schema: pa.Schema, columns: list[str]) -> pa.Table:
    """Read some columns of a table that has a file for each source, in order of these.

    Raises:
        OutputError: a file of it is broken.
    """
    kept = pa.schema([schema.field(name) for name in columns])
    batches: list[pa.RecordBatch] = []
    for path in sorted(Path(staging.path(work, name)).glob("[0-9]*.parquet")):
        try:
            with storage.open_parquet(str(path)) as file:
                batches += file.iter_batches(columns=columns)
        except (pa.ArrowInvalid, OSError) as error:
            raise OutputError(f"{path} is broken: {error}") from error
    return pa.Table.from_batches([batch.select(columns).cast(kept) for batch in batches], kept)
