"""Compaction: one increment that stands for all before it, with the rows that count and no others, in fewer files.

Plain Python, a row group at a time. The pages are not written again: their files are links, and keep their numbers.
"""

import heapq
import shutil
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.errors import OutputError
from dbce_spark.files import parquet, storage
from dbce_spark.output import output_reader
from dbce_spark.output.collection import (
    CAPTURES,
    DIGESTS,
    DUPLICATES,
    EXTRACTIONS,
    FORMAT,
    INPUTS,
    MEMBERS,
    PENDING,
    REJECTS,
    REMARKED,
    RUN_FILE,
    RUNS,
    SUPERSEDED,
    Collection,
    Version,
)
from dbce_spark.output.current_rows import mark_current, replaced, table_files
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.output.stored_rows import opened
from dbce_spark.spark.engine import merge_tasks
from dbce_spark.spark.engine.batches import lots
from dbce_spark.spark.jobs import increment_job
from dbce_spark.spark.run import checkpoints, prior_state, run_lock, run_output, single_files, staging
from dbce_spark.spark.stages import write_captures, write_increment_tables

_WORK, _MERGED = "_compacting", "_merged"
_UNDERSTOOD = {EXTRACTIONS, DUPLICATES, CAPTURES, REJECTS, *run_output.KEPT, RUN_FILE, RUNS, staging.FOLDER}
_BATCH_ROWS = 256
_OPEN_FILES = 100
"""Files that are merged at once: a process may often open no more than 1,024, and hourly crawls have more files."""


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The most rows of a row group, and of a file."""

    rows_per_group: int
    rows_per_file: int


_SIZES = _Sizes(single_files.ROWS_PER_GROUP, write_captures.ROWS_PER_FILE)
_SIZES_OF_MEMBERS = _Sizes(write_increment_tables.ROWS_PER_GROUP, write_increment_tables.MEMBERS_PER_FILE)


def run(collection: Collection, rows_per_file: int) -> Version | None:
    """Write the increment, and make it the next version; None if there is nothing to be put together.

    Nobody sees any of it before. Files of extractions have up to `rows_per_file` rows. An increment that was ended just
    before it was made a version is made one first: it may be that of a compaction.

    Raises:
        InputError: there is no collection.
        OutputError: a run that extends it is at work, or was interrupted; the collection was changed meanwhile; it
            holds what this program does not know, a file that is broken, or not all rows; or it cannot be written.
    """
    before = collection.current()
    _check_idle(Path(collection.increment(before.number + 1)))
    version = increment_job.with_ended(collection) or before
    target = Path(collection.increment(version.number + 1))
    _check_free(target)
    if len(version.increments) == 1:
        return version if version.number > before.number else None
    folders = [Path(collection.increment(increment.number)) for increment in version.increments]
    _check_understood(folders)
    output_reader.check_version(collection, version)
    prior_state.check_whole(collection, version)
    prior_state.check_pending(collection, version, output_reader.open_output(collection.folder).run["rejects"])
    work = target.with_name(_WORK)
    with run_lock.hold(str(work)):
        with _whole_or_gone(work):
            _empty(work)
            _write(collection, version, work, rows_per_file)
            _take_place(collection, version, work, target)
        increment_job.commit(collection, version.number + 1)
        staging.remove(str(target))
    return collection.current()


@contextmanager
def _whole_or_gone(work: Path) -> Iterator[None]:
    """Remove what the block has written if it fails."""
    try:
        yield
    except BaseException as error:
        shutil.rmtree(work, ignore_errors=True)  # NFS keeps the lock, which is open
        if isinstance(error, OSError):
            raise OutputError(f"{work}: {error}; nothing is lost, and the same command begins again") from error
        raise


def _check_idle(target: Path) -> None:
    """Check that no run is at work on the increment that this one would be."""
    if run_lock.is_held(str(target)):
        raise OutputError(f"{target}: a run that extends the collection is at work there; wait for its end")


def _check_free(target: Path) -> None:
    """Check that no run is to write the increment that this one would be. Of one that had not begun only its lock may
    lie there."""
    _check_idle(target)
    left = storage.list_names(str(target)) - {staging.FOLDER}
    if left or Path(staging.path(str(target), staging.PLAN)).exists():
        raise OutputError(
            f"{target} belongs to a run that did not finish; give the command of that run again first, to resume it, or"
            " remove the folder"
        )
    shutil.rmtree(target, ignore_errors=True)


def _check_understood(folders: Iterable[Path]) -> None:
    for folder in folders:
        if foreign := sorted(storage.list_names(str(folder)) - _UNDERSTOOD):
            raise OutputError(
                f"{folder} holds {foreign[0]}, of which this program does not know how to put it together"
            )


def _empty(work: Path) -> None:
    """Remove what a compaction that was killed has left; not the lock of this one."""
    storage.sweep(str(work))
    for left in storage.list_names(str(work)) - {staging.FOLDER}:
        storage.remove(str(work / left))


def _take_place(collection: Collection, version: Version, work: Path, target: Path) -> None:
    """Move it to its place, when all of it is on the disk. From then on it is an ended increment: if this process is
    killed, the next run makes it a version."""
    storage.sync_folder(work)
    if collection.current().number == version.number:
        with suppress(OSError):  # a folder that holds anything is not replaced
            work.rename(target)
    if work.exists():
        raise OutputError(f"{collection.folder} was changed by another command meanwhile; give the same command again")
    storage.sync(target.parent)


def _write(collection: Collection, version: Version, work: Path, rows_per_file: int) -> None:
    """Write all of the increment into a folder; run.json, by which it is ended, last."""
    began = time.monotonic()
    last = replaced(collection.files(version, SUPERSEDED))
    _write_extractions(collection, version, work, last, rows_per_file)
    _write_tables(collection, version, work, last)
    _link_pages(collection, version, work)
    for path in Path(collection.increment(version.increments[-1].number), PENDING).glob("*.parquet"):
        storage.link(path, work / PENDING / path.name)
    storage.write(str(work / INPUTS), checkpoints.text(collection.inputs(version)).encode())
    _keep_runs(collection, version, work)
    report = _report(version, time.monotonic() - began)
    storage.write_json(str(work / RUN_FILE), report)


def _write_extractions(
    collection: Collection, version: Version, work: Path, last: Mapping[str, int], rows_per_file: int
) -> None:
    """Write the extractions that count, and the duplicates beside them. `last`: as `current_rows.replaced` has it."""
    anew = _anew(collection, version)
    for part, of_part in _by_part(collection.files(version, EXTRACTIONS)).items():
        rows = (batch for number, path in of_part for batch in _counting(path, number, last))
        _store(work / EXTRACTIONS / part, of_part, rows, _Sizes(merge_tasks.ROWS_PER_GROUP, rows_per_file))
        _store_marks(work, part, _marks(of_part, last, anew))


def _write_tables(collection: Collection, version: Version, work: Path, last: Mapping[str, int]) -> None:
    """Write the other tables. Rows of captures and members, each in order within a file, are merged."""
    digests = collection.files(version, DIGESTS)
    counting = (batch for number, path in digests for batch in _counting(path, number, last))
    _store(work / DIGESTS, digests, counting, _SIZES)
    captures = collection.files(version, CAPTURES)
    _store(work / CAPTURES, captures, _by_url(_merged(captures, "url_key", work)), _SIZES)
    members = collection.files(version, MEMBERS)
    by_site = (batch for _, batch in _merged(members, "site", work))
    _store(work / MEMBERS, members, by_site, _SIZES_OF_MEMBERS)
    storage.remove(str(work / _MERGED))
    rejects = table_files(collection, version, REJECTS).batches(rows=_BATCH_ROWS)
    _store(work / REJECTS, collection.files(version, REJECTS), rejects, _SIZES)


def _by_part(files: Iterable[tuple[int, str]]) -> Mapping[str, list[tuple[int, str]]]:
    """Group files of extractions by the folder of their site part."""
    by_part = defaultdict(list)
    for number, path in files:
        by_part[Path(path).parent.name].append((number, path))
    return dict(sorted(by_part.items()))


def _batches(path: str) -> Iterator[pa.RecordBatch]:
    with opened(path) as file:
        yield from file.iter_batches(_BATCH_ROWS)


def _counting(path: str, number: int, last: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
    """Iterate over the rows of an increment's file whose captures no later one has labelled again."""
    for batch in _batches(path):
        yield batch.filter(mark_current(batch.column("capture_id"), number, last))


