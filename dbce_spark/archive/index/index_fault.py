"""Faults of an index, or of the records that an index points at: values, counted, never exceptions."""

from dataclasses import dataclass

from dbce_spark.model import RejectReason


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of an index that is no usable entry. `line` counts from 1; 0: the file as a whole; -1: unknown."""

    path: str
    line: int
    fault: RejectReason
    detail: str
