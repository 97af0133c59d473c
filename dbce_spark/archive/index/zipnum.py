"""ZipNum clusters: gzip blocks of CDX lines, and a secondary index of the first line of each block.

A line of the secondary index is "key date TAB shard TAB offset TAB length TAB number" (Common Crawl's cluster.idx,
pywb), or 'key date {"offset": ..., "length": ..., "filename": ...}' (WACZ, whose "!meta" line names the one shard).
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from dbce_spark.archive.index.index_entry import NoEntry
from dbce_spark.archive.index.sorted_file import behind, first_not_before, line_before

_TABBED = re.compile(r"(\S+ \d+)\t([^\t]+)\t(\d{1,18})\t(\d{1,18})(?:\t\d+)?")
_OBJECT = re.compile(r"(\S+ \d+) (\{.*\})")
_OF_CAPTURES = ('"url"', '"mime"', '"status"')
"""Fields of lines of CDXJ, of which one or the other is left out; a block has none of them."""
_BEYOND = 10**18
"""Bytes that no file has."""


@dataclass(frozen=True, slots=True)
class Block:
    """A range of a shard, which inflates to lines the first of which begins with `first`."""

    first: str
    shard: str
    offset: int
    length: int


def meta_shard(line: str) -> str | None:
    """Return the shard that a "!meta" line names; None: it is no such line, or names none."""
    if not line.startswith("!meta"):
        return None
    try:
        named = json.loads(line[line.index("{") :]).get("filename")
    except (ValueError, AttributeError, RecursionError):
        return None
    return named if isinstance(named, str) else None


def block_of(line: str, shard: str | None) -> Block:
    """Parse the block that a line describes; `shard` is for lines that name none.

    Raises:
        NoEntry: it describes none.
    """
    if found := _TABBED.fullmatch(line):
        return Block(found[1], found[2], int(found[3]), int(found[4]))
    if found := _OBJECT.fullmatch(line):
        try:
            fields = json.loads(found[2])
            named, offset, length = fields.get("filename", shard), int(fields["offset"]), int(fields["length"])
            if isinstance(named, str) and 0 <= offset < _BEYOND and 0 <= length < _BEYOND:
                return Block(found[1], named, offset, length)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            pass
    raise NoEntry("not a line of a secondary index")


def is_secondary(line: str) -> bool:
    """Return whether a file with this line is a secondary index."""
    try:
        block_of(line, "")
    except NoEntry:
        return False
    return "\t" in line or not any(name in line for name in _OF_CAPTURES)


def stretches(stream: BinaryIO, size: int, prefixes: Sequence[str]) -> list[tuple[int, int]]:
    """Find the stretches of a sorted secondary index whose blocks may hold lines with a prefix.

    (offset of the first line, offset behind the last), in order, none overlapping. Without prefixes: all of it. Reads
    some 25 places of the file for each prefix, whatever its size.
    """
    if not prefixes:
        return [(0, size)]
    found: list[tuple[int, int]] = []
    for prefix in sorted(prefixes):
        low = prefix.encode()
        # The lines may begin in the block before the first one that begins with them.
        start = line_before(stream, first_not_before(stream, size, low))
        end = first_not_before(stream, size, behind(prefix).encode())
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return [(start, end) for start, end in found if start < end]


def join_blocks(blocks: Sequence[Block], most_bytes: int) -> Iterator[list[Block]]:
    """Group blocks that lie one behind the other in one shard, up to `most_bytes` together."""
    group: list[Block] = []
    for block in blocks:
        is_next = group and block.shard == group[-1].shard and block.offset == group[-1].offset + group[-1].length
        if group and not (is_next and block.offset + block.length - group[0].offset <= most_bytes):
            yield group
            group = []
        group.append(block)
    if group:
        yield group
