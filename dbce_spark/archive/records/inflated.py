"""The inflated content of a stretch of an archive, and the stored bytes that each of its bytes came from."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dbce_spark.archive.records.archive_file import FOREIGN_BYTES, ArchiveFile
from dbce_spark.archive.records.checked_member import Break, CheckedMember
from dbce_spark.archive.records.record import Cause, Flaw
from dbce_spark.archive.records.record_headers import LONGEST_START, first_start, starts_record

_FIRST_PLAIN_STEP, _PLAIN_STEP = 1 << 14, 1 << 18
"""Bytes of an uncompressed stretch that are read at once, at first and later: one between two damages may be shorter
than a record."""
_KEPT = 1 << 16
"""Bytes already read up to which a buffer is not cut: a cut copies what is left of it."""
_SEARCHED = 1 << 16
"""Bytes in which a start is searched at once: all that is at hand may be a thousand times as much."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Content [start, end), which came from stored bytes [stored, stored_end) of the member at `member`."""

    start: int
    end: int
    stored: int
    stored_end: int
    member: int
    member_start: int
    """The place in the content at which the member's begins."""

    def at(self, place: int) -> int:
        """Return the stored byte of a place in the span."""
        if place == self.end:
            return self.stored_end
        return self.stored + (place - self.start) * (self.stored_end - self.stored) // (self.end - self.start)


