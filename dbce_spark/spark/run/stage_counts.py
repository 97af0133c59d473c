"""Counts that stages other than the reading give, as checkpoints keep them and as the account of a run holds them."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dbce_spark.archive.failed_files import Loss
from dbce_spark.archive.index.capture_filter import FilterCounts
from dbce_spark.dbce import revisit_originals
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.spark.run.record_counts import RecordCounts


@dataclass(frozen=True, slots=True)
class SelectedPlaces:
    """Places that the indexes name: how many of each archive, in how many parts, and the outcomes of their lines."""

    archives: dict[str, int] = field(default_factory=dict)
    parts: int = 0
    counts: FilterCounts = field(default_factory=FilterCounts)
    rejects: Counter[str] = field(default_factory=Counter)
    losses: list[Loss] = field(default_factory=list)

    def __add__(self, other: "SelectedPlaces") -> "SelectedPlaces":
        """Add up the lines of two parts of indexes; archives and their parts are counted when all lines are read."""
        return SelectedPlaces(
            counts=self.counts + other.counts,
            rejects=self.rejects + other.rejects,
            losses=self.losses + other.losses,
        )

    def record_counts(self) -> RecordCounts:
        """Count lines that are no entries, and indexes that are none, as records that were read and rejected."""
        return RecordCounts(self.rejects.total(), rejects=Counter(self.rejects), losses=list(self.losses))

    def as_dict(self) -> dict[str, Any]:
        """Return what run.json holds of the lines of the indexes."""
        return self.counts.as_dict() | {"duplicate": self.counts.selected - sum(self.archives.values())}


@dataclass(frozen=True, slots=True)
class FoundOriginals:
    """Revisits whose originals were looked for, those that the indexes name a payload of, and counts of the captures
    read of these, by part."""

    looked_for: int = 0
    named: int = 0
    by_part: list[RecordCounts] = field(default_factory=list)

    @property
    def read(self) -> int:
        return sum(one.captures for one in self.by_part)

    def as_dict(self) -> dict[str, int]:
        """Return what run.json holds of them."""
        return revisit_originals.account(self.looked_for, self.named, self.read)


@dataclass(frozen=True, slots=True)
class RevisitCounts:
    """Revisits that share an extraction, those without an original by reason, and those passed over by filter.

    `dropped` are pages that go no further, by filter.
    """

    shared: int = 0
    rejects: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ComparedSites:
    """Sizes of the buckets compared so far, and which strategies beside that for whole sites have work."""

    sizes: BucketSizes = field(default_factory=BucketSizes)
    has_grown: bool = False
    has_large: bool = False


@dataclass(frozen=True, slots=True)
class DuplicateCounts:
    """Captures with a text; of these the copies, those like another that are no copies, and those that took more steps
    to settle than are allowed. And the texts of earlier increments that are marked again."""

    texts: int = 0
    exact: int = 0
    near: int = 0
    unclear: int = 0
    remarked: int = 0
