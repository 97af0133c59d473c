"""The EXTRACTIONS rows of compared pages; one that cannot be labelled is a reject. Needs no PySpark: a run without
Spark makes the same."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from dbce_spark.config import DbceConfig
from dbce_spark.dbce import page_labels
from dbce_spark.dbce.kept import kept_formats
from dbce_spark.dbce.kept.kept_formats import FORMATS, Formats
from dbce_spark.dbce.page_lots import cut_lots
from dbce_spark.dbce.pages import LOSSY_FLAGS, failed, spared
from dbce_spark.dbce.time_limit import time_limit
from dbce_spark.html import language
from dbce_spark.html.language import Language
from dbce_spark.model import ComparedPage, Extraction, Page, Reject, RejectStage, Seen
from dbce_spark.output.schemas import extraction_rows
from dbce_spark.spark.engine.merge_tasks import MERGED

Staged = tuple[Page, bytes | None]
"""A page, and its HTML where that is kept."""
Gather = Callable[[Page], ComparedPage]


@dataclass(frozen=True, slots=True)
class MergedPages:
    """The rows of some pages, and by capture id the rejects of those that could not be labelled."""

    rows: pa.RecordBatch
    unlabelled: dict[str, Reject]

    def counts(self) -> Counter[str]:
        """Count the rows by status, those that have each format, and those with each of LOSSY_FLAGS."""
        found = Counter[str](self.rows.column("status").to_pylist())
        found.update({name: len(self.rows) - self.rows.column(name).null_count for name in FORMATS})
        flags = Counter[str](self.rows.column("flags").flatten().to_pylist())
        found.update({name: flags[name] for name in LOSSY_FLAGS})
        return +found


def lots(staged: Iterable[Staged]) -> Iterator[list[Staged]]:
    """Cut pages into lots that are merged together, each whole in memory."""
    return cut_lots(staged, lambda one: len(one[0].blocks), MERGED)


def merge(
    staged: Sequence[Staged], gather: Gather, seen: Mapping[str, Seen], config: DbceConfig, with_html: bool
) -> MergedPages:
    """Make EXTRACTIONS rows of some pages, with their annotated HTML if it is asked for.

    `gather` gives what comparing a page gave, `seen` has when some came again.
    """
    outcomes = spared(partial(_merged, gather=gather, config=config, with_html=with_html), staged, _reject)
    merged = [one for one in outcomes if isinstance(one, _Merged)]
    rows = extraction_rows.extractions_batch(
        [one.extraction for one in merged],
        [one.language for one in merged],
        [one.formats for one in merged],
        config.output.site_parts,
        seen,
    )
    of_pages = zip(staged, outcomes, strict=True)
    return MergedPages(rows, {page.capture_id: one for (page, _), one in of_pages if isinstance(one, Reject)})


@dataclass(frozen=True, slots=True)
class _Merged:
    """An extraction with what its row has beside."""

    extraction: Extraction
    formats: Formats
    language: Language


def _merged(staged: Sequence[Staged], gather: Gather, config: DbceConfig, with_html: bool) -> list[_Merged]:
    with time_limit(config.page.max_seconds):
        results = page_labels.label_pages([gather(page) for page, _ in staged], config.label)
        formats = kept_formats.format_extractions(results, [html for _, html in staged], config.formats, with_html)
        languages = language.detect_languages([one.text for one in results], config.language)
    return [_Merged(*one) for one in zip(results, formats, languages, strict=True)]


def _reject(staged: Staged, error: Exception) -> Reject:
    return failed(staged[0].capture, RejectStage.LABEL, error)
