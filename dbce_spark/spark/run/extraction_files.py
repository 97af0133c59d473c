"""The files of `extractions` that one task writes. Needs no PySpark: the plain engine writes the same."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.files import parquet
from dbce_spark.output.collection import EXTRACTIONS
from dbce_spark.output.schemas import extraction_rows
from dbce_spark.spark.engine.merge_tasks import ROWS_PER_GROUP
from dbce_spark.spark.run import single_files

_REPEATING = [
    *("site", "mime", "charset", "charset_source", "warc_file", "status", "template_id", "language"),
    "declared_language",
    *(f"segments.list.element.{name}" for name in ("xpath", "label", "bits", "score", "conflict")),
    *(f"segments.list.element.{name}" for name in ("siblings", "siblings_with", "snapshots", "snapshots_with")),
    *(f"crosses.list.element.{name}" for name in ("bits", "up", "down", "prev", "next")),
]
SCHEMA = extraction_rows.EXTRACTIONS.remove(extraction_rows.EXTRACTIONS.get_field_index("site_part"))
_ROWS_OF_IDS = 1 << 16
HELD_BYTES = 64 << 20
"""Of extractions that wait until they fill a row group: each of `output.site_parts` files has some."""


def write_none(output: str) -> None:
    """Write a file of no rows: readers find their columns."""
    parquet.write(single_files.path(output, f"{EXTRACTIONS}/site_part=0"), SCHEMA, [])


@dataclass(slots=True)
class ExtractionFiles:
    """The files of one task, one for each site part that it has rows of, and those that an increment has beside."""

    output: str
    task: int
    open_files: ExitStack
    by_path: dict[str, parquet.ParquetWriter] = field(default_factory=dict)

    def write_merged(self, merged: pa.RecordBatch) -> None:
        """Write EXTRACTIONS rows, each into the file of its site part."""
        for part in pc.unique(merged.column("site_part")).to_pylist():
            of_part = merged.filter(pc.equal(merged.column("site_part"), part))
            self.write_part(part, of_part.select(SCHEMA.names))

    def write_part(self, site_part: int, rows: pa.RecordBatch) -> None:
        """Write extractions of one site part. Of all parts together no more than HELD_BYTES wait to be written."""
        self._file(f"{EXTRACTIONS}/site_part={site_part}", SCHEMA, _REPEATING, ROWS_PER_GROUP).write(rows)
        while sum(file.held_bytes for file in self.by_path.values()) > HELD_BYTES:
            max(self.by_path.values(), key=lambda file: file.held_bytes).flush()

    def write(self, name: str, rows: pa.RecordBatch) -> None:
        """Write rows of a table that an increment has beside."""
        self._file(name, rows.schema, False, _ROWS_OF_IDS).write(rows)

    def _file(
        self, folder: str, schema: pa.Schema, dictionary: Sequence[str] | bool, rows: int
    ) -> parquet.ParquetWriter:
        if folder not in self.by_path:
            path = f"{self.output}/{folder}/{parquet.part_name(self.task)}"
            file = parquet.writer(path, schema, dictionary=dictionary, rows_per_group=rows)
            self.by_path[folder] = self.open_files.enter_context(file)
        return self.by_path[folder]
