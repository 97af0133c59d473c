"""Fetch the bytes of the records that an index names, and of nothing else."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, TypeGuard

from dbce_spark.archive import zstd_frame
from dbce_spark.archive.index.byte_ranges import ByteSpan, spans
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.range_reader import RangeReader
from dbce_spark.archive.index.record_extent import NoRecord, end_of
from dbce_spark.config import FetchConfig
from dbce_spark.model import RejectReason

_FIRST_WINDOW = 1 << 16
"""Bytes read first where a record's length is unknown; then twice as many, and so on."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The record of an entry as stored: one gzip member, zstd frame or plain record, and nothing behind it.

    Fewer bytes than the index says only where the file ends before: the record reader sees it by the record's own
    length.
    """

    entry: IndexEntry
    data: bytes
    dictionary: bytes = b""
    """The frame that a .warc.zst begins with, where the record cannot be inflated without it; else nothing."""

    def stream(self) -> BinaryIO:
        """Open the record, behind its dictionary, for a reader of records. Offsets in it count from there."""
        return io.BytesIO(self.dictionary + self.data)


@dataclass(frozen=True, slots=True)
class Unfetched:
    """An entry whose record could not be fetched."""

    entry: IndexEntry
    fault: RejectReason
    detail: str


def fetch(
    path: str, entries: Iterable[IndexEntry], config: FetchConfig, max_record_bytes: int
) -> Iterator[Fetched | Unfetched]:
    """Fetch the records that the entries of one file name; both in file order (`byte_ranges.group_by_file`).

    One for each entry, whatever happens; those of too large records before the others. After `config.max_failed_spans`
    spans in a row without an answer, or one that is gone, the rest is not requested.
    """
    allowed: list[IndexEntry] = []
    refused: list[IndexEntry] = []
    for entry in entries:
        (refused if entry.length > max_record_bytes else allowed).append(entry)
    most = f"at most {max_record_bytes} allowed"
    yield from (Unfetched(one, RejectReason.TOO_LARGE, f"{one.length} bytes in one record, {most}") for one in refused)
    failures = 0
    last = ""
    with RangeReader(path, config) as ranges:
        for span in spans(allowed, config.gap_bytes, config.span_bytes):
            if ranges.is_gone or failures == config.max_failed_spans:
                detail = f"not asked for behind {max(1, failures)} failed ranges of this file: {last}"
                yield from (Unfetched(entry, RejectReason.FETCH_FAILED, detail) for entry in span.entries)
                continue
            found = _records(ranges, span, max_record_bytes)
            has_failed = ranges.has_failed
            found = _with_dictionary(found, ranges, max_record_bytes)
            yield from found
            details = [
                one.detail for one in found if isinstance(one, Unfetched) and one.fault is RejectReason.FETCH_FAILED
            ]
            failures = failures + 1 if has_failed or ranges.has_failed else 0
            last = details[-1] if details else last


def _with_dictionary(
    found: list[Fetched | Unfetched], ranges: RangeReader, max_bytes: int
) -> list[Fetched | Unfetched]:
    """Put the dictionary of their file to records of zstd; where it cannot be read, neither can they."""
    if not any(map(_is_zstd, found)):
        return found
    dictionary, detail = ranges.dictionary(max_bytes)
    return [_joined(one, dictionary, detail) if _is_zstd(one) else one for one in found]


def _is_zstd(found: Fetched | Unfetched) -> TypeGuard[Fetched]:
    return isinstance(found, Fetched) and found.data.startswith(zstd_frame.MAGIC)


def _joined(found: Fetched, dictionary: bytes, detail: str) -> Fetched | Unfetched:
    if detail:
        return Unfetched(found.entry, RejectReason.FETCH_FAILED, detail)
    return replace(found, dictionary=dictionary)


def _records(ranges: RangeReader, span: ByteSpan, max_record_bytes: int) -> list[Fetched | Unfetched]:
    if span.length < 0:
        return [_of_unknown_length(ranges, span.entries[0], max_record_bytes)]
    data, detail = ranges.read(span.offset, span.length)
    return [_cut(entry, data, span.offset, detail) for entry in span.entries]


def _cut(entry: IndexEntry, data: bytes, start: int, detail: str) -> Fetched | Unfetched:
    """Cut an entry's part out of a span. Bytes that came before the span broke off are good."""
    own = data[entry.offset - start : entry.offset - start + entry.length]
    if detail and len(own) < entry.length:
        return Unfetched(entry, RejectReason.FETCH_FAILED, detail)
    if not own:
        return Unfetched(entry, RejectReason.FETCH_FAILED, f"the file ends before byte {entry.offset}")
    return Fetched(entry, own)


def _of_unknown_length(ranges: RangeReader, entry: IndexEntry, max_record_bytes: int) -> Fetched | Unfetched:
    """Read until the record ends."""
    data = b""
    window = _FIRST_WINDOW
    while True:
        wanted = min(window, max_record_bytes + _FIRST_WINDOW) - len(data)
        more, detail = ranges.read(entry.offset + len(data), wanted)
        data += more
        try:
            end = end_of(data) if data else None
        except NoRecord as error:
            return Unfetched(entry, RejectReason.FETCH_FAILED, str(error))
        if end is not None:
            return Fetched(entry, data[:end])
        if detail or not data:
            return Unfetched(entry, RejectReason.FETCH_FAILED, detail or f"the file ends before byte {entry.offset}")
        if len(more) < wanted:
            return Fetched(entry, data)
        if len(data) > max_record_bytes:
            return Unfetched(entry, RejectReason.TOO_LARGE, f"more than {max_record_bytes} bytes in one record")
        window *= 2