class InflatedContent:
    """The content of an uncompressed stretch, or of compressed members one behind the other, read forward.

    Places are offsets of content, from 0 where the stretch begins. A member whose content begins with a record is a
    `barrier`: whatever length a record before it declares, it ends there. Members that begin otherwise continue the
    record before them (BGZF, pigz).
    """

    def __init__(self, archive: ArchiveFile, at: int):
        self._archive = archive
        self.is_plain = not archive.is_coded(at)
        archive.has_plain = archive.has_plain or self.is_plain
        archive.has_members = archive.has_members or not self.is_plain
        self.stop = at
        """Stored byte behind all that was taken in so far."""
        self.next = at
        """The place at which reading goes on behind this stretch; beyond `stop` if there is a damage between."""
        self.failure = ""
        self.cause = Cause.BROKEN
        self.at = 0
        """The place of the next byte to be read; what lies in front of the record there is forgotten."""
        self._base = 0
        self._buffer = b""
        self._spans: list[_Span] = []
        self._barriers: list[int] = []
        self._is_over = False
        self._mark = at
        self._broken: Break | None = None
        self._sound_end = sys.maxsize
        """The place behind which content is of a broken member."""
        self._source = self._plain(at, 0) if self.is_plain else self._members(at, 0)

    # -- reading

    def begin(self) -> None:
        """Begin a record at `at`: the content in front is dropped, and a barrier here is passed."""
        self._mark = self.stored(self.at)
        self._let_go()

    def has(self, size: int) -> bool:
        """Return whether `size` bytes are there from `at` on, in front of the next barrier."""
        end = self.at + size
        if end > self._base + len(self._buffer) and not self._barriers:
            self._pull(end)
        return end <= self._end()

    def peek(self, size: int) -> bytes:
        """Return the next bytes, `size` of them or as many as there are in front of the next barrier."""
        self.has(size)
        start = self.at - self._base
        return self._buffer[start : min(start + size, self._end() - self._base)]

    def take(self, size: int) -> bytes:
        """Return the next bytes as `peek`, and go behind them."""
        taken = self.peek(size)
        self.at += len(taken)
        return taken

    def pass_over(self, size: int) -> int:
        """Go on by `size` bytes, or to the next barrier, without keeping them; return how many they were."""
        start = self.at
        while self.at - start < size and self.has(1):
            self.at = min(self._end(), start + size)
            if self.is_plain and self.at < start + size and not self._is_over:
                self._jump(start + size)
            self._forget()
        return self.at - start

    def find_start(self, is_arc: bool | None) -> bool:
        """Go on to the next line that begins a record, or to the next barrier; return whether there is such a line."""
        while True:
            text = self.peek(min(max(LONGEST_START, self._end() - self.at), _SEARCHED))
            found = first_start(text, is_arc)
            if found is not None:
                self.at += found
                return True
            if not self.has(len(text) + 1):
                self.at += len(text)
                return False
            self.at += max(0, len(text) - LONGEST_START)
            self._forget()
            if not self._archive.has_records and self.at > FOREIGN_BYTES:
                self.end_here()
                return False

    def rewind(self, member: tuple[int, int], place: int) -> bool:
        """Go back to a place whose content may be dropped, by inflating its member again; return whether that may be
        done, and the member had as much.

        Of a broken member less may be accepted the second time. Never stops in front of `place`.
        """
        stored, start = member
        if not self._archive.may_read_again(self.stop - stored + (self.at - start) // 16):
            return False
        self._restart(stored, start)
        while self.at < place and self.has(1):
            self.at = min(place, self._end())
            self._let_go()  # the record is the same one: behind its start the search for the next begins
        is_there, self.at = self.at == place, place
        return is_there

    def end_here(self) -> None:
        """End the stretch at `at`."""
        self.stop = self.next = self.stored(self.at)
        self._is_over = True
        self._buffer = self._buffer[: self.at - self._base]
        self.failure = ""

    def damage(self, end: int) -> Break | None:
        """Return the break of the member that content up to the place `end` is in, if it may have changed that."""
        return self._broken if end > self._sound_end else None

    @property
    def is_damaged(self) -> bool:
        """Return whether the stretch ended in a member whose records are flawed."""
        return bool(self.failure) and self._broken is not None and self._broken.flaw is Flaw.DAMAGED

    @property
    def is_at_barrier(self) -> bool:
        return bool(self._barriers) and self._barriers[0] == self.at

    # -- places

    def stored(self, place: int) -> int:
        """Return the stored byte that content from `place` on came from.

        It is exact in plain bytes and where a member begins; between the steps of a decoder it is by proportion.
        """
        for span in self._spans:
            if span.start <= place < span.end:
                return span.at(place)
        return self._spans[-1].stored_end if self._spans else self.stop

    def stored_end(self, place: int) -> int:
        """Return the stored byte behind content that ends at `place`; members without content that follow are not
        included."""
        for span in self._spans:
            if span.start < place <= span.end:
                return span.at(place)
        return self._spans[0].stored if self._spans else self.stop

    def member(self, place: int) -> tuple[int, int]:
        """Return the member that holds content at `place`: its stored byte, and where in the content it begins."""
        for span in self._spans:
            if span.start <= place < span.end:
                return span.member, span.member_start
        return self.stop, place

    # -- filling

    def _end(self) -> int:
        return self._barriers[0] if self._barriers else self._base + len(self._buffer)

    def _let_go(self) -> None:
        while self._barriers and self._barriers[0] <= self.at:
            del self._barriers[0]
        self._forget()

    def _forget(self) -> None:
        if self.at - self._base > max(_KEPT, len(self._buffer) // 2):
            self._buffer = self._buffer[self.at - self._base :]
            self._base = self.at
        if len(self._spans) > 1 and self._spans[1].end < self.at:
            self._spans = [span for span in self._spans if span.end >= self.at]

    def _restart(self, stored: int, place: int) -> None:
        self.stop = self.next = stored
        self.failure, self._is_over = "", False
        self._broken, self._sound_end = None, sys.maxsize
        self._buffer, self._base, self.at = b"", place, place
        self._spans, self._barriers = [], []
        self._source = self._plain(stored, place) if self.is_plain else self._members(stored, place)

    def _jump(self, place: int) -> None:
        """Go on in a plain stretch without reading the bytes between, not beyond the file's end."""
        last = self._spans[-1]
        stored = min(last.stored_end + place - last.end, self._archive.file.size)
        self._restart(stored, last.end + stored - last.stored_end)
        self._spans = [_Span(self.at, self.at, stored, stored, stored, self.at)]

    def _pull(self, end: int) -> None:
        parts = [self._buffer] if self._buffer else []
        have = self._base + len(self._buffer)
        while have < end and not self._is_over and not self._barriers:
            try:
                part = next(self._source)
            except StopIteration:
                self._is_over = True
                break
            if part is None:
                self._barriers.append(have)
                break
            span, out = part
            self._append(span)
            self.stop = self.next = span.stored_end
            if out:
                parts.append(out)
            have += len(out)
        self._buffer = b"".join(parts)  # no copy of a single part

    def _append(self, span: _Span) -> None:
        """Add a span. Members without content, of which a file may be full, are one together."""
        last = self._spans[-1] if self._spans else None
        if last is not None and last.start == last.end == span.end:
            span = replace(span, stored=last.stored)
            self._spans.pop()
        self._spans.append(span)

    def _plain(self, at: int, start: int) -> Iterator[tuple[_Span, bytes]]:
        file, step = self._archive.file, _FIRST_PLAIN_STEP
        while at < file.size:
            out = file.read(at, step)
            step = min(2 * step, _PLAIN_STEP)
            yield _Span(start, start + len(out), at, at + len(out), at, start), out
            at, start = at + len(out), start + len(out)

    def _members(self, at: int, start: int) -> Iterator[tuple[_Span, bytes] | None]:
        """Inflate members in pieces of LONGEST_START bytes and more, with None in front of one that begins with a
        record, unless it is the first."""
        archive, is_first = self._archive, True
        while at < archive.file.size and archive.is_coded(at):
            member = CheckedMember(archive, at, lambda: self._mark)
            if not is_first and starts_record(member.first()):
                yield None
            member_start, held, held_at = start, b"", at
            for out, end in member.content():
                held, at = held + out, end
                if len(held) > LONGEST_START:
                    self._note(member, member_start)
                    yield _Span(start, start + len(held), held_at, at, member.at, member_start), held
                    start, held, held_at = start + len(held), b"", at
            self._note(member, member_start)
            if held or member.broken is None:
                yield _Span(start, start + len(held), held_at, at, member.at, member_start), held
                start += len(held)
            if member.broken is not None:
                self.failure, self.cause = member.broken.detail, member.broken.cause
                self.stop, self.next = member.broken.stop, member.broken.next
                return
            is_first = False

    def _note(self, member: CheckedMember, member_start: int) -> None:
        """Note where the content of a broken member begins that may be damaged, before it is read."""
        if member.broken is not None:
            self._broken, self._sound_end = member.broken, member_start + member.broken.sound
