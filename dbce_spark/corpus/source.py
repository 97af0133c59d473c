"""The extractions of an output with what is said of their duplicates, some rows at a time."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from fsspec.core import url_to_fs

from dbce_spark import store, tables
from dbce_spark.corpus.filters import SEGMENT_FIELDS, probability
from dbce_spark.errors import OutputError

EXTRACTIONS, DUPLICATES, RUN_FILE = "extractions", "duplicates", "run.json"
MARKS = ("duplicate_of", "similarity", "same_url", "copy_of", "repeats")
"""Columns that are taken from the table of duplicates."""
PROBABILITY = "probability"
_NEEDED = ("capture_id", "site", "status", "language", "text_words")
_ROWS = 256
"""Rows held at once. With all columns some 200 KB each, most of it segments."""


@dataclass(frozen=True, slots=True)
class File:
    """One file of the extractions: its name below their folder, where it lies, and the file of duplicates beside it; ""
    if there is none."""

    name: str
    path: str
    marks: str


@dataclass(frozen=True, slots=True)
class Source:
    """A finished output: what its run.json says, its files by site part, as a site's rows are all in one, and the
    columns that its rows have here. `has_marks` says whether those of duplicates are among them."""

    run: dict[str, Any]
    parts: list[list[File]]
    schema: pa.Schema

    @property
    def has_marks(self) -> bool:
        return {*MARKS} <= {*self.schema.names}

    def batches(self, file: File, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of a file with the columns that filters need, and these.

        Raises:
            OutputError: the file of duplicates is of another run.
        """
        with ExitStack() as opened:
            stored = opened.enter_context(store.open_parquet(file.path))
            marks = opened.enter_context(store.open_parquet(file.marks)) if file.marks else None
            beside = None if marks is None else _Marks(file, marks)
            for batch in stored.iter_batches(_ROWS, columns=_leaves(stored, columns), use_threads=False):
                yield _completed(batch, columns, beside)


def opened(root: str) -> Source:
    """The output in a folder, local or in an object store.

    Raises:
        OutputError: there is no run.json that can be read, or no extractions.
    """
    root = root.rstrip("/")
    try:
        filesystem, path = url_to_fs(root)
        run: dict[str, Any] = json.loads(filesystem.cat_file(f"{path.rstrip('/')}/{RUN_FILE}"))
        names = {table: _names(root, table) for table in (EXTRACTIONS, DUPLICATES)}
    except Exception as error:  # each store has exceptions of its own
        raise OutputError(
            f"{root}: no {RUN_FILE} that can be read there, so this is no finished output; give the folder that"
            " `dbce extract` wrote, or run it again"
        ) from error
    files = [_file(root, name, names[DUPLICATES]) for name in names[EXTRACTIONS]]
    if not files:
        raise OutputError(f"{root} has no {EXTRACTIONS}; run `dbce extract` again")
    parts = [list(part) for _, part in groupby(files, lambda one: one.name.rpartition("/")[0])]
    return Source(run, parts, _schema(files[0], has_marks=bool(names[DUPLICATES])))


def _schema(file: File, *, has_marks: bool) -> pa.Schema:
    """The columns of the extractions, with what is said of duplicates and their probability."""
    with store.open_parquet(file.path) as opened:
        stored = opened.schema_arrow.remove_metadata()
    marks = [tables.DUPLICATES.field(name) for name in MARKS if name not in stored.names] if has_marks else []
    own = [field for field in stored if field.name != PROBABILITY]
    return pa.schema([*own, *marks, pa.field(PROBABILITY, pa.float64())])


def _names(root: str, table: str) -> list[str]:
    """The Parquet files of a table, below its folder."""
    filesystem, path = url_to_fs(f"{root}/{table}")
    found = [name[len(path) :].strip("/") for name in filesystem.find(path)]
    return sorted(name for name in found if name.endswith(".parquet") and not name.rpartition("/")[2].startswith("_"))


def _file(root: str, name: str, marked: Sequence[str]) -> File:
    # A file without a text among its rows has none beside it, where others have one.
    marks = f"{root}/{DUPLICATES}/{name}" if name in marked else ""
    return File(name, f"{root}/{EXTRACTIONS}/{name}", marks)


def _leaves(file: pq.ParquetFile, columns: Sequence[str]) -> list[str]:
    """The stored columns that are read: of the segments only what is needed, unless they are asked for."""
    stored = set(file.schema_arrow.names)
    found = [name for name in (*_NEEDED, *columns, *MARKS) if name in stored and name != "segments"]
    segments = ["segments"] if "segments" in columns else [f"segments.list.element.{one}" for one in SEGMENT_FIELDS]
    return [*dict.fromkeys(found), *segments]


class _Marks:
    """The rows of a file of duplicates, which are those of the extractions that have a text, in the same order."""

    def __init__(self, file: File, marks: pq.ParquetFile):
        self._file = file
        self._batches = marks.iter_batches(_ROWS, columns=["capture_id", *MARKS], use_threads=False)
        self._next = tables.DUPLICATES.empty_table().select(["capture_id", *MARKS])

    def of(self, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        """The marks of some extractions; null for those without a text."""
        has_text = pc.greater(batch.column("text_words"), 0).to_numpy(zero_copy_only=False)
        count = int(has_text.sum())
        while self._next.num_rows < count and (some := next(self._batches, None)) is not None:
            self._next = pa.concat_tables([self._next, pa.Table.from_batches([some]).cast(self._next.schema)])
        own, self._next = self._next.slice(0, count), self._next.slice(count)
        if own.column("capture_id").to_pylist() != batch.column("capture_id").filter(pa.array(has_text)).to_pylist():
            raise OutputError(
                f"{self._file.marks} does not belong to {self._file.path}; run `dbce extract --overwrite` again"
            )
        rows = pa.array(np.cumsum(has_text) - 1, mask=~has_text)
        return {name: own.column(name).combine_chunks().take(rows) for name in MARKS}


def _completed(batch: pa.RecordBatch, columns: Sequence[str], beside: _Marks | None) -> pa.RecordBatch:
    """A batch with its marks and its probability, and without the segments if nobody asks for them."""
    found = {name: batch.column(name) for name in batch.schema.names}
    found[PROBABILITY] = pa.array(probability(found["segments"]), pa.float64())
    if beside is not None:
        found |= beside.of(batch)
    if "segments" not in columns:
        del found["segments"]
    for name in MARKS:
        found.setdefault(name, pa.nulls(len(batch), tables.DUPLICATES.field(name).type))
    return pa.RecordBatch.from_pydict(found)
