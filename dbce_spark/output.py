"""An output as others read it: which Parquet files each table has, and their rows, a few columns and rows at a time."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.core import url_to_fs

from dbce_spark import sources, store
from dbce_spark.errors import OutputError

TABLES = EXTRACTIONS, CAPTURES, REJECTS = "extractions", "captures", "rejects"
_SITE_PART = re.compile(r"/site_part=(\d+)/")


@dataclass(frozen=True, slots=True)
class Part:
    """The files with all extractions of some sites: those of one `site_part`, by its number."""

    number: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a run has written, or what else has the same tables.

    `run` is what run.json says, `tables` the paths or URLs of the Parquet files of each table, in the order in which
    they are read. `opened` makes one of an output folder.
    """

    root: str
    run: Mapping[str, Any]
    tables: Mapping[str, tuple[str, ...]]

    def parts(self) -> list[Part]:
        """The files of the extractions by site part, in order of its number; a site's rows are all in one part."""
        files: dict[int, list[str]] = defaultdict(list)
        for path in self.tables[EXTRACTIONS]:
            found = _SITE_PART.search(path)
            files[int(found[1]) if found else 0].append(path)
        return [Part(number, tuple(files[number])) for number in sorted(files)]

    def batches(self, table: str, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """Some columns of a table, at most `rows` rows at once; see `batches`."""
        return batches(self.tables[table], columns, rows=rows)


def opened(root: str) -> Output:
    """The finished output in a folder, local or in an object store.

    Raises:
        OutputError: there is no run.json that can be read, or the folder cannot be listed.
    """
    root = root.rstrip("/")
    try:
        filesystem, path = url_to_fs(root)
        run: dict[str, Any] = json.loads(filesystem.cat_file(f"{path.rstrip('/')}/run.json"))
    except Exception as error:  # each store has exceptions of its own
        raise OutputError(
            f"{root}: no run.json that can be read there, so this is no finished output; give the folder that"
            " `dbce extract` wrote, or run it again"
        ) from error
    return Output(root=root, run=run, tables={table: _files(root, table) for table in TABLES})


def _files(root: str, table: str) -> tuple[str, ...]:
    try:
        filesystem, path = url_to_fs(f"{root}/{table}")
        found = [name for name in filesystem.find(path) if _is_visible_parquet(name)]
        return tuple(sorted(filesystem.unstrip_protocol(name) if sources.is_remote(root) else name for name in found))
    except Exception as error:
        raise OutputError(f"{root}/{table}: cannot be listed: {type(error).__name__}: {error}") from error


def _is_visible_parquet(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name.endswith(".parquet") and not name.startswith((".", "_"))


def batches(files: Sequence[str], columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
    """Some columns of some Parquet files of a table, file after file, at most `rows` rows at once.

    A column may be one field of a list of structs: "segments.label". Of a file no more is held than the pages of one
    row group of the columns that are asked for.

    Raises:
        OutputError: a file cannot be read, or lacks a column.
    """
    for path in files:
        with parquet(path) as file:
            yield from file.iter_batches(rows, columns=leaves(path, file, columns), use_threads=False)


@contextmanager
def parquet(path: str) -> Iterator[pq.ParquetFile]:
    """A file of an output. What fails in reading it is an OutputError that names it."""
    try:
        with store.open_parquet(path) as file:
            yield file
    except OutputError:
        raise
    except Exception as error:  # each store has exceptions of its own, and Arrow has some
        raise OutputError(
            f"{path}: cannot be read: {type(error).__name__}: {error}; the output is damaged, make it again"
        ) from error


def leaves(path: str, file: pq.ParquetFile, columns: Sequence[str]) -> list[str]:
    """The Parquet columns behind the names: "segments.label" is stored as "segments.list.element.label".

    Raises:
        OutputError: a name has none.
    """
    found, names = [], set()
    for at in range(len(file.schema)):
        steps = file.schema.column(at).path.split(".")
        asked = {steps[0], f"{steps[0]}.{steps[-1]}"} & set(columns)
        if asked:
            found.append(".".join(steps))
            names |= asked
    if missing := sorted(set(columns) - names):
        raise OutputError(
            f"{path}: has no column {missing[0]}; another version of dbce-spark wrote it, make the output again"
        )
    return found
