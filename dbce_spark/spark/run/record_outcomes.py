"""The records of one source as they are read: pages in batches, all else counted or kept. Needs no PySpark."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dbce_spark.archive import warc
from dbce_spark.dbce.page_lots import HTML_TOGETHER, TOGETHER, blocks_of, cut_lots
from dbce_spark.dbce.pages import ignore
from dbce_spark.model import Page, Reject, Revisit, Skip
from dbce_spark.spark.engine import sandbox
from dbce_spark.spark.run.record_counts import RecordCounts


@dataclass(slots=True)
class RecordOutcomes:
    """The outcomes of a source's records beside pages: counts and rejects. Revisits are handed to `keep_revisit`."""

    keep_revisit: Callable[[Revisit], object]
    counts: RecordCounts = field(default_factory=RecordCounts)
    rejects: list[Reject] = field(default_factory=list)

    def add(self, record: Skip | Reject | Revisit) -> None:
        """Count a record that is not fetched; keep a reject, and hand on a revisit."""
        if isinstance(record, Skip):
            self.counts.skipped[record.filter] += 1
        elif isinstance(record, Reject):
            self.reject(record)
        else:
            self.counts.revisits += 1
            self.keep_revisit(record)

    def reject(self, one: Reject) -> None:
        self.rejects.append(one)
        self.counts.rejects[str(one.reason)] += 1


def page_batches(
    reading: sandbox.Reading, outcomes: RecordOutcomes, *, with_html: bool, limit: int | None
) -> Iterator[tuple[list[Page], list[bytes | None]]]:
    """Iterate over the pages of one source, and their HTML where it is kept, in batches of bounded size.

    Counts every record in the `outcomes`, and keeps rejects there.
    """
    kept: deque[bytes] = deque()
    for captures in _captures_together(reading.records, outcomes, limit):
        for lot in cut_lots(reading.pages(captures, kept.append if with_html else ignore), blocks_of, TOGETHER):
            pages: list[Page] = []
            for page in lot:
                if isinstance(page, Reject):
                    outcomes.reject(page)
                else:
                    pages.append(page)
            outcomes.counts.captures += len(pages)
            if pages:
                yield pages, [kept.popleft() if with_html else None for _ in pages]


def _captures_together(
    records: Iterator[sandbox.ReadRecord], outcomes: RecordOutcomes, limit: int | None
) -> Iterator[list[warc.Fetch]]:
    """Iterate over the fetched captures of one source, as many at a time as are parsed together.

    No more than are left up to the limit: so nothing is read, and counted, that goes no further.
    """
    lot: list[warc.Fetch] = []
    held = 0
    counts = outcomes.counts
    for record in records:
        counts.records += 1
        if isinstance(record, warc.Fetch):
            lot.append(record)
            held += len(record.html)
        else:
            outcomes.add(record)
        left = TOGETHER.pages if limit is None else min(TOGETHER.pages, limit - counts.captures)
        if len(lot) == left or held > HTML_TOGETHER:
            yield lot
            lot, held = [], 0
        if counts.captures == limit:
            return
    if lot:
        yield lot
