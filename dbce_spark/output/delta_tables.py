"""Register a version of a collection as Delta tables, for readers of those.

The files of its increments are linked, not copied. A file of extractions in which some rows do not count any more is
written again without them: Delta's deletion vectors would do the same, but not all readers of Delta know them.

Each commit removes all files of the table and adds its own, under names that have its number: readers apply the actions
of a commit in any order, and some would lose a file that is removed and added.
"""

import filecmp
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from dbce_spark.errors import OutputError, PlatformError, installs
from dbce_spark.files import parquet, storage
from dbce_spark.log import counted
from dbce_spark.output import output_reader
from dbce_spark.output.collection import CAPTURES, EXTRACTIONS, Collection, Version, check_outside
from dbce_spark.output.current_rows import TableFiles, mark_current, replaced, table_files
from dbce_spark.output.schemas import capture_rows, extraction_rows
from dbce_spark.output.stored_rows import batches, capture_ids, count_rows

if TYPE_CHECKING:
    from deltalake.transaction import AddAction

SCHEMAS = {EXTRACTIONS: extraction_rows.EXTRACTIONS, CAPTURES: capture_rows.CAPTURES}
_PARTITIONS = {EXTRACTIONS: ["site_part"], CAPTURES: []}
_ROWS = 1024
_IS_OURS = re.compile(r"_delta_log/|(?:site_part=\d+/)?_?\d{8}-(?:in-)?\d{8}-[^/]+$")
"""The paths of files of a table, and of their halves, in it."""
_OF_SYSTEMS = {"lost+found", ".DS_Store"}
"""Names of what a file system, or its browser, puts into a folder."""
_LINKED, _COPIED, _WRITTEN = "linked", "copied", "written"
"""The ways in which files come into a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """The state of a Delta table behind a commit. `number` is that of Delta's version."""

    folder: str
    number: int
    rows: int
    linked: int
    copied: int
    written: int

    def __str__(self) -> str:
        copied = f" {self.copied:,} copied," if self.copied else ""
        return (
            f"{self.folder}: version {self.number}, {counted(self.rows, 'row')}; {counted(self.linked, 'file')} linked,"
            f"{copied} {self.written:,} written again without rows that were replaced"
        )


def register(collection: Collection, version: Version, folder: str) -> list[Registered]:
    """Make this version the last one of the Delta tables `extractions` and `captures` below a folder.

    Raises:
        PlatformError: deltalake is not installed.
        OutputError: the folder holds something else, as the tables of another collection, lies in the collection, or
            cannot be written.
    """
    check_outside(folder)
    try:
        from deltalake.exceptions import DeltaError
    except ImportError:
        raise PlatformError(f"Delta tables need deltalake: run {installs('delta')}") from None
    try:
        _check_free(folder, begun_by := output_reader.begun_by(collection, version))
        return [_registered(collection, version, Path(folder, table), begun_by) for table in SCHEMAS]
    except (OSError, DeltaError) as error:
        advice = storage.remedy(error) if isinstance(error, OSError) else "give another --output"
        raise OutputError(f"{folder}: no Delta tables can be written there: {error}; {advice}") from error


def _check_free(folder: str, begun_by: str) -> None:
    """Check that a folder holds nothing but tables of the collection that this run began, whole or as a call that was
    stopped has left them.

    Raises:
        OutputError: it does.
    """
    from deltalake import DeltaTable

    if foreign := sorted(storage.list_names(folder) - SCHEMAS.keys() - _OF_SYSTEMS):
        raise OutputError(f"{folder} holds {foreign[0]}, which this command has not made; give another --output")
    for table in (Path(folder, name) for name in SCHEMAS):
        if DeltaTable.is_deltatable(str(table)):
            if DeltaTable(str(table)).metadata().description != _description(begun_by):
                raise OutputError(f"{table} is no table of this collection; give another --output")
            continue
        files = [one.relative_to(table).as_posix() for one in sorted(table.rglob("*")) if not one.is_dir()]
        if foreign := [name for name in files if not _IS_OURS.match(name)]:
            raise OutputError(f"{table} holds {foreign[0]}, and is no Delta table; give another --output")


