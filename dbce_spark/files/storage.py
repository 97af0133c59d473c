"""Output files, which appear under their name only when they are whole, and are on the disk by then.

The pages of Parquet files have checksums, which are verified whenever these are read here.
"""

import errno
import gzip
import lzma
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast
from uuid import uuid4

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.core import url_to_fs

from dbce_spark.errors import DbceError, OutputError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk, quota or limit that is reached: Python gives them no path, as it has only a stream then."""


def list_names(folder: str) -> set[str]:
    """List the names in a folder; none, if there is no such folder.

    Raises:
        OutputError: it is a file, or its storage cannot be reached.
    """
    try:
        filesystem, path = url_to_fs(folder)
        filesystem.invalidate_cache()  # others write there, too
        if filesystem.isfile(path):
            raise OutputError(f"{folder} is a file; give a folder for the output")
        paths = filesystem.ls(path, detail=False) if filesystem.exists(path) else []
    except OutputError:
        raise
    except Exception as error:  # each store has exceptions of its own
        raise OutputError(f"{folder}: cannot be listed: {type(error).__name__}: {error}") from error
    inside = (each.rstrip("/") for each in paths)
    # Some stores have the folder itself among what is in it.
    return {each.rsplit("/", 1)[-1] for each in inside if each != path.rstrip("/")}


def remove(path: str) -> None:
    """Remove a file, or a folder with all that is in it, if it is there."""
    filesystem, inner = url_to_fs(path)
    if filesystem.exists(inner):
        filesystem.rm(inner, recursive=True)


def link(source: Path, target: Path) -> None:
    """Link a file under another name, unless that name is taken; copy it where the file system has no links."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
        sync(target.parent)
    except OSError:
        with atomic_file(str(target)) as copy, source.open("rb") as original:
            shutil.copyfileobj(original, copy)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk: what is said to be done afterwards is."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def sync_folder(folder: Path) -> None:
    """Wait until a folder that another program wrote, with all files below it, is on the disk."""
    for path in (*folder.rglob("*"), folder, folder.parent):
        sync(path)


