"""The whole method in lists and dicts: its definition, and the oracle that the Spark job is held to."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dbce_spark.archive import failed_files, indexed_records
from dbce_spark.archive.revisits import Resolved, lost_original, share
from dbce_spark.archive.warc import Fetch
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import duplicates, page_labels, pages, revisit_originals, sites
from dbce_spark.dbce.duplicates import MarkedText
from dbce_spark.model import Extraction, Page, Reject, Revisit, Skip

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of every record: in one of `extractions`, `revisits` and `rejects`, or counted in `skipped`."""

    records_read: int
    extractions: list[Extraction]
    duplicates: list[MarkedText]
    """The extractions that have a text, in order of time, with their marks; none unless `duplicates.find` is set."""
    revisits: list[Resolved]
    rejects: list[Reject]
    skipped: Counter[str]
    selection: dict[str, Any] | None
    """Counts of the lines of the indexes by their outcome, as in run.json; None without indexes."""
    originals: dict[str, int] | None
    """Counts of the revisits that were looked up in the indexes, as in run.json; None without indexes."""
    failed_files: dict[str, Any]


def extract(
    paths: Iterable[str],
    config: DbceConfig,
    indexes: Sequence[str] = (),
    base: str = "",
    on_fetch: Callable[[Fetch], None] = pages.ignore,
) -> Result:
    """Extract all captures in some files and at the places that some indexes name, in order of capture id.

    `base` is where file names in an index lie; "": beside it. `on_fetch` is called with each fetched capture, and so
    with its HTML.
    """
    named, files = indexed_records.read_places(indexes, base, config), sorted(paths)
    sources: list[pages.Source] = [*files, *indexed_records.cut(named.archives, config.input.records_per_task)]
    of_sources, losses = pages.read_sources(sources, config, on_fetch)
    records = [*named.rejects, *of_sources]

    captures = [page.capture for page in _only(Page, records)]
    outcomes, looked_up = revisit_originals.resolve_revisits(_only(Revisit, records), captures, indexes, base, config)
    read = [*_only(Page, records), *_only(Page, outcomes)]
    unique = pages.unique(read)
    shared = share((page.capture_id for page in unique), _only(Resolved, outcomes))

    compared, _ = sites.compare_pages(unique, config)
    labelled = page_labels.label_or_reject(compared, config.label)
    extractions = _only(Extraction, labelled)
    marked = duplicates.mark_texts([], duplicates.texts_of(extractions, config.duplicates), config.duplicates)

    found = {one.page.capture_id for one in extractions}
    without_labels = [lost_original(one) for one in shared.revisits if one.original_id not in found]
    copies = [pages.DUPLICATE] * (len(read) - len(unique) + shared.duplicates)
    ends = [*records, *outcomes, *labelled, *without_labels, *copies]
    losses = [*indexed_records.index_losses(named.rejects, indexes), *losses]
    return Result(
        records_read=len(records),
        extractions=extractions,
        duplicates=marked,
        revisits=[one for one in shared.revisits if one.original_id in found],
        rejects=_only(Reject, ends),
        skipped=Counter(one.filter for one in _only(Skip, ends)),
        selection=named.as_dict() if indexes else None,
        originals=looked_up if indexes else None,
        failed_files=failed_files.report(
            failed_files.join_losses(losses, named.record_counts), len(files) + len(indexes) + len(named.archives)
        ),
    )


def extract_pages(unique: Sequence[Page], config: DbceConfig) -> list[Extraction]:
    """Extract some pages, each compared with its siblings and snapshots among them."""
    compared, _ = sites.compare_pages(unique, config)
    return page_labels.label_pages(compared, config.label)


def _only(kind: type[Kind], outcomes: Iterable[object]) -> list[Kind]:
    """List those of some outcomes that are of one kind."""
    return [one for one in outcomes if isinstance(one, kind)]
