"""Index files of every kind, distinguished by their content: the captures that they name, filtered, with their
places."""

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from io import BytesIO
from typing import BinaryIO

from dbce_spark.archive import zip_head
from dbce_spark.archive.index import cdx, cdxj, wacz_index, zipnum
from dbce_spark.archive.index.archive_paths import UnsafePath, folder_of, locate
from dbce_spark.archive.index.capture_filter import PREFIX, FilterCounts, Selection
from dbce_spark.archive.index.cdx import Parse
from dbce_spark.archive.index.index_entry import IndexEntry, NoEntry
from dbce_spark.archive.index.index_fault import BadLine
from dbce_spark.archive.index.index_lines import LONGEST_LINE, LineFault, head, numbered
from dbce_spark.archive.index.range_reader import PROBE, RangeReader, open_ranges
from dbce_spark.archive.index.zipnum import stretches
from dbce_spark.config import FetchConfig
from dbce_spark.files.sources import READ_AHEAD
from dbce_spark.model import RejectReason

_PARQUET = b"PAR1"
_HEAD = 1 << 16
"""Bytes by which a kind is detected: several lines."""
_BLOCKS = 256
"""Blocks of a cluster whose places are held at once: of 3,000 lines each, as they are made."""
_PART_BYTES = 1 << 16
"""Bytes of a secondary index that are read together: some 600 blocks, or 2 million lines, a minute or two."""

_LONGEST_REMEMBERED = 1024
"""Characters of a file name that is remembered: thousands of longer ones would fill the memory."""


class Kind(StrEnum):
    CDX = "cdx"
    CDXJ = "cdxj"
    ZIPNUM = "zipnum"
    PARQUET = "parquet"
    WACZ = "wacz"


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A part of an index that can be read by itself: a whole file, or lines of the secondary index of a cluster, from
    byte `start` to byte `end`."""

    path: str
    start: int = 0
    end: int = -1  # the whole file


def kind_of(stream: BinaryIO) -> Kind | None:
    """Detect the kind of a file by its first bytes, inflated if they are gzip; None: no index. Leaves the stream at its
    start."""
    first = head(stream, _HEAD)
    if first.startswith(_PARQUET):
        return Kind.PARQUET
    if first.startswith(zip_head.MAGIC):
        return Kind.WACZ
    # The last line is cut off, unless the file is that short.
    lines = first.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()[: -1 if len(first) == _HEAD else None]
    telling = (line for line in lines if line.strip() and not line.startswith("!"))
    line = next(telling, "")
    if zipnum.is_secondary(line):
        return Kind.ZIPNUM
    if cdx.legend_of(line):
        return Kind.CDX
    return next(
        (kind for kind, parse in ((Kind.CDXJ, cdxj.read), (Kind.CDX, cdx.reader())) if _fits(line, parse)), None
    )


def remedy(stream: BinaryIO) -> str:
    """Return what to do with a file that was given as something else and is an index of lines; "" if it is none. Leaves
    the stream at its start."""
    is_index = kind_of(stream) in (Kind.CDX, Kind.CDXJ, Kind.ZIPNUM)
    return "it is an index, which `dbce extract --index` takes" if is_index else ""


def _fits(line: str, parse: Parse) -> bool:
    try:
        return parse(line) is not None
    except NoEntry:
        return False


def read_entries(
    paths: Sequence[str], base: str, selection: Selection, config: FetchConfig, counts: FilterCounts
) -> Iterator[IndexEntry | BadLine]:
    """Read the entries of index files that the filters pass, each with its `path`, and the lines that are none.

    `base` is the folder or URL that file names are relative to; "": that of the index itself. A WACZ has its own. Every
    line that is read is counted in `counts`: read = selected + skipped + faults. Shards of a ZipNum cluster are read
    through the secondary index that names them, and not again by themselves.
    """
    for part in list_parts(paths, selection, config):
        yield from read_part(part, base, selection, config, counts)


def read_part(
    part: IndexPart, base: str, selection: Selection, config: FetchConfig, counts: FilterCounts
) -> Iterator[IndexEntry | BadLine]:
    """Read the entries of one part, as `read_entries`."""
    return _Reading(base, selection, config, counts).part(part)


def list_parts(paths: Sequence[str], selection: Selection, config: FetchConfig) -> Iterator[IndexPart]:
    """Cut index files into parts that can be read in parallel. Clusters are cut where filters may pass."""
    for path in without_shards(paths, config):
        try:
            with open_ranges(path, config, PROBE) as stream:
                if kind_of(stream) is not Kind.ZIPNUM:
                    yield IndexPart(path)
                    continue
                for start, end in stretches(stream, stream.seek(0, 2), selection.prefixes):
                    yield from (IndexPart(path, *lines) for lines in _pieces(stream, start, end))
        except (OSError, zipfile.BadZipFile):
            yield IndexPart(path)  # whoever reads it says so


def _pieces(stream: BinaryIO, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut the bytes from `start` to `end` into ranges of whole lines."""
    while start < end:
        stream.seek(min(start + _PART_BYTES, end) - 1)
        stream.readline(LONGEST_LINE)
        behind = min(stream.tell(), end)
        yield start, behind
        start = behind