def _anew(collection: Collection, version: Version) -> dict[str, tuple[int, dict[str, Any]]]:
    """Read the last marks of captures whose extractions stayed, behind the number of the increment."""
    rows = ((number, row) for number, path in collection.files(version, REMARKED) for row in _rows(path))
    return {row["capture_id"]: (number, row) for number, row in rows}


def _rows(path: str) -> Iterator[dict[str, Any]]:
    for batch in _batches(path):
        yield from batch.to_pylist()


def _marks(
    files: Sequence[tuple[int, str]], last: Mapping[str, int], anew: Mapping[str, tuple[int, dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Read the rows of duplicates that count, in the order of the extractions beside them. Extractions without a text,
    or of a run that compared nothing, have no such file beside them."""
    for number, path in files:
        file = Path(path)
        marks = file.parents[2] / DUPLICATES / file.parent.name / file.name
        if marks.exists():
            for row in chain.from_iterable(batch.to_pylist() for batch in _counting(str(marks), number, last)):
                since, marked = anew.get(row["capture_id"], (0, row))
                yield marked if since > number else row


def _next_marks(marks: Iterator[dict[str, Any]], ids: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Take the rows of the next captures that have a text.

    Raises:
        OutputError: they are of others.
    """
    for wanted in lots(ids, _BATCH_ROWS):
        rows = [*islice(marks, len(wanted))]
        if rows and [row["capture_id"] for row in rows] != wanted:
            raise OutputError(f"{DUPLICATES} are not those of the {EXTRACTIONS} beside them; roll back to before")
        yield pa.RecordBatch.from_pylist(rows, schema=duplicate_rows.DUPLICATES)


def _store_marks(work: Path, part: str, marks: Iterator[dict[str, Any]]) -> None:
    """Write duplicates, a file for each of extractions that has a text."""
    for path in sorted((work / EXTRACTIONS / part).glob("*.parquet")):
        with opened(str(path)) as file:
            rows = file.read(columns=["capture_id", "text_words"])
        ids = rows.filter(pc.greater(rows.column("text_words"), 0)).column("capture_id").to_pylist()
        batches = [batch for batch in _next_marks(marks, ids) if batch.num_rows]
        if batches:
            target = str(work / DUPLICATES / part / path.name)
            parquet.write(target, duplicate_rows.DUPLICATES, batches, dictionary=["same_url", "repeats", "steps"])


def _by_url(merged: Iterable[tuple[str, pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Iterate over captures in order of URL and time: in each of the files they are."""
    for _, runs in groupby(merged, key=itemgetter(0)):
        of_url = [batch for _, batch in runs]
        if len(of_url) == 1:
            yield of_url[0]
        else:
            table = pa.Table.from_batches(of_url).sort_by([("timestamp", "ascending"), ("capture_id", "ascending")])
            yield from table.combine_chunks().to_batches()


def _merged(files: Sequence[tuple[int, str]], key: str, work: Path) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Merge rows of files that are each in order of a key: runs of the same key, those of a file together. Of more
    files than may be open, lots are merged to files of their own first."""
    numbers = count()
    while len(files) > _OPEN_FILES:
        files = [(0, _merge_lot(lot, key, work, f"{key}-{next(numbers)}.parquet")) for lot in lots(files, _OPEN_FILES)]
    return heapq.merge(*(_runs(path, key) for _, path in files), key=itemgetter(0))


def _merge_lot(lot: Sequence[tuple[int, str]], key: str, work: Path, name: str) -> str:
    path = str(work / _MERGED / name)
    schema, dictionary = _form([one for _, one in lot])
    rows = (batch for _, batch in _merged(lot, key, work))
    parquet.write(path, schema, rows, dictionary=dictionary)
    return path


def _runs(path: str, key: str) -> Iterator[tuple[str, pa.RecordBatch]]:
    for batch in _batches(path):
        encoded = pc.run_end_encode(batch.column(key))
        begin = 0
        for value, end in zip(encoded.values.to_pylist(), encoded.run_ends.to_pylist(), strict=True):
            yield value, batch.slice(begin, end - begin)
            begin = end


def _store(folder: Path, of: Sequence[tuple[int, str]], batches: Iterable[pa.RecordBatch], sizes: _Sizes) -> None:
    """Write rows to files of these sizes, as the files are written that they come from; batches are not cut. Of
    files at least one is made: readers find their columns."""
    if not of:
        return
    schema, dictionary = _form([path for _, path in of])
    rest = (batch for batch in batches if batch.num_rows)
    batch = next(rest, None)
    number = 0
    while batch is not None or number == 0:
        path = str(folder / parquet.part_name(number))
        with parquet.writer(path, schema, dictionary=dictionary, rows_per_group=sizes.rows_per_group) as file:
            written = 0
            while batch is not None and written + batch.num_rows <= max(sizes.rows_per_file, batch.num_rows):
                file.write(batch)
                written += batch.num_rows
                batch = next(rest, None)
        number += 1


def _form(paths: Sequence[str]) -> tuple[pa.Schema, list[str]]:
    """Read the schema of some files, and the columns whose values they hold in a dictionary."""
    for path in paths:
        with opened(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
        if metadata.num_row_groups:
            group = metadata.row_group(0)
            columns = [group.column(at) for at in range(group.num_columns)]
            return schema, [column.path_in_schema for column in columns if column.has_dictionary_page]
    return schema, []


def _link_pages(collection: Collection, version: Version, work: Path) -> None:
    """Link the files of pages under the numbers that they have over all increments."""
    numbers = count()
    for one in version.increments:
        for at in range(one.page_files):
            source = prior_state.page_file(collection.increment(one.number), at)
            storage.link(source, prior_state.page_file(str(work), next(numbers)))


def _keep_runs(collection: Collection, version: Version, work: Path) -> None:
    for number, path in collection.run_files(version).items():
        storage.link(path, work / RUNS / f"{number:08}.json")


def _report(version: Version, seconds: float) -> dict[str, Any]:
    """Return the content of run.json."""
    counts = {
        name: sum(getattr(increment, name) for increment in version.increments)
        for name in ("page_files", "captures", "extractions")
    }
    return {
        "why": increment_job.COMPACT,
        "increments": [increment.number for increment in version.increments],
        **counts,
        "relabelled": 0,
        "format": FORMAT,
        "seconds": {"compaction": round(seconds, 2)},
        "settings": version.settings,
    }
