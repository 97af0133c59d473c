"""Records that were written in segments (ISO 28500, 5.18 to 5.20 and 6.8), joined within their file.

A record that is too long for a file is cut: the first segment has the record's own type and number 1, the others are
`continuation` records that name it, and the last of them gives the length of the whole.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from dbce_spark.archive.records import Damage, Flaw, Record

_RECORD_BYTES = 1024
"""Bytes that a record takes in memory beside its block and its head."""
_MOST_NAMED = 1000
"""Segments up to which those that are missing are named."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment that is no record by itself: a continuation counted with its first segment, or a segment whose record
    cannot be joined."""

    record: Record
    lack: str = ""  # why it cannot; "" where it was

    @property
    def offset(self) -> int:
        return self.record.offset

    @property
    def within(self) -> str:
        return self.record.within


@dataclass(slots=True)
class _Segmented:
    """The segments of one record that were read, by number."""

    parts: dict[int, Record] = field(default_factory=dict)
    last: int = 0  # 0: unknown yet
    total: int = 0

    @property
    def is_whole(self) -> bool:
        return self.last > 0 and len(self.parts) == self.last == max(self.parts)

    @property
    def size(self) -> int:
        return sum(_size(part) for part in self.parts.values())


def join_segments(parts: Iterable[Record | Damage], most_bytes: int) -> Iterator[Record | Damage | Segment]:
    """Join the segments of one file's records to whole records, with the head and the place of the first segment.

    In whatever order the segments lie, the record is yielded when the last of them was read, and its continuations
    follow it. Segments that wait take `most_bytes` of memory at most; a record that would need more is torn.
    """
    waiting: dict[str, _Segmented] = {}
    held = 0
    try:
        for part in parts:
            if isinstance(part, Damage) or not _is_segment(part):
                yield part
                continue
            origin = _origin(part)
            segmented = waiting.get(origin) or _Segmented()
            refusal = _refusal(part, segmented)
            if refusal:
                yield Segment(part, refusal)
                continue
            waiting[origin] = segmented
            held += _size(part)
            _add(part, segmented)
            if segmented.is_whole or held > most_bytes:
                held -= segmented.size
                excess = "" if segmented.is_whole else f"more than {most_bytes} bytes of segments wait for others"
                yield from _ended(origin, waiting.pop(origin), excess)
    except OSError:
        yield from _left(waiting)
        raise
    yield from _left(waiting)


def _is_segment(record: Record) -> bool:
    return record.kind == "continuation" or record.headers.get("warc-segment-number") == "1"


def _origin(record: Record) -> str:
    """Return the id of the record's first segment."""
    return record.headers.get("warc-segment-origin-id") if record.kind == "continuation" else record.record_id


def _number(record: Record) -> int:
    """Return a segment's number; 0 where it gives none."""
    if record.kind != "continuation":
        return 1
    written = record.headers.get("warc-segment-number")
    return int(written) if written.isascii() and written.isdigit() and len(written) < 10 else 0


def _size(record: Record) -> int:
    return _RECORD_BYTES + record.headers.held_bytes + len(record.block or b"")


def _refusal(record: Record, segmented: _Segmented) -> str:
    """Return why a segment cannot be added to the others of its record; "" if it can."""
    number = _number(record)
    if not _origin(record):
        return "it does not name the record that it is of"
    if number < 1 or (number == 1 and record.kind == "continuation"):
        return f"its number is {record.headers.get('warc-segment-number')!r}"
    return f"segment {number} is in the file twice" if number in segmented.parts else ""


def _add(record: Record, segmented: _Segmented) -> None:
    segmented.parts[_number(record)] = record
    total = record.headers.get("warc-segment-total-length")
    if total.isascii() and total.isdigit() and len(total) < 16:
        segmented.last, segmented.total = _number(record), int(total)


def _left(waiting: dict[str, _Segmented]) -> Iterator[Record | Segment]:
    for origin in [*waiting]:
        yield from _ended(origin, waiting.pop(origin), "")


def _ended(origin: str, segmented: _Segmented, excess: str) -> Iterator[Record | Segment]:
    """Join the segments of a record once no more are expected, or yield them as they are."""
    detail = excess or _lack(origin, segmented)
    first = segmented.parts.get(1)
    others = [part for number, part in sorted(segmented.parts.items()) if number > 1]
    if first is None:
        yield from (Segment(part, detail) for part in others)
        return
    if detail:
        yield Segment(first, detail)
    else:
        block = b"".join(part.block or b"" for part in (first, *others))
        flaws = {part.flaw for part in (first, *others)}
        flaw = next((one for one in Flaw if one in flaws), None)
        yield replace(first, block=block, declared_length=segmented.total, flaw=flaw)
    yield from map(Segment, others)


def _lack(origin: str, segmented: _Segmented) -> str:
    """Return why the segments cannot be joined; "" if they can."""
    whole = f"of {segmented.last} of {origin}" if segmented.last else f"of {origin}"
    for number, part in sorted(segmented.parts.items()):
        if part.block is None:
            return f"segment {number} {whole} has {part.declared_length} bytes"
    if segmented.is_whole:
        return ""
    end = segmented.last or max(segmented.parts) + 1
    missing = set(range(1, min(end, _MOST_NAMED) + 1)) - set(segmented.parts)
    return f"segments {_list(missing)} {whole} are not in this file, {_list(segmented.parts)} are"


def _list(numbers: Iterable[int]) -> str:
    """Format the first few numbers."""
    ordered = sorted(numbers)
    return ", ".join(map(str, ordered[:8])) + (", ..." if len(ordered) > 8 else "")
