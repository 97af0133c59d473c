"""A compressed member that is inflated further than it is read, so that damage is known before what it has changed."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dbce_spark.archive.records.archive_file import ArchiveFile
from dbce_spark.archive.records.buffered_file import BufferedFile, CutFile
from dbce_spark.archive.records.compression import MemberBroken, pieces
from dbce_spark.archive.records.record import Cause, Flaw
from dbce_spark.archive.records.record_headers import LONGEST_START

_AHEAD = 8 << 20
"""Bytes, stored and inflated, that a member is inflated ahead: a smaller one is known as sound before it is read."""
_PIECE_BYTES = 130
"""Bytes that a piece takes in memory beside its content: a decoder may give a million of one byte."""


@dataclass(frozen=True, slots=True)
class Break:
    """The end of what can be inflated of a broken member, and of all that is read of its stretch."""

    stop: int
    """Stored byte behind all that could be inflated."""
    next: int
    """The place at which reading goes on: that of the next record, or the end of the file."""
    cause: Cause
    detail: str
    flaw: Flaw | None
    """The flaw of the records that end behind `sound` ..."""
    sound: int
    """... bytes of the member's content, which were read before the damage showed."""


class CheckedMember:
    """The content of the member at `at`, read forward."""

    def __init__(self, archive: ArchiveFile, at: int, mark: Callable[[], int]):
        """Begin to inflate a member. `mark` returns the stored byte at which the record begins that is being read."""
        self.at = at
        self.broken: Break | None = None
        """Set before the first content comes out that may be damaged."""
        self._archive = archive
        self._mark = mark
        self._source = pieces(archive.file, at, archive.dictionary)
        self._ahead: deque[tuple[bytes, int, int]] = deque()
        self._ahead_bytes = 0
        self._first = b""
        self._given = 0
        self._is_over = False

    def first(self) -> bytes:
        """Return the first LONGEST_START bytes of the content, or more; fewer only if it has no more. It is asked for
        before `content`."""
        while not self._is_over and len(self._first) < LONGEST_START:
            self._pull()
        return self._first

    def content(self) -> Iterator[tuple[bytes, int]]:
        """Iterate over the content in pieces, each with the stored byte behind what it came from."""
        while True:
            while not self._is_over and self._ahead_bytes <= _AHEAD:
                self._pull()
            if not self._ahead:
                return
            out, start, end = self._ahead.popleft()
            self._ahead_bytes -= _PIECE_BYTES + len(out) + end - start
            self._given += len(out)
            yield out, end

    def _pull(self) -> None:
        try:
            out, start, end = next(self._source)
            if self._archive.is_swollen(self.at, end, len(out)):
                self._break_swollen(start)
                return
        except StopIteration:
            self._end()
            return
        except MemberBroken as broken:
            self._break(broken)
            return
        self._hold(out, start, end)

    def _hold(self, out: bytes, start: int, end: int) -> None:
        self._ahead.append((out, start, end))
        self._ahead_bytes += _PIECE_BYTES + len(out) + end - start
        if len(self._first) < LONGEST_START:
            self._first += out

    def _break(self, broken: MemberBroken) -> None:
        """End the member where it is damaged.

        Where it was cut short, its decoder has run on into the next one, perhaps far: so the next start is looked for
        from the first stored byte on of which nothing was read yet, and the member inflated again up to there.
        """
        archive, earliest = self._archive, self._earliest()
        if archive.may_read_again(max(0, broken.at - earliest)):
            following = archive.next_start(earliest)
            if following < broken.at or not broken.is_cut:
                broken = self._inflate_again(CutFile(archive.file, following), broken)
        else:
            broken = self._inflate_again(archive.file, broken)
            following = archive.next_start(max(broken.at, earliest))
        flaw, detail = (Flaw.CUT if broken.is_cut else Flaw.DAMAGED), broken.detail
        if broken.is_cut and following < archive.file.size:
            detail = f"a compressed member is cut: the next record begins at byte {following}"
        self._end(Break(min(broken.at, following), following, Cause.BROKEN, detail, flaw, self._given))

    def _break_swollen(self, at: int) -> None:
        """End the member where more came out of it than may."""
        archive, earliest = self._archive, self._earliest()
        looks_back = earliest < at and archive.may_read_again(at - earliest)
        following = archive.next_start(earliest if looks_back else max(at, earliest))
        while self._ahead and self._ahead[-1][2] > following:  # of the next member
            self._ahead.pop()
        detail = f"more than {archive.limits.inflated_ratio} bytes out of each"
        self._end(Break(min(at, following), following, Cause.SWOLLEN, detail, None, self._given))

    def _end(self, at: Break | None = None) -> None:
        """End the member. The bytes behind its last content, such as a checksum, are of the last record in it."""
        self.broken, self._is_over = at, True
        while len(self._ahead) > 1 and not self._ahead[-1][0]:
            _, _, end = self._ahead.pop()
            out, start, _ = self._ahead.pop()
            self._ahead.append((out, start, end))

    def _earliest(self) -> int:
        """Return the first stored byte at which the next record may begin: behind what was read. The one that is being
        read does not begin once more."""
        return max(self._ahead[0][1] if self._ahead else self.at, self._mark()) + 1

    def _inflate_again(self, file: BufferedFile, before: MemberBroken) -> MemberBroken:
        """Inflate the member once more, as far as possible, and hold what was not read yet; return how that ended."""
        self._ahead.clear()
        self._ahead_bytes, self._first = 0, b""
        given, stop = self._given, self.at
        try:
            for out, start, stop in pieces(file, self.at, self._archive.dictionary, before):
                if given < len(out) or not given:
                    self._hold(out[given:], start, stop)
                given = max(0, given - len(out))
        except MemberBroken as broken:
            return broken
        return MemberBroken(stop, before.detail)  # one decoder took what another did not
