"""Estimate how much a run would read, without reading it."""

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from dbce_spark.archive.index.byte_ranges import stretches
from dbce_spark.archive.index.capture_filter import FilterCounts
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.index_fault import BadLine
from dbce_spark.archive.index.range_fault import Busy, ObjectGone
from dbce_spark.archive.index.range_storage import open_source
from dbce_spark.config import FetchConfig
from dbce_spark.files.sources import MEMBER
from dbce_spark.log import counted
from dbce_spark.model import RejectReason

_OF_WHOLE = (RejectReason.NOT_AN_INDEX, RejectReason.INDEX_UNREADABLE)
_TRIED = 200
"""Archives that are tried: each is a request, a tenth of a second far away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The figures that `--dry-run` shows of the records that indexes name."""

    archives: Sequence[str]
    records: int
    record_bytes: int  # of the records that declare their length
    requested_bytes: int  # with the gaps between neighbours that are read together
    requests: int
    unknown: int  # records of unknown length
    duplicates: int  # entries that name a place which another names
    counts: FilterCounts
    lost: Sequence[BadLine] = ()  # indexes that are none, or cannot be read, as a whole

    def text(self) -> str:
        """Format the figures for a person, one a line."""
        counts = self.counts
        lines = [
            (counts.read, "lines of the index were read"),
            *((count, f"  {name}") for name, count in sorted((counts.skipped + counts.faults).items())),
            *((1, _without_entries(one)) for one in self.lost),
            (self.duplicates, "lines name a place that another names"),
            (self.records, f"records in {counted(len(self.archives), 'file')} would be read"),
            *((count, f"  do not say their {name}") for name, count in sorted(counts.undeclared.items())),
            (self.record_bytes, f"bytes of them; {self.unknown:,} more do not say how long they are"),
            (self.requested_bytes, f"bytes in {self.requests:,} requests, with what lies between neighbours"),
        ]
        return "\n".join(f"{count:>16,}  {what}" for count, what in lines)


def estimate(
    indexes: Collection[str], lines: Iterable[IndexEntry | BadLine], counts: FilterCounts, config: FetchConfig
) -> Estimate:
    """Estimate the cost of reading the entries of `index_file.read_entries` of some indexes, in 16 bytes an entry;
    `counts` are those that it fills."""
    by_path: dict[str, array[int]] = {}
    lost: list[BadLine] = []
    for line in lines:
        if isinstance(line, IndexEntry):
            by_path.setdefault(line.path, array("q")).extend((line.offset, line.length))
        elif line.fault in _OF_WHOLE and line.path in indexes:
            lost.append(line)
    once = [_once(flat) for flat in by_path.values()]
    lengths = np.concatenate([places[:, 1] for places in once]) if once else np.empty(0, np.int64)
    ranges = [span for places in once for span in stretches(places.tolist(), config.gap_bytes, config.span_bytes)]
    return Estimate(
        archives=[*by_path],
        records=len(lengths),
        record_bytes=int(lengths[lengths > 0].sum()),
        requested_bytes=sum(length for _, length, _ in ranges if length > 0),
        requests=len(ranges),
        unknown=int((lengths <= 0).sum()),
        duplicates=sum(len(flat) // 2 for flat in by_path.values()) - len(lengths),
        counts=counts,
        lost=tuple(lost),
    )


def _without_entries(index: BadLine) -> str:
    what = "is no index" if index.fault is RejectReason.NOT_AN_INDEX else "cannot be read"
    return f"{index.path} {what}: {index.detail}"


@dataclass(frozen=True, slots=True)
class Absence:
    """The archives that were tried, and why the first byte of some of them cannot be read, by their paths."""

    tried: int
    reasons: Mapping[str, str]

    def text(self) -> str:
        """Count the absent archives in a line, and name one; "" if there are none."""
        if not self.reasons:
            return ""
        where = f"missing or unreadable, of {counted(self.tried, 'file')} tried, such as {next(iter(self.reasons))}"
        return f"{len(self.reasons):>16,}  {where}; --base names their folder"


def absence(archives: Iterable[str], config: FetchConfig) -> Absence:
    """Find the archives whose first byte cannot be read.

    No more than _TRIED are tried, each once. One that does not answer is the last: as long would be waited for each.
    """
    tried: list[str] = []
    absent: dict[str, str] = {}
    for path in islice(dict.fromkeys(one.partition(MEMBER)[0] for one in archives), _TRIED):
        tried.append(path)
        try:
            with closing(open_source(path, config)) as source:
                source.into(bytearray(), 0, 1)
        except (ObjectGone, Busy) as error:
            absent[path] = str(error)
            if isinstance(error, Busy):
                break
    return Absence(len(tried), absent)


def _once(flat: "array[int]") -> npt.NDArray[np.int64]:
    """Keep (offset, length) of each place once, in file order: the longest of several lengths, as `group_by_file`."""
    pairs = np.frombuffer(flat, np.int64).reshape(-1, 2)
    ordered = pairs[np.lexsort((-pairs[:, 1], pairs[:, 0]))]
    is_first = np.diff(ordered[:, 0], prepend=-1) != 0
    kept: npt.NDArray[np.int64] = ordered[is_first]
    return kept
