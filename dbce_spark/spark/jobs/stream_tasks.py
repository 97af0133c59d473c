"""The tasks of a stream: read a file, label the pages of a domain where its state is, write a part of a batch."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

from dbce_spark.archive.index.range_reader import wait_to_start
from dbce_spark.config import DbceConfig
from dbce_spark.dbce.kept.kept_formats import FORMATS
from dbce_spark.dbce.page_lots import TOGETHER, cut_lots
from dbce_spark.files.sources import is_remote
from dbce_spark.model import RejectStage
from dbce_spark.output.schemas import stream_rows
from dbce_spark.spark.engine import sandbox, worker
from dbce_spark.spark.engine.batches import batch_of, lots, rows_of
from dbce_spark.spark.run.record_counts import SKIPPED, by_reason
from dbce_spark.spark.run.record_outcomes import RecordOutcomes, page_batches
from dbce_spark.streaming.stream import stream_parts
from dbce_spark.streaming.stream.arrival import Row, pack_head, restore_arrival
from dbce_spark.streaming.stream.local_stream import make_arrivals, reject_row
from dbce_spark.streaming.stream.outcomes import REJECTS, Outcome, build_row
from dbce_spark.streaming.stream.stream_method import StreamMethod, stream_method
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

Batches = Iterable[pa.RecordBatch]

_PAGE, _COUNTS = "page", "counts"
"""Kinds of rows that are no rows of a table: a page on its way to its domain, and counts of a file."""
_PAST = (REJECTS, _COUNTS)
"""Kinds of rows that no state makes: they are whole in the column `fields`."""
_ROWS_TOGETHER = 64
_NOTHING = b""
_Sent = tuple[str, str, int, int, bytes, str, bytes]
"""A STREAM row."""
_KIND = 1
_place = itemgetter(2, 3)


def file_rows(config: DbceConfig, tree: UrlTreeConfig) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Return the map over files: STREAM rows of the pages, rejects and counts of each."""

    def read(batches: Batches) -> Iterator[pa.RecordBatch]:
        worker.prepare()
        for batch in batches:
            for file in batch.to_pylist():
                yield from read_file(file["path"], file["file_no"], config, tree)

    return read


def read_file(path: str, file_no: int, config: DbceConfig, tree: UrlTreeConfig) -> Iterator[pa.RecordBatch]:
    """Iterate over the STREAM rows of one file: its pages, each on the way to its domain, its rejects, its counts."""
    if is_remote(path):
        wait_to_start(config.fetch)
    task, method = TaskContext.get(), stream_method(config, tree)
    first_row = 0
    outcomes = RecordOutcomes(lambda revisit: None)  # an earlier page has its payload
    with sandbox.reading(path, method.reading_config, None if task is None else task.attemptNumber()) as source:
        for pages, htmls in page_batches(source, outcomes, with_html=config.formats.need_html, limit=None):
            arrivals = make_arrivals(zip(pages, htmls, strict=True), file_no, first_row, tree, method)
            sent = [
                (one.domain, _PAGE, file_no, one.row_no, one.packed_row, pack_head(one), one.packed_blocks)
                for one in arrivals
            ]
            yield batch_of(sent, stream_rows.STREAM)
            first_row += len(pages)
    skipped = Counter({f"{SKIPPED}{name}": count for name, count in outcomes.counts.skipped.items()})
    counts = outcomes.counts.by_name() + skipped
    lost = [_past(REJECTS, file_no, at, reject_row(one, file_no)) for at, one in enumerate(outcomes.rejects)]
    yield batch_of([*lost, _past(_COUNTS, file_no, 0, counts + Counter(files=1))], stream_rows.STREAM)


def _past(table: str, file_no: int, row_no: int, row: Row) -> _Sent:
    """Make a row that goes past the state of all domains."""
    return "", table, file_no, row_no, _NOTHING, json.dumps(row), _NOTHING


