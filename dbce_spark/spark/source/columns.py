"""The columns of the format "warc": their types for Spark and for Arrow, and the batches that rows become."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type
from pyspark.sql.types import StructType

from dbce_spark.errors import InputError
from dbce_spark.output.schemas.codec import BINARY, INT, LONG, STRING, TIME, fields

_MAP = pa.map_(STRING, STRING)
_COLUMNS = pa.schema(
    [
        *fields(file=STRING, offset=LONG, length=LONG, kind=STRING, url=STRING, host=STRING, date=TIME),
        *fields(record_id=STRING, headers=_MAP, block=BINARY, http_status=INT, http_headers=_MAP, mime=STRING),
        *fields(mime_detected=STRING, payload=BINARY, charset=STRING, content=STRING, defects=pa.list_(STRING)),
        *fields(damage=STRING, damage_detail=STRING),
    ]
)
NAMES = tuple(_COLUMNS.names)
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


def spark_schema(names: Iterable[str]) -> StructType:
    """Return the Spark schema of some columns.

    Raises:
        InputError: there is no such column.
    """
    return from_arrow_schema(pa.schema(map(_column, names)))


def columns(schema: StructType) -> Columns:
    """Return the columns of a schema: ours, or one that a user gave.

    Raises:
        InputError: it has a column that is none of ours, or one of another type, or none at all.
    """
    if not len(schema):
        raise InputError(f"the schema has no column; known are {', '.join(NAMES)}")
    for field in schema:
        ours = from_arrow_type(_column(field.name).type)
        if field.dataType != ours:
            raise InputError(f"column {field.name} is {ours.simpleString()}, not {field.dataType.simpleString()}")
    arrow = pa.schema([_column(field.name).with_nullable(field.nullable) for field in schema])
    return Columns(tuple(schema.fieldNames()), arrow)


def _column(name: str) -> pa.Field:
    if name not in NAMES:
        raise InputError(f"there is no column {name}; known are {', '.join(NAMES)}")
    return _COLUMNS.field(name)
