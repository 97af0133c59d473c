"""What the stages hand on: Parquet folders under the output, removed when the run has ended well.

All of it is written so that a run which goes on finds what is whole and nothing else: files appear when they are whole,
and a folder that Spark has written has its mark then.
"""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from dbce_spark.errors import OutputError

FOLDER = "_staging"
PLAN = "plan.json"
PAGES = "pages"
REJECTS = "rejects"
REVISITS, FATES, SHARED, UNRESOLVED = "revisits", "fates", "shared", "unresolved"
SELECTED, PLACES, SELECTION = "selected", "places", "selection"
OUTCOMES = "outcomes"
TEXTS = "texts"
_OF_LARGE_SITES = ("buckets", "crosses", "evidence", "annotations")

_LOCK = "lock"
_DONE = "done"
_OF_SOURCES = (PAGES, REJECTS, REVISITS)
"""Folders with a file for each source that was read."""
_WHOLE = "_SUCCESS"
"""What Spark puts into a folder when it has written all of it."""


def schema(arrow: pa.Schema) -> StructType:
    """The Spark schema of a table."""
    return from_arrow_schema(arrow)


def path(output: str, name: str) -> str:
    return f"{output.rstrip('/')}/{FOLDER}/{name}"


def file(output: str, name: str, file_no: int) -> str:
    """Where the task that read an input file, by its number among the sorted inputs, stages what it found."""
    return f"{path(output, name)}/{file_no:08}.parquet"


def done(output: str, name: str, number: int | None = None) -> str:
    """Where the ledger has what came of a stage, or of one of its tasks."""
    return path(output, f"{_DONE}/{name}" + (".json" if number is None else f"/{number:08}.json"))


def prepare(output: str) -> None:
    """Makes the folders that a stage may leave without a file."""
    for name in (*_OF_SOURCES, FATES, SHARED, UNRESOLVED, SELECTED, OUTCOMES, TEXTS, *_OF_LARGE_SITES):
        Path(path(output, name)).mkdir(parents=True, exist_ok=True)


def read(spark: SparkSession, output: str, name: str, arrow: pa.Schema) -> DataFrame:
    return spark.read.schema(schema(arrow)).parquet(path(output, name))


def write(rows: DataFrame, output: str, name: str) -> None:
    """Stages rows, unless they are staged already."""
    target = path(output, name)
    if not Path(target, _WHOLE).exists():
        rows.write.mode("overwrite").option("compression", "lz4").parquet(target)


@contextmanager
def alone(output: str) -> Iterator[None]:
    """Within the block no other run works on this output. The lock ends with the process, however that ends.

    Raises:
        OutputError: another run does.
    """
    lock = Path(path(output, _LOCK))
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("wb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(f"{output}: another run is at work there; wait for its end, or stop it") from None
        except OSError:
            pass  # a file system without locks
        yield


def clear(output: str) -> None:
    """Removes everything that is staged, first of all what says that a run can be gone on with."""
    folder = Path(path(output, ""))
    (folder / PLAN).unlink(missing_ok=True)
    _empty(folder, [_LOCK])


def sweep(output: str) -> None:
    """Removes the halves of files that ended processes have left."""
    for half in Path(output).rglob(f"_*.{'[0-9a-f]' * 32}"):
        half.unlink(missing_ok=True)


def read_sources(output: str) -> list[int]:
    """The numbers of the sources that have been read."""
    return sorted(int(one.stem) for one in Path(path(output, f"{_DONE}/{PAGES}")).glob("[0-9]*.json"))


def forget(output: str, broken: str) -> None:
    """Removes a staged file that cannot be read, and all that may have been made of it: what other sources gave stays.

    What an index gave is what all else follows from.
    """
    name, file = Path(broken).relative_to(path(output, "")).parts[0], Path(broken)
    if name in (SELECTED, PLACES) or (name in _OF_SOURCES and not file.stem.isdigit()):
        _empty(Path(path(output, "")), [_LOCK, PLAN])
        return
    if name in _OF_SOURCES:
        Path(done(output, PAGES, int(file.stem))).unlink(missing_ok=True)
    _empty(Path(path(output, "")), [_LOCK, PLAN, _DONE, *_OF_SOURCES, SELECTED, PLACES])
    _empty(Path(path(output, _DONE)), [PAGES, f"{SELECTION}.json"])
    known = {*read_sources(output)}
    for folder in _OF_SOURCES:
        for staged in Path(path(output, folder)).glob("[0-9]*.parquet"):
            if staged.stem.isdigit() and int(staged.stem) not in known:
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
