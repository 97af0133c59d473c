"""Commit the tables of a stream: each batch has files of its own, and its commit, written last, lists them.

A batch that ended before its commit is written again: its files have the same names and rows. So a reader who goes by
the commits sees each batch whole, once or not at all; and one who reads all files of a table sees no row twice.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dbce_spark.config import unlike
from dbce_spark.errors import OutputError, denied
from dbce_spark.files import sources, storage, timestamps
from dbce_spark.output.collection import check_outside
from dbce_spark.streaming.stream.stream_parts import SCHEMAS, WrittenPart, folder

VERSION = 4
"""Version of the output: its tables, commits and the rows between tasks. An output of another version is refused."""
COMMITS = "commits"
ARRIVALS = "arrivals"
"""Folder of the output that holds which files were taken in which order."""
CHECKPOINT = "_checkpoint"
"""Folder in which Spark keeps its checkpoint, unless an option names another."""
_ALLOWED_BEFORE = frozenset({CHECKPOINT, "_staging"})
"""Names that an output may hold before it is begun: the lock of a run is in the latter."""
BEGUN = "stream.json"
RESTORE = "put back a copy of it, or begin with another --output"
"""Advice where a part of the account is damaged or missing."""
_KINDS: Mapping[str, type] = {
    "batch": int,
    **dict.fromkeys(("files", "counts", "totals"), dict),
    "committed": str,
}
"""Types of fields of a commit."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A batch that is written."""

    batch: int
    files: dict[str, int]  # rows of each file, by its path in the output
    counts: dict[str, int]
    totals: dict[str, int]  # counts of all batches up to this one
    committed: str  # UTC, ISO 8601
    seconds: float  # that it took
    digests: dict[str, int] = field(default_factory=dict)  # sums over the rows of each file that labelling made

    @property
    def captures(self) -> int:
        """Return the number of pages that were labelled or found to be repeats."""
        return self.counts.get("captures", 0)

    @property
    def pages_per_second(self) -> float:
        return round(self.captures / self.seconds, 2) if self.seconds else 0.0


def commit(output: str, batch: int, written: WrittenPart, *, seconds: float = 0.0) -> Commit:
    """Commit a batch with these files, and remove others that an attempt with another end has left.

    Raises:
        OutputError: the commit of the batch before is missing, or damaged.
    """
    for place in (folder(table, batch) for table in SCHEMAS):
        storage.sweep(f"{output}/{place}")
        for name in storage.list_names(f"{output}/{place}"):
            if f"{place}/{name}" not in written.files:
                storage.remove(f"{output}/{place}/{name}")
    before = read_commit(output, batch - 1)
    if batch and before is None:
        raise _missing(output, batch - 1)
    totals = Counter(before.totals if before else {})
    totals.update(written.counts)
    made = Commit(
        batch=batch,
        files=dict(sorted(written.files.items())),
        counts=dict(sorted(written.counts.items())),
        totals=dict(sorted(totals.items())),
        committed=timestamps.now(),
        seconds=round(seconds, 3),
        digests=dict(sorted(written.digests.items())),
    )
    storage.write(_commit_path(output, batch), json.dumps(asdict(made), indent=1).encode())
    return made


def check_same(output: str, before: Commit, again: WrittenPart) -> None:
    """Check that a batch which is committed has the same rows when it is computed again, as the state needs it.

    Raises:
        OutputError: it has not, since an input file was changed or removed.
    """
    is_other = bool(before.digests) and before.digests != again.digests
    if is_other or (before.files, before.counts) != (again.files, again.counts):
        changes = [
            f"{name} was {was}, is {now}"
            for name in sorted({*before.counts, *again.counts})
            if (was := before.counts.get(name, 0)) != (now := again.counts.get(name, 0))
        ]
        shown = "; ".join(changes[:3]) or "as many, with other words"
        raise OutputError(
            f"{output}: batch {before.batch} is written, and Spark had not ended it; computed again, it has other rows"
            f" ({shown}), as a file that {output}/{ARRIVALS}/{before.batch:08}.json names was changed or removed"
            " meanwhile. Put it there as it was, or begin with another --output; what is written stays"
        )


