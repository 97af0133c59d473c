"""How much a run would read, without reading it."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dbce_spark.config import FetchConfig
from dbce_spark.selection.entry import Entry
from dbce_spark.selection.fault import BadLine
from dbce_spark.selection.fetch import Ranges
from dbce_spark.selection.filters import Counts
from dbce_spark.selection.ranges import stretches


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What `--dry-run` tells."""

    files: int
    records: int | None  # None: without an index nobody knows before reading
    record_bytes: int  # of the records that tell their length, or of whole files
    asked_bytes: int  # with the gaps between neighbours that are read together
    requests: int
    unknown: int  # with an index: records of unknown length; without: files of unknown size
    duplicates: int  # entries that name a place which another names
    counts: Counts = field(default_factory=Counts)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for run.json and for people."""
        names = ("files", "records", "record_bytes", "asked_bytes", "requests", "unknown", "duplicates")
        return {name: getattr(self, name) for name in names} | self.counts.as_dict()

    def text(self) -> str:
        """The same for a person, a figure a line."""
        counts = self.counts
        lines = [
            (counts.read, "lines of the index were read"),
            *((count, f"  {name}") for name, count in sorted((counts.skipped + counts.faults).items())),
            (self.duplicates, "lines name a place that another names"),
            (self.records or 0, f"records in {self.files:,} files would be read"),
            *((count, f"  do not say their {name}") for name, count in sorted(counts.undeclared.items())),
            (self.record_bytes, f"bytes of them; {self.unknown:,} more do not say how long they are"),
            (self.asked_bytes, f"bytes in {self.requests:,} requests, with what lies between neighbours"),
        ]
        return "\n".join(f"{count:>16,}  {what}" for count, what in lines)


def of_index(found: Iterable[Entry | BadLine], counts: Counts, config: FetchConfig) -> Estimate:
    """What reading the entries of `index.wanted` would be; `counts` are those it fills. Holds 16 bytes an entry."""
    places: dict[str, array[int]] = {}
    for one in found:
        if isinstance(one, Entry):
            places.setdefault(one.path, array("q")).extend((one.offset, one.length))
    once = [_once(flat) for flat in places.values()]
    lengths = np.concatenate([some[:, 1] for some in once]) if once else np.empty(0, np.int64)
    asked = [span for some in once for span in stretches(some.tolist(), config.gap_bytes, config.span_bytes)]
    return Estimate(
        files=len(places),
        records=len(lengths),
        record_bytes=int(lengths[lengths > 0].sum()),
        asked_bytes=sum(length for _, length, _ in asked if length > 0),
        requests=len(asked),
        unknown=int((lengths <= 0).sum()),
        duplicates=sum(len(flat) // 2 for flat in places.values()) - len(lengths),
        counts=counts,
    )


def _once(flat: "array[int]") -> npt.NDArray[np.int64]:
    """(offset, length) of each place once, in file order: of several lengths the longest, as in `ranges.by_file`."""
    pairs = np.frombuffer(flat, np.int64).reshape(-1, 2)
    ordered = pairs[np.lexsort((-pairs[:, 1], pairs[:, 0]))]
    is_first = np.diff(ordered[:, 0], prepend=-1) != 0
    kept: npt.NDArray[np.int64] = ordered[is_first]
    return kept


def of_files(paths: Sequence[str], config: FetchConfig) -> Estimate:
    """What reading whole files would be: the filters say nothing before the headers are read."""
    sizes = [_size(path, config) for path in paths]
    known = [size for size in sizes if size is not None]
    return Estimate(
        files=len(paths),
        records=None,
        record_bytes=sum(known),
        asked_bytes=sum(known),
        requests=len(paths),
        unknown=len(sizes) - len(known),
        duplicates=0,
    )


def _size(path: str, config: FetchConfig) -> int | None:
    try:
        with Ranges(path, config) as ranges:
            return ranges.size()
    except OSError:
        return None
