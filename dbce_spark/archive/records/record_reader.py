"""Read an archive's bytes to records and damages: stretches one behind the other, their content cut into records."""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from dbce_spark.archive import zip_head
from dbce_spark.archive.records import wacz_file
from dbce_spark.archive.records.archive_file import ArchiveFile
from dbce_spark.archive.records.buffered_file import BufferedFile
from dbce_spark.archive.records.compression import GZIP_MAGIC, inflater, is_coded
from dbce_spark.archive.records.inflated import InflatedContent
from dbce_spark.archive.records.record import Cause, Damage, Flaw, Headers, Limits, Record
from dbce_spark.archive.records.record_headers import (
    LONGEST_START,
    Head,
    arc_head,
    could_start,
    first_start,
    head_end,
    warc_head,
)
from dbce_spark.files.sources import MEMBER

_BLANK = b"\r\n\0 \t"
_NOT_BLANK = re.compile(rb"[^\r\n\0 \t]")
_LINE_ENDS = re.compile(rb"[\r\n]{1,8}")
_RECORD_ENDS = {False: re.compile(rb"(?:\r{0,3}\n){2}"), True: re.compile(rb"\r{0,3}\n")}
"""The lines behind the block of a record, by whether it is one of ARC."""
_LAST_LINE_ENDS = re.compile(rb"(?:\r{0,3}\n){1,2}\Z")
# No line is tried twice (a head of nothing but lengths would take the square of them), and memory for each is bounded.
_CLEAN_HEAD = re.compile(
    rb"WARC/[01]\.\d\d?\r\n(?:(?!Content-Length: )[^\n]+\r\n){0,99}"
    rb"Content-Length: (\d{1,15})\r\n(?:[^\n]+\r\n){0,99}\r\n"
)
_MOST_PADDING = 10_240
"""Zeros behind records that are padding: a block of tar, the most that programs fill up to."""
_BEGINNING = 65_536
"""Bytes that are kept of a block that is too large: browsers take no longer HTTP head."""
_FED = 32768
"""Bytes that a decompressor is fed at a time."""
_MOST_WHOLE = 8 << 20
"""Bytes of a member that is inflated in one piece."""


def records(stream: BinaryIO, limits: Limits) -> Iterator[Record | Damage]:
    """Read every record of a seekable stream, and the damages between them, in the stream's order and without a gap.

    The offsets and lengths of what comes out lie side by side from 0 to the stream's size. What follows a damage is
    read from the next compressed member or head of a record on. Of a zip (WACZ) so are the files in it that are
    archives, one behind the other, each with offsets of its own and its name in `within`.

    Raises:
        OSError: the stream cannot be read.
    """
    yield from _records(stream, limits, limits.zip_depth)


def begins_archive(first: bytes) -> bool:
    """Return whether a file that begins with these bytes, a few hundred, may be an archive: records, also compressed,
    or a zip."""
    return first[:4] == zip_head.MAGIC or is_coded(first) or could_start(first, in_arc=False)


def foreign_head(first: bytes, limits: Limits) -> str:
    """Return why a file that begins with these bytes, some hundred thousand, is no archive; "" if it may be one."""
    if not first or first[:4] == zip_head.MAGIC:
        return ""
    part = next(records(io.BytesIO(first), limits))
    return part.detail if isinstance(part, Damage) and part.cause is Cause.FOREIGN else ""


def _records(stream: BinaryIO, limits: Limits, depth: int) -> Iterator[Record | Damage]:
    # Its size is asked for before its first bytes: a buffer loses what it has read when it is sought to the end.
    archive = ArchiveFile(stream, limits)
    is_zip = depth > 0 and archive.file.read(0, 4) == zip_head.MAGIC
    entries = wacz_file.list_members(stream, limits) if is_zip else None
    if entries is None:
        yield from _joined(_all(archive))
        return
    is_foreign = True
    for inner in wacz_file.open_members(stream, entries, limits):
        if inner.stream is not None:
            is_foreign = False
            for part in _records(inner.stream, limits, depth - 1):
                yield replace(part, within=f"{inner.name}{MEMBER}{part.within}" if part.within else inner.name)
        if (damage := inner.damage) is not None:
            is_foreign = is_foreign and damage.cause is Cause.BESIDE
            if is_foreign and not inner.name:  # the zip's own frame, which is the last
                damage = replace(damage, cause=Cause.FOREIGN, detail="a zip without an archive in it")
            yield replace(damage, within=inner.name)


def _all(archive: ArchiveFile) -> Iterator[Record | Damage]:
    at, size = 0, archive.file.size
    while at < size:
        if not _may_start(archive, at):
            blank_end, zeros = _blank_end(archive, at)
            if blank_end > at:
                yield _blank(at, blank_end, zeros)
                at = blank_end
            else:
                behind = archive.next_start(at + 1)
                yield _broken(archive, at, behind)
                at = behind
            continue
        for clean in _clean_members(archive, at):
            yield clean
            at = clean.offset + clean.length
        if at < size and _may_start(archive, at):
            for found in _stretch(archive, at):
                yield found
                at = found.offset + found.length


