"""An output as others read it, or a collection: which Parquet files each table has, and the rows of theirs that count,
a few columns and rows at a time.

A collection is read as one output: that of all increments of one version, where what a later one says of a capture
stands for what earlier ones said (`output/collection.py`).
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from fsspec.core import url_to_fs

from dbce_spark import storage
from dbce_spark.archive import sources
from dbce_spark.errors import InputError, OutputError
from dbce_spark.model import Reason
from dbce_spark.output import totals
from dbce_spark.output.collection import REMARKED, SUPERSEDED, Collection, Version

TABLES = EXTRACTIONS, CAPTURES, REJECTS = "extractions", "captures", "rejects"
DUPLICATES, RUN_FILE, RUNS = "duplicates", "run.json", "runs"
_KEPT = (*TABLES, DUPLICATES, SUPERSEDED, REMARKED)
_SITE_PART = re.compile(r"(?:^|/)site_part=(\d+)/")
_ID = "capture_id"
_ROWS_OF_IDS = 1 << 16


@dataclass(frozen=True, slots=True)
class File:
    """A file of the extractions: where it lies, a name that no other one has, below their folder, where the file of
    duplicates beside it lies, "" if there is none, and the number of its increment, 0 in an output."""

    path: str
    name: str
    marks: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Layer:
    """Files of some sites that one run wrote, and those that say whose rows of earlier layers they replace."""

    files: tuple[File, ...]
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """All extractions of some sites: those of one `site_part`, by its number. Of an output one layer, of a collection
    one for each increment that has any, the oldest first."""

    number: int
    layers: tuple[Layer, ...]

    def files(self) -> list[File]:
        """Its files, those of the newest layer first: so of the rows of a capture the first is the one that counts."""
        return [file for layer in reversed(self.layers) for file in layer.files]

    def standing(self) -> Iterator[tuple[File, Set[str]]]:
        """Its files in that order, each with the ids of captures whose rows in it do not count, since a later layer
        replaces them. These ids are held, some 100 bytes each: one set, which grows from layer to layer."""
        gone: set[str] = set()
        for at, layer in reversed([*enumerate(self.layers)]):
            for file in layer.files:
                yield file, gone
            if at:
                gone.update(_replaced(layer))

    def batches(self, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """Some columns of the rows that count, at most `rows` at once; see `batches`."""
        for file, gone in self.standing():
            asked = [*dict.fromkeys([*columns, _ID])] if gone else columns
            for batch in batches([file.path], asked, rows=rows):
                if len(left := but(batch, gone)):
                    yield _only(left, asked, columns)


@dataclass(frozen=True, slots=True)
class Written:
    """What one run has written: of each table the files, by their names below its folder, in the order in which they
    are read. `number` is that of an increment; 0: it is an output."""

    number: int
    tables: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a run has written, what else has the same tables, or a version of a collection.

    `run` is what run.json says, `runs` what is there, the oldest first; one but in a collection. `opened` makes one of
    a folder.
    """

    root: str
    run: Mapping[str, Any]
    runs: tuple[Written, ...]

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The paths or URLs of the Parquet files of each table."""
        return {name: tuple(path for run in self.runs for path in run.tables[name].values()) for name in TABLES}

    def parts(self) -> list[Part]:
        """The extractions by site part, in order of its number; a site's rows are all in one part."""
        layers: dict[int, list[Layer]] = defaultdict(list)
        for run in self.runs:
            of_part: dict[int, list[File]] = defaultdict(list)
            for name, path in run.tables[EXTRACTIONS].items():
                found = _SITE_PART.search(name)
                # A file without a text among its rows has none beside it, where others have one.
                marks = run.tables[DUPLICATES].get(name, "")
                of_part[int(found[1]) if found else 0].append(File(path, _name(name, run.number), marks, run.number))
            for number, files in of_part.items():
                layers[number].append(Layer(tuple(files), tuple(run.tables[SUPERSEDED].values())))
        return [Part(number, tuple(layers[number])) for number in sorted(layers)]

    def batches(self, table: str, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """Some columns of the rows of a table that count, at most `rows` at once; see `batches`."""
        if table == EXTRACTIONS:
            for part in self.parts():
                yield from part.batches(columns, rows=rows)
            return
        for run in self.runs:
            # Each run asks for all of these again.
            is_stale = table == REJECTS and run is not self.runs[-1]
            asked = [*dict.fromkeys([*columns, "reason"])] if is_stale else columns
            for batch in batches([*run.tables[table].values()], asked, rows=rows):
                if is_stale:
                    batch = batch.filter(pc.not_equal(batch.column("reason"), str(Reason.REVISIT_UNRESOLVED)))
                yield _only(batch, asked, columns)


def opened(root: str, version: int | None = None) -> Output:
    """The finished output in a folder, local or in an object store; or a version of the collection there, the latest if
    none is asked for.

    Raises:
        OutputError: there is no run.json that can be read, the folder cannot be listed, or a manifest cannot be read.
        InputError: there is no such version.
    """
    root = root.rstrip("/")
    collection = None if sources.is_remote(root) else Collection(root)
    if collection and collection.numbers():
        return _version(collection, version)
    if version is not None:
        raise InputError(f"{root} is no collection, so it has no version {version}; leave --version out")
    return Output(root=root, run=_run(root), runs=(_written(root, 0),))


def _version(collection: Collection, number: int | None) -> Output:
    chosen = collection.known() if number is None else collection.version(number)
    folders = {one.number: collection.increment(one.number) for one in chosen.increments}
    return Output(
        root=collection.folder,
        run=totals.together(chosen, [*told(collection, chosen).values()]),
        runs=tuple(_written(folder, at) for at, folder in folders.items()),
    )


def told(collection: Collection, version: Version) -> dict[int, dict[str, Any]]:
    """What run.json says of each crawl of a version, by the number of its increment, the oldest first. An increment
    that was put together of others keeps theirs.

    Raises:
        OutputError: one cannot be read.
    """
    found: dict[int, dict[str, Any]] = {}
    for one in version.increments:
        folder = collection.increment(one.number)
        kept = sorted(Path(folder, RUNS).glob("[0-9]*.json"))
        found |= {int(path.stem): _run(str(path.parent), path.name) for path in kept}
        if not kept:
            found[one.number] = _run(folder)
    return found


def _run(root: str, name: str = RUN_FILE) -> dict[str, Any]:
    try:
        filesystem, path = url_to_fs(root)
        run: dict[str, Any] = json.loads(filesystem.cat_file(f"{path.rstrip('/')}/{name}"))
    except Exception as error:  # each store has exceptions of its own
        raise OutputError(
            f"{root}: no {name} that can be read there, so this is no finished output; give the folder that"
            " `dbce extract` wrote, or run it again"
        ) from error
    return run


def _written(root: str, number: int) -> Written:
    return Written(number, {table: _files(root, table) for table in _KEPT})


def _files(root: str, table: str) -> dict[str, str]:
    try:
        filesystem, path = url_to_fs(f"{root}/{table}")
        found = sorted(name for name in filesystem.find(path) if _is_visible_parquet(name))
        is_remote = sources.is_remote(root)
        return {
            name[len(path) :].strip("/"): filesystem.unstrip_protocol(name) if is_remote else name for name in found
        }
    except Exception as error:
        raise OutputError(f"{root}/{table}: cannot be listed: {type(error).__name__}: {error}") from error


def _is_visible_parquet(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name.endswith(".parquet") and not name.startswith((".", "_"))


def _name(name: str, number: int) -> str:
    """The name of a file among those of all increments."""
    folder, slash, file = name.rpartition("/")
    return f"{folder}{slash}{number:08}-{file}" if number else name


def _replaced(layer: Layer) -> Iterator[str]:
    """The captures of earlier layers whose rows a layer replaces."""
    told = [batch.column(_ID) for batch in batches(layer.superseded, [_ID], rows=_ROWS_OF_IDS)]
    if not told:
        return
    # Those of all sites are told together: of these the ones that are here.
    replaced = pa.chunked_array(told)
    for batch in batches([file.path for file in layer.files], [_ID], rows=_ROWS_OF_IDS):
        ids = batch.column(_ID)
        yield from ids.filter(pc.is_in(ids, replaced)).to_pylist()


def but(batch: pa.RecordBatch, gone: Set[str]) -> pa.RecordBatch:
    """The rows of a batch, which has capture_id, that are not those of some captures."""
    if not gone:
        return batch
    return batch.filter(pa.array([one not in gone for one in batch.column(_ID).to_pylist()], pa.bool_()))


def _only(batch: pa.RecordBatch, asked: Sequence[str], columns: Sequence[str]) -> pa.RecordBatch:
    """A batch without the columns that only its rows were chosen by."""
    beside = [name for name in asked if name not in columns]
    return batch.drop_columns(beside) if beside else batch


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
        with storage.open_parquet(path) as file:
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
