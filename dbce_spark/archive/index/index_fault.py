"""Faults of an index, or of the records that an index points at: values, counted, never exceptions."""

from dataclasses import dataclass
from enum import StrEnum


class IndexFault(StrEnum):
    """The kinds of faults. Each becomes a reject of the same name."""

    INDEX_UNREADABLE = "index_unreadable"  # cannot be opened, inflated or fetched
    NOT_AN_INDEX = "not_an_index"  # none of the known formats by its first bytes
    BROKEN_LINE = "broken_index_line"  # a line that is no entry, or one that names no place
    UNSAFE_PATH = "unsafe_path"  # an entry points out of the folder that its archives lie in
    TOO_LARGE = "too_large"  # an entry of more bytes than a record may have
    FETCH_FAILED = "fetch_failed"  # the bytes of an entry could not be had


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of an index that is no usable entry. `line` counts from 1; 0: the file as a whole; -1: unknown."""

    path: str
    line: int
    fault: IndexFault
    detail: str