def _stretch(archive: ArchiveFile, at: int) -> Iterator[Record | Damage]:
    """Read from `at` on as far as possible without searching for the next start, and the bytes in front of that."""
    content, begun = InflatedContent(archive, at), at
    for found in _cut(archive, content, at):
        yield found
        at = found.offset + found.length
    if at < content.stop:
        # A member without content, whole or broken.
        yield Damage(at, content.stop - at, content.cause if content.failure else Cause.BLANK, content.failure)
        at = content.stop
    if at < content.next or content.is_damaged:
        yield Damage(at, content.next - at, content.cause, content.failure)
    elif at == begun:
        yield _broken(archive, at, archive.next_start(at + 1))


def _may_start(archive: ArchiveFile, at: int) -> bool:
    return archive.is_coded(at) or could_start(archive.file.read(at, LONGEST_START), archive.in_arc)


def _broken(archive: ArchiveFile, at: int, behind: int) -> Damage:
    return Damage(at, behind - at, Cause.BROKEN, f"no record: begins with {archive.file.read(at, 24)!r}")


def _blank(at: int, behind: int, zeros: int) -> Damage:
    """Return the line ends and zeros between two places: so many zeros are no padding, but what a crash left of
    records."""
    if zeros > _MOST_PADDING:
        return Damage(at, behind - at, Cause.BROKEN, f"{zeros} zeros")
    return Damage(at, behind - at, Cause.BLANK, "")


def _blank_end(archive: ArchiveFile, at: int) -> tuple[int, int]:
    """Return the place behind the line ends and zeros from `at` on, and the number of zeros, which are padding only
    where records were."""
    zeros = 0
    while at < archive.file.size:
        window = archive.file.ahead(at, 1)
        found = _NOT_BLANK.search(window)
        zeros += bytes(window[: found.start() if found else None]).count(b"\0")
        if not archive.has_records and zeros:
            return at, zeros
        if found:
            return at + found.start(), zeros
        at += len(window)
    return at, zeros


def _joined(parts: Iterator[Record | Damage]) -> Iterator[Record | Damage]:
    """Join damages side by side to one, and mark a file of nothing else as foreign, also an empty one."""
    held: Damage | None = None
    before: Record | None = None
    damaged = 0
    for part in parts:
        if isinstance(part, Damage):
            held = part if held is None else _sum(held, part)
            continue
        if held is not None:
            yield _named(held, before, damaged)
            held, damaged = None, 0
        before = part
        if part.flaw is Flaw.DAMAGED:
            damaged += 1
        yield part
    if held is None and before is None:
        held = Damage(0, 0, Cause.FOREIGN, "the file is empty")
    elif held is not None and before is None:
        held = replace(held, cause=Cause.FOREIGN, detail=f"neither WARC nor ARC; {held.detail or 'nothing in it'}")
    if held is not None:
        yield _named(held, before, damaged)


def _named(damage: Damage, before: Record | None, damaged: int) -> Damage:
    """Name in a damage the record in front that has suffered, and how many have if they are more than one."""
    if before is None or not damage.cause.is_loss or not (before.flaw or before.is_short):
        return damage
    more = f"; it may have changed {damaged} records, of which this is the last" if damaged > 1 else ""
    return replace(damage, detail=damage.detail + more, url=before.url, record_id=before.record_id)


def _sum(first: Damage, second: Damage) -> Damage:
    worse = second if first.cause is Cause.BLANK or (second.cause is Cause.SWOLLEN) else first
    return Damage(first.offset, first.length + second.length, worse.cause, worse.detail, first.content + second.content)


def _clean_members(archive: ArchiveFile, at: int) -> Iterator[Record]:
    """Read the records from `at` on as long as each fills its gzip member, complete and with no byte beside it: the
    common case, with as little work for each as possible."""
    file, most = archive.file, archive.limits.record_bytes
    while True:
        member = _whole_member(file, at)
        if member is None:
            return
        out, length = member
        head = _CLEAN_HEAD.match(out)
        if head is None or archive.is_swollen(at, at, len(out)):
            return
        size, declared = head.end(), int(head[1])
        if declared > most or len(out) != size + declared + 4 or not out.endswith(b"\r\n\r\n"):
            return
        archive.has_records = archive.has_members = True
        archive.in_arc = False
        archive.clean_again += 1
        yield Record(Headers(out[:size]), False, at, length, out[size:-4], declared, at, 0)
        at += length