def without_shards(paths: Sequence[str], config: FetchConfig) -> list[str]:
    """Leave out the paths that a secondary index among them names; the others keep their order."""
    shards: set[str] = set()
    if len(paths) < 2:
        return list(paths)
    for path in paths:
        try:
            with open_ranges(path, config, PROBE) as stream:
                if kind_of(stream) is Kind.ZIPNUM:
                    shards.update(_shards(stream, folder_of(path)))
        except (OSError, zipfile.BadZipFile):
            continue  # whoever reads it says so
    return [path for path in paths if path not in shards]


def _shards(stream: BinaryIO, folder: str) -> Iterator[str]:
    named: str | None = None
    for _, line in numbered(stream):
        if isinstance(line, LineFault):
            continue
        named = zipnum.meta_shard(line) or named
        try:
            yield locate(zipnum.block_of(line, named).shard, folder)
        except (NoEntry, UnsafePath):
            continue


@dataclass(frozen=True, slots=True)
class _Reading:
    """One pass over indexes."""

    base: str
    selection: Selection
    config: FetchConfig
    counts: FilterCounts

    def part(self, part: IndexPart) -> Iterator[IndexEntry | BadLine]:
        """Read the selected entries of one index of any kind, or of lines of a cluster's."""
        path = part.path
        try:
            kind = self._kind(path)
            if kind is Kind.WACZ:
                for index in wacz_index.indexes(path, lambda outer: open_ranges(outer, self.config, PROBE)):
                    # Its file names mean its own archives, whatever the base of other indexes.
                    yield from self._entries(index, self._kind(index), wacz_index.archives_of(index))
            elif kind is Kind.ZIPNUM:
                yield from self._cluster(part)
            else:
                yield from self._entries(path, kind, self.base or folder_of(path))
        except (OSError, zipfile.BadZipFile) as error:
            yield self._fault(path, 0, RejectReason.INDEX_UNREADABLE, f"{type(error).__name__}: {error}"[:500])

    def _kind(self, path: str) -> Kind | None:
        with open_ranges(path, self.config, PROBE) as stream:
            return kind_of(stream)

    def _entries(self, path: str, kind: Kind | None, folder: str) -> Iterator[IndexEntry | BadLine]:
        """Read the entries of a file that is one index by itself; a fault where it is something else and not empty."""
        with open_ranges(path, self.config, PROBE if kind is Kind.PARQUET else READ_AHEAD) as stream:
            if kind is Kind.PARQUET:
                yield from self._rows(stream, path, folder)
            elif kind in (Kind.CDX, Kind.CDXJ):
                yield from self._lines(stream, path, kind, folder)
            elif stream.read(1):
                yield self._fault(path, 0, RejectReason.NOT_AN_INDEX, f"begins with {head(stream, 60)!r}")

    def _lines(self, stream: BinaryIO, path: str, kind: Kind, folder: str) -> Iterator[IndexEntry | BadLine]:
        parse = cdxj.read if kind is Kind.CDXJ else cdx.reader()
        for number, line in numbered(stream):
            try:
                if isinstance(line, LineFault):
                    raise NoEntry(str(line))
                # A byte order mark before the first line is not part of it.
                entry = parse(line.removeprefix("\ufeff") if number == 1 else line) if line.strip() else None
            except NoEntry as error:
                yield self._fault(path, number, RejectReason.BROKEN_INDEX_LINE, str(error))
                continue
            if entry is not None:
                yield from self._kept(entry, path, number, folder)

    def _rows(self, stream: BinaryIO, path: str, folder: str) -> Iterator[IndexEntry | BadLine]:
        from dbce_spark.archive.index import columnar_index  # only here: it takes pyarrow with it

        for found in columnar_index.read(stream, path, self.selection):
            if isinstance(found, columnar_index.PushedDown):
                self.counts.read += found.rows
                self.counts.skipped.update({PREFIX + "index": found.rows} if found.rows else {})
            elif isinstance(found, BadLine):
                yield self._fault(found.path, found.line, found.fault, found.detail)
            else:
                yield from self._kept(found, path, -1, folder)

    def _cluster(self, part: IndexPart) -> Iterator[IndexEntry | BadLine]:
        """Read by range the blocks of a cluster in which selected lines may lie."""
        blocks: list[zipnum.Block] = []
        for block in self._blocks(part):
            if isinstance(block, BadLine):
                yield block
            else:
                blocks.append(block)
                if len(blocks) == _BLOCKS:
                    yield from self._inflated(blocks, part.path)
                    blocks = []
        yield from self._inflated(blocks, part.path)

    def _blocks(self, part: IndexPart) -> Iterator[zipnum.Block | BadLine]:
        path = part.path
        with open_ranges(path, self.config, PROBE) as stream:
            shard: str | None = None
            last = stream.seek(0, 2) if part.end < 0 else part.end
            for start, end in [(0, 0), (part.start, last)]:
                stream.seek(start)
                # The first line of all may name the shard; it sorts before every key.
                while stream.tell() < max(end, 1) and (raw := stream.readline(_HEAD)):  # it may have become shorter
                    line = raw.decode("utf-8", "replace").rstrip("\r\n")
                    named = zipnum.meta_shard(line)
                    shard = named or shard
                    if end == 0 or named or not line or line.startswith("!"):
                        continue
                    try:
                        yield zipnum.block_of(line, shard)
                    except NoEntry as error:
                        yield self._fault(path, -1, RejectReason.BROKEN_INDEX_LINE, f"{error}: {line[:60]!r}")

    def _inflated(self, blocks: Sequence[zipnum.Block], index: str) -> Iterator[IndexEntry | BadLine]:
        """Read the entries of blocks. File names in a shard are relative to the folder of the secondary index."""
        for group in zipnum.join_blocks(blocks, self.config.span_bytes):
            start, end = group[0].offset, group[-1].offset + group[-1].length
            try:
                path = locate(group[0].shard, folder_of(index))
            except UnsafePath as error:
                yield self._fault(index, -1, RejectReason.UNSAFE_PATH, str(error))
                continue
            if end - start > self.config.span_bytes:
                detail = f"a block of {end - start} bytes; fetch.span_bytes is {self.config.span_bytes}"
                yield self._fault(index, -1, RejectReason.BROKEN_INDEX_LINE, detail)
                continue
            with RangeReader(path, self.config) as ranges:
                data, detail = ranges.read(start, end - start)
            if detail or len(data) < end - start:
                detail = detail or f"the shard ends before byte {end}"
                yield self._fault(f"{path}@{start}", 0, RejectReason.INDEX_UNREADABLE, detail)
                continue
            stream = BytesIO(data)
            kind = kind_of(stream)
            if kind in (Kind.CDX, Kind.CDXJ):
                yield from self._lines(stream, f"{path}@{start}", kind, self.base or folder_of(index))
            else:
                yield self._fault(f"{path}@{start}", 0, RejectReason.NOT_AN_INDEX, f"begins with {data[:24]!r}")

    def _kept(self, entry: IndexEntry, path: str, line: int, folder: str) -> Iterator[IndexEntry | BadLine]:
        if self.counts.takes(entry, self.selection):
            try:
                yield replace(entry, path=_located(entry.filename, folder))
            except UnsafePath as error:
                self.counts.selected -= 1
                self.counts.read -= 1
                yield self._fault(path, line, RejectReason.UNSAFE_PATH, str(error))

    def _fault(self, path: str, line: int, fault: RejectReason, detail: str) -> BadLine:
        self.counts.read += 1
        self.counts.faults[str(fault)] += 1
        return BadLine(path, line, fault, detail)


_remembered_path = lru_cache(maxsize=4096)(locate)


def _located(filename: str, folder: str) -> str:
    return _remembered_path(filename, folder) if len(filename) <= _LONGEST_REMEMBERED else locate(filename, folder)
