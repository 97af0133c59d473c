"""The head of a file in a zip, behind which its bytes lie (APPNOTE.TXT 4.3.7)."""

import struct
from typing import BinaryIO
from zipfile import BadZipFile

MAGIC = b"PK\x03\x04"
_FIELDS = struct.Struct("<4s5H3I2H")
SIZE = _FIELDS.size
"""Bytes of a head, before the name and the extra field."""


def find_content(stream: BinaryIO, offset: int) -> int:
    """Find the place of the bytes of the file whose head is at an offset.

    Raises:
        BadZipFile: none is there.
    """
    stream.seek(offset)
    head = stream.read(SIZE)
    if len(head) < SIZE or not head.startswith(MAGIC):
        raise BadZipFile(f"no file begins at {offset}")
    *_, name, extra = _FIELDS.unpack(head)
    return offset + SIZE + int(name) + int(extra)
