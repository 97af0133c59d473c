"""The columns of the format "warc": their types for Spark and for Arrow, and the batches that rows become."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import types as T

from dbce_spark.errors import InputError

_STRING = (T.StringType(), pa.string())
_LONG = (T.LongType(), pa.int64())
_BINARY = (T.BinaryType(), pa.binary())
_MAP = (T.MapType(T.StringType(), T.StringType()), pa.map_(pa.string(), pa.string()))

_TYPES: dict[str, tuple[T.DataType, pa.DataType]] = {
    "file": _STRING,
    "offset": _LONG,
    "length": _LONG,
    "kind": _STRING,
    "url": _STRING,
    "host": _STRING,
    "date": (T.TimestampType(), pa.timestamp("us", tz="UTC")),
    "record_id": _STRING,
    "headers": _MAP,
    "block": _BINARY,
    "http_status": (T.IntegerType(), pa.int32()),
    "http_headers": _MAP,
    "mime": _STRING,
    "mime_detected": _STRING,
    "payload": _BINARY,
    "charset": _STRING,
    "content": _STRING,
    "defects": (T.ArrayType(T.StringType()), pa.list_(pa.string())),
    "damage": _STRING,
    "damage_detail": _STRING,
}
NAMES = tuple(_TYPES)
ON_DEMAND = frozenset({"block"})
"""Columns that are there only when they are named: what is in `block` is in the others, read."""
_LAST = ("damage", "damage_detail")
"""Columns that are computed after the others."""

BATCH_BYTES = 8 << 20
"""Bytes of values that are held until they are handed on, but for the row that goes beyond it."""
BATCH_ROWS = 1024
_ROW_BYTES = 512


class SourceRow(Protocol):
    """A record, or bytes that are none: it has a value for each column."""

    def value(self, name: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one read. No others are worked out."""

    names: tuple[str, ...]
    arrow: pa.Schema

    def values(self, row: SourceRow) -> list[Any]:
        """Return a row's values, in the order of the columns; its fault is computed after all others."""
        by_name = {name: row.value(name) for name in sorted(self.names, key=_LAST.__contains__)}
        return [by_name[name] for name in self.names]

    def batch(self, values: Sequence[Sequence[Any]]) -> pa.RecordBatch:
        """Make one batch of rows of values."""
        by_column = zip(*values, strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(by_column, self.arrow, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.arrow)


def size_of(values: Iterable[Any]) -> int:
    """Estimate the bytes of a row."""
    return _ROW_BYTES + sum(_bytes(value) for value in values)


def _bytes(value: Any) -> int:
    if isinstance(value, bytes | str):
        return len(value)
    return sum(map(_bytes, value)) if isinstance(value, list | tuple) else 0


def spark_schema(names: Iterable[str]) -> T.StructType:
    """Return the Spark schema of some columns.

    Raises:
        InputError: there is no such column.
    """
    return T.StructType([T.StructField(name, _type(name)[0]) for name in names])


def columns(schema: T.StructType) -> Columns:
    """Return the columns of a schema: ours, or one that a user gave.

    Raises:
        InputError: it has a column that is none of ours, or one of another type, or none at all.
    """
    if not len(schema):
        raise InputError(f"the schema has no column; known are {', '.join(NAMES)}")
    for field in schema:
        ours = _type(field.name)[0]
        if field.dataType != ours:
            raise InputError(f"column {field.name} is {ours.simpleString()}, not {field.dataType.simpleString()}")
    fields = [pa.field(field.name, _type(field.name)[1], field.nullable) for field in schema]
    return Columns(tuple(schema.fieldNames()), pa.schema(fields))


def _type(name: str) -> tuple[T.DataType, pa.DataType]:
    if name not in _TYPES:
        raise InputError(f"there is no column {name}; known are {', '.join(NAMES)}")
    return _TYPES[name]
