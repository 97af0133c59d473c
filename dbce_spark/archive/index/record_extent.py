"""Find the end of a record whose length the index does not give: CDX of nine fields."""

import re
import zlib

import zstandard

from dbce_spark.archive import zstd_frame
from dbce_spark.archive.records.compression import GZIP_MAGIC, WITH_GZIP_HEAD

_FED = 1 << 16
"""Bytes that are inflated at a time: zlib copies what is left of them for each _INFLATED that come out."""
_INFLATED = 1 << 20
_LONGEST_HEAD = 1 << 20
"""Bytes in which the head of a plain record ends."""
_WARC_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,15})[ \t]*\r{0,3}$", re.IGNORECASE | re.MULTILINE)
_ARC_LENGTH = re.compile(rb"[^\n]* (\d{1,15})\r{0,3}\n")


class NoRecord(ValueError):
    """The bytes begin with nothing whose end can be found."""


def end_of(data: bytes) -> int | None:
    """Return the bytes of the record that `data` begins with, as stored: a gzip member, a zstd frame, or a plain (W)ARC
    record.

    None: it goes on behind `data`.

    Raises:
        NoRecord: it begins with none of these.
    """
    if data.startswith(GZIP_MAGIC):
        return _gzip_end(data)
    if data.startswith(zstd_frame.MAGIC):
        return _zstd_end(data)
    if data.startswith(b"WARC/"):
        return _plain_end(data, re.search(rb"\n\r{0,3}\n", data), _WARC_LENGTH, 4)
    return _plain_end(data, re.search(rb"\n", data), _ARC_LENGTH, 1)


def _gzip_end(data: bytes) -> int | None:
    inflater = zlib.decompressobj(WITH_GZIP_HEAD)
    for at in range(0, len(data), _FED):
        fed = rest = data[at : at + _FED]
        while rest and not inflater.eof:
            try:
                inflater.decompress(rest, _INFLATED)
            except zlib.error as error:
                raise NoRecord(f"broken gzip: {error}") from error
            rest = inflater.unconsumed_tail
        if inflater.eof:
            return at + len(fed) - len(inflater.unused_data)
    return None


def _zstd_end(data: bytes) -> int | None:
    """Walk the blocks of a frame by their headers (RFC 8878, 3.1.1), without inflating them."""
    if len(data) < 18:
        return None
    try:
        at = zstandard.frame_header_size(data)
        has_checksum = zstandard.get_frame_parameters(data).has_checksum
    except zstandard.ZstdError as error:
        raise NoRecord(f"broken zstd: {error}") from error
    is_last = False
    while not is_last:
        if len(data) < at + zstd_frame.HEAD:
            return None
        is_last, is_reserved, _, stored = zstd_frame.block(data[at : at + zstd_frame.HEAD])
        if is_reserved:
            raise NoRecord("broken zstd: a block of the reserved kind")
        at += stored
    at += 4 if has_checksum else 0
    return at if at <= len(data) else None


def _plain_end(data: bytes, head: re.Match[bytes] | None, length: re.Pattern[bytes], blanks: int) -> int | None:
    """Find the end of a record with its length in its head, and up to `blanks` bytes of line ends behind it."""
    if head is None:
        if len(data) > _LONGEST_HEAD:
            raise NoRecord(f"no record: begins with {data[:24]!r}")
        return None
    declared = length.search(data[: head.end()])
    if declared is None:
        raise NoRecord(f"no record, or none that says its length: begins with {data[:24]!r}")
    end = head.end() + int(declared[1])
    if len(data) < end + blanks:
        return None
    behind = data[end : end + blanks]
    return end + len(behind) - len(behind.lstrip(b"\r\n"))
