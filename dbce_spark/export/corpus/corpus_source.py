"""Read the extractions of an output with the columns of their duplicates, some rows at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dbce_spark.errors import OutputError
from dbce_spark.export.corpus.corpus_filters import SEGMENT_FIELDS, probability
from dbce_spark.output import output_reader, stored_rows
from dbce_spark.output.collection import DUPLICATES, EXTRACTIONS, REMARKED
from dbce_spark.output.output_reader import Output, OutputPart, TableFile
from dbce_spark.output.schemas import duplicate_rows

MARKS = ("duplicate_of", "similarity", "same_url", "copy_of", "repeats")
"""Columns that are taken from the table of duplicates."""
PROBABILITY = "probability"
COUNTED = ("site", "status", "language", "text_words")
"""Columns that the account of a corpus counts."""
_ROWS = 256
"""Rows held at once. With all columns some 200 KB each, most of it segments."""


@dataclass(frozen=True, slots=True)
class CorpusSource:
    """A finished output: its run.json, its files by site part, as a site's rows are all in one, and its columns, as
    they are stored and as they are read here.

    `remarked` has the marks that increments of a collection give anew to captures of earlier ones: by the capture, the
    number of the last such increment, and its marks. They are held, some 500 bytes each.
    """

    run: dict[str, Any]
    parts: list[OutputPart]
    stored: pa.Schema
    schema: pa.Schema
    remarked: Mapping[str, tuple[int, dict[str, Any]]]

    def batches(self, file: TableFile, gone: Set[str], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the rows of a file, except those of the captures that are gone, with COUNTED and these
        columns.

        Raises:
            OutputError: the file of duplicates is of another run.
        """
        with ExitStack() as opened:
            marks = opened.enter_context(stored_rows.opened(file.marks)) if file.marks else None
            beside = None if marks is None else _Marks(file, marks, self.remarked)
            for batch in stored_rows.batches([file.path], self._read(columns), rows=_ROWS):
                yield output_reader.without_captures(_completed(batch, columns, beside), gone)

    def _read(self, columns: Sequence[str]) -> list[str]:
        """List the stored columns to read: of the segments only the needed fields, unless `columns` has them; of a
        corpus without them the probability."""
        named = ["capture_id", *COUNTED, *columns, *MARKS]
        found = [name for name in dict.fromkeys(named) if name in self.stored.names]
        if "segments" in columns or "segments" not in self.stored.names:
            return found
        return [*(name for name in found if name != PROBABILITY), *(f"segments.{one}" for one in SEGMENT_FIELDS)]


def open_source(root: str, version: int | None = None) -> CorpusSource:
    """Open the output in a folder, local or in an object store, or a version of the collection there.

    Raises:
        OutputError: there is no run.json that can be read, or no extractions, or a part is missing.
        InputError: there is no such version.
    """
    found = output_reader.open_output(root, version)
    found.check()
    parts = found.parts()
    if not parts:
        raise OutputError(f"{root} has no {EXTRACTIONS}; run `dbce extract` again")
    stored = found.schema()
    schema = _schema(stored, has_marks=_has_marks(found))
    return CorpusSource(dict(found.run), parts, stored, schema, _remarked(found))


def _remarked(found: Output) -> dict[str, tuple[int, dict[str, Any]]]:
    return {
        row.pop("capture_id"): (run.number, row)
        for run in found.runs
        for batch in stored_rows.batches([*run.tables[REMARKED].values()], ["capture_id", *MARKS], rows=_ROWS)
        for row in batch.to_pylist()
    }


def _has_marks(found: Output) -> bool:
    """Return True if each run has compared its texts with others."""
    return all(run.tables[DUPLICATES] or not _has_rows(run.tables[EXTRACTIONS].values()) for run in found.runs)


def _has_rows(files: Iterable[str]) -> bool:
    for path in files:
        with stored_rows.opened(path) as file:
            if file.metadata.num_rows:
                return True
    return False


def _schema(stored: pa.Schema, *, has_marks: bool) -> pa.Schema:
    """Build the schema of the extractions, with the marks of duplicates and the probability."""
    marks = [duplicate_rows.DUPLICATES.field(name) for name in MARKS if name not in stored.names] if has_marks else []
    own = [field for field in stored if field.name != PROBABILITY]
    has_probability = not {"segments", PROBABILITY}.isdisjoint(stored.names)
    return pa.schema([*own, *marks, *([pa.field(PROBABILITY, pa.float64())] if has_probability else [])])


class _Marks:
    """The rows of a file of duplicates, which are those of the extractions that have a text, in the same order. Marks
    of later increments replace them."""

    def __init__(self, file: TableFile, marks: pq.ParquetFile, remarked: Mapping[str, tuple[int, dict[str, Any]]]):
        self._file, self._remarked = file, remarked
        self._batches = marks.iter_batches(_ROWS, columns=["capture_id", *MARKS], use_threads=False)
        self._next = duplicate_rows.DUPLICATES.empty_table().select(["capture_id", *MARKS])

    def of(self, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        """Read the marks of some extractions; null for those without a text.

        Raises:
            OutputError: the marks are not those of the extractions.
        """
        has_text = pc.greater(batch.column("text_words"), 0).to_numpy(zero_copy_only=False)
        count = int(has_text.sum())
        while self._next.num_rows < count and (some := next(self._batches, None)) is not None:
            self._next = pa.concat_tables([self._next, pa.Table.from_batches([some]).cast(self._next.schema)])
        own, self._next = self._next.slice(0, count), self._next.slice(count)
        if own.column("capture_id").to_pylist() != batch.column("capture_id").filter(pa.array(has_text)).to_pylist():
            raise OutputError(
                f"{self._file.marks} does not belong to {self._file.path}; run `dbce extract --overwrite` again"
            )
        if self._remarked:
            own = pa.Table.from_pylist([self._now(row) for row in own.to_pylist()], schema=own.schema)
        rows = pa.array(np.cumsum(has_text) - 1, mask=~has_text)
        return {name: own.column(name).combine_chunks().take(rows) for name in MARKS}

    def _now(self, row: dict[str, Any]) -> dict[str, Any]:
        number, anew = self._remarked.get(row["capture_id"], (0, row))
        return row | anew if number > self._file.number else row


def _completed(batch: pa.RecordBatch, columns: Sequence[str], beside: _Marks | None) -> pa.RecordBatch:
    """Add marks and probability to a batch, and drop the segments unless `columns` has them."""
    found = {name: batch.column(name) for name in batch.schema.names}
    if "segments" in found:
        found[PROBABILITY] = pa.array(probability(found["segments"]), pa.float64())
    if beside is not None:
        found |= beside.of(batch)
    if "segments" not in columns:
        found.pop("segments", None)
    for name in MARKS:
        found.setdefault(name, pa.nulls(len(batch), duplicate_rows.DUPLICATES.field(name).type))
    return pa.RecordBatch.from_pydict(found)
