"""The records of a (W)ARC stream, each once, and the places where bytes could not be read as one.

FastWARC reads WARC, warcio reads ARC and what FastWARC cannot; behind a damage the next record is searched, and reading
goes on.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, BinaryIO

from fastwarc.warc import ArchiveIterator as WarcIterator
from warcio.archiveiterator import ArchiveIterator as ArcIterator

from dbce_spark.body import GZIP_MAGIC

_ARC_LINE = re.compile(rb"[a-z]{2,12}:\S* \S+ \d{8,14} \S+ ")
_WARC_HEAD = re.compile(rb".*?\r?\n\r?\n", re.DOTALL)
_CRLF_WARC = re.compile(rb"WARC/[^\n]*\r\n")
_RECORD_START = re.compile(rb"\x1f\x8b\x08|WARC/\d\.\d+\r?\n[\w-]+:|https?://\S{1,2000} \S{1,45} \d{8,14} \S{1,200} \d")
_LONGEST_START = 2300
"""Bytes that decide whether a record starts, at most."""
_WINDOW = 1 << 20
_MOST_DAMAGES = 1000
"""After so many in one file the rest is one more: a library may read to the file's end before it notices each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record of either format. `block` is None where it is larger than allowed."""

    kind: str
    url: str
    date: str
    record_id: str
    offset: int
    length: int
    block: bytes | None
    declared_length: int
    says_truncated: bool


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes at `offset` that could not be read as a record."""

    offset: int
    detail: str


def records(stream: BinaryIO, max_bytes: int) -> Iterator[Record | Damage]:
    """The records from the stream's start; behind each damage, from the next place that looks like one."""
    stream.seek(0)
    raw = stream.read(24)
    if not raw:
        return
    start: int | None = 0 if _starts_record(stream, 0) else _next_start(stream, 1)
    if start is None:
        if _first_bytes(stream, 0) != b"":  # gzip of nothing holds no record
            yield Damage(-1, f"neither WARC nor ARC: begins with {raw!r}")
        return
    if start > 0:
        yield Damage(0, f"no record: begins with {raw!r}")
    # FastWARC takes a file whose lines end in LF alone for one endless header.
    reader = _by_fastwarc if _CRLF_WARC.match(_first_bytes(stream, start) or b"") else _by_warcio
    for nth in count():
        if start is None:
            return
        if nth == _MOST_DAMAGES:
            yield Damage(start, f"given up behind {nth} damages")
            return
        last = start
        try:
            for record in reader(stream, start, max_bytes):
                last = record.offset
                yield record
            return
        except _ReadFailed as failure:
            yield Damage(failure.offset, failure.detail)
            # Where an ARC record ends only its length says, which may be the lie that led astray: look from its start.
            is_sure = reader is _by_fastwarc or _is_gzip(stream, last)
            start = _next_start(stream, (max(last, failure.offset) if is_sure else last) + 1)


class _ReadFailed(Exception):
    """The library under us cannot go on from `offset`."""

    def __init__(self, offset: int, error: BaseException):
        super().__init__(offset, error)
        self.offset = offset
        self.detail = f"{type(error).__name__}: {error}"[:500]


def _by_fastwarc(stream: BinaryIO, start: int, max_bytes: int) -> Iterator[Record]:
    stream.seek(start)
    iterator = iter(WarcIterator(stream, parse_http=False))
    held: Any = None
    held_block: bytes | None = None
    at = start
    while True:
        try:
            found = next(iterator, None)
            block = None
            if found is not None:
                at = found.stream_pos
                block = found.reader.read() if found.content_length <= max_bytes else None
        except BaseException as error:
            # FastWARC's panics are BaseExceptions (facts of pyo3); what the interpreter itself raises goes on.
            if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
                raise
            failed_at = at
            if held is not None and at <= held.stream_pos:
                failed_at = _end_of(stream, held) or at
            if held is not None:
                yield _from_warc(held, held_block, failed_at)
            raise _ReadFailed(failed_at, error) from error
        if found is None:
            end = start if held is None else _end_of(stream, held)
            size = stream.seek(0, 2)
            end = size if end is None else min(end, size)
            if held is not None:
                yield _from_warc(held, held_block, end)
            _expect_end(stream, end)
            return
        if held is not None:
            yield _from_warc(held, held_block, at)
        held, held_block = found, block


