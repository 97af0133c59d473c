"""The strategy for few captures (`spark.dbce.fewCaptures`): `dbce_spark.archive.revisits` alone, in the driver. Those
that a collection holds count, too.

Spark takes tenths of a second for each job, and some fifteen to share out what one process does in hundredths. What
later stages need of few captures they read here, too.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.archive.revisits import PriorCapture
from dbce_spark.dbce.pages import DUPLICATE
from dbce_spark.errors import OutputError
from dbce_spark.files import storage
from dbce_spark.model import Capture, Revisit
from dbce_spark.output.collection import CAPTURES, MEMBERS
from dbce_spark.output.schemas import capture_rows, page_rows, reject_rows, revisit_rows
from dbce_spark.output.schemas.codec import decode
from dbce_spark.spark.engine import small_run_settings
from dbce_spark.spark.engine.batches import batch_of
from dbce_spark.spark.run import collection_state, matched_revisits, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.prior_state import BEFORE, PENDING, PriorState
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import RevisitCounts
from dbce_spark.spark.stages import read_pages
from dbce_spark.spark.stages.read_pages import PLACE

_PART = "part-00000.parquet"
_CAPTURE = [name for name in Capture.__dataclass_fields__ if name in page_rows.PAGES.names]


def are_few(run: Run, account: RunAccount) -> bool:
    """Return whether the driver does it: captures that are few, and all of those that revisits may refer to."""
    request = run.request
    is_whole = not (request.indexes or request.limit is not None)
    captures = account.records.captures + account.records.revisits + request.prior.captures + account.pending
    return is_whole and small_run_settings.are_few(run.spark, captures)


def stage(run: Run) -> RevisitCounts:
    """Stage the pages that go no further, the revisits that share an extraction, and those without an original; of an
    increment also these revisits as later ones take them up."""
    matched = _match(run.work, run.prior)
    if run.request.is_increment:
        _stage_pending(run.work, matched.pending)
    return matched.counts


def pending(run: Run) -> list[pa.RecordBatch] | None:
    """Read the revisits without an original that this strategy has staged, as `match_revisits.pending` gives them; None
    where it was not chosen."""
    path = f"{staging.path(run.work, PENDING)}/{_PART}"
    if not Path(path).exists():
        return None
    with storage.open_parquet(path) as file:
        return [*file.iter_batches()]


def _match(work: str, prior: PriorState) -> matched_revisits.MatchedRevisits:
    pages = staged(work, read_pages.NAME, page_rows.PAGES, (*_CAPTURE, *PLACE))
    captures = [*decode(Capture, pages)]
    waiting = staged(work, staging.REVISITS, revisit_rows.REVISITS)
    revisits = [*chain.from_iterable(map(revisit_rows.revisits_from, waiting.to_batches()))]
    before = _prior_captures(prior)
    matched = matched_revisits.match(captures, revisits, before)
    tables = {
        read_pages.DROPPED: _repeated(captures, pages, before.ids),
        staging.SHARED: capture_rows.revisited_batch(matched.shared),
        staging.UNRESOLVED: reject_rows.rejects_batch(matched.rejects),
    }
    for name, rows in tables.items():
        storage.write_parquet(f"{staging.path(work, name)}/{_PART}", rows.schema, [rows])
    return matched


def _stage_pending(work: str, pending: list[Revisit]) -> None:
    """Stage revisits without an original, in order of file and offset: what comes later may hold it."""
    ordered = sorted(pending, key=lambda one: (one.warc_file, one.warc_offset, one.url, one.timestamp))
    rows = revisit_rows.revisits_batch(ordered, file_no=BEFORE, first_row=0)
    storage.write_parquet(f"{staging.path(work, PENDING)}/{_PART}", rows.schema, [rows])


def _prior_captures(prior: PriorState) -> matched_revisits.PriorCaptures:
    """Read the captures of all increments.

    Raises:
        OutputError: a file of one is broken.
    """
    names = [*PriorCapture.__dataclass_fields__]
    pages = chain.from_iterable(decode(PriorCapture, rows) for rows in collection_state.batches(prior, names, MEMBERS))
    ids = (rows.column("capture_id").to_pylist() for rows in collection_state.batches(prior, ["capture_id"], CAPTURES))
    return matched_revisits.PriorCaptures([*pages], frozenset(chain.from_iterable(ids)))


def _repeated(captures: list[Capture], pages: pa.Table, before: frozenset[str]) -> pa.RecordBatch:
    """Find the places of captures that came before."""
    seen = {*before}
    places = zip(*(pages.column(name).to_pylist() for name in PLACE), strict=True)
    repeated = []
    for capture, place in zip(captures, places, strict=True):
        if capture.capture_id in seen:
            repeated.append((*place, DUPLICATE.filter))
        seen.add(capture.capture_id)
    return batch_of(repeated, read_pages.DROPPED_ROW)


def staged(work: str, name: str, schema: pa.Schema, columns: Sequence[str] = ()) -> pa.Table:
    """Read some columns, or all, of a table that has a file for each source or task, in order of these; or that one
    process has staged. What earlier increments of a collection have left over stands before it.

    Raises:
        OutputError: a file of it is broken.
    """
    kept = pa.schema([schema.field(name) for name in columns or schema.names])
    batches: list[pa.RecordBatch] = []
    folder = Path(staging.path(work, name))
    for path in (*folder.glob("pending.parquet"), *sorted(folder.glob("[0-9]*.parquet")), *folder.glob(_PART)):
        try:
            with storage.open_parquet(str(path)) as file:
                batches += file.iter_batches(columns=kept.names)
        except (pa.ArrowInvalid, OSError) as error:
            raise OutputError(f"{path} is broken: {error}") from error
    return pa.Table.from_batches([batch.select(kept.names).cast(kept) for batch in batches], kept)


def kept(work: str, columns: Sequence[str]) -> pa.Table:
    """Read some columns of the staged pages that go on."""
    pages = staged(work, read_pages.NAME, page_rows.PAGES, (*columns, *(name for name in PLACE if name not in columns)))
    dropped = staged(work, read_pages.DROPPED, read_pages.DROPPED_ROW, PLACE)
    gone = {*zip(*(dropped.column(name).to_pylist() for name in PLACE), strict=True)}
    places = zip(*(pages.column(name).to_pylist() for name in PLACE), strict=True)
    return pages.filter(pa.array([place not in gone for place in places], pa.bool_())).select(columns)


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
    shared, names = _shared(run.work), ["capture_id", "extraction_id", "timestamp"]
    before = collection_state.table(run.prior, capture_rows.CAPTURES, names, CAPTURES)
    revisited = before.filter(pc.not_equal(before.column("capture_id"), before.column("extraction_id")))
    times: dict[str, list[int]] = defaultdict(list)
    for rows in (revisited, shared):
        stamps = rows.column("timestamp").cast(pa.int64()).to_pylist()
        for extraction_id, timestamp in zip(rows.column("extraction_id").to_pylist(), stamps, strict=True):
            times[extraction_id].append(timestamp)
    return {one: {"first": min(some), "last": max(some), "revisits": len(some)} for one, some in times.items()}
