"""The lines of an index file, numbered, in bounded memory: plain or gzip by their first bytes, whatever the name."""

import zlib
from collections.abc import Generator, Iterator
from typing import BinaryIO

from dbce_spark.archive.records.compression import GZIP_MAGIC, WITH_GZIP_HEAD

_CHUNK = 1 << 18
LONGEST_LINE = 1 << 20
"""Bytes. URLs of 64 KB exist, and a line may hold two; beyond this it is no index."""


class LineFault(ValueError):
    """A line that is too long, or bytes that cannot be inflated."""


def numbered(stream: BinaryIO) -> Iterator[tuple[int, str | LineFault]]:
    """Iterate over (number from 1, line without its end), from the stream's start. A line with a fault is that fault in
    its place.

    Behind a broken gzip member the next one is searched; its lines are numbered on.
    """
    number = 0
    rest = b""
    is_skipping = False  # the rest of a line that is too long already
    for chunk in inflated(stream):
        if isinstance(chunk, LineFault):
            number += 1
            yield number, chunk
            rest, is_skipping = b"", False
            continue
        *whole, rest = (rest + chunk).split(b"\n")
        if is_skipping and whole:
            del whole[0]
            is_skipping = False
        for line in whole:
            number += 1
            yield number, _text(line)
        if is_skipping:
            rest = b""
        elif len(rest) > LONGEST_LINE:
            number += 1
            yield number, _too_long(rest)
            rest, is_skipping = b"", True
    if rest and not is_skipping:
        yield number + 1, _text(rest)


def _text(line: bytes) -> str | LineFault:
    if len(line) > LONGEST_LINE:
        return _too_long(line)
    return line.rstrip(b"\r").decode("utf-8", "replace")


def _too_long(line: bytes) -> LineFault:
    return LineFault(f"a line of more than {LONGEST_LINE} bytes: begins with {line[:60]!r}")


def inflated(stream: BinaryIO) -> Iterator[bytes | LineFault]:
    """Inflate the bytes from the stream's start, gzip members one behind the other; a fault for each broken one."""
    stream.seek(0)
    raw = stream.read(_CHUNK)
    if not raw.startswith(GZIP_MAGIC):
        while raw:
            yield raw
            raw = stream.read(_CHUNK)
        return
    while raw:
        raw = yield from _member(stream, raw)


def _member(stream: BinaryIO, raw: bytes) -> Generator[bytes | LineFault, None, bytes]:
    """Inflate one gzip member that `raw` begins with, read on from the stream. Returns the bytes that the next begins
    with."""
    inflater = zlib.decompressobj(WITH_GZIP_HEAD)
    while True:
        try:
            made = inflater.decompress(raw, _CHUNK)
        except zlib.error as error:
            yield LineFault(f"broken gzip: {error}")
            return _from_next_member(stream, raw[1:])
        if made:
            yield made
        if inflater.eof:
            return _behind(stream, inflater.unused_data)
        raw = inflater.unconsumed_tail or stream.read(_CHUNK)
        if not raw and not made:
            yield LineFault("broken gzip: ends in the middle")
            return b""


def _behind(stream: BinaryIO, raw: bytes) -> bytes:
    """Return the bytes behind a member, its padding of zeros passed over."""
    raw = raw.lstrip(b"\0")
    while not raw and (more := stream.read(_CHUNK)):
        raw = more.lstrip(b"\0")
    if 0 < len(raw) < len(GZIP_MAGIC):
        raw += stream.read(_CHUNK)
    return raw


def _from_next_member(stream: BinaryIO, raw: bytes) -> bytes:
    """Return the bytes from the next gzip member on; b"" if there is none."""
    while raw:
        found = raw.find(GZIP_MAGIC)
        if found >= 0:
            return raw[found:]
        kept = raw[-(len(GZIP_MAGIC) - 1) :]
        more = stream.read(_CHUNK)
        if not more:
            return b""
        raw = kept + more
    return b""


def head(stream: BinaryIO, size: int) -> bytes:
    """Read the first bytes of a file, inflated if they are gzip; b"" where that fails. Leaves the stream at its
    start."""
    made = b""
    for chunk in inflated(stream):
        if isinstance(chunk, LineFault):
            break
        made += chunk
        if len(made) >= size:
            break
    stream.seek(0)
    return made[:size]
