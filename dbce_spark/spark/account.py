"""What run.json says of a run: what each stage has counted, put together when all have ended."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dbce_spark.archive import failed_files
from dbce_spark.dbce.buckets import BucketSizes
from dbce_spark.spark import duplicates, originals, revisits
from dbce_spark.spark.selection import Selected
from dbce_spark.spark.tally import Tally

RELABELLED = "relabelled"
"""The status under which extractions of known captures are counted, beside their own."""


@dataclass(slots=True, kw_only=True)
class Account:
    """What the stages have counted so far; of those that are passed over, nothing."""

    sources: int
    """Files and indexes that were given."""
    is_increment: bool
    selected: Selected = field(default_factory=Selected)
    tallies: Sequence[Tally] = ()
    tally: Tally = field(default_factory=Tally)
    """What became of all records. Lines of an index that are no entries are among them."""
    found: originals.Found = field(default_factory=originals.Found)
    passed_over: Counter[str] = field(default_factory=Counter)
    revisited: revisits.Account = field(default_factory=revisits.Account)
    sizes: BucketSizes = field(default_factory=BucketSizes)
    statuses: Counter[str] = field(default_factory=Counter)
    marked: duplicates.Account | None = None

    def read(self, tallies: Sequence[Tally]) -> None:
        """Takes what was counted in each file, and in each part of what the indexes name."""
        self.tallies, self.tally = tallies, sum(tallies, self.selected.tally())

    @property
    def page_files(self) -> list[Tally]:
        """A tally for each file of staged pages, by its number."""
        return [*self.tallies, *self.found.tallies]

    @property
    def extractions(self) -> int:
        """Of captures that were not known before."""
        return sum(count for status, count in self.statuses.items() if status != RELABELLED) - self.relabelled

    @property
    def relabelled(self) -> int:
        return self.statuses[RELABELLED]

    @property
    def captures(self) -> int:
        return self.extractions + self.revisited.shared

    def failed_files(self) -> dict[str, Any]:
        """What `failed_files.report` says of files, indexes and archives that an index names."""
        archives = self.selected.archives
        return failed_files.report(failed_files.joined(self.tally.losses, archives), self.sources + len(archives))

    def counts(self) -> dict[str, Any]:
        """Everything that was counted, as run.json has it."""
        tally = self.tally
        return {
            "records_read": tally.records,
            "captures": self.captures,
            "extractions": self.extractions,
            "revisits": self.revisited.shared,
            "crossed": self.statuses["crossed"],
            "single": self.statuses["single"],
            "rejects": _sorted(tally.rejects + self.revisited.rejects),
            "skipped": _sorted(tally.skipped + self.passed_over + self.revisited.skipped),
            **({} if self.marked is None else {"duplicates": asdict(self.marked)}),
            **({"relabelled": self.relabelled, "page_files": len(self.page_files)} if self.is_increment else {}),
            "largest_bucket": self.sizes.largest,
            "capped_buckets": self.sizes.capped,
        }


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))