class Labelling(StatefulProcessor):
    """The labelling where the state of a domain is: STREAM rows of pages in, such of tables out; others go past."""

    def __init__(self, method: StreamMethod):
        self._method = method

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._state = handle.getValueState("domain", "state binary")

    def handleInitialState(self, key: Any, initialState: Any, timerValues: TimerValues) -> None:  # noqa: N802, N803
        """Begin a domain with the state that it is primed with."""
        for state in initialState["state"]:
            self._state.update((bytes(state),))

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Label the pages of a domain, which come in any order, in the order of the stream."""
        sent = [row for frame in rows for row in frame.itertuples(index=False, name=None)]
        if past := [one for one in sent if one[_KIND] != _PAGE]:
            yield pd.DataFrame(past, columns=stream_rows.STREAM.names)
        if waiting := [one for one in sent if one[_KIND] == _PAGE]:
            yield from self._labelled(key[0], sorted(waiting, key=_place))

    def _labelled(self, name: str, waiting: Iterable[_Sent]) -> Iterator[pd.DataFrame]:
        # Spark warns of a state that is read and not there.
        before = self._state.get() if self._state.exists() else None
        state = self._method.restore(bytes(before[0])) if before else self._method.begin(name)
        arrivals = (
            restore_arrival(file_no, row_no, packed_row, fields, blocks)
            for _, _, file_no, row_no, packed_row, fields, blocks in waiting
        )
        made = (
            (name, one.table, 0, 0, one.packed_row, json.dumps(one.columns), _NOTHING) for one in state.take(arrivals)
        )
        for lot in lots(made, _ROWS_TOGETHER):
            yield pd.DataFrame(lot, columns=stream_rows.STREAM.names)
        self._state.update((state.to_bytes(),))

    def close(self) -> None:
        """Do nothing: nothing is held."""


def row_of(table: str, packed: bytes, fields: str, config: DbceConfig) -> Row:
    """Return the row of its table that a STREAM row behind the state becomes."""
    own: Row = json.loads(fields)
    return own if table in _PAST else build_row(Outcome(table, packed, own), config)


def writing(folder: str, number: int, config: DbceConfig) -> Callable[[Batches], stream_parts.WrittenPart]:
    """Return the task that writes the files of a part of a batch."""
    return _through(partial(stream_parts.StreamPart, folder, number), config)


def recounting(number: int, config: DbceConfig) -> Callable[[Batches], stream_parts.WrittenPart]:
    """Return the task that `writing` is, for a batch which is committed: it names and counts, and writes nothing."""
    return _through(partial(stream_parts.CountedPart, number), config)


def _through(
    open_part: Callable[[int], stream_parts.CountedPart], config: DbceConfig
) -> Callable[[Batches], stream_parts.WrittenPart]:
    def write(batches: Batches) -> stream_parts.WrittenPart:
        task, counts, digests = TaskContext.get(), Counter[str](), Counter[str]()
        assert task is not None
        with open_part(task.partitionId()) as part:
            for batch in batches:
                sent = [*rows_of(batch, ("table", "packed_row", "fields"))]
                for table, packed, fields in sent:
                    if table not in _PAST:
                        digests[part.path(table)] += stream_parts.row_digest(packed, fields.encode())
                for table, rows in table_rows(sent, config):
                    if table == _COUNTS:
                        for of_file in rows:
                            counts.update(of_file)
                    else:
                        part.write(table, rows)
                        counts.update(_counted(table, rows))
        return stream_parts.WrittenPart(part.rows, counts, digests)

    return write


def table_rows(sent: Iterable[tuple[str, bytes, str]], config: DbceConfig) -> Iterator[tuple[str, list[Row]]]:
    """Make the rows of the tables of STREAM rows, of each its table, the packed row and the fields: those of a lot of
    pages at a time, by table."""
    made = ((table, row_of(table, packed, fields, config)) for table, packed, fields in sent)
    for lot in cut_lots(made, lambda one: len(one[1].get("blocks", ())), TOGETHER):
        rows: dict[str, list[Row]] = defaultdict(list)
        for table, row in lot:
            rows[table].append(row)
        yield from rows.items()


def _counted(table: str, rows: Sequence[Row]) -> Counter[str]:
    """Count rows of a table, and by what is in them. A page that could not be labelled is taken off the captures, among
    which it was counted when its file was read."""
    counts = Counter({table: len(rows)})
    for row in rows:
        counts.update(f"formats.{name}" for name in FORMATS if row.get(name) is not None)
        counts.update(f"steps.{step}" for step in row.get("steps", ()))
        if row.get("stage") == RejectStage.LABEL:
            counts.update(by_reason({row["reason"]: 1}) | {"captures": -1})
    return counts
