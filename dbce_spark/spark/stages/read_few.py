"""Read what is staged of few captures (`spark.dbce.fewCaptures`) in one process, without a job of Spark."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.output.collection import CAPTURES
from dbce_spark.output.schemas import capture_rows, page_rows, reject_rows
from dbce_spark.output.schemas.codec import PLACE, plain
from dbce_spark.spark.engine import small_run_settings
from dbce_spark.spark.engine.batches import rows_of, table_of
from dbce_spark.spark.run import collection_state, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.single_files import FILE
from dbce_spark.spark.stages import read_pages


def are_few(run: Run, account: RunAccount) -> bool:
    """Return whether captures are few, with all of those that revisits may refer to, and wholly read."""
    request = run.request
    is_whole = not (request.indexes or request.limit is not None)
    captures = account.fetches + request.prior.captures + account.pending
    return is_whole and small_run_settings.are_few(run.spark, captures)


def staged(work: str, name: str, schema: pa.Schema, columns: Sequence[str] = ()) -> pa.Table:
    """Read some columns, or all, of a table that has a file for each source or task, in order of these; or that one
    process has staged. What earlier increments of a collection have left over stands before it.

    Raises:
        OutputError: a file of it is broken.
    """
    kept = pa.schema([schema.field(name) for name in columns or schema.names])
    batches: list[pa.RecordBatch] = []
    folder = Path(staging.path(work, name))
    for path in (*folder.glob("pending.parquet"), *sorted(folder.glob("[0-9]*.parquet")), *folder.glob(FILE)):
        with staging.opened(str(path)) as file:
            batches += file.iter_batches(columns=kept.names)
    return table_of(batches, kept)


def kept(work: str, columns: Sequence[str]) -> pa.Table:
    """Read some columns of the staged pages that go on."""
    pages = staged(work, read_pages.NAME, page_rows.PAGES, (*columns, *(name for name in PLACE if name not in columns)))
    dropped = staged(work, read_pages.DROPPED, page_rows.DROPPED, PLACE)
    gone = {*rows_of(dropped, PLACE)}
    return pages.filter(pa.array([place not in gone for place in rows_of(pages, PLACE)], pa.bool_())).select(columns)


def captures(work: str) -> pa.Table:
    """Read the pages that go on, and the revisits that share an extraction, as CAPTURES rows."""
    own = kept(work, [name for name in capture_rows.CAPTURES.names if name != "extraction_id"])
    named = own.append_column("extraction_id", own.column("capture_id")).select(capture_rows.CAPTURES.names)
    return pa.concat_tables([named.cast(capture_rows.CAPTURES), _shared(work)])


def _shared(work: str) -> pa.Table:
    return staged(work, staging.SHARED, capture_rows.CAPTURES)


def rejects(work: str) -> pa.Table:
    """Read the rejects of the reading, and the revisits without an original, as REJECTS rows."""
    return pa.concat_tables([staged(work, name, reject_rows.REJECTS) for name in (staging.REJECTS, staging.UNRESOLVED)])


def seen(run: Run) -> dict[str, dict[str, Any]]:
    """Sum up when the revisits of each extraction were fetched, as `match_revisits.seen`, by capture id."""
    names = ["capture_id", "extraction_id", "timestamp"]
    before = collection_state.table(run.prior, capture_rows.CAPTURES, names, CAPTURES)
    revisited = before.filter(pc.not_equal(before.column("capture_id"), before.column("extraction_id")))
    times: dict[str, list[int]] = defaultdict(list)
    for rows in (revisited, _shared(run.work)):
        stamps = plain(rows.column("timestamp"))
        for extraction_id, timestamp in zip(rows.column("extraction_id").to_pylist(), stamps, strict=True):
            times[extraction_id].append(timestamp)
    return {one: {"first": min(some), "last": max(some), "revisits": len(some)} for one, some in times.items()}
