"""The account of a run: what each stage has counted, put together for run.json."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dbce_spark.archive import failed_files
from dbce_spark.dbce.kept.kept_formats import FORMATS
from dbce_spark.dbce.pages import LOSSY_FLAGS
from dbce_spark.model import Reject, RejectReason
from dbce_spark.spark.run.record_counts import RecordCounts, by_reason, rejects_by_reason
from dbce_spark.spark.run.stage_counts import (
    ComparedSites,
    DuplicateCounts,
    FoundOriginals,
    RevisitCounts,
    SelectedPlaces,
)

RELABELLED = "relabelled"
"""The status under which extractions of prior captures are counted, beside their own."""
UNLABELLED, ORIGINAL_LOST = "unlabelled", "original_lost"
"""The statuses under which pages that could not be labelled are counted, and revisits of these."""


@dataclass(slots=True, kw_only=True)
class RunAccount:
    """Counts of the stages so far; stages that do not apply count nothing."""

    sources: int
    """Files and indexes that were given."""
    is_increment: bool
    pending: int = 0
    """Revisits of earlier crawls of the collection, whose originals are looked for once more."""
    selected: SelectedPlaces = field(default_factory=SelectedPlaces)
    by_source: Sequence[RecordCounts] = ()
    records: RecordCounts = field(default_factory=RecordCounts)
    """The outcomes of all records. Lines of an index that are no entries are among them."""
    originals: FoundOriginals = field(default_factory=FoundOriginals)
    revisits: RevisitCounts = field(default_factory=RevisitCounts)
    compared: ComparedSites = field(default_factory=ComparedSites)
    statuses: Counter[str] = field(default_factory=Counter)
    """Rows of `extractions` by status, those with each format and each of LOSSY_FLAGS, and `count_unlabelled`."""
    duplicates: DuplicateCounts | None = None

    def read(self, by_source: Sequence[RecordCounts]) -> None:
        """Take the counts of each file, and of each part of what the indexes name."""
        self.by_source, self.records = by_source, sum(by_source, self.selected.record_counts())

    @property
    def page_files(self) -> list[RecordCounts]:
        """Counts for each file of staged pages, by its number."""
        return [*self.by_source, *self.originals.by_part]

    @property
    def fetches(self) -> int:
        """Captures and revisits that were read."""
        return self.records.captures + self.records.revisits

    @property
    def has_revisits(self) -> bool:
        return self.records.revisits > 0 or self.pending > 0

    @property
    def extractions(self) -> int:
        """Extractions of captures that are not of the prior state."""
        return labelled(self.statuses) - self.relabelled

    @property
    def relabelled(self) -> int:
        return self.statuses[RELABELLED]

    @property
    def formats(self) -> dict[str, int]:
        """Rows that have each format which was asked for, those of prior captures among them."""
        return {name: self.statuses[name] for name in FORMATS if self.statuses[name]}

    @property
    def flags(self) -> dict[str, int]:
        """Rows with each of the flags by which words may be missing or wrong, those of prior captures among them."""
        return {name: self.statuses[name] for name in LOSSY_FLAGS if self.statuses[name]}

    @property
    def captures(self) -> int:
        return self.extractions + self.shared_revisits

    @property
    def shared_revisits(self) -> int:
        """Revisits that share an extraction."""
        return self.revisits.shared - self.statuses[ORIGINAL_LOST]

    @property
    def rejects(self) -> Counter[str]:
        """Rejects of all stages, by reason."""
        late = Counter({str(RejectReason.ORIGINAL_UNLABELLED): self.statuses[ORIGINAL_LOST]})
        return self.records.rejects + self.revisits.rejects + late + Counter(rejects_by_reason(self.statuses))

    def _of_increment(self) -> dict[str, int]:
        return {
            "revisits_taken_up": self.pending,
            "relabelled": self.relabelled,
            "page_files": len(self.page_files),
        }

    def failed_files(self) -> dict[str, Any]:
        """Return `failed_files.report` of files, indexes and archives that an index names."""
        archives = self.selected.archives
        return failed_files.report(
            failed_files.join_losses(self.records.losses, archives), self.sources + len(archives)
        )

    def of_indexes(self) -> dict[str, Any]:
        """Return what run.json holds of the lines of indexes, and of the originals that were looked for there."""
        return {"selection": self.selected.as_dict(), "originals": self.originals.as_dict()}

    def counts(self) -> dict[str, Any]:
        """Return everything that was counted, as run.json has it."""
        records = self.records
        return {
            "records_read": records.records,
            "captures": self.captures,
            "extractions": self.extractions,
            "revisits": self.shared_revisits,
            "crossed": self.statuses["crossed"],
            "single": self.statuses["single"],
            **({"formats": self.formats} if self.formats else {}),
            **({"flags": self.flags} if self.flags else {}),
            "rejects": _sorted(self.rejects),
            "skipped": _sorted(records.skipped + self.revisits.dropped + self.revisits.skipped),
            **({} if self.duplicates is None else {"duplicates": asdict(self.duplicates)}),
            **(self._of_increment() if self.is_increment else {}),
            "largest_bucket": self.compared.sizes.largest,
            "capped_buckets": self.compared.sizes.capped,
        }


def labelled(statuses: Mapping[str, int]) -> int:
    """Count the rows of `extractions`: each has one of two statuses."""
    return statuses.get("crossed", 0) + statuses.get("single", 0)


def count_unlabelled(rejects: Collection[Reject]) -> Counter[str]:
    """Count pages that could not be labelled: all of them, and by the reasons of their rejects."""
    reasons = Counter(str(one.reason) for one in rejects)
    return Counter({UNLABELLED: len(rejects)}) + Counter(by_reason(reasons))


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))
