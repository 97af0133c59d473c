"""The first bytes of a packed state: what it is the state of, and the version of its layout."""

import struct

from dbce_spark.errors import OutputError

_HEAD = struct.Struct("<8sH")


def pack(magic: bytes, version: int) -> bytes:
    """Pack the head of a state; `magic`, eight bytes, stands for its kind."""
    return _HEAD.pack(magic, version)


def unpack(data: bytes, magic: bytes, version: int, kind: str) -> bytes:
    """Return what stands behind the head of a state of this kind, which is named for people: "a site".

    Raises:
        OutputError: the state is of another kind or version.
    """
    found, found_version = _HEAD.unpack(data[: _HEAD.size].ljust(_HEAD.size, b"\0"))
    if found != magic or found_version != version:
        raise OutputError(
            f"the state of {kind} is of version {found_version if found == magic else 'unknown'}, this program has"
            f" {version}: go on with the program that began the stream, or begin it anew with another --output"
        )
    return data[_HEAD.size :]
