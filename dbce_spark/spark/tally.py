"""What became of the records of some sources, as the ledger keeps it and as it is counted while a run works."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbce_spark.archive.failed_files import Loss

REJECTS = "rejects."
"""What the reasons of rejects are counted behind."""


def by_reason(rejects: Mapping[str, int]) -> dict[str, int]:
    """Rejects under the names that they are counted by."""
    return {f"{REJECTS}{reason}": count for reason, count in rejects.items()}


def rejects_by_reason(counts: Mapping[str, int]) -> dict[str, int]:
    """Take the rejects out of counts, under their reasons alone."""
    return {name.removeprefix(REJECTS): count for name, count in counts.items() if name.startswith(REJECTS)}


@dataclass(slots=True)
class Tally:
    """What became of the records of some sources. `skipped` by filter, `rejects` by reason."""

    records: int = 0
    captures: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    rejects: Counter[str] = field(default_factory=Counter)
    losses: list[Loss] = field(default_factory=list)
    revisits: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.records + other.records,
            self.captures + other.captures,
            self.skipped + other.skipped,
            self.rejects + other.rejects,
            self.losses + other.losses,
            self.revisits + other.revisits,
        )

    def counts(self) -> Counter[str]:
        """Its numbers under one name each."""
        told = Counter({"records": self.records, "captures": self.captures, "revisits": self.revisits})
        told.update(by_reason(self.rejects))
        return told


@dataclass(frozen=True, slots=True)
class Read:
    """A source that was read: the bytes that it had then, -1 if it is no file or could not be read."""

    size: int
    tally: Tally
