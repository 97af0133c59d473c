"""The frames of zstd as stored (RFC 8878, 3.1): what they begin with, and the heads of their blocks."""

from typing import NamedTuple

MAGIC = b"\x28\xb5\x2f\xfd"
DICTIONARY = b"\x37\xa4\x30\xec"
HEAD = 3
"""Bytes of the head of a block."""


class FrameHead(NamedTuple):
    """The head of a frame: its bytes, and whether a checksum stands behind the last block."""

    size: int
    has_checksum: bool


def frame(descriptor: int) -> FrameHead:
    """Read the head of a frame off its descriptor, the byte behind MAGIC."""
    is_single = bool(descriptor & 0x20)
    sizes = (0, 1, 2, 4)[descriptor & 3], (int(is_single), 2, 4, 8)[descriptor >> 6]
    return FrameHead(len(MAGIC) + 1 + (not is_single) + sum(sizes), bool(descriptor & 0x04))


class BlockHead(NamedTuple):
    """The head of a block. `declared` is the size that it names, `stored` the bytes of all of it."""

    is_last: bool
    is_reserved: bool
    declared: int
    stored: int


def block(head: bytes) -> BlockHead:
    """Read the head of a block."""
    bits = int.from_bytes(head, "little")
    kind, declared = bits >> 1 & 3, bits >> 3
    return BlockHead(bool(bits & 1), kind == 3, declared, HEAD + (1 if kind == 1 else declared))


def is_skippable(data: bytes, at: int) -> bool:
    """Return whether a frame without content begins there."""
    return data[at + 1 : at + 4] == b"\x2a\x4d\x18" and data[at] & 0xF0 == 0x50