def _is_gzip(stream: BinaryIO, offset: int) -> bool:
    stream.seek(offset)
    return stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def _expect_end(stream: BinaryIO, offset: int) -> None:
    """Raises _ReadFailed where a library stopped without a word though there is more behind `offset` than blanks."""
    stream.seek(offset)
    if stream.read(_WINDOW).strip(b"\r\n\0 "):
        raise _ReadFailed(offset, EOFError("no record was found from here on"))


def _end_of(stream: BinaryIO, record: Any) -> int | None:
    """Where a record that could be read ends, as stored: the library that fails behind it has read on by then.

    None where the record has no place of its own, because one gzip member holds many.
    """
    offset: int = record.stream_pos
    if not _starts_record(stream, offset):
        return None
    stream.seek(offset)
    raw = stream.read(_WINDOW)
    if raw.startswith(GZIP_MAGIC):
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        while raw:
            offset += len(raw)
            inflater.decompress(raw)
            if inflater.eof:
                return offset - len(inflater.unused_data)
            raw = stream.read(_WINDOW)
        return offset
    head = _WARC_HEAD.match(raw)
    end: int = offset + (head.end() if head else 0) + record.content_length
    stream.seek(end)
    behind = stream.read(4)
    return end + len(behind) - len(behind.lstrip(b"\r\n"))


def _from_warc(record: Any, block: bytes | None, end: int) -> Record:
    headers, offset = record.headers, record.stream_pos
    return Record(
        kind=headers.get("WARC-Type", "").strip().lower() or "unknown",
        url=headers.get("WARC-Target-URI", "").strip().strip("<>"),
        date=headers.get("WARC-Date", "").strip(),
        record_id=headers.get("WARC-Record-ID", "").strip(),
        offset=offset,
        length=end - offset,
        block=block,
        declared_length=record.content_length,
        says_truncated="WARC-Truncated" in headers,
    )


def _by_warcio(stream: BinaryIO, start: int, max_bytes: int) -> Iterator[Record]:
    stream.seek(start)
    iterator = ArcIterator(stream, no_record_parse=True)
    at = start
    while True:
        try:
            record = next(iterator, None)
            if record is None:
                break
            headers = record.rec_headers
            is_warc = record.format == "warc"
            declared_length = int(headers.get_header("Content-Length" if is_warc else "length") or -1)
            block = _all_of(record.raw_stream) if (record.length or 0) <= max_bytes else None
            offset, length = iterator.get_record_offset(), iterator.get_record_length()
            at = max(start, offset + length)
        except Exception as error:
            raise _ReadFailed(at, error) from error
        yield Record(
            kind=(record.rec_type or "unknown").lower(),
            url=(headers.get_header("WARC-Target-URI" if is_warc else "uri") or "").strip().strip("<>"),
            date=(headers.get_header("WARC-Date" if is_warc else "archive-date") or "").strip(),
            record_id=(headers.get_header("WARC-Record-ID") or "").strip(),
            offset=offset,
            length=length,
            block=block,
            declared_length=declared_length,
            says_truncated=headers.get_header("WARC-Truncated") is not None,
        )
    _expect_end(stream, at)


def _all_of(stream: BinaryIO) -> bytes:
    """Everything to the stream's end; warcio's `read()` without a length gives only what it has at hand."""
    return b"".join(iter(lambda: stream.read(1 << 16), b""))


def _first_bytes(stream: BinaryIO, offset: int) -> bytes | None:
    """The first bytes of the content at an offset, inflated if they are gzip; None where that fails."""
    stream.seek(offset)
    raw = stream.read(4096)
    if not raw.startswith(GZIP_MAGIC):
        return raw
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        first = inflater.decompress(raw, 4096)
    except zlib.error:
        return None
    return first if first or inflater.eof else None


def _starts_record(stream: BinaryIO, offset: int) -> bool:
    first = _first_bytes(stream, offset) or b""
    return first.startswith(b"WARC/") or _ARC_LINE.match(first) is not None


def _next_start(stream: BinaryIO, offset: int) -> int | None:
    """The next offset at which a record begins: a gzip member or a line that reads as a record's first."""
    while True:
        stream.seek(offset)
        window = stream.read(_WINDOW)
        for match in _RECORD_START.finditer(window):
            candidate = offset + match.start()
            if _starts_record(stream, candidate):
                return candidate
        if len(window) < _WINDOW:
            return None
        offset += _WINDOW - _LONGEST_START