def _description(begun_by: str) -> str:
    """Describe a table by what stays of its collection, wherever that is moved."""
    return f"of the collection that run {begun_by} began"


def _registered(collection: Collection, version: Version, folder: Path, begun_by: str) -> Registered:
    from deltalake import CommitProperties, DeltaTable, Schema
    from deltalake.transaction import create_table_with_add_actions

    table = folder.name
    folder.mkdir(parents=True, exist_ok=True)
    before = DeltaTable(str(folder)) if DeltaTable.is_deltatable(str(folder)) else None
    number = 0 if before is None else before.version() + 1
    placed = [*_placed(collection, table_files(collection, version, table), folder, number)]
    actions = [_action(path, folder, rows) for path, rows, _ in placed]
    schema = Schema.from_arrow(SCHEMAS[table])
    why = CommitProperties(custom_metadata={"collection": collection.folder, "version": str(version.number)})
    if before is not None:
        before.create_write_transaction(
            [*actions], mode="overwrite", schema=schema, partition_by=_PARTITIONS[table], commit_properties=why
        )
    else:
        create_table_with_add_actions(
            str(folder),
            schema,
            actions,
            partition_by=_PARTITIONS[table],
            description=_description(begun_by),
            commit_properties=why,
        )
    counts = Counter(how for *_, how in placed)
    return Registered(
        folder=str(folder),
        number=DeltaTable(str(folder)).version(),
        rows=sum(rows for _, rows, _ in placed),
        linked=counts[_LINKED],
        copied=counts[_COPIED],
        written=counts[_WRITTEN],
    )


def _placed(collection: Collection, found: TableFiles, folder: Path, commit: int) -> Iterator[tuple[Path, int, str]]:
    """Link or write the files of the table where Delta looks for them, except those without rows: yield the path of
    each, its rows, and how it came there."""
    last = replaced(found.replacing)
    for number, name in found.files:
        source = Path(name)
        place = folder / source.relative_to(Path(collection.increment(number), found.table)).parent
        kept = _kept(source, number, last) if last else None
        rows = kept.true_count if kept is not None else count_rows(name)
        if not rows:
            continue
        if kept is not None and rows < len(kept):
            target = place / f"{number:08}-in-{commit:08}-{source.name}"
            parquet.write(str(target), pq.read_schema(source), _batches(source, kept))
            yield target, rows, _WRITTEN
        else:
            target = place / f"{number:08}-{commit:08}-{source.name}"
            _check_own(source, place.glob(f"{number:08}-[0-9]*-{source.name}"))
            storage.link(source, target)
            yield target, rows, _LINKED if target.samefile(source) else _COPIED


def _check_own(source: Path, links: Iterable[Path]) -> None:
    """Check that what was linked under the number and name of a file was that file."""
    for link in links:
        if not (link.samefile(source) or filecmp.cmp(source, link, shallow=False)):
            raise OutputError(f"{link}: is a file of another collection; give another --output")


def _kept(source: Path, number: int, last: Mapping[str, int]) -> pa.BooleanArray:
    return mark_current(pa.chunked_array([*capture_ids([str(source)])], pa.string()), number, last)


def _batches(source: Path, kept: pa.BooleanArray) -> Iterator[pa.RecordBatch]:
    at = 0
    for batch in batches([str(source)], None, rows=_ROWS):
        yield batch.filter(kept.slice(at, batch.num_rows))
        at += batch.num_rows


def _action(path: Path, folder: Path, rows: int) -> "AddAction":
    from deltalake.transaction import AddAction

    status = path.stat()
    name = path.relative_to(folder).as_posix()
    parts = dict(part.split("=", 1) for part in name.split("/")[:-1])
    return AddAction(name, status.st_size, parts, int(status.st_mtime * 1000), True, f'{{"numRecords": {rows}}}')