def _whole_member(file: BufferedFile, at: int) -> tuple[bytes, int] | None:
    """Inflate the gzip member at `at` to its content and stored length; None if it is large, broken or of another
    kind."""
    ahead = file.ahead(at, _FED)
    if ahead[:3] != GZIP_MAGIC:
        return None
    decompressor = inflater()
    fed = ahead[:_FED]
    try:
        content = decompressor.decompress(fed, _MOST_WHOLE)
        if decompressor.eof:
            return content, len(fed) - len(decompressor.unused_data)
        parts, done, room = [content], len(fed), _MOST_WHOLE - len(content)
        while room > 0 and fed and not decompressor.unconsumed_tail:
            fed = file.ahead(at + done, _FED)[:_FED]
            parts.append(decompressor.decompress(fed, room))
            done += len(fed)
            room -= len(parts[-1])
            if decompressor.eof:
                return b"".join(parts), done - len(decompressor.unused_data)
    except Exception:  # isal raises its own, zlib zlib.error; what is wrong is found by reading it with care
        return None
    return None


def _cut(archive: ArchiveFile, content: InflatedContent, at: int) -> Iterator[Record | Damage]:
    """Cut one stretch, which begins at stored byte `at`, into records and damages."""
    content.begin()
    while content.has(1):
        start = content.stored(content.at)
        if start > at:
            yield Damage(at, start - at, Cause.BLANK, "")
            at = start
        head = _head(archive, content)
        if head is None:
            if not content.has(1):
                return  # its member broke as it was looked at, and another was found to begin here
            if content.is_plain:
                content.end_here()
                return
            damage = _passed(content, at)
            yield damage
            at += damage.length
        else:
            record = _record(archive, content, head, at)
            archive.has_records, archive.in_arc = True, record.is_arc
            yield record
            at += record.length
            if content.is_at_barrier and not record.is_arc and archive.clean_again > 0:
                archive.clean_again -= 1
                content.end_here()
                return
        content.begin()


def _passed(content: InflatedContent, at: int) -> Damage:
    """Pass over the bytes in front of the next head or member of a compressed stretch, which begin at stored byte
    `at`."""
    begun, first = content.at, content.peek(24)
    cause, detail = Cause.BROKEN, f"no record: begins with {first!r}"
    if (broken := content.damage(begun + 1)) is not None and broken.flaw is Flaw.DAMAGED:
        detail = broken.detail
    if first[0] in _BLANK:
        cause, detail = Cause.BLANK, ""
        while ahead := content.peek(LONGEST_START):
            found = _NOT_BLANK.search(ahead)
            content.pass_over(found.start() if found else len(ahead))
            if found:
                break
    else:
        content.find_start(None)
    end = content.stored_end(content.at)
    return Damage(at, max(0, end - at), cause, detail, content.at - begun)


def _head(archive: ArchiveFile, content: InflatedContent) -> Head | None:
    """Parse the head at the content's place, which stays; None if none begins there."""
    first = content.peek(LONGEST_START)
    if first[:5].upper() != b"WARC/":
        head = arc_head(first, archive.in_arc)
        if head is None and b"\n" not in first and len(first) == LONGEST_START:
            head = arc_head(content.peek(4 * LONGEST_START), archive.in_arc)
        return head
    end = head_end(first)
    size = LONGEST_START
    while end is None and size < archive.head_bytes and content.has(size):
        size *= 4
        first = content.peek(size)
        end = head_end(first)
    if end is None and content.has(size):
        archive.book_open_head(len(first))
        return None
    # A head that the member or the file ends in has no block, but says what was lost.
    head = warc_head(first if end is None else first[:end])
    if content.is_plain and head is not None and head.declared < 0:
        # Perhaps of the damaged member of a codec that leaves text as it is: no head goes on in the member behind it.
        stored = content.stored(content.at)
        size = min(head.size, archive.next_start(stored + 1) - stored)
        if size < head.size:
            archive.book_open_head(len(first))
        return warc_head(first[:size])
    return head


def _record(archive: ArchiveFile, content: InflatedContent, head: Head, offset: int) -> Record:
    """Read the record whose head was parsed, with all of its block that is there."""
    begun, member = content.at, content.member(content.at)
    if content.is_plain:
        member = (offset, begun)
    content.at += head.size
    beginning = content.peek(_BEGINNING) if head.declared > archive.limits.record_bytes else b""
    block: bytes | None
    if head.declared < 0 or archive.is_wary:
        block = _block_to_next(archive, content, head)
    elif head.declared <= archive.limits.record_bytes:
        block = _block(archive, content, head)
    else:
        block = _large_block(archive, content, head, member)
    flaw = _flaw(archive, content, head, block)
    ends = _LINE_ENDS.match(content.peek(8))
    content.at += ends.end() if ends else 0
    length, inner = max(0, content.stored_end(content.at) - offset), begun - member[1]
    return Record(
        head.headers, head.is_arc, offset, length, block, head.declared, member[0], inner,
        flaw=flaw, beginning=beginning if block is None else b"",
    )  # fmt: skip


