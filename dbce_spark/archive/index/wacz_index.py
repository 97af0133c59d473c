"""The indexes inside a WACZ, and the places of its members' bytes in the zip file."""

import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, BinaryIO, cast

from dbce_spark.archive import zip_head
from dbce_spark.files.sources import MEMBER

Opened = Callable[[str], BinaryIO]
"""Opens a file of any storage as a seekable stream."""
_BROKEN = (NotImplementedError, ValueError, struct.error)
"""Errors that `zipfile` raises of a broken directory, beside its own."""


@dataclass(frozen=True, slots=True)
class StoredMember:
    """A member that is not compressed: its bytes are those of `path` from `offset` on, `size` of them."""

    path: str
    offset: int
    size: int


def indexes(path: str, opened: Opened) -> list[str]:
    """List the index files of a WACZ, as paths of members. The secondary index beside a compressed one (.idx) is none.

    Raises:
        OSError, zipfile.BadZipFile: it cannot be read.
    """
    try:
        with opened(path) as stream, zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except _BROKEN as error:
        raise zipfile.BadZipFile(str(error)) from error
    found = sorted(
        name
        for name in names
        if name.startswith("indexes/") and not name.endswith(("/", ".idx")) and ".." not in name.split("/")
    )
    return [f"{path}{MEMBER}{name}" for name in found]


def archives_of(index: str) -> str:
    """Return the folder that the file names of an index inside a WACZ are relative to."""
    return f"{index.rpartition(MEMBER)[0]}{MEMBER}archive"


def find_stored(path: str, opened: Opened) -> StoredMember | None:
    """Find the bytes of a path inside a WACZ; None where they are compressed, or the WACZ is inside another.

    Raises:
        OSError, zipfile.BadZipFile: the WACZ cannot be read.
        FileNotFoundError: it holds no such file.
    """
    outer, _, name = path.rpartition(MEMBER)
    if MEMBER in outer:
        return None
    with opened(outer) as stream, zipfile.ZipFile(stream) as archive:
        member = _info(archive, name, path)
        if member.compress_type != zipfile.ZIP_STORED:
            return None
        return StoredMember(outer, zip_head.find_content(stream, member.header_offset), member.file_size)


def open_member(path: str, opened: Opened) -> BinaryIO:
    """Open a seekable stream of a file in a WACZ, which may lie in another; `opened` opens the outermost.

    Raises:
        OSError, zipfile.BadZipFile: it cannot be read.
    """
    outer, mark, name = path.rpartition(MEMBER)
    if not mark:
        return opened(path)
    stream = open_member(outer, opened)
    try:
        archive = zipfile.ZipFile(stream)
        return cast(BinaryIO, _Member(archive.open(_info(archive, name, path)), stream))
    except BaseException:
        stream.close()
        raise


def _info(archive: zipfile.ZipFile, name: str, path: str) -> zipfile.ZipInfo:
    try:
        return archive.getinfo(name)
    except KeyError as error:
        raise FileNotFoundError(f"{path}: the WACZ holds no {name}") from error


class _Member:
    """A member that closes the file it lies in."""

    def __init__(self, member: IO[bytes], outer: BinaryIO):
        self._member = member
        self._outer = outer
        self.read, self.seek, self.tell = member.read, member.seek, member.tell
        self.seekable, self.readline = member.seekable, member.readline

    def __enter__(self) -> "_Member":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._member.close()
        self._outer.close()
