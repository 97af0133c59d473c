"""Files that may not be read, also where tests run as root."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_VERSION_3 = 0x20080522
_READS_ALL = 0b110
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, by which root passes over modes."""


@contextmanager
def forbidden(path: Path) -> Iterator[None]:
    """Take all permissions of a file or folder within the block, and from root what passes over them."""
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        with _without_power():
            yield
    finally:
        path.chmod(mode)


@contextmanager
def _without_power() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    libc, header, held = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, held) == 0
    left = (ctypes.c_uint32 * 6)(held[0] & ~_READS_ALL, *held[1:])
    assert libc.capset(header, left) == 0
    try:
        yield
    finally:
        assert libc.capset(header, held) == 0
