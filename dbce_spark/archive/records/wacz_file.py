"""The files in a WACZ, or in any other zip: which are archives, and how each is read as a stream.

A WACZ keeps its WARCs stored, so that they can be read in place; a deflated one is unpacked to a temporary file first.
No name in a zip is ever used as the name of a file.
"""

import io
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, cast

from dbce_spark.archive import zip_head
from dbce_spark.archive.range_stream import RangeStream
from dbce_spark.archive.records.buffered_file import BufferedFile
from dbce_spark.archive.records.compression import Dictionary, MemberBroken, is_coded, pieces
from dbce_spark.archive.records.record import Cause, Damage, Limits
from dbce_spark.archive.records.record_headers import could_start

_ARCHIVES = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz", ".wacz")
_END = struct.Struct("<4s4H2IH")
_LONGEST_END = _END.size + 0xFFFF
_LOCATOR = 20
_ENTRY = 46
"""Bytes of a file's entry in the directory, at least."""
_FEW = 8192
"""Bytes that show whether a file is an archive."""
_STEP, _MOST_AT_ONCE = 1 << 13, 1 << 20
"""Bytes that go into a decompressor at a time, and that come out of it."""
_IN_MEMORY = 1 << 24
"""Bytes up to which an unpacked file stays in memory."""
_ENCRYPTED = 1
_BROKEN = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, struct.error, ValueError, zlib.error)


@dataclass(frozen=True, slots=True)
class ZipMember:
    """A file of a zip: `stream` if it is an archive (closed behind the next one), and the damage found in it."""

    name: str
    stream: BinaryIO | None
    damage: Damage | None


def list_members(stream: BinaryIO, limits: Limits) -> list[zipfile.ZipInfo] | None:
    """List the files of a zip in the order of their bytes; None where its directory is unreadable, or has too many."""
    if not _is_moderate(stream, limits):
        return None
    try:
        with zipfile.ZipFile(cast(IO[bytes], stream)) as directory:
            return sorted(directory.infolist(), key=lambda entry: entry.header_offset)
    except _BROKEN:
        return None


def open_members(stream: BinaryIO, entries: list[zipfile.ZipInfo], limits: Limits) -> Iterator[ZipMember]:
    """Open each file of a zip, yielding damages for files that are no archives or are refused; then the zip's own
    frame."""
    taken = 0
    with zipfile.ZipFile(cast(IO[bytes], stream)) as directory:
        for entry in entries:
            refusal = _refusal(entry, taken)
            taken = max(taken, entry.header_offset + zip_head.SIZE + entry.compress_size)
            if refusal:
                yield ZipMember(entry.filename or "?", None, Damage(0, entry.compress_size, Cause.BROKEN, refusal))
            elif entry.compress_size or not entry.is_dir():
                yield from _open_member(stream, directory, entry, limits)
    size = stream.seek(0, io.SEEK_END)
    frame = max(0, size - sum(entry.compress_size for entry in entries))
    yield ZipMember("", None, Damage(0, frame, Cause.BESIDE, "heads and directory of the zip"))


