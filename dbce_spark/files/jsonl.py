"""Files of JSON lines, plain, .xz or .gz: one object a line, each with the place that an error names."""

import json
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import isnan
from typing import Any, Generic, TypeVar

from dbce_spark.errors import InputError
from dbce_spark.files import sources, storage

Fields = Mapping[str, Any]
T = TypeVar("T")

_KINDS: dict[str, type | tuple[type, ...]] = {
    "a text": str,
    "a list": list,
    "a whole number": int,
    "a number": (int, float),
}


def read(path: str) -> Iterator[tuple[str, Fields]]:
    """Iterate over the objects of a file, each after its place, such as "file:3".

    Raises:
        InputError: it cannot be read, or a line is no JSON object.
    """
    number = 0
    try:
        with sources.open_decompressed(path) as lines:
            for number, written in enumerate(lines, start=1):
                if written.strip():
                    place = f"{path}:{number}"
                    yield place, from_line(written, place)
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file") from error
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        behind = f" behind line {number}" if number else ""
        raise InputError(f"{path}: cannot be read{behind}: {error}") from error


def read_first(path: str) -> list[tuple[str, Fields]]:
    """Read the first object of a file; none, where it is empty.

    Raises:
        InputError: as of `read`.
    """
    return list(islice(read(path), 1))


def write(path: str, objects: Iterable[Fields]) -> int:
    """Write one object a line, and return how many; the same objects give the same bytes."""
    written = 0
    with storage.atomic_file(path) as stream, storage.compressed(stream, path) as plain:
        for fields in objects:
            plain.write(line(_without_nan(fields)))
            written += 1
    return written


@dataclass(frozen=True, slots=True)
class LinesOf(Generic[T]):
    """Files of one kind of objects: the fields of one, and the object of fields at a place, which raises InputError."""

    as_fields: Callable[[T], Fields]
    from_fields: Callable[[Fields, str], T]

    def write(self, path: str, objects: Iterable[T]) -> int:
        """Write objects, and return how many."""
        return write(path, map(self.as_fields, objects))

    def read(self, path: str) -> Iterator[T]:
        """Iterate over the objects of a file.

        Raises:
            InputError: it cannot be read, or a line is no such object.
        """
        return (self.from_fields(fields, place) for place, fields in read(path))


def line(fields: Fields, *, compact: bool = False) -> bytes:
    """Encode an object as a line of UTF-8, its keys in their order; `compact`: without spaces."""
    separators = (",", ":") if compact else None
    return f"{json.dumps(fields, ensure_ascii=False, separators=separators)}\n".encode("utf-8", "surrogatepass")


def from_line(written: bytes, place: str) -> dict[str, Any]:
    """Decode the object of a line.

    Raises:
        InputError: it is no JSON object.
    """
    try:
        fields = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InputError(f"{place}: a JSON {type(fields).__name__}, not an object")
    return fields


def field(fields: Fields, name: str, kind: str, place: str) -> Any:
    """Return a field that must be there. kind: "a text", "a list", "a whole number" or "a number".

    Raises:
        InputError: it is not there, or is something else.
    """
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, _KINDS[kind]):
        raise InputError(f"{place}: {name} must be {kind}, not {value!r}")
    return value


def _without_nan(fields: Fields) -> dict[str, Any]:
    """Put null for NaN, which JSON does not have."""
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in fields.items()}