def _flaw(archive: ArchiveFile, content: InflatedContent, head: Head, block: bytes | None) -> Flaw | None:
    """Return the flaw of a block that was read, by the member that it is in and by what follows it.

    A member may be cut behind a block of the declared length, if nothing but another record follows: a decoder that is
    led astray gives more.
    """
    broken = content.damage(content.at)
    flaw = broken.flaw if broken else None
    if flaw is Flaw.DAMAGED or head.declared < 0 or (block is not None and len(block) < head.declared):
        return flaw
    if block is not None and _goes_on(archive, content, head.is_arc):
        return Flaw.UNDERSTATED
    if flaw is Flaw.CUT:
        behind = content.peek(LONGEST_START).lstrip(b"\r\n")
        return None if not behind or could_start(behind, archive.in_arc) else Flaw.CUT
    return None


def _block(archive: ArchiveFile, content: InflatedContent, head: Head) -> bytes:
    """Read as many bytes as the head says; fewer where it says too much, and another record begins among them."""
    block = content.take(head.declared)
    if _ends_well(archive, content, len(block) < head.declared):
        return block
    found = _swallowed(content, block, head.is_arc)
    if found is None:
        return block
    swallowed = len(block) - found
    content.at -= swallowed
    archive.is_wary = not archive.may_read_again(swallowed)
    return _without_line_ends(block[:found])


def _swallowed(content: InflatedContent, block: bytes, is_arc: bool) -> int | None:
    """Find where in a block another record begins, though its head may end behind it."""
    found = first_start(block, is_arc)
    if found is not None:
        return found
    edge = max(0, len(block) - LONGEST_START)
    found = first_start(block[edge:] + content.peek(LONGEST_START), is_arc)
    return None if found is None or edge + found >= len(block) else edge + found


def _block_to_next(archive: ArchiveFile, content: InflatedContent, head: Head) -> bytes | None:
    """Read a block of unknown or doubtful length: up to the next record, or member that begins with one."""
    limit = archive.limits.record_bytes
    most = limit if head.declared < 0 else min(limit, head.declared)
    behind: int | None = None
    if content.is_plain:
        stored = content.stored(content.at)
        behind = content.at + archive.next_start(stored) - stored
        most = min(most, behind - content.at)
    size = 1 << 14
    while True:
        block = content.peek(min(size, most))
        found = first_start(block, head.is_arc)
        if found is not None or len(block) < size:
            break
        size *= 4
    if found is not None:
        content.at += found
        return _without_line_ends(block[:found])
    content.at += len(block)
    if len(block) < limit or not content.has(1):
        return _without_line_ends(block) if head.declared < 0 else block
    if behind is not None:
        content.pass_over(behind - content.at)
    else:
        content.find_start(head.is_arc)
    return None


def _large_block(archive: ArchiveFile, content: InflatedContent, head: Head, member: tuple[int, int]) -> bytes | None:
    """Go behind a block that is too large to be kept by its length; return what is there if that is a lie, and this
    small enough."""
    start = content.at
    passed = content.pass_over(head.declared)
    if content.cause is Cause.SWOLLEN:
        return None
    is_whole, is_swallower = passed == head.declared, False
    if not _ends_well(archive, content, not is_whole):
        behind = content.at
        if content.rewind(member, start):
            is_swallower = content.find_start(head.is_arc) and content.at < behind
            if not is_swallower:
                content.rewind(member, behind)
    size = content.at - start
    if (is_whole and not is_swallower) or size > archive.limits.record_bytes or not content.rewind(member, start):
        return None
    block = content.take(size)
    return _without_line_ends(block) if is_swallower else block


def _ends_well(archive: ArchiveFile, content: InflatedContent, is_short: bool) -> bool:
    """Return whether the block is whole, and a record's start or the end of all follows it, line ends apart."""
    if is_short:
        return content.is_at_barrier
    behind = content.peek(LONGEST_START).lstrip(_BLANK)
    return not behind or could_start(behind, archive.in_arc) or (content.is_plain and is_coded(behind))


def _goes_on(archive: ArchiveFile, content: InflatedContent, is_arc: bool) -> bool:
    """Return whether something follows a block that is neither the end of its record nor that of a member, so that its
    length is too small."""
    if _RECORD_ENDS[is_arc].match(content.peek(8)) or _ends_well(archive, content, False):
        return False
    return content.is_plain or content.member(content.at)[1] != content.at


def _without_line_ends(block: bytes) -> bytes:
    ends = _LAST_LINE_ENDS.search(block, max(0, len(block) - 8))
    return block[: ends.start()] if ends else block
