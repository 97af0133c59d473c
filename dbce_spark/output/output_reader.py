"""Read the tables of an output or of a collection: find the Parquet files of each, and select the rows that count, a
few columns and rows at a time.

A collection is read as one output: that of all increments of one version, where the rows of a later one replace those
that earlier ones have of the same capture (`output/collection.py`). `Output.batches` reads the rows of a whole table
that count. It also names the files, for readers with an engine of their own.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection as Ids
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from fsspec.core import url_to_fs

from dbce_spark.errors import InputError, OutputError, denied
from dbce_spark.files import sources
from dbce_spark.output import totals
from dbce_spark.output.collection import (
    CAPTURES,
    DUPLICATES,
    EXTRACTIONS,
    MEMBERS,
    REJECTS,
    REMARKED,
    RUN_FILE,
    SUPERSEDED,
    Collection,
    Version,
)
from dbce_spark.output.current_rows import TableFiles
from dbce_spark.output.stored_rows import (
    CAPTURE_ID,
    batches,
    capture_ids,
    chosen_columns,
    count_rows,
    is_of_increment,
    leaves,
    opened,
)

TABLES = (EXTRACTIONS, CAPTURES, REJECTS)
_KEPT = (*TABLES, DUPLICATES, SUPERSEDED, REMARKED, MEMBERS)
_LEFT_OUT = {CAPTURES: CAPTURES, REJECTS: REJECTS, DUPLICATES: DUPLICATES, REMARKED: DUPLICATES}
"""Tables that a copy may lack as a whole, each where it lacks another: what is read of the rest does not follow from
them."""
_OF_EACH = ("extractions",)
_OBJECTS = ("rejects", "skipped", "seconds", "failed_files", "config", "versions")
_OF_CRAWLS = (*_OF_EACH, "captures", *_OBJECTS, "plan", "largest_bucket", "pages_per_second_per_core")
"""Fields that each run.json has, those that are objects, and what each of a crawl has that is summed up with others."""
_SITE_PART = re.compile(r"(?:^|/)site_part=(\d+)/")


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of the extractions: its path, a name unique below their folder, the path of the file of duplicates beside
    it, "" if there is none, and the number of its increment, 0 in an output."""

    path: str
    name: str
    marks: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Layer:
    """Files of some sites that one run wrote, and the files that name captures whose rows of earlier layers they
    replace."""

    files: tuple[TableFile, ...]
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutputPart:
    """All extractions of some sites: those of one `site_part`, by its number. An output has one layer, a collection one
    for each increment that has any, the oldest first."""

    number: int
    layers: tuple[Layer, ...]

    def files(self) -> list[TableFile]:
        """List its files, those of the newest layer first: so the first row of a capture is the one that counts."""
        return [file for layer in reversed(self.layers) for file in layer.files]

    def current_files(self) -> Iterator[tuple[TableFile, Set[str]]]:
        """Iterate over its files in that order, each with the ids of captures whose rows in it do not count, since a
        later layer replaces them. These ids are held, some 100 bytes each: one set, which grows from layer to layer."""
        gone: set[str] = set()
        for at, layer in reversed([*enumerate(self.layers)]):
            for file in layer.files:
                yield file, gone
            if at:
                gone.update(_replaced(layer))

    def batches(self, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """Read some columns of the rows that count, at most `rows` at once; see `batches`."""
        for file, gone in self.current_files():
            read = [*dict.fromkeys([*columns, CAPTURE_ID])] if gone else columns
            for batch in batches([file.path], read, rows=rows):
                if len(left := without_captures(batch, gone)):
                    yield chosen_columns(left, read, columns)


@dataclass(frozen=True, slots=True)
class Written:
    """The files that one run wrote: by table and by their names below its folder, in the order in which they are read.
    `number` is that of an increment; 0: it is an output."""

    folder: str
    number: int
    tables: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The tables of a run, of a folder with the same tables, or of a version of a collection.

    `run` is the content of run.json, `runs` the files of each run, the oldest first; one but in a collection.
    """

    root: str
    run: Mapping[str, Any]
    runs: tuple[Written, ...]

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """List the paths or URLs of the Parquet files of each table."""
        return {name: tuple(path for run in self.runs for path in run.tables[name].values()) for name in TABLES}

    def check(self) -> None:
        """Compare the rows of each table with those that run.json counts.

        Raises:
            OutputError: a part is missing, is not of this run, or cannot be read.
        """
        for run in self.runs:
            _check_run(run)

    def parts(self) -> list[OutputPart]:
        """Group the extractions by site part, in order of its number; a site's rows are all in one part."""
        layers: dict[int, list[Layer]] = defaultdict(list)
        for run in self.runs:
            of_part: dict[int, list[TableFile]] = defaultdict(list)
            for name, path in run.tables[EXTRACTIONS].items():
                found = _SITE_PART.search(name)
                # A file without a text among its rows has none beside it, where others have one.
                marks = run.tables[DUPLICATES].get(name, "")
                of_part[int(found[1]) if found else 0].append(
                    TableFile(path, _name(name, run.number), marks, run.number)
                )
            for number, files in of_part.items():
                layers[number].append(Layer(tuple(files), tuple(run.tables[SUPERSEDED].values())))
        return [OutputPart(number, tuple(layers[number])) for number in sorted(layers)]

    def schema(self) -> pa.Schema:
        """Read the columns of the extractions from the first of their files; none where there is no file."""
        for path in self.tables[EXTRACTIONS]:
            with opened(path) as file:
                return file.schema_arrow.remove_metadata()
        return pa.schema([])

    def batches(self, table: str, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """Read some columns of the rows of a table that count, at most `rows` at once; see `batches`."""
        if table == EXTRACTIONS:
            for part in self.parts():
                yield from part.batches(columns, rows=rows)
            return
        yield from self.table_files(table).batches(columns, rows=rows)

    def table_files(self, table: str) -> TableFiles:
        """List the files of a table; of extractions with those that name captures whose earlier rows do not count."""

        def listed(table: str) -> list[tuple[int, str]]:
            return [(run.number, path) for run in self.runs for path in run.tables[table].values()]

        replacing = listed(SUPERSEDED) if table == EXTRACTIONS else []
        return TableFiles(table, listed(table), replacing, self.runs[-1].number)

    def extractions(self, capture_ids: Ids[str], columns: Sequence[str], *, rows: int) -> dict[str, dict[str, Any]]:
        """Read the extractions of some captures, by id, at most `rows` at once. Row groups without one of them have
        only their ids read. The newest row of a capture counts, and is read first."""
        wanted = pa.array(sorted(set(capture_ids)), pa.string())
        found: dict[str, dict[str, Any]] = {}
        for path in (file.path for part in self.parts() for file in part.files()):
            with opened(path) as file:
                read = leaves(path, file, [CAPTURE_ID, *columns])
                for group in range(file.num_row_groups):
                    if len(found) == len(wanted):
                        return found
                    ids = file.read_row_group(group, columns=[CAPTURE_ID], use_threads=False)[CAPTURE_ID]
                    if not pc.any(pc.is_in(ids, wanted)).as_py():
                        continue
                    for batch in file.iter_batches(rows, [group], read, use_threads=False):
                        chosen = batch.filter(pc.is_in(batch.column(CAPTURE_ID), wanted))
                        for row in chosen.to_pylist():
                            found.setdefault(row[CAPTURE_ID], row)
        return found


def open_output(root: str, version: int | None = None) -> Output:
    """Open the finished output in a folder, local or in an object store; or a version of the collection there, the
    latest if `version` is None.

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
    return Output(root=root, run=_run(root), runs=(list_written(root),))


def _version(collection: Collection, number: int | None) -> Output:
    chosen = collection.current() if number is None else collection.version(number)
    return Output(
        root=collection.folder,
        run=totals.sum_runs(chosen, [*read_runs(collection, chosen).values()]),
        runs=list_increments(collection, chosen),
    )


def read_runs(collection: Collection, version: Version) -> dict[int, dict[str, Any]]:
    """Read what `Collection.run_files` lists.

    Raises:
        OutputError: one cannot be read.
    """
    paths = collection.run_files(version)
    return {number: _run(str(path.parent), path.name, _OF_CRAWLS) for number, path in paths.items()}


def begun_by(collection: Collection, version: Version) -> str:
    """Read the id of the run that began a collection: it stays where the folder is moved, and through all versions.

    Raises:
        OutputError: its run.json cannot be read.
    """
    first = next(iter(collection.run_files(version).values()))
    return str(_run(str(first.parent), first.name, ("run_id",))["run_id"])


def check_version(collection: Collection, version: Version) -> None:
    """Compare the rows of all tables of a version with those that its runs count. Raises as `Output.check`."""
    for run in list_increments(collection, version):
        _check_run(run)


def _check_run(run: Written) -> None:
    check_rows(run, _run(run.folder))


def check_rows(run: Written, report: Mapping[str, Any]) -> None:
    """Compare the rows of each table of a run with those that a report counts. Raises as `Output.check`.

    A run writes a file of each table, if need be one without rows: a copy without those that may be left out was made
    so.
    """
    for table, expected in _counted(report).items():
        if table in _LEFT_OUT and not run.tables[_LEFT_OUT[table]]:
            continue
        rows = sum(map(count_rows, run.tables[table].values()))
        if rows != expected:
            advice = "restore it, or roll back to a version before it" if run.number else "make the output again"
            raise OutputError(
                f"{run.folder}/{table} has {rows:,} rows, and {expected:,} were written: a part is missing, or is of"
                f" another run; {advice}"
            )


def _counted(report: Mapping[str, Any]) -> dict[str, int]:
    """Return the rows of each table that a run.json counts: that of a compaction counts no rejects."""
    counted = {}
    if "extractions" in report:
        counted[EXTRACTIONS] = report["extractions"] + report.get("relabelled", 0)
    if "captures" in report:
        counted[CAPTURES] = report["captures"]
    if "rejects" in report:
        counted[REJECTS] = sum(report["rejects"].values())
    if "duplicates" in report:
        counted[DUPLICATES] = report["duplicates"]["texts"]
        counted[REMARKED] = report["duplicates"]["remarked"]
    if "relabelled" in report:
        counted[SUPERSEDED] = report["relabelled"]
    return counted


def check_form(report: Any, needed: Sequence[str] = _OF_EACH) -> None:
    """Check that a run.json has the fields that are needed, and each the form that readers expect: one that holds
    something else counts no rows, and would pass for that of a run without any.

    Raises:
        ValueError: it has not.
    """
    if not isinstance(report, dict):
        raise ValueError("it is no object")
    if lacks := [name for name in needed if name not in report]:
        raise ValueError(f"it has no {lacks[0]}")
    if others := [name for name in _OBJECTS if name in report and not isinstance(report[name], dict)]:
        raise ValueError(f"its {others[0]} is no object")
    try:
        counts = [*_counted(report).values(), *report.get("skipped", {}).values()]
    except (KeyError, TypeError) as error:
        raise ValueError(f"its counts cannot be read: {error!r}") from error
    if wrong := [count for count in counts if not isinstance(count, int)]:
        raise ValueError(f"{wrong[0]!r} is no count")


def _run(root: str, name: str = RUN_FILE, needed: Sequence[str] = _OF_EACH) -> dict[str, Any]:
    try:
        filesystem, path = url_to_fs(root)
        run: dict[str, Any] = json.loads(filesystem.cat_file(f"{path.rstrip('/')}/{name}"))
        check_form(run, needed)
    except PermissionError as error:
        raise denied(f"{root}/{name}", error) from error
    except ValueError as error:
        raise OutputError(f"{root}/{name} is no report of a run: {error}; {remedy(root)}") from error
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        unfinished = ", so this is no finished output; give the folder that `dbce extract` wrote, or run it again"
        advice = f"; {remedy(root)}" if is_of_increment(root) else unfinished
        raise OutputError(f"{root}: no {name} that can be read there{advice}") from error
    except Exception as error:  # each store has exceptions of its own
        raise OutputError(f"{root}/{name}: cannot be read: {sources.cause(root, error)}") from error
    return run


def remedy(root: str) -> str:
    """Advise what to do about an output or an increment of which a part is lost."""
    return f"restore it, or {'roll back to a version before it' if is_of_increment(root) else 'make the output again'}"


def list_increments(collection: Collection, version: Version) -> tuple[Written, ...]:
    """List the files of each increment of a version. Raises as `list_written`."""
    return tuple(list_written(collection.increment(one.number), one.number) for one in version.increments)


def list_written(root: str, number: int = 0) -> Written:
    """List the files of each table of a run.

    Raises:
        OutputError: a folder cannot be listed.
    """
    return Written(root, number, {table: _files(root, table) for table in _KEPT})


def _files(root: str, table: str) -> dict[str, str]:
    try:
        filesystem, path = url_to_fs(f"{root}/{table}")
        is_remote = sources.is_remote(root)
        # fsspec takes a local folder that it may not list for an empty one.
        listed = filesystem.find(path) if is_remote else sources.walk(path, ("*",), _refuse)
        found = sorted(name for name in listed if _is_visible_parquet(name))
        return {
            name[len(path) :].strip("/"): filesystem.unstrip_protocol(name) if is_remote else name for name in found
        }
    except PermissionError as error:
        raise denied(f"{root}/{table}", error) from error
    except Exception as error:
        raise OutputError(f"{root}/{table}: cannot be listed: {sources.cause(root, error)}") from error


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _is_visible_parquet(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name.endswith(".parquet") and not name.startswith((".", "_"))


def _name(name: str, number: int) -> str:
    """Build the name of a file among those of all increments."""
    folder, slash, file = name.rpartition("/")
    return f"{folder}{slash}{number:08}-{file}" if number else name


def _replaced(layer: Layer) -> Iterator[str]:
    """Iterate over the captures of earlier layers whose rows a layer replaces."""
    superseded = [*capture_ids(layer.superseded)]
    if not superseded:
        return
    # Those of all sites are superseded together: of these the ones that are here.
    replaced = pa.chunked_array(superseded)
    for ids in capture_ids(file.path for file in layer.files):
        yield from ids.filter(pc.is_in(ids, replaced)).to_pylist()


def without_captures(batch: pa.RecordBatch, gone: Set[str]) -> pa.RecordBatch:
    """Drop the rows of some captures from a batch, which has capture_id."""
    if not gone:
        return batch
    return batch.filter(pa.array([one not in gone for one in batch.column(CAPTURE_ID).to_pylist()], pa.bool_()))
