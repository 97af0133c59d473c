"""The data source: options and schema in, a plan of tasks, and each task's records as Arrow batches out."""

from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, Filter, InputPartition
from pyspark.sql.types import StructType

from dbce_spark import config as configuration
from dbce_spark.archive.index.fetch import Fetched, fetch
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.range_reader import open_file
from dbce_spark.archive.records import Limits, Record, records
from dbce_spark.errors import InputError
from dbce_spark.spark.source import rows
from dbce_spark.spark.source.choice import Choice
from dbce_spark.spark.source.columns import BATCH_BYTES, BATCH_ROWS, Columns, columns, size_of, spark_schema
from dbce_spark.spark.source.options import Mode, Options, parse
from dbce_spark.spark.source.partitions import Files, RangePartition, plan_tasks
from dbce_spark.spark.source.pushed import Pushed, split_filters
from dbce_spark.spark.source.rows import DamageRow, RecordRow

Found = tuple[RecordRow | DamageRow, IndexEntry | None]
"""A row, and the line of the index that led to it."""


class WarcDataSource(DataSource):
    """The format "warc". Options are checked, and paths expanded, as `load` is called."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.parsed = parse(options)

    @classmethod
    def name(cls) -> str:
        return "warc"

    def schema(self) -> StructType:
        return spark_schema(self.parsed.columns)

    def reader(self, schema: StructType) -> "WarcReader":
        return WarcReader(self.parsed, columns(schema))


class WarcReader(DataSourceReader):
    """One read. Spark sends it to every task, so it holds the options and columns and no more."""

    def __init__(self, options: Options, columns: Columns):
        self.options = options
        self.columns = columns
        self.pushed: list[Pushed] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Take the filters that a record's heads can answer, and leave the others to Spark."""
        self.pushed, rest = split_filters(filters)
        return rest

    def partitions(self) -> list[InputPartition]:
        return list(plan_tasks(self.options))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows of one task, in the order of its files and of their bytes."""
        held, size = [], 0
        for row in self._passing(partition):
            values = self.columns.values(row)
            self._check(row)
            if row.fault is not None and self.options.mode is Mode.DROPMALFORMED:
                continue
            held.append(values)
            size += size_of(values)
            if size >= BATCH_BYTES or len(held) == BATCH_ROWS:
                yield self.columns.batch(held)
                held, size = [], 0
        if held:
            yield self.columns.batch(held)

    def _passing(self, partition: InputPartition) -> Iterator[RecordRow | DamageRow]:
        """Iterate over the rows that no option and no pushed filter keeps out; damage only by pushed filters."""
        choice = Choice.of(self.options)
        for row, entry in self._found(partition):
            if isinstance(row, RecordRow) and not choice.takes(row, entry):
                continue
            if all(one.passes(row) for one in self.pushed):
                yield row
            else:
                self._check(row)

    def _check(self, row: RecordRow | DamageRow) -> None:
        """Check that a row has no fault where that ends the job.

        Raises:
            InputError: it has one, and the mode is FAILFAST.
        """
        fault = row.fault
        if fault is not None and self.options.mode is Mode.FAILFAST:
            where = "" if row.offset is None else f", byte {row.offset}"
            raise InputError(
                f"{row.file}{where}: {fault.reason}: {fault.detail}; mode PERMISSIVE makes it a row, and goes on"
            )

    def _found(self, partition: InputPartition) -> Iterator[Found]:
        if isinstance(partition, Files):
            for path in partition.paths:
                yield from self._of_file(path)
        elif isinstance(partition, RangePartition):
            yield from ((rows.of_bad_line(fault), None) for fault in partition.faults)
            for path, entries in partition.entries.items():
                yield from self._of_ranges(path, entries)

    def _of_file(self, path: str) -> Iterator[Found]:
        try:
            with open_file(path, configuration.default().fetch) as stream:
                for read in records(stream, self._limits):
                    file = rows.member(path, read.within)
                    if isinstance(read, Record):
                        yield RecordRow(read, file, read.offset, self.options.max_payload_bytes), None
                    elif read.cause.is_loss:
                        yield rows.of_damage(read, file, read.offset), None
        except OSError as error:
            yield rows.of_unreadable(path, error), None

    def _of_ranges(self, path: str, entries: list[IndexEntry]) -> Iterator[Found]:
        for fetched in fetch(path, entries, configuration.default().fetch, self.options.max_record_bytes):
            if isinstance(fetched, Fetched):
                yield from self._of_range(fetched)
            else:
                yield rows.of_unfetched(fetched), fetched.entry

    def _of_range(self, fetched: Fetched) -> Iterator[Found]:
        before = fetched.entry.offset - len(fetched.dictionary)
        for read in records(fetched.stream(), self._limits):
            offset = before + read.offset
            if isinstance(read, Record):
                yield RecordRow(read, fetched.entry.path, offset, self.options.max_payload_bytes), fetched.entry
            elif read.cause.is_loss:
                yield rows.of_damage(read, fetched.entry.path, offset), fetched.entry

    @property
    def _limits(self) -> Limits:
        return replace(Limits.from_config(configuration.default().input), record_bytes=self.options.max_record_bytes)
