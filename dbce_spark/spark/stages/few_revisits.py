"""The strategy for few captures (`spark.dbce.fewCaptures`): `dbce_spark.archive.revisits` alone, in the driver. Those
that a collection holds count, too.

Spark takes tenths of a second for each job, and matches revisits in some fifteen; one process takes hundredths.
"""

from itertools import chain

import pyarrow as pa

from dbce_spark.archive.revisits import PriorCapture
from dbce_spark.dbce.pages import DUPLICATE
from dbce_spark.files import parquet
from dbce_spark.model import Capture, Revisit
from dbce_spark.output.collection import CAPTURES, MEMBERS, PENDING
from dbce_spark.output.schemas import capture_rows, page_rows, reject_rows, revisit_rows
from dbce_spark.output.schemas.codec import PLACE, decode
from dbce_spark.spark.engine.batches import batch_of, rows_of
from dbce_spark.spark.run import collection_state, matched_revisits, staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.prior_state import BEFORE, PriorState
from dbce_spark.spark.run.single_files import FILE
from dbce_spark.spark.run.stage_counts import RevisitCounts
from dbce_spark.spark.stages import read_few, read_pages

_CAPTURE = [name for name in Capture.__dataclass_fields__ if name in page_rows.PAGES.names]


def stage(run: Run) -> RevisitCounts:
    """Stage the pages that go no further, the revisits that share an extraction, and those without an original.

    Of an increment, stage the last ones also as REVISITS rows, which the next increment reads.
    """
    matched = _match(run.work, run.prior)
    if run.request.is_increment:
        _stage_pending(run.work, matched.pending)
    return matched.counts


def pending(run: Run) -> pa.Table:
    """Read the revisits without an original that are staged, as `match_revisits.pending` does."""
    return read_few.staged(run.work, PENDING, revisit_rows.REVISITS)


def _match(work: str, prior: PriorState) -> matched_revisits.MatchedRevisits:
    pages = read_few.staged(work, read_pages.NAME, page_rows.PAGES, (*_CAPTURE, *PLACE))
    captures = [*decode(Capture, pages)]
    waiting = read_few.staged(work, staging.REVISITS, revisit_rows.REVISITS)
    revisits = [*chain.from_iterable(map(revisit_rows.revisits_from, waiting.to_batches()))]
    before = _prior_captures(prior)
    matched = matched_revisits.match(captures, revisits, before)
    tables = {
        read_pages.DROPPED: _repeated(captures, pages, before.ids),
        staging.SHARED: capture_rows.revisited_batch(matched.shared),
        staging.UNRESOLVED: reject_rows.rejects_batch(matched.rejects),
    }
    staging.renew(work, *tables)
    for name, rows in tables.items():
        parquet.write(f"{staging.path(work, name)}/{FILE}", rows.schema, [rows])
    return matched


def _stage_pending(work: str, pending: list[Revisit]) -> None:
    """Stage revisits without an original, in order of file and offset: what comes later may hold it."""
    ordered = sorted(pending, key=lambda one: (one.warc_file, one.warc_offset, one.url, one.timestamp))
    rows = revisit_rows.revisits_batch(ordered, file_no=BEFORE, first_row=0)
    parquet.write(f"{staging.path(work, PENDING)}/{FILE}", rows.schema, [rows])


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
    repeated = []
    for capture, place in zip(captures, rows_of(pages, PLACE), strict=True):
        if capture.capture_id in seen:
            repeated.append((*place, DUPLICATE.filter))
        seen.add(capture.capture_id)
    return batch_of(repeated, page_rows.DROPPED)
