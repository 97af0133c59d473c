"""What the stages hand on: Parquet folders under the output, removed when the run has ended well.

All of it is written so that a run which goes on finds what is whole and nothing else: files appear when they are whole,
and a folder that Spark has written has its mark then.
"""

import fcntl
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from dbce_spark.errors import OutputError

if TYPE_CHECKING:  # `dbce status` looks into the folder where there is no Spark
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FOLDER = "_staging"
PLAN = "plan.json"
STATE = "state.json"
SECONDS = "seconds.json"
PAGES = "pages"
REJECTS = "rejects"
REVISITS, FATES, SHARED, UNRESOLVED = "revisits", "fates", "shared", "unresolved"
SELECTED, PLACES, SELECTION = "selected", "places", "selection"
OUTCOMES = "outcomes"
NEIGHBOURS, ASKED, GROWN = "neighbours", "asked", "grown"
TEXTS = "texts"
_OF_LARGE_SITES = ("buckets", "crosses", "evidence", "annotations")
_OF_GROWN_SITES = (NEIGHBOURS, ASKED, GROWN)

_LOCK = "lock"
_LOCK_TRIES, _LOCK_SECONDS = 5, 0.2
"""Who only asks whether a run is at work holds the lock for a moment, too."""
_DONE = "done"
_OF_SOURCES = (PAGES, REJECTS, REVISITS)
"""Folders with a file for each source that was read."""
_WHOLE = "_SUCCESS"
"""What Spark puts into a folder when it has written all of it."""


def schema(arrow: pa.Schema) -> "StructType":
    """The Spark schema of a table."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(arrow)


def path(output: str, name: str) -> str:
    return f"{output.rstrip('/')}/{FOLDER}/{name}"


def file(output: str, name: str, file_no: int) -> str:
    """Where the task that read an input file, by its number among the sorted inputs, stages what it found."""
    return f"{path(output, name)}/{file_no:08}.parquet"


def done(output: str, name: str, number: int | None = None) -> str:
    """Where the ledger has what came of a stage, or of one of its tasks."""
    return path(output, f"{_DONE}/{name}" + (".json" if number is None else f"/{number:08}.json"))


def done_tasks(output: str, name: str) -> list[str]:
    """Where the ledger has what came of those tasks of a stage that have ended, in order of their numbers."""
    return sorted(str(one) for one in Path(path(output, f"{_DONE}/{name}")).glob("[0-9]*.json"))


def prepare(output: str) -> None:
    """Makes the folders that a stage may leave without a file."""
    for name in (
        *(*_OF_SOURCES, FATES, SHARED, UNRESOLVED, SELECTED, OUTCOMES, TEXTS),
        *_OF_LARGE_SITES,
        *_OF_GROWN_SITES,
    ):
        Path(path(output, name)).mkdir(parents=True, exist_ok=True)


def read(spark: "SparkSession", output: str, name: str, arrow: pa.Schema) -> "DataFrame":
    return spark.read.schema(schema(arrow)).parquet(path(output, name))


def write(rows: "DataFrame", output: str, name: str) -> None:
    """Stages rows, unless they are staged already."""
    target = path(output, name)
    if not Path(target, _WHOLE).exists():
        rows.write.mode("overwrite").option("compression", "lz4").parquet(target)


@contextmanager
def alone(output: str) -> Iterator[None]:
    """Within the block no other run works on this output. The lock ends with the process, however that ends.

    Raises:
        OutputError: another run does, or nothing can be written there.
    """
    lock = Path(path(output, _LOCK))
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        held = lock.open("wb")
    except OSError as error:
        raise OutputError(f"{output}: {error}") from error
    with held:
        for _ in range(_LOCK_TRIES):
            if _locked(held, fcntl.LOCK_EX) is not False:
                break
            time.sleep(_LOCK_SECONDS)
        else:
            raise OutputError(f"{output}: another run is at work there; wait for its end, or stop it")
        yield


def is_held(output: str) -> bool | None:
    """Whether a run on this host works on this output; those of other hosts are seen on some file systems only. None
    on one without locks."""
    try:
        with Path(path(output, _LOCK)).open("rb") as lock:
            is_free = _locked(lock, fcntl.LOCK_SH)
            return None if is_free is None else not is_free
    except FileNotFoundError:
        return False
    except OSError as error:
        raise OutputError(f"{path(output, _LOCK)}: {error}") from error


def _locked(file: BinaryIO, kind: int) -> bool | None:
    """Locks a file unless another process has. None: the file system has no locks."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def clear(output: str) -> None:
    """Removes everything that is staged, first of all what says that a run can be gone on with."""
    folder = Path(path(output, ""))
    (folder / PLAN).unlink(missing_ok=True)
    _empty(folder, [_LOCK])


def sweep(output: str) -> None:
    """Removes the halves of files that ended processes have left."""
    for half in Path(output).rglob(f"_*.{'[0-9a-f]' * 32}"):
        half.unlink(missing_ok=True)


def ended_stages(output: str) -> list[str]:
    """The stages that have taken their time, those of earlier runs first; "start" is none."""
    try:
        kept = json.loads(Path(path(output, SECONDS)).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return [name for name in kept if name != "start"]


def read_sources(output: str) -> list[int]:
    """The numbers of the sources that have been read."""
    return [int(Path(one).stem) for one in done_tasks(output, PAGES)]


def forget(output: str, broken: str) -> None:
    """Removes a staged file that cannot be read, and all that may have been made of it: what other sources gave stays.

    What an index gave is what all else follows from.
    """
    name, file = Path(broken).relative_to(path(output, "")).parts[0], Path(broken)
    if name in (SELECTED, PLACES) or (name in _OF_SOURCES and not file.stem.isdigit()):
        _empty(Path(path(output, "")), [_LOCK, PLAN, STATE])
        return
    if name in _OF_SOURCES:
        Path(done(output, PAGES, int(file.stem))).unlink(missing_ok=True)
    _empty(Path(path(output, "")), [_LOCK, PLAN, STATE, _DONE, *_OF_SOURCES, SELECTED, PLACES])
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
