"""The tables that stages hand on: Parquet folders under the work folder, removed when the run has ended well.

All of it is written so that a run which goes on finds what is whole and nothing else: files appear when they are whole,
and a folder that Spark has written has its mark then.
"""

import errno
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbce_spark.errors import OutputError, denied
from dbce_spark.files import parquet, storage

if TYPE_CHECKING:  # `dbce status` looks into the folder where there is no Spark
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FOLDER = "_staging"
PLAN = "plan.json"
STATE = "state.json"
SECONDS = "seconds.json"
PAGES = "pages"
REJECTS = "rejects"
REVISITS, REVISIT_OUTCOMES, SHARED, UNRESOLVED = "revisits", "revisit_outcomes", "shared", "unresolved"
SELECTED, PLACES, SELECTION = "selected", "places", "selection"
ORIGINALS = "originals"
PAYLOAD_OUTCOMES = "payload_outcomes"
PAGE_ANNOTATIONS, PAGE_EVIDENCE = "page_annotations", "page_evidence"
BUCKETS, CROSSES, EVIDENCE, ANNOTATIONS = "buckets", "crosses", "evidence", "annotations"
NEIGHBOURS, GROWN = "neighbours", "grown"
GROWN_CROSSES, POOL_MEMBERS, AFFECTED = "grown_crosses", "pool_members", "affected"
RELABEL = "relabel"
TEXTS = "texts"
UNLABELLED = "unlabelled"

LOCK = "lock"
"""The file that a run keeps open while it works (run_lock.py)."""
BROKEN = "broken.txt"
"""The file that names a staged file which cannot be read, as long as that is being forgotten."""
_DONE = "done"
_OF_SOURCES = (PAGES, REJECTS, REVISITS)
"""Folders with a file for each source that was read."""
_MAY_BE_EMPTY = (
    *(*_OF_SOURCES, REVISIT_OUTCOMES, SHARED, UNRESOLVED, SELECTED, PAYLOAD_OUTCOMES, TEXTS, UNLABELLED),
    *(PAGE_ANNOTATIONS, PAGE_EVIDENCE, BUCKETS, CROSSES, EVIDENCE, ANNOTATIONS),
    *(NEIGHBOURS, GROWN, GROWN_CROSSES, POOL_MEMBERS, AFFECTED, RELABEL),
)
"""Folders that a stage may leave without a file."""
_OF_DAMAGE = (None, errno.EIO, errno.ENOENT)
"""Errors of a file that is damaged or gone; pyarrow's own has none. Others are of the process, such as too many open
files: what was made of the file is not to be removed for them."""
_GLOB_SIGN = re.compile(r"[][{}*?\\]")
_WHOLE = "_WHOLE"
"""The mark in a folder whose table is staged by one step, when all of it is on the disk."""


def schema(arrow: pa.Schema) -> "StructType":
    """Return the Spark schema of a table."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(arrow)


def path(work: str, name: str) -> str:
    return f"{work.rstrip('/')}/{FOLDER}/{name}"


def staged_file(work: str, name: str, file_no: int) -> str:
    """Return the path at which the task of an input file, by its number among the sorted inputs, stages a table."""
    return f"{path(work, name)}/{file_no:08}.parquet"


def done(work: str, name: str, number: int | None = None) -> str:
    """Return the path of the checkpoint of a stage, or of one of its tasks."""
    return path(work, f"{_DONE}/{name}" + (".json" if number is None else f"/{number:08}.json"))


def done_tasks(work: str, name: str) -> list[str]:
    """Return the paths of the checkpoints of a stage's tasks that have ended, in order of their numbers."""
    return sorted(str(one) for one in Path(path(work, f"{_DONE}/{name}")).glob("[0-9]*.json"))


def prepare(work: str) -> None:
    """Make the folders that a stage may leave without a file."""
    for name in _MAY_BE_EMPTY:
        Path(path(work, name)).mkdir(parents=True, exist_ok=True)


def read(spark: "SparkSession", work: str, name: str, arrow: pa.Schema) -> "DataFrame":
    return read_parquet(spark, arrow, [path(work, name)])


def read_parquet(spark: "SparkSession", arrow: pa.Schema, paths: Iterable[str]) -> "DataFrame":
    """Read files and folders of one table by their very names: Spark would take a path with brackets for a glob."""
    return spark.read.schema(schema(arrow)).parquet(*(_GLOB_SIGN.sub(r"\\\g<0>", one) for one in paths))


@contextmanager
def opened(file: str) -> Iterator[parquet.CheckedParquetFile]:
    """Open a staged file for reading, and nothing else within the block.

    Raises:
        OutputError: it is broken, as may be found only while it is read; or this user may not read it.
        OSError: this process may not open more, or the like: nothing is wrong with the file.
    """
    try:
        with parquet.reader(file) as rows:
            yield rows
    except PermissionError as error:
        raise denied(file, error) from error
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno not in _OF_DAMAGE:
            raise
        raise OutputError(f"{file} is broken: {error}") from error


