"""The figures of one crawl of a collection: of pages that it brought, and of those that it found as before.

Labels are those that were given when it came: the crawl before had no later ones to be judged by, either.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark import output
from dbce_spark.collection import SUPERSEDED, Collection, Version
from dbce_spark.comparison import Figures, Site, Template
from dbce_spark.config import ComparisonConfig
from dbce_spark.errors import InputError
from dbce_spark.output import CAPTURES, EXTRACTIONS, Output
from dbce_spark.rejects import Reason
from dbce_spark.report.counts import Grouped

_ROWS = 8192
_COLUMNS = ("capture_id", "site", "template_id", "status", "words", "text_words")
_SUMS = ("captures", "single", "short", "words", "text_words")
_UNRESOLVED = str(Reason.REVISIT_UNRESOLVED)


@dataclass(frozen=True, slots=True)
class Crawl:
    """One increment of a version: what its run wrote, its number, and how many revisits of earlier ones it asked for
    once more."""

    written: Output
    number: int
    pending: int

    def fetched(self, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, npt.NDArray[np.int64]]]:
        """Some columns of the pages that it fetched, capture_id among them, and how often each.

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


def crawls(of: Collection, version: Version) -> tuple[Crawl | None, Crawl]:
    """The last crawl of a version, and the one before that brought anything; None if none did.

    Raises:
        InputError: what the last one wrote is there no more, since increments were put together.
    """
    told = output.told(of, version)
    numbers = [*told]
    there = [at for at, number in enumerate(numbers) if Path(of.increment(number), output.RUN_FILE).exists()]
    if not there or there[-1] != len(numbers) - 1:
        raise InputError(f"{of.folder}: crawl {numbers[-1]} was put together with others, and is not there by itself")
    brought = [at for at in there[:-1] if told[numbers[at]]["captures"]]

    def crawl(at: int) -> Crawl:
        earlier = told[numbers[at - 1]]["rejects"] if at else {}
        return Crawl(output.opened(of.increment(numbers[at])), numbers[at], earlier.get(_UNRESOLVED, 0))

    return crawl(brought[-1]) if brought else None, crawl(there[-1])


def figures(crawl: Crawl, config: ComparisonConfig) -> Figures:
    """What a crawl has brought."""
    grouped = Grouped(["site", "template_id"], _SUMS)
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
    sites: dict[str, Site] = defaultdict(Site)
    templates: dict[Template, int] = {}
    for row in grouped.table().to_pylist():
        sites[row["site"]] += Site(**{name: row[name] for name in _SUMS})
        if row["template_id"]:
            templates[row["site"], row["template_id"]] = row["captures"]
    run = crawl.written.run
    return Figures(
        number=crawl.number,
        sites=dict(sites),
        templates=templates,
        refused=_refused(crawl),
        known=run["skipped"].get("duplicate", 0),
        files=run["failed_files"]["of"],
        failed_files=run["failed_files"]["count"],
    )


def _refused(crawl: Crawl) -> Mapping[str, int]:
    """Records that became no capture by their reason; redirects aside, since what they lead to is fetched, too."""
    run = crawl.written.run
    rejects = dict(run["rejects"])
    if _UNRESOLVED in rejects:
        rejects[_UNRESOLVED] = max(rejects[_UNRESOLVED] - crawl.pending, 0)
    skipped = {
        f"HTTP {name.removeprefix('status:')}": count
        for name, count in run["skipped"].items()
        if name.startswith("status:") and not name.startswith("status:3")
    }
    return rejects | skipped


def _ids(files: Iterable[str]) -> set[str]:
    batches = output.batches([*files], ["capture_id"], rows=_ROWS)
    return {one for batch in batches for one in batch.column("capture_id").to_pylist()}
