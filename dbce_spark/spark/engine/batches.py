"""Arrow batches made of rows, and rows of batches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import pyarrow as pa

T = TypeVar("T")
_Batches = Iterator[pa.RecordBatch]


def batch_of(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Make a batch of rows, each the values of the schema's columns in their order."""
    columns = [*zip(*rows, strict=True)] or [()] * len(schema)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def rows_of(batch: pa.RecordBatch | pa.Table, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of a batch: the values of some columns."""
    return zip(*(batch.column(name).to_pylist() for name in names), strict=True)


def table_of(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Make a table of batches that have the schema's columns, in any order and among others."""
    return pa.Table.from_batches([batch.select(schema.names).cast(schema) for batch in batches], schema)


def each_batch(make: Callable[[pa.RecordBatch], pa.RecordBatch]) -> Callable[[_Batches], _Batches]:
    """Return the map over batches, as `mapInArrow` takes it, that makes one of each."""
    return lambda batches: map(make, batches)


def lots(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut a stream into lists of `size` items; the last may have fewer."""
    rest = iter(items)
    while lot := [*islice(rest, size)]:
        yield lot
