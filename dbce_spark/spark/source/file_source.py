"""Files as they appear in a folder or bucket: a stream of their paths, some at a time, each once.

Spark's own file stream knows local folders and what Hadoop has drivers for, goes by times of change, and passes over
files that are a week older than the newest. Here a file is new if its name is; which names came when is kept in a
ledger of our own, since Spark keeps of a source in Python no more than a number.
"""

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from fsspec.core import url_to_fs
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow

from dbce_spark.errors import OutputError
from dbce_spark.files import sources, storage
from dbce_spark.streaming.stream.stream_tables import RESTORE, read_json

NAME = "warc-arrivals"
SCHEMA = "file_no long, path string"
_ARROW = pa.schema([("file_no", pa.int64()), ("path", pa.string())])
_COUNT = "files"
_DIGEST = np.dtype("S16")
"""At 128 bits no two of any number of names that there can be have the same."""
_MOST_ADDED = 1 << 16
"""Digests that are held as objects of Python, six times as large, before they are sorted in among the others."""


class TakenNames:
    """A set of names that only grows: 16 bytes for each, by a digest, however long the names are."""

    def __init__(self) -> None:
        self._sorted = np.empty(0, _DIGEST)
        self._added: set[bytes] = set()

    def add(self, names: Iterable[str]) -> None:
        self._added.update(map(_digest, names))
        if len(self._added) > _MOST_ADDED:
            self._sorted = np.sort(np.concatenate([self._sorted, np.array([*self._added], _DIGEST)]))
            self._added.clear()

    def without(self, names: Iterable[str]) -> list[str]:
        """List those of some names that are not in the set, in their order."""
        named = [(name, digest) for name in names if (digest := _digest(name)) not in self._added]
        if not len(self._sorted):
            return [name for name, _ in named]
        digests = np.array([digest for _, digest in named], _DIGEST)
        places = np.searchsorted(self._sorted, digests).clip(max=len(self._sorted) - 1)
        return [name for (name, _), is_in in zip(named, self._sorted[places] == digests, strict=True) if not is_in]


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_DIGEST.itemsize).digest()


class Ledger:
    """The files that a stream has taken, numbered in the order in which it took them; one small file for each step.

    A step is what one batch reads. It is whole or not there, and never changes. Of the names only digests are held.
    """

    def __init__(self, folder: str):
        """Read the steps. Raises OutputError if the folder cannot be read, or a step is missing."""
        self._folder = folder.rstrip("/")
        self._taken = TakenNames()
        self._ends = array("q")
        """The number of files that were taken behind each step."""
        for name in sorted(one for one in storage.list_names(self._folder) if one.endswith(".json")):
            if name != self._name(len(self._ends)):
                raise OutputError(
                    f"{self._folder}: {self._name(len(self._ends))} is missing, so the files of that step are unknown;"
                    f" {RESTORE}"
                )
            self._append(self._read(name))

    def __len__(self) -> int:
        """Return how many files were taken."""
        return self._ends[-1] if self._ends else 0

    def take(self, paths: Sequence[str]) -> int:
        """Keep these files as the next step; return how many are taken then."""
        path = f"{self._folder}/{self._name(len(self._ends))}"
        storage.write(path, json.dumps([*paths], ensure_ascii=False).encode())
        self._append(paths)
        return len(self)

    def not_taken(self, paths: Iterable[str]) -> list[str]:
        """List those of some files that are in no step, in their order."""
        return self._taken.without(paths)

    def next_end(self, start: int) -> int:
        """Return where the step ends that begins there; `start` itself if there is none."""
        step = bisect_right(self._ends, start)
        return self._ends[step] if step < len(self._ends) else start

    def paths(self, start: int, end: int) -> list[str]:
        """Read the files from one number to another. Raises OutputError if a step cannot be read."""
        first = bisect_right(self._ends, start)
        behind = bisect_left(self._ends, end) + 1 if end > start else first
        begins = self._ends[first - 1] if first else 0
        found = [path for step in range(first, behind) for path in self._read(self._name(step))]
        return found[start - begins : end - begins]

    def _name(self, step: int) -> str:
        return f"{step:08}.json"

    def _append(self, paths: Sequence[str]) -> None:
        self._taken.add(paths)
        self._ends.append(len(self) + len(paths))

    def _read(self, name: str) -> list[str]:
        paths = read_json(f"{self._folder}/{name}")
        # Of a text each letter would count as a file.
        if not isinstance(paths, list) or not paths or not all(isinstance(path, str) for path in paths):
            raise OutputError(f"{self._folder}/{name}: is no list of files; {RESTORE}")
        return paths