@contextmanager
def atomic_file(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing that appears when the block ends well, and never in part.

    Locally by a rename; object stores show an object when it is complete.
    """
    if "://" in path:
        yield from _whole_object(path)
        return
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Hidden from readers of the folder, and a name of its own for each attempt at the same file.
    partial = target.with_name(f"_{target.name}.{uuid4().hex}")
    try:
        with partial.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(target)
        sync(target.parent)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            raise OSError(error.errno, error.strerror, path) from error
        raise


def write(path: str, content: bytes) -> None:
    """Write a file that appears when it is whole."""
    with atomic_file(path) as stream:
        stream.write(content)


def _whole_object(path: str) -> Iterator[BinaryIO]:
    """Open an object for writing that appears when the block ends well."""
    filesystem, name = url_to_fs(path)
    stream = filesystem.open(name, "wb", autocommit=False)
    try:
        yield stream
        stream.close()
        stream.commit()
    except BaseException:
        stream.close()
        stream.discard()
        raise


def compressed(stream: BinaryIO, name: str) -> AbstractContextManager[BinaryIO]:
    """Open a stream that writes to another one, compressed if `name` ends in .xz or .gz; the same input gives the same
    bytes."""
    if name.endswith(".xz"):
        return cast(BinaryIO, lzma.open(stream, "wb"))
    if name.endswith(".gz"):
        return cast(BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0))
    return nullcontext(stream)


@contextmanager
def atomic_folder(path: str) -> Iterator[str]:
    """Yield a folder to write files into, which has them when the block ends well; else it is as it was before.

    Locally by a rename. In an object store the files are there one after the other, and removed when the block fails: a
    file that says that all are there has to be the last.

    Raises:
        OutputError: it is not empty, or cannot be written.
    """
    if list_names(path):
        raise OutputError(f"{path}: is not empty; give a new folder, or remove this one")
    is_object = "://" in path
    partial = path if is_object else str(Path(path).with_name(f"_{Path(path).name}.{uuid4().hex}"))
    try:
        if not is_object:
            Path(partial).mkdir(parents=True)
        yield partial
        if not is_object:
            sync_folder(Path(partial))
            Path(partial).replace(path)
            sync(Path(path).parent)
    except DbceError:
        remove(partial)
        raise
    except Exception as error:  # each store has exceptions of its own
        remove(partial)
        raise OutputError(f"{path}: cannot be written: {type(error).__name__}: {error}") from error
    except BaseException:
        remove(partial)
        raise


class ParquetFile:
    """A writer of batches to one Parquet file, in row groups of the same size however the batches came.

    `held_bytes` is the size of the rows that wait for their row group to be full.
    """

    def __init__(self, stream: BinaryIO, schema: pa.Schema, *, dictionary: Sequence[str] | bool, rows_per_group: int):
        self._writer = pq.ParquetWriter(
            stream, schema, compression="zstd", use_dictionary=dictionary, write_page_checksum=True
        )
        self._schema = schema
        self._rows_per_group = rows_per_group
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self.held_bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add a batch, and write the row groups that are full."""
        self._pending.append(batch)
        self._pending_rows += batch.num_rows
        self.held_bytes += batch.nbytes
        while self._pending_rows >= self._rows_per_group:
            self._flush(self._rows_per_group)

    def close(self) -> None:
        """Write the rows that are held, and end the file."""
        self.flush()
        self._writer.close()

    def abandon(self) -> None:
        """Close the file without the rows that are held: pyarrow would do so later, when the stream is gone."""
        self._writer.close()

    def flush(self) -> None:
        """Write the rows that are held as a smaller row group."""
        if self._pending_rows:
            self._flush(self._pending_rows)

    def _flush(self, rows: int) -> None:
        table = pa.Table.from_batches(self._pending, self._schema)
        self._writer.write_table(table.slice(0, rows), row_group_size=rows)
        self._pending, self._pending_rows = table.slice(rows).to_batches(), table.num_rows - rows
        self.held_bytes = sum(batch.nbytes for batch in self._pending)


@contextmanager
def parquet_file(
    path: str, schema: pa.Schema, *, dictionary: Sequence[str] | bool, rows_per_group: int
) -> Iterator[ParquetFile]:
    """Open a Parquet file for writing batches, which appears when it is whole. `dictionary` names the columns whose
    values repeat."""
    with atomic_file(path) as stream:
        file = ParquetFile(stream, schema, dictionary=dictionary, rows_per_group=rows_per_group)
        try:
            yield file
        except BaseException:
            file.abandon()
            raise
        file.close()


def count_rows(paths: Iterable[str]) -> int:
    """Count the rows of some Parquet files by their ends."""
    rows = 0
    for path in paths:
        with open_parquet(path) as file:
            rows += file.metadata.num_rows
    return rows


class CheckedParquetFile(pq.ParquetFile):  # type: ignore[misc]
    """A Parquet file that is read as it was written or not at all: checksums cover its pages, but neither their heads
    nor the file's end. What a disk changed there shows by the number of rows."""

    def iter_batches(
        self, batch_size: int = 1 << 16, row_groups: Sequence[int] | None = None, columns: Any = None, **options: Any
    ) -> Iterator[pa.RecordBatch]:
        """Read as pyarrow does.

        Raises:
            OSError: a checksum is not that of its page, or there are not all rows.
        """
        metadata, rows = self.metadata, 0
        for batch in super().iter_batches(batch_size, row_groups, columns, **options):
            rows += batch.num_rows
            yield batch
        groups = [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]
        expected = metadata.num_rows if row_groups is None else sum(groups[at] for at in row_groups)
        if rows != expected or sum(groups) != metadata.num_rows:
            raise OSError(f"{rows:,} rows can be read of {expected:,}")


@contextmanager
def open_parquet(path: str) -> Iterator[CheckedParquetFile]:
    """Open a Parquet file for reading."""
    with fsspec.open(path, "rb") as stream, CheckedParquetFile(stream, page_checksum_verification=True) as file:
        yield file


def write_parquet(
    path: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, dictionary: Sequence[str] | bool = True
) -> None:
    """Write batches as one Parquet file."""
    with parquet_file(path, schema, dictionary=dictionary, rows_per_group=1024) as file:
        for batch in batches:
            file.write(batch)
