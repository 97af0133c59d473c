"""Counts of what became of records, as checkpoints keep them and as they are shown while a run works."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbce_spark.archive.failed_files import Loss

REJECTS, SKIPPED = "rejects.", "skipped."
"""Prefixes of the names under which rejects are counted by reason, and skipped records by filter."""


def by_reason(rejects: Mapping[str, int]) -> dict[str, int]:
    """Return rejects under the names that they are counted by."""
    return {f"{REJECTS}{reason}": count for reason, count in rejects.items()}


def rejects_by_reason(counts: Mapping[str, int]) -> dict[str, int]:
    """Take the rejects out of counts, under their reasons alone."""
    return _of_prefix(counts, REJECTS)


def skipped_by_filter(counts: Mapping[str, int]) -> dict[str, int]:
    """Take the skipped records out of counts, under their filters alone."""
    return _of_prefix(counts, SKIPPED)


def _of_prefix(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): count for name, count in counts.items() if name.startswith(prefix)}


@dataclass(slots=True)
class RecordCounts:
    """Counts of the records of some sources by their outcome: `skipped` by filter, `rejects` by reason."""

    records: int = 0
    captures: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    rejects: Counter[str] = field(default_factory=Counter)
    losses: list[Loss] = field(default_factory=list)
    revisits: int = 0

    def __add__(self, other: "RecordCounts") -> "RecordCounts":
        return RecordCounts(
            self.records + other.records,
            self.captures + other.captures,
            self.skipped + other.skipped,
            self.rejects + other.rejects,
            self.losses + other.losses,
            self.revisits + other.revisits,
        )

    def by_name(self) -> Counter[str]:
        """Return all numbers under one name each, as progress shows them."""
        named = Counter({"records": self.records, "captures": self.captures, "revisits": self.revisits})
        named.update(by_reason(self.rejects))
        return named


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source that was read: its bytes then (-1: no file, or unreadable), and what became of its records."""

    size: int
    counts: RecordCounts
