"""JSON at the head of packed bytes, behind its length; the rest are columns of numbers."""

import json
import struct
from typing import Any

_LENGTH = struct.Struct("<I")


def pack(value: object) -> bytes:
    """Pack what JSON can hold."""
    text = json.dumps(value, separators=(",", ":")).encode()
    return _LENGTH.pack(len(text)) + text


def unpack(data: bytes) -> tuple[Any, int]:
    """Restore what `pack` packed at the start of some bytes; also return how many of them it takes."""
    end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
    return json.loads(data[_LENGTH.size : end]), end