def is_empty(work: str, name: str) -> bool:
    """Return whether a staged table has no rows, by the ends of its files: without a job of Spark's.

    A file that cannot be read may have some: the task that reads it will name it.
    """
    try:
        return not any(parquet.count_rows([file]) for file in _files(work, name))
    except (pa.ArrowException, OSError):
        return False


def count_rows(work: str, name: str) -> int:
    """Count the rows of a staged table by the ends of its files: without a job of Spark's. Raises as `opened`."""
    rows = 0
    for file in _files(work, name):
        with opened(file) as table:
            rows += table.metadata.num_rows
    return rows


def count_by(work: str, name: str, column: str) -> Counter[Any]:
    """Count the rows of a staged table by their value in a column, without a job of Spark's. Raises as `opened`."""
    counts: Counter[Any] = Counter()
    for file in _files(work, name):
        with opened(file) as table:
            for batch in table.iter_batches(columns=[column]):
                counts.update({one["values"]: one["counts"] for one in batch.column(column).value_counts().to_pylist()})
    return counts


def _files(work: str, name: str) -> list[str]:
    return [str(one) for one in Path(path(work, name)).glob("*.parquet")]


def write(rows: "DataFrame", work: str, name: str) -> None:
    """Stage rows, unless they are staged already."""
    if not is_whole(work, name):
        rows.write.mode("overwrite").option("compression", "lz4").parquet(path(work, name))
        mark_whole(work, name)


def is_whole(work: str, name: str) -> bool:
    """Return whether a table has the mark by which all of it is staged."""
    return Path(path(work, name), _WHOLE).exists()


def mark_whole(work: str, name: str) -> None:
    """Mark a table of which all is on the disk."""
    target = path(work, name)
    storage.sync_folder(Path(target))
    with storage.atomic_file(f"{target}/{_WHOLE}"):
        pass


def renew(work: str, *names: str) -> None:
    """Empty the folders of tables that tasks write by themselves: an earlier run may have had other tasks."""
    for name in names:
        shutil.rmtree(path(work, name), ignore_errors=True)
        Path(path(work, name)).mkdir(parents=True)


def clear(work: str) -> None:
    """Remove everything that is staged, the plan first: without it no run goes on there."""
    folder = Path(path(work, ""))
    (folder / PLAN).unlink(missing_ok=True)
    _empty(folder, [LOCK])


def remove(work: str) -> None:
    """Remove the folder of what is staged. NFS keeps the lock of this run there, and so the folder, until it is let
    go."""
    clear(work)
    with suppress(OSError):
        Path(path(work, LOCK)).unlink(missing_ok=True)
        Path(path(work, "")).rmdir()


def ended_stages(work: str) -> list[str]:
    """Return the stages that have ended, those of earlier runs first; "start" is none."""
    try:
        kept = json.loads(Path(path(work, SECONDS)).read_text(encoding="utf-8"))["value"]
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return []
    return [name for name in kept if name != "start"]


def read_sources(work: str) -> list[int]:
    """Return the numbers of the sources that have been read."""
    return [int(Path(one).stem) for one in done_tasks(work, PAGES)]


def forget(work: str, broken: str) -> None:
    """Remove a staged file that cannot be read, and all that may have been made of it: what other sources gave stays.

    All else follows from the tables of an index: if one of them is broken, nothing stays; nor if it is the folder.
    """
    file = Path(broken)
    name = next(iter(file.relative_to(path(work, "")).parts), "")
    if name in ("", SELECTED, PLACES) or (name in _OF_SOURCES and not file.stem.isdigit()):
        _empty(Path(path(work, "")), [LOCK, PLAN, STATE, BROKEN])
        return
    if name in _OF_SOURCES:
        Path(done(work, PAGES, int(file.stem))).unlink(missing_ok=True)
    _empty(Path(path(work, "")), [LOCK, PLAN, STATE, BROKEN, _DONE, *_OF_SOURCES, SELECTED, PLACES])
    _empty(Path(path(work, _DONE)), [PAGES, f"{SELECTION}.json"])
    read_before = {*read_sources(work)}
    for folder in _OF_SOURCES:
        for staged in Path(path(work, folder)).glob("[0-9]*.parquet"):
            if staged.stem.isdigit() and int(staged.stem) not in read_before:
                staged.unlink()


def _empty(folder: Path, but: list[str]) -> None:
    for entry in folder.iterdir() if folder.exists() else ():
        if entry.name in but:
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            with suppress(FileNotFoundError):
                entry.unlink()
