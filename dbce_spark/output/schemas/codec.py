"""Convert frozen dataclasses to Arrow batches, column by column, and restore them.

A column has the value of the field of its name. What is stored otherwise, such as an array as its bytes or a dataclass
within another one, is given as a column by the owner of the table.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

STRING, INT, LONG, FLOAT, BINARY = pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.binary()
TIME = pa.timestamp("us", tz="UTC")
Record = TypeVar("Record", bound="DataclassInstance")


def fields(**types: pa.DataType) -> list[pa.Field]:
    """Define columns. All are nullable, as Spark writes them."""
    return [pa.field(name, kind, nullable=True) for name, kind in types.items()]


PLACE = ["file_no", "row_no"]
"""The columns that say where a row is staged."""
PLACE_FIELDS = fields(**dict.fromkeys(PLACE, INT))


def column_names(columns: Iterable[pa.Field]) -> list[str]:
    """List the names of columns."""
    return [column.name for column in columns]


def build_batch(schema: pa.Schema, length: int, columns: Mapping[str, Any]) -> pa.RecordBatch:
    """Build a batch of a schema; columns that are not given are null."""
    arrays = []
    for field in schema:
        column = columns.get(field.name)
        if column is None:
            column = pa.nulls(length, field.type)
        elif not isinstance(column, pa.Array):
            column = pa.array(column, field.type)
        arrays.append(column)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def attributes(records: Sequence[object], names: Iterable[str]) -> dict[str, list[Any]]:
    """List the values of some attributes of records, by attribute."""
    return {name: [*map(attrgetter(name), records)] for name in names}


def encode(schema: pa.Schema, records: Sequence[object], **given: Any) -> pa.RecordBatch:
    """Build a batch of a schema from records, one a row; columns that are not given are read from the attributes of
    their names.

    Raises:
        AttributeError: the records have no attribute of a column's name.
    """
    named = attributes(records, (name for name in schema.names if name not in given))
    return build_batch(schema, len(records), named | given)


def decode(kind: type[Record], rows: pa.RecordBatch | pa.Table, **given: Iterable[Any]) -> Iterator[Record]:
    """Restore records of a dataclass from rows, one at a time; fields that are not given are read from the columns of
    their names. Times are in microseconds since 1970. A field that has no column keeps its default."""
    stored = {name: plain(rows.column(name)) for name in _stored(kind, rows.schema.names) if name not in given}
    columns = {**stored, **given}
    for values in zip(*columns.values(), strict=True):
        yield kind(**dict(zip(columns, values, strict=True)))


def decode_row(kind: type[Record], row: Mapping[str, Any], **given: Any) -> Record:
    """Restore a record of a dataclass from a row that Arrow has made a dictionary of."""
    return kind(**{name: row[name] for name in _stored(kind, row) if name not in given}, **given)


def _stored(kind: type[Record], columns: Collection[str]) -> list[str]:
    return [name for name in kind.__dataclass_fields__ if name in columns]


def plain(column: pa.Array) -> list[Any]:
    """List a column's values, times in microseconds since 1970."""
    values: list[Any] = (column.cast(LONG) if pa.types.is_timestamp(column.type) else column).to_pylist()
    return values


def packed(arrays: Iterable[npt.NDArray[Any] | None], kind: npt.DTypeLike) -> list[bytes | None]:
    """List the bytes of arrays, stored as numbers of one kind; None where there is no array."""
    return [None if array is None else array.astype(kind, copy=False).tobytes() for array in arrays]


def unpacked(values: Iterable[bytes | None], kind: npt.DTypeLike) -> Iterator[npt.NDArray[Any] | None]:
    """Restore arrays of one dimension from their bytes, without a copy."""
    return (None if value is None else np.frombuffer(value, kind) for value in values)


def row_places(rows: int, file_no: int, first_row: int) -> dict[str, list[int]]:
    """List the places of consecutive rows in a staged file, as columns."""
    return dict(zip(PLACE, ([file_no] * rows, [*range(first_row, first_row + rows)]), strict=True))


def lists(parts: Sequence[Any], values: pa.Array) -> pa.ListArray:
    """Build a list column from the lengths of its rows and their values, one after the other."""
    offsets = np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values)
