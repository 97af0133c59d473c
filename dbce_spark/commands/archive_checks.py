"""Check the archives that a command is given, before it works."""

import zlib
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO

from dbce_spark.archive.index import index_file
from dbce_spark.archive.records import Limits, foreign_head
from dbce_spark.archive.records.compression import GZIP_MAGIC, WITH_GZIP_HEAD
from dbce_spark.config import DbceConfig
from dbce_spark.errors import InputError
from dbce_spark.files import sources

_HEAD = 1 << 20
"""Bytes by which an archive is distinguished from other files."""
_PEEKED = 1 << 10
"""Bytes that are inflated to see whether they are compressed, too."""


def check_fits(archives: Sequence[str], most: int) -> None:
    """Check that one process can hold all pages of some archives: up to so many stored bytes.

    Raises:
        InputError: they are larger, or their size is not known.
    """
    sizes = {path: _size(path) for path in archives}
    for path, size in sizes.items():
        if size < 0:
            raise InputError(f"{path}: its server does not say how large it is; fetch it to a file, and name that")
    if sum(sizes.values()) > most:
        raise InputError(
            f"{archives[0]}: more than {most:,} bytes of archives (engine.local_bytes of conf/dbce.toml) are too much"
            " at once; run `dbce extract` on them, then `dbce show` and `dbce export` read its output"
        )


def _size(path: str) -> int:
    try:
        return sources.size(path)
    except Exception as error:  # each store has exceptions of its own
        raise InputError(f"{path}: cannot be read: {sources.cause(path, error)}") from error


def check_archives(files: Sequence[str], config: DbceConfig) -> None:
    """Check by their first bytes that there is an archive among local files; a run has a reject for each other one.

    Raises:
        InputError: all of them are something else.
    """
    limits, first = Limits.from_config(config.input), ""
    for path in files:
        lack = _foreign(path, limits)
        if not lack:
            return
        first = first or f"{path}: {lack}"
    if first:
        raise InputError(first)


def _foreign(path: str, limits: Limits) -> str:
    """Return why a file is no archive, and what to do with it; "" if it may be one."""
    if sources.is_remote(path):
        return ""
    try:
        with sources.open_binary(path) as file:
            first = file.read(_HEAD)
    except OSError:  # a run has a reject for it
        return ""
    lack = foreign_head(first, limits)
    return f"{lack}; {_remedy(first)}" if lack else ""


def _remedy(first: bytes) -> str:
    """Return what to do with a file that begins with these bytes, and is no archive."""
    if index := index_file.remedy(BytesIO(first)):
        return index
    with suppress(zlib.error):
        if zlib.decompressobj(WITH_GZIP_HEAD).decompress(first, _PEEKED).startswith(GZIP_MAGIC):
            return "it is compressed twice; decompress it once"
    return "give WARC, ARC or WACZ files, or HTML files to `dbce text`"
