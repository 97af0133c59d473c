"""Count the figures of one crawl of a collection: of pages that it brought, and of those that it found as before.

Labels are those that were given when it came: the crawl before had no later ones to be compared by, either.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.config import ComparisonConfig
from dbce_spark.errors import InputError
from dbce_spark.model import RejectReason
from dbce_spark.output import output_reader, stored_rows
from dbce_spark.output.collection import CAPTURES, EXTRACTIONS, RUN_FILE, SUPERSEDED, Collection, Version
from dbce_spark.output.history.crawl_anomalies import Figures, Site, Template
from dbce_spark.output.output_reader import Output
from dbce_spark.report.grouped_sums import GroupedSums

_ROWS = 8192
_COLUMNS = ("capture_id", "site", "template_id", "status", "words", "text_words")
_SUMS = ("captures", "single", "short", "words", "text_words")


@dataclass(frozen=True, slots=True)
class Crawl:
    """One increment of a version: the tables that its run wrote, its number, and the number of unresolved revisits of
    earlier increments that it looked up once more."""

    written: Output
    number: int
    pending: int

    def fetched(self, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, npt.NDArray[np.int64]]]:
        """Read some columns of the pages that it fetched, capture_id among them, and how often each.

        Rows of pages that other crawls fetched, and this one labelled again, are not among them. The ids of these, and
        of pages that revisits found as before, are held.
        """
        others = _ids(self.written.runs[0].tables[SUPERSEDED].values())
        again: Counter[str] = Counter()
        for batch in self.written.batches(CAPTURES, ["capture_id", "extraction_id"], rows=_ROWS):
            revisits = batch.filter(pc.not_equal(batch.column("capture_id"), batch.column("extraction_id")))
            again.update(revisits.column("extraction_id").to_pylist())
        for batch in self.written.batches(EXTRACTIONS, columns, rows=_ROWS):
            times = [(one not in others) + again[one] for one in batch.column("capture_id").to_pylist()]
            counts = np.array(times, np.int64)
            yield batch.filter(pa.array(counts > 0)), counts[counts > 0]


@dataclass(frozen=True, slots=True)
class Crawls:
    """The last crawl of a version of a collection, and the one before that brought anything. `gone` is the number of
    that one where its rows are there no more by themselves; 0: they are, or no crawl before brought anything."""

    collection: Collection
    version: Version
    now: Crawl
    before: Crawl | None
    gone: int = 0


def crawls(collection: Collection, version: Version) -> Crawls:
    """Open the two crawls of a version that are compared.

    Raises:
        InputError: the rows of the last one are there no more, since increments were put together.
    """
    runs = output_reader.read_runs(collection, version)
    earlier, last = [*runs][:-1], [*runs][-1]

    def is_there(number: int) -> bool:
        return Path(collection.increment(number), RUN_FILE).exists()

    if not is_there(last):
        raise InputError(
            f"{collection.folder}: crawl {last} was compacted and then vacuumed, so its rows can no longer be separated"
            " from others; the next crawl can be shown, and crawls after that compared again"
        )

    def crawl(number: int) -> Crawl:
        before = max((one for one in earlier if one < number), default=0)
        pending = runs[before]["rejects"].get(RejectReason.REVISIT_UNRESOLVED, 0) if before else 0
        return Crawl(output_reader.open_output(collection.increment(number)), number, pending)

    brought = next((one for one in reversed(earlier) if runs[one]["captures"]), 0)
    is_gone = brought > 0 and not is_there(brought)
    before = crawl(brought) if brought and not is_gone else None
    return Crawls(collection, version, crawl(last), before, brought if is_gone else 0)


def figures(crawl: Crawl, config: ComparisonConfig) -> Figures:
    """Count the figures of a crawl."""
    sites: dict[str, Site] = defaultdict(Site)
    templates: dict[Template, int] = {}
    for row in _by_template(crawl, config).to_pylist():
        sites[row["site"]] += Site(**{name: row[name] for name in _SUMS})
        if row["template_id"]:
            templates[row["site"], row["template_id"]] = row["captures"]
    run = crawl.written.run
    return Figures(
        number=crawl.number,
        sites=dict(sites),
        templates=templates,
        refused=_refused(crawl),
        repeated=run["skipped"].get("duplicate", 0),
        files=run["failed_files"]["of"],
        failed_files=run["failed_files"]["count"],
    )


def _by_template(crawl: Crawl, config: ComparisonConfig) -> pa.Table:
    """Sum the captures of each site and template: the columns _SUMS."""
    grouped = GroupedSums(["site", "template_id"], _SUMS)
    for batch, times in crawl.fetched(_COLUMNS):
        if not len(batch):
            continue
        single = pc.equal(batch.column("status"), "single").to_numpy(zero_copy_only=False)
        words, text_words = (batch.column(name).to_numpy() for name in ("words", "text_words"))
        counted = {
            "captures": times,
            "single": times * single,
            "short": times * (text_words < config.short_words),
            "words": times * words,
            "text_words": times * text_words,
        }
        grouped.add(pa.table({name: batch.column(name) for name in ("site", "template_id")} | counted))
    return grouped.table()


def _refused(crawl: Crawl) -> Mapping[str, int]:
    """Count the records that became no capture by their reason; except redirects, since their targets are fetched,
    too."""
    run = crawl.written.run
    rejects = dict(run["rejects"])
    if (unresolved := RejectReason.REVISIT_UNRESOLVED) in rejects:
        rejects[unresolved] = max(rejects[unresolved] - crawl.pending, 0)
    skipped = {
        f"HTTP {name.removeprefix('status:')}": count
        for name, count in run["skipped"].items()
        if name.startswith("status:") and not name.startswith("status:3")
    }
    return rejects | skipped


def _ids(files: Iterable[str]) -> set[str]:
    return {one for ids in stored_rows.capture_ids(files) for one in ids.to_pylist()}
