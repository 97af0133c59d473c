"""Write the rows of one part of a batch of a stream to the files that it has of each table, and count them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import pyarrow as pa

from dbce_spark.files import parquet
from dbce_spark.output.schemas import reject_rows, stream_rows
from dbce_spark.streaming.stream.arrival import Row
from dbce_spark.streaming.stream.outcomes import LABELS, LATE_LABELS, REJECTS, REPEATS

SCHEMAS: Mapping[str, pa.Schema] = {
    LABELS: stream_rows.LABELS,
    LATE_LABELS: stream_rows.LATE_LABELS,
    REPEATS: stream_rows.REPEATS,
    REJECTS: pa.schema([*reject_rows.REJECTS, pa.field("file_no", pa.int64())]),
}
_DIGEST_BYTES = 6
"""So that the sum of those of any batch is a whole number in 64 bits."""
_ROWS_PER_GROUP, _BYTES_PER_GROUP = 1024, 64 << 20
"""Size of a row group: as many rows, or fewer where they have more bytes, wait to be written."""
_REPEATING = [
    "mime",
    "charset",
    "charset_source",
    "declared_language",
    "warc_file",
    "domain",
    "node",
    "stage",
    "reason",
]


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """The rows of each file that a task has written, the counts of what is in them, and the sum of the digests of the
    rows of each file. What goes past the state has none: a reject may have other words when it is made again."""

    files: Counter[str]
    counts: Counter[str]
    digests: Counter[str]


def folder(table: str, batch: int) -> str:
    """Return the folder of a batch's files of a table, in the output. With leading zeros DuckDB would read the number
    as text."""
    return f"{table}/batch={batch}"


class CountedPart:
    """The files that one part of the state adds to the tables of a batch, named and counted: of a batch that is
    committed none is written again."""

    def __init__(self, batch: int, part: int):
        self._batch, self._part = batch, part
        self.rows: Counter[str] = Counter()
        """Rows of each file, by its path in the output."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        """Do nothing: nothing is held."""

    def path(self, table: str) -> str:
        """Return the path in the output of the file of a table."""
        return f"{folder(table, self._batch)}/{parquet.part_name(self._part)}"

    def write(self, table: str, rows: Sequence[Row]) -> None:
        self.rows[self.path(table)] += len(rows)


class StreamPart(CountedPart):
    """The files that are written, too: one for each table that has rows.

    They are there when the block ends well, whole, and replace what another attempt has written.
    """

    def __init__(self, output: str, batch: int, part: int):
        super().__init__(batch, part)
        self._output = output
        self._open_files = ExitStack()
        self._files: dict[str, parquet.ParquetWriter] = {}

    def __exit__(self, *raised: Any) -> None:
        self._open_files.__exit__(*raised)

    def write(self, table: str, rows: Sequence[Row]) -> None:
        schema = SCHEMAS[table]
        if table not in self._files:
            names = [name for name in _REPEATING if name in schema.names]
            path = f"{self._output}/{self.path(table)}"
            self._files[table] = self._open_files.enter_context(
                parquet.writer(
                    path,
                    schema,
                    dictionary=names,
                    rows_per_group=_ROWS_PER_GROUP,
                    bytes_per_group=_BYTES_PER_GROUP,
                )
            )
        self._files[table].write(_batch(rows, schema))
        super().write(table, rows)


def _batch(rows: Sequence[Row], schema: pa.Schema) -> pa.RecordBatch:
    """Build a record batch of rows; columns that a row does not have are null."""
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def row_digest(*parts: bytes) -> int:
    """Return a digest of a row, given as bytes; those of rows in any order have one sum."""
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return int.from_bytes(digest.digest(), "big")
