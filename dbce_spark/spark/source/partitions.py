"""The share of one task: some whole files, or some records that an index names."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from pyspark.sql.datasource import InputPartition

from dbce_spark import config as configuration
from dbce_spark.archive.index.byte_ranges import group_by_file
from dbce_spark.archive.index.capture_filter import FilterCounts, selection
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.index_fault import BadLine
from dbce_spark.files import sources
from dbce_spark.spark.source.options import Options

T = TypeVar("T")

OPENING_BYTES = 4 << 20
"""Bytes that could be read in the time that opening a file takes (Spark's spark.sql.files.openCostInBytes)."""
_TASKS = 32
"""Tasks that a small read is divided into, where its files are as many: more than one machine has cores."""
_UNKNOWN_BYTES = 1 << 15
"""Stored bytes of a record whose index lacks its length: what pages have on average."""


class Files(InputPartition):
    """Files that are read from start to end."""

    def __init__(self, paths: list[str]):
        self.paths = paths


class RangePartition(InputPartition):
    """Records of some files, in file order; and lines of an index that name none."""

    def __init__(self, entries: dict[str, list[IndexEntry]], faults: list[BadLine]):
        self.entries = entries
        self.faults = faults


def plan_tasks(options: Options) -> list[Files] | list[RangePartition]:
    """Plan all that is to be read, a task each."""
    return _of_index(options) if options.index else _of_files(options)


def _of_files(options: Options) -> list[Files]:
    # A remote file is a task of its own: requests take longer than reading.
    most = options.partition_bytes
    sizes = [(path, most if sources.is_remote(path) else sources.size_or(path, most)) for path in options.files]
    return [Files(paths) for paths in packed(sizes, most)]


def _of_index(options: Options) -> list[RangePartition]:
    """Read the entries that the filters pass, all of them held: about 1 KB each."""
    # It brings pyarrow.dataset and pandas, a second for each worker: who reads whole files need not wait for that.
    from dbce_spark.archive.index.index_file import read_entries

    faults: list[BadLine] = []
    entries: list[IndexEntry] = []
    for one in read_entries(
        options.index, options.base, selection(options.select), configuration.default().fetch, FilterCounts()
    ):
        if isinstance(one, BadLine):
            faults.append(one)
        elif not (one.is_revisit and options.kinds and "revisit" not in options.kinds):
            entries.append(one)
    files, _ = group_by_file(entries)
    sizes = [
        ((path, entry), (entry.length if entry.length >= 0 else _UNKNOWN_BYTES) + (0 if nth else OPENING_BYTES))
        for path, of_file in files.items()
        for nth, entry in enumerate(of_file)
    ]
    parts = [RangePartition(_grouped(pairs), []) for pairs in packed(sizes, options.partition_bytes, opening=0)]
    return [RangePartition({}, faults), *parts] if faults else parts or [RangePartition({}, [])]


def _grouped(pairs: Iterable[tuple[str, IndexEntry]]) -> dict[str, list[IndexEntry]]:
    files: dict[str, list[IndexEntry]] = {}
    for path, entry in pairs:
        files.setdefault(path, []).append(entry)
    return files


def packed(sizes: Iterable[tuple[T, int]], most: int, *, opening: int = OPENING_BYTES) -> Iterator[list[T]]:
    """Pack things in their order, as many together as make up `most` bytes; fewer, if that makes too few tasks.

    `opening` is the cost of each thing beside its size.
    """
    costs = [(thing, size + opening) for thing, size in sizes]
    aim = min(most, max(OPENING_BYTES, sum(size for _, size in costs) // _TASKS))
    pack: list[T] = []
    held = 0
    for thing, size in costs:
        if pack and held + size > aim:
            yield pack
            pack, held = [], 0
        pack.append(thing)
        held += size
    if pack:
        yield pack
