"""Write lines to compressed files of bounded size, whose names and bytes follow from the lines alone."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from gzip import GzipFile
from itertools import groupby
from operator import itemgetter
from typing import Any

import zstandard

from dbce_spark.export.export_settings import ExportSettings
from dbce_spark.files import storage

Lines = Sequence[bytes]
"""One document: a line for each file of the shard, the document's own first."""

_BUFFER = 1 << 20
"""Bytes handed to a compressor at once: lines alone would be a call each."""


def write(documents: Iterable[Lines], paths: Callable[[int], Sequence[str]], settings: ExportSettings) -> None:
    """Write documents in shards: `paths` gives the files of the shard of a number, from 0, one for each of its lines.

    A shard has as many documents as together are at most `shard_bytes` large, and one at least.
    """
    for number, of_shard in groupby(_numbered(documents, settings.shard_bytes), key=itemgetter(0)):
        with ExitStack() as opened:
            files = [opened.enter_context(_compressed(path, settings)) for path in paths(number)]
            for _, lines in of_shard:
                for file, line in zip(files, lines, strict=True):
                    file.write(line)


def _numbered(documents: Iterable[Lines], shard_bytes: int) -> Iterator[tuple[int, Lines]]:
    """Number documents by the shard that each is in."""
    number, held = 0, 0
    for lines in documents:
        size = len(lines[0])
        if held and held + size > shard_bytes:
            number, held = number + 1, 0
        held += size
        yield number, lines


@contextmanager
def _compressed(path: str, settings: ExportSettings) -> Iterator[io.BufferedWriter]:
    """Open a whole file to write through a compressor that records neither the time, the machine nor the file's
    name."""
    with storage.atomic_file(path) as raw:
        compressor: Any
        if settings.compression == "zst":
            compressor = zstandard.ZstdCompressor(settings.zstd_level).stream_writer(raw, closefd=False)
        else:
            compressor = GzipFile("", "wb", settings.gzip_level, raw, mtime=0)
        with compressor, io.BufferedWriter(compressor, _BUFFER) as buffered:
            yield buffered
