"""One archive file while it is read: its bytes, its limits, and where behind a damage the next record begins."""

import re
from typing import BinaryIO

from dbce_spark.archive.records.buffered_file import WINDOW, BufferedFile, CutFile
from dbce_spark.archive.records.compression import (
    CODED,
    LONGEST_MAGIC,
    Dictionary,
    MemberBroken,
    first_bytes,
    is_coded,
    pieces,
)
from dbce_spark.archive.records.record import Limits
from dbce_spark.archive.records.record_headers import ARC_START, LONGEST_START, WARC_START, starts_record

_MEMBER = re.compile(rb"(?P<coded>" + CODED.pattern + rb")")
_START = re.compile(rb"(?P<coded>" + CODED.pattern + rb")|" + WARC_START + rb"|(?<![^\n])" + ARC_START)
_LEAST_LOOKED_BACK = 64 << 20
"""Bytes that may be read twice, also of the smallest file."""
FOREIGN_BYTES = 64 << 20
"""Bytes of a file, and of what they inflate to, in which its first record is searched: a file without one is none, and
the rest of it is not read."""
_LONGEST_MATCH = 8192
"""Bytes of a match of _START, at most."""


class ArchiveFile:
    """A file's bytes, and two budgets that keep the work on it linear in its size: of bytes that are read twice because
    damage shows only behind them, and of bytes that come out of its members."""

    def __init__(self, stream: BinaryIO, limits: Limits):
        self.file = BufferedFile(stream)
        self.limits = limits
        self.dictionary = Dictionary()
        self.has_records = False
        self.has_members = self.has_plain = False
        """True if compressed members were read, or uncompressed stretches."""
        self.in_arc = False
        """True if the last record was one of an ARC: less is then required of the next one's line."""
        self.is_wary = False
        """True if so many lengths were lies that none counts any more: a block ends where a record begins."""
        self.head_bytes = limits.head_bytes
        """Bytes in which the end of a head is searched."""
        self.clean_again = 16
        """The number of times that the reading of clean members may still be taken up again."""
        self._memberless = self.file.size
        """The place from which on no member begins with a record."""
        self._look_back = _LEAST_LOOKED_BACK + 4 * self.file.size
        self._inflated = 0
        self._unbooked = 1000
        """The number of members that may still be looked into though that cannot be booked; large ones count more."""

    def may_read_again(self, size: int) -> bool:
        """Return whether `size` bytes may be read once more; if so, book them."""
        if size > self._look_back:
            return False
        self._look_back -= size
        return True

    def book_open_head(self, size: int) -> None:
        """Book `size` bytes in which the end of a head was searched, and which are read again. After too many of these
        only short heads are read."""
        if size > LONGEST_START and not self.may_read_again(size):
            self.head_bytes = LONGEST_START

    def is_swollen(self, member: int, at: int, inflated: int) -> bool:
        """Book `inflated` bytes of the member at `member`; return whether more came out of the file up to stored byte
        `at` than may."""
        self._inflated += inflated
        if self._inflated <= self._most_inflated(at):
            return False
        # What is too much is forgiven, so that it costs its own member only: from its beginning on, since a decoder may
        # have been fed more than is its own.
        excess = self._inflated - self._most_inflated(member)
        if self.may_read_again(excess // 16):
            self._inflated -= excess
        return True

    def _most_inflated(self, at: int) -> int:
        """Return how many bytes may have come out of the file up to stored byte `at`."""
        return self.limits.inflated_bytes + self.limits.inflated_ratio * at

    def next_start(self, at: int) -> int:
        """Find the first offset from `at` on at which a record begins, or a member that begins with one; else return
        the size.

        In a file of nothing but members, what reads like a record is the text of a damaged one, as lz4 and zstd may
        leave it; it counts only where no member follows.
        """
        if self.has_members and not self.has_plain and at < self._memberless:
            if (found := self._find(_MEMBER, at)) < self.file.size:
                return found
            self._memberless = at
        return self._find(_START, at)

    def _find(self, start: re.Pattern[bytes], at: int) -> int:
        while at < self.file.size and (self.has_records or at < FOREIGN_BYTES):
            window = self.file.ahead(at, min(WINDOW, 2 * _LONGEST_MATCH))
            is_last = at + len(window) >= self.file.size
            searched = len(window) if is_last else len(window) - _LONGEST_MATCH
            for match in start.finditer(window):
                if match.start() >= searched:
                    break
                if match["coded"] is None or self._member_starts_record(at + match.start()):
                    return at + match.start()
            at += searched
        return self.file.size

    def _member_starts_record(self, at: int) -> bool:
        """Return whether the output of the member at `at` begins with a record. The cost is booked as looking back."""
        if self._unbooked <= 0:
            return False
        most = first_bytes(self.file.read(at, LONGEST_MAGIC))
        part = CutFile(self.file, min(at + most, self.file.size))
        first, spent = b"", 0
        try:
            for out, _, end in pieces(part, at, self.dictionary):
                first, spent = first + out, end - at
                if len(first) >= LONGEST_START:
                    break
        except MemberBroken as broken:
            spent = max(spent, broken.at - at)
        if not self.may_read_again(64 + spent + len(first) // 16):
            self._unbooked -= 1 + spent // _LONGEST_MATCH
            return False
        return starts_record(first)

    def is_coded(self, at: int) -> bool:
        """Return whether a compressed member begins at `at`."""
        return is_coded(self.file.read(at, LONGEST_MAGIC))