def files_there(inputs: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """List the files that lie there now, by name. A folder that is not there yet holds none."""
    for one in inputs:
        url_to_fs(one)[0].invalidate_cache()  # others write there
    return sorted({path for one in inputs for path in sources.list_files(one, patterns)})


def next_batch(paths: Sequence[str], most_files: int, most_bytes: int) -> list[str]:
    """Choose the first of these that a batch may take: so many, and so many bytes; one, however large it is."""
    taken: list[str] = []
    left = most_bytes
    for path in paths[:most_files]:
        left -= sources.size_or(path, 0)  # gone again: its reader reports that
        if taken and left < 0:
            break
        taken.append(path)
    return taken


class ArrivedFile(InputPartition):
    """One file, a task."""

    def __init__(self, number: int, path: str):
        self.number = number
        self.path = path


class Arrivals(DataSource):
    """The format "warc-arrivals". Options: `inputs` and `patterns` as lists in JSON, `ledger`, `files` and `bytes` of a
    batch."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.given = dict(options)

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: object) -> "ArrivalsReader":  # noqa: N802
        return ArrivalsReader(self.given)


class ArrivalsReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are how many files of the ledger were read."""

    def __init__(self, given: dict[str, str]):
        self._inputs: list[str] = json.loads(given["inputs"])
        self._patterns: list[str] = json.loads(given["patterns"])
        self._folder = given["ledger"]
        self._most_files, self._most_bytes = int(given["files"]), int(given["bytes"])
        self._opened: Ledger | None = None
        self._frozen: list[str] | None = None

    @property
    def _ledger(self) -> Ledger:
        if self._opened is None:
            self._opened = Ledger(self._folder)
        return self._opened

    def _waiting(self) -> list[str]:
        """List files that are in no step, by name; in a run over what is there, those that were there when it began."""
        if self._frozen is not None:
            return self._frozen
        return self._ledger.not_taken(files_there(self._inputs, self._patterns))

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {_COUNT: 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxFiles(self._most_files)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._frozen = self._waiting()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """Return the end of the next step: one that an earlier process had planned, or a new one."""
        self._check_known(start)
        planned = self._ledger.next_end(start[_COUNT])
        if planned > start[_COUNT]:
            return {_COUNT: planned}
        waiting = self._waiting()
        if not isinstance(limit, ReadAllAvailable):
            waiting = next_batch(waiting, self._most_files, self._most_bytes)
        if not waiting:
            return start
        if self._frozen is not None:
            self._frozen = self._frozen[len(waiting) :]
        return {_COUNT: self._ledger.take(waiting)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Make a task for each file of a step; after a kill Spark begins with its last step."""
        self._check_known(end)
        paths = self._ledger.paths(start[_COUNT], end[_COUNT])
        return [ArrivedFile(number, path) for number, path in enumerate(paths, start[_COUNT])]

    def _check_known(self, offset: dict[str, int]) -> None:
        """Check that the ledger has all files up to an offset.

        Raises:
            OutputError: it has not.
        """
        if offset[_COUNT] > len(self._ledger):
            raise OutputError(
                f"{self._folder} knows of {len(self._ledger)} files, the checkpoint of {offset[_COUNT]}:"
                " they belong to different streams; give the --checkpoint that this output was begun with"
            )

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ArrivedFile)
        yield pa.RecordBatch.from_pydict({"file_no": [partition.number], "path": [partition.path]}, schema=_ARROW)

    def commit(self, end: dict[str, int]) -> None:
        """Do nothing: the ledger is kept, since it lists what was read."""
