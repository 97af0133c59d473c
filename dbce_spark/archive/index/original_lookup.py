"""Look up the originals of revisits in an index: read its lines once, in any order, and keep those under a wanted name.

An index has the names of `dbce_spark.archive.revisits` for a capture, record ids aside.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dbce_spark.archive import http_message
from dbce_spark.archive.index.capture_filter import Selection, surt_of
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.revisits import OriginalName, capture_names, indexed_names
from dbce_spark.model import Revisit

MOST_KEYS = 1000
"""Keys beside those of the selection that a look-up reads in sorted indexes: each costs some 25 small reads."""


class Payload(NamedTuple):
    """A payload's place in an archive, and its description by the index. The fields are those of an `IndexEntry`."""

    path: str
    offset: int
    length: int
    mime: str
    mime_detected: str
    status: int
    digest: str
    languages: tuple[str, ...]


class FoundOriginal(NamedTuple):
    """A payload under a name. The least of these is the earliest, and so is the original under all names but those that
    only a capture up to the revisit can have (`OriginalName.is_before`): there the latest is, up to that time."""

    name: str
    is_before: bool
    at: int  # microseconds since 1970
    payload: Payload


@dataclass(slots=True)
class Lookup:
    """The names of the originals of revisits, and the entries that an index has under them.

    Under a name one entry is kept, and where only captures up to a revisit count, one for each of the times of such
    revisits.
    """

    _names: set[str] = field(default_factory=set)
    _times: dict[str, list[int]] = field(default_factory=dict)  # of names with `is_before`: when it was revisited
    _own: set[tuple[str, int]] = field(default_factory=set)  # places of the revisits
    _kept: dict[tuple[str, int], tuple[int, Payload]] = field(default_factory=dict)  # by name and number of the time
    _slots: dict[str, list[int]] = field(default_factory=dict)  # of names with `is_before`: the numbers in `_kept`

    @staticmethod
    def from_names(names: Iterable[tuple[OriginalName, int]], revisits: Iterable[tuple[str, int]]) -> "Lookup":
        """Prepare a look-up with all names before its first entry comes.

        names: each with the time of a revisit that has it, in microseconds since 1970.
        revisits: their places: the file, by its name in rows, and the offset.
        """
        made = Lookup()
        for name, at in names:
            if name.is_before:
                made._times.setdefault(name.name, []).append(at)
            else:
                made._names.add(name.name)
        for times in made._times.values():
            times.sort()
        files: dict[str, str] = {}
        made._own.update((files.setdefault(file, file), offset) for file, offset in revisits)
        return made

    def offer(self, entry: IndexEntry) -> None:
        """Keep an entry if it may be an original. A revisit is none, and not all indexes mark a line as one."""
        named = capture_names(surt_of(entry), entry.timestamp, "", entry.digest, "")
        wanted = [name for name in named if name in self._names or name in self._times]
        is_own = (entry.path, entry.offset) in self._own
        if not wanted or entry.is_revisit or entry.status == http_message.NOT_MODIFIED or is_own:
            return
        ranked = (entry.timestamp, Payload(*(getattr(entry, name) for name in Payload._fields)))
        for name in wanted:
            times = self._times.get(name)
            slot = bisect_left(times, entry.timestamp) if times else 0
            before = self._kept.get((name, slot))
            if times is None:
                is_better = before is None or ranked < before
            else:
                is_better = slot < len(times) and (before is None or ranked > before)
            if is_better:
                self._kept[name, slot] = ranked
            if is_better and before is None and times is not None:
                insort(self._slots.setdefault(name, []), slot)

    def found(self) -> Iterator[FoundOriginal]:
        """Iterate over all entries that were kept."""
        for (name, _), (at, payload) in self._kept.items():
            yield FoundOriginal(name, name in self._times, at, payload)

    def original(self, revisit: Revisit) -> Payload | None:
        """Return the payload of a revisit, under the first of its names that has one."""
        return next(filter(None, (self._under(name, revisit.timestamp) for name in indexed_names(revisit))), None)

    def _under(self, name: OriginalName, timestamp: int) -> Payload | None:
        slot = 0
        if name.is_before:
            last = bisect_right(self._times[name.name], timestamp) - 1
            slots = self._slots.get(name.name, [])
            up_to_last = bisect_right(slots, last)
            if not up_to_last:
                return None
            slot = slots[up_to_last - 1]
        kept = self._kept.get((name.name, slot))
        return None if kept is None else kept[1]


def lookup_selection(selection: Selection, keys: Iterable[str]) -> Selection:
    """Build the selection of index lines that may be originals: everything, since an original need not be selected
    itself.

    Of sorted indexes that `selection` reads only parts of: these parts, and the `keys` that revisits refer to beyond
    them.
    """
    # Without the conditions that a columnar index would apply by itself.
    config = replace(selection.config, since="", until="", statuses=())
    if not selection.prefixes:
        return Selection((), (), config)
    added = sorted({key for key in keys if not key.startswith(selection.prefixes)})[:MOST_KEYS]
    return Selection((), (*selection.prefixes, *added), config)