def _is_moderate(stream: BinaryIO, limits: Limits) -> bool:
    """Return whether the directory is of a size that may be read, by the end record of the zip."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - _LONGEST_END - 76))
    tail = stream.read(_LONGEST_END + 76)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        return False
    entries, length = _END.unpack_from(tail, at)[4:6]
    large = tail.rfind(b"PK\x06\x06", 0, at)
    # zipfile goes by the larger record wherever its locator is, whatever the other one says.
    if large >= 0 and at - large >= 48 and tail.startswith(b"PK\x06\x07", at - _LOCATOR):
        entries, length = struct.unpack_from("<2Q", tail, large + 32)
    return bool(entries <= limits.zip_files and length <= limits.zip_files * (_ENTRY + 512))


def _refusal(entry: zipfile.ZipInfo, taken: int) -> str:
    name = entry.filename
    if not name:
        return "it has no name"
    if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or ":" in name[:2]:
        return f"its name leaves the zip: {name[:200]!r}"
    if any(ord(letter) < 32 for letter in name):
        return f"control characters in its name: {name[:200]!r}"
    if entry.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if entry.header_offset < taken:
        return "it shares its bytes with another file of the zip"
    return ""


def _open_member(
    stream: BinaryIO, directory: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: Limits
) -> Iterator[ZipMember]:
    name, is_stored = entry.filename, entry.compress_type == zipfile.ZIP_STORED
    try:
        first = _part(stream, entry).read(_FEW) if is_stored else next(_inflated(stream, directory, entry), b"")
    except Exception as error:  # zipfile lets through what each of its decompressors raises
        yield ZipMember(name, None, Damage(0, entry.compress_size, Cause.BROKEN, f"{type(error).__name__}: {error}"))
        return
    if not _is_archive(name, first):
        size = entry.compress_size if is_stored else entry.file_size
        yield ZipMember(name, None, Damage(0, size, Cause.BESIDE, ""))
    elif is_stored:
        yield ZipMember(name, _part(stream, entry), None)
    else:
        with closing(tempfile.SpooledTemporaryFile(_IN_MEMORY)) as unpacked:
            damage = _unpack(_inflated(stream, directory, entry), entry, unpacked, limits)
            yield ZipMember(name, cast(BinaryIO, unpacked), damage)


def _is_archive(name: str, first: bytes) -> bool:
    """Return whether a file is an archive by its bytes; by its name too, so that one with a broken start still
    counts."""
    if name.lower().endswith(_ARCHIVES) or first.startswith(zip_head.MAGIC):
        return True
    if not is_coded(first[:10]):
        return could_start(first, False)
    try:
        out, _, _ = next(pieces(BufferedFile.from_bytes(first), 0, Dictionary()))
    except (MemberBroken, StopIteration):
        return False
    return could_start(out, False)


def _unpack(inflated: Iterator[bytes], entry: zipfile.ZipInfo, target: Any, limits: Limits) -> Damage | None:
    """Write what a file of the zip inflates to into `target`, as far as possible and allowed."""
    most = min(limits.unpacked_bytes, limits.inflated_bytes + limits.inflated_ratio * entry.compress_size)
    done, checksum = 0, 0
    damage = None
    try:
        for part in inflated:
            if done + len(part) > most:
                damage = Damage(done, 0, Cause.SWOLLEN, f"more than {most} bytes")
                break
            target.write(part)
            done += len(part)
            checksum = zlib.crc32(part, checksum)
    except Exception as error:  # zipfile lets through what each of its decompressors raises
        damage = Damage(done, 0, Cause.BROKEN, f"{type(error).__name__}: {error}")
    if damage is None and checksum != entry.CRC:
        damage = Damage(done, 0, Cause.BROKEN, "its checksum is another one")
    target.seek(0)
    return damage


def _inflated(stream: BinaryIO, directory: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Inflate a file in small parts: zipfile gives none of the part in which a damage is."""
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        with directory.open(entry) as opened_entry:
            while part := opened_entry.read(_STEP):
                yield part
        return
    source, decompressor = _part(stream, entry), zlib.decompressobj(-zlib.MAX_WBITS)
    while not decompressor.eof and (fed := source.read(_STEP)):
        while fed:
            yield decompressor.decompress(fed, _MOST_AT_ONCE)
            fed = decompressor.unconsumed_tail
    yield decompressor.flush(_MOST_AT_ONCE)


def _part(stream: BinaryIO, entry: zipfile.ZipInfo) -> BinaryIO:
    start = zip_head.find_content(stream, entry.header_offset)
    if start + entry.compress_size > stream.seek(0, io.SEEK_END):
        raise zipfile.BadZipFile("it is longer than the zip")

    def read(offset: int, length: int) -> bytes:
        stream.seek(start + offset)
        return stream.read(length)

    return cast(BinaryIO, RangeStream(read, entry.compress_size))
