"""The ranges of a file to request for the records of an index, neighbours joined."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dbce_spark.archive.index.index_entry import IndexEntry


@dataclass(frozen=True, slots=True)
class ByteSpan:
    """A range of one file that is requested at once, and the entries that lie in it. `length` is -1 where unknown."""

    offset: int
    length: int
    entries: tuple[IndexEntry, ...]


def group_by_file(entries: Iterable[IndexEntry]) -> tuple[dict[str, list[IndexEntry]], int]:
    """Group entries by path, in file order, each place once; count the entries whose place another entry has.

    All of it is held: about 1 KB an entry.
    """
    files: dict[str, list[IndexEntry]] = {}
    for entry in entries:
        files.setdefault(entry.path, []).append(entry)
    duplicates = 0
    for path, found in files.items():
        ordered = sorted(found, key=_place)
        once = [entry for nth, entry in enumerate(ordered) if nth == 0 or entry.offset != ordered[nth - 1].offset]
        duplicates += len(found) - len(once)
        files[path] = once
    return dict(sorted(files.items())), duplicates


def _place(entry: IndexEntry) -> tuple[int, int, str, int, str]:
    """Return a sort key for file order; of two entries at one place always the same is first: the one with a length."""
    return entry.offset, -entry.length, entry.urlkey, entry.timestamp, entry.url


def spans(entries: Sequence[IndexEntry], gap_bytes: int, span_bytes: int) -> Iterator[ByteSpan]:
    """Cut the entries of one file, which come in file order, into ranges; see `stretches`."""
    first = 0
    for offset, length, count in stretches(((entry.offset, entry.length) for entry in entries), gap_bytes, span_bytes):
        yield ByteSpan(offset, length, tuple(entries[first : first + count]))
        first += count


def stretches(places: Iterable[tuple[int, int]], gap_bytes: int, span_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Iterate over (offset, length, number of places) of the ranges that hold places (offset, length), in file order.

    Places are read together where no more than `gap_bytes` lie between them, up to `span_bytes` at once; a longer one
    is a range of its own, and so is one of unknown length (not above 0), whose length is then -1.
    """
    start = end = count = 0
    for offset, length in places:
        is_known = length > 0
        if count and not (is_known and offset - end <= gap_bytes and max(end, offset + length) - start <= span_bytes):
            yield start, end - start, count
            count = 0
        if not is_known:
            yield offset, -1, 1
            continue
        if not count:
            start = end = offset
        end = max(end, offset + length)
        count += 1
    if count:
        yield start, end - start, count
