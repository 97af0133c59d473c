"""Parquet files with a checksum for each page, which is verified whenever these are read here."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from dbce_spark.files import storage


def part_name(number: int) -> str:
    """Name one of the files of a table, as Spark names its own."""
    return f"part-{number:05}.parquet"


class ParquetWriter:
    """A writer of batches to one Parquet file, in row groups of the same size however the batches came.

    Rows wait until their row group is full. Where those that wait have more than `bytes_per_group`, they are written as
    a part of it; its parts together have as many rows as another. `held_bytes` is the size of the rows that wait.
    """

    def __init__(
        self,
        stream: BinaryIO,
        schema: pa.Schema,
        *,
        dictionary: Sequence[str] | bool,
        rows_per_group: int,
        bytes_per_group: float,
    ):
        self._writer = pq.ParquetWriter(
            stream, schema, compression="zstd", use_dictionary=dictionary, write_page_checksum=True
        )
        self._schema = schema
        self._rows_per_group, self._bytes_per_group = rows_per_group, bytes_per_group
        self._missing_rows = rows_per_group
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self.held_bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add a batch, and write the row groups that are full."""
        self._pending.append(batch)
        self._pending_rows += batch.num_rows
        self.held_bytes += batch.nbytes
        while self._pending_rows >= self._missing_rows:
            self._flush(self._missing_rows)
            self._missing_rows = self._rows_per_group
        if self.held_bytes > self._bytes_per_group:
            self._missing_rows -= self._pending_rows
            self._flush(self._pending_rows)

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
        self._missing_rows = self._rows_per_group

    def _flush(self, rows: int) -> None:
        table = pa.Table.from_batches(self._pending, self._schema)
        self._writer.write_table(table.slice(0, rows), row_group_size=rows)
        self._pending, self._pending_rows = table.slice(rows).to_batches(), table.num_rows - rows
        self.held_bytes = sum(batch.nbytes for batch in self._pending)


@contextmanager
def writer(
    path: str,
    schema: pa.Schema,
    *,
    dictionary: Sequence[str] | bool,
    rows_per_group: int,
    bytes_per_group: float = math.inf,
) -> Iterator[ParquetWriter]:
    """Open a Parquet file for writing batches, which appears when it is whole. `dictionary` names the columns whose
    values repeat."""
    with storage.atomic_file(path) as stream:
        file = ParquetWriter(
            stream,
            schema,
            dictionary=dictionary,
            rows_per_group=rows_per_group,
            bytes_per_group=bytes_per_group,
        )
        try:
            yield file
        except BaseException:
            file.abandon()
            raise
        file.close()


def row_groups(file: pq.ParquetFile, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Iterate over the row groups of a file that begin within some of its rows: the number of each, and of its first
    row."""
    first = 0
    for number in range(file.metadata.num_row_groups):
        if start <= first < stop:
            yield number, first
        first += file.metadata.row_group(number).num_rows


def count_rows(paths: Iterable[str]) -> int:
    """Count the rows of some Parquet files by their ends."""
    rows = 0
    for path in paths:
        with reader(path) as file:
            rows += file.metadata.num_rows
    return rows


UNREADABLE = (OSError, ValueError, KeyError, pa.ArrowException)
"""Exceptions by which a file shows that it is damaged, or no Parquet."""


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
def reader(path: str) -> Iterator[CheckedParquetFile]:
    """Open a Parquet file for reading."""
    with fsspec.open(path, "rb") as stream, CheckedParquetFile(stream, page_checksum_verification=True) as file:
        yield file


def write(
    path: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, dictionary: Sequence[str] | bool = True
) -> None:
    """Write batches as one Parquet file."""
    with writer(path, schema, dictionary=dictionary, rows_per_group=1024) as file:
        for batch in batches:
            file.write(batch)