def read_commit(output: str, batch: int) -> Commit | None:
    """Read the commit of a batch; None: there is none yet.

    Raises:
        OutputError: it is damaged.
    """
    if f"{batch:08}.json" not in storage.list_names(f"{output}/{COMMITS}"):
        return None
    path = _commit_path(output, batch)
    fields = {name: value for name, value in _read(path).items() if name in Commit.__dataclass_fields__}
    if not all(isinstance(fields.get(name), kind) for name, kind in _KINDS.items()) or "seconds" not in fields:
        raise OutputError(f"{path}: is no commit of a batch; {RESTORE}")
    return Commit(**fields)


def read_commits(output: str) -> list[Commit]:
    """Return the commits of all batches that are written, in their order."""
    return [one for number in _numbers(output) if (one := read_commit(output, number)) is not None]


def last_commit(output: str) -> Commit | None:
    """Return the commit of the batch that was written last; None: none was."""
    numbers = _numbers(output)
    return read_commit(output, numbers[-1]) if numbers else None


def _numbers(output: str) -> list[int]:
    """Return the numbers of the batches that are written, without a gap; files with other names are none of ours.

    Raises:
        OutputError: one is missing.
    """
    names = (name.removesuffix(".json") for name in storage.list_names(f"{output}/{COMMITS}") if name.endswith(".json"))
    numbers = sorted(int(name) for name in names if name.isdecimal())
    for number, found in enumerate(numbers):
        if number != found:
            raise _missing(output, number)
    return numbers


def _missing(output: str, batch: int) -> OutputError:
    """Build the error where there are later batches than one that has no commit."""
    return OutputError(f"{_commit_path(output, batch)}: is missing; {RESTORE}")


def files(output: str, table: str) -> list[str]:
    """Return the paths of the files of a table that are committed."""
    paths = (path for one in read_commits(output) for path in one.files)
    return [f"{output}/{path}" for path in paths if path.startswith(f"{table}/")]


def _commit_path(output: str, batch: int) -> str:
    return f"{output}/{COMMITS}/{batch:08}.json"


def begin(output: str, settings: Mapping[str, Any]) -> None:
    """Note the settings with which a stream is begun there, unless it was begun before with the same. Raises as
    `is_begun` does."""
    if not is_begun(output, settings):
        begun_with = {"version": VERSION, **settings}
        storage.write(f"{output}/{BEGUN}", json.dumps(begun_with, indent=1, sort_keys=True).encode())


def is_begun(output: str, settings: Mapping[str, Any]) -> bool:
    """Return whether a stream was begun there, with these settings.

    Raises:
        OutputError: with others, by another version, or the folder holds something else.
    """
    names = storage.list_names(output)
    if BEGUN not in names:
        if COMMITS in names:
            raise OutputError(f"{output}/{BEGUN}: is missing; {RESTORE}")
        check_outside(output)
        if foreign := sorted(names - _ALLOWED_BEFORE):
            raise OutputError(f"{output} holds {foreign[0]} and is no output of a stream; give another --output")
        return False
    before = _read(f"{output}/{BEGUN}")
    if not isinstance(before.get("version"), int):
        raise OutputError(f"{output}/{BEGUN}: has no version; {RESTORE}")
    if before["version"] != VERSION:
        raise OutputError(
            f"{output} is of version {before['version']} of the stream, this program has {VERSION}: go on with the"
            " program that began it, or begin anew with another --output"
        )
    if changes := [*unlike(before, json.loads(json.dumps({"version": VERSION, **settings})))]:
        raise OutputError(
            f"{output} was begun with other settings: {'; '.join(changes[:5])}. Give the same settings to resume the"
            " stream, or another --output"
        )
    return True


def begun_with(output: str) -> dict[str, Any]:
    """Read the settings that a stream was begun with there; none if it was not.

    Raises:
        OutputError: they cannot be read.
    """
    return _read(f"{output}/{BEGUN}") if BEGUN in storage.list_names(output) else {}


def _read(path: str) -> dict[str, Any]:
    found = read_json(path)
    if not isinstance(found, dict):
        raise OutputError(f"{path}: is no JSON object; {RESTORE}")
    return found


def read_json(path: str) -> Any:
    """Read a file that the output keeps its account in.

    Raises:
        OutputError: it cannot be read, or is no JSON.
    """
    try:
        with sources.open_binary(path) as file:
            return json.loads(file.read())
    except PermissionError as error:
        raise denied(path, error) from error
    except (OSError, ValueError, RecursionError) as error:
        raise OutputError(f"{path}: cannot be read: {error}; {RESTORE}") from error
