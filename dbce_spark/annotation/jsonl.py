"""Files of JSON lines, plain, .xz or .gz: one object a line, each with the place that an error names."""

import json
import lzma
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import isnan
from typing import Any, TypeVar

from dbce_spark import storage
from dbce_spark.archive import sources
from dbce_spark.errors import InputError

T = TypeVar("T")
Fields = Mapping[str, Any]

_KINDS: dict[str, type | tuple[type, ...]] = {
    "a text": str,
    "a list": list,
    "a whole number": int,
    "a number": (int, float),
}


def read(path: str) -> Iterator[tuple[str, Fields]]:
    """The objects of a file, each after its place, such as "file:3".

    Raises:
        InputError: it cannot be read, or a line is no JSON object.
    """
    try:
        with sources.plain(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    place = f"{path}:{number}"
                    yield place, _object(line, place)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def first(path: str) -> list[tuple[str, Fields]]:
    """The first object of a file; none, where it is empty.

    Raises:
        InputError: as of `read`.
    """
    return list(islice(read(path), 1))


def write(path: str, objects: Iterable[Fields]) -> None:
    """Writes one object a line; the same objects give the same bytes."""
    with storage.whole_file(path) as stream, storage.packed(stream, path) as plain:
        for one in objects:
            plain.write(f"{json.dumps(_known(one), ensure_ascii=False)}\n".encode("utf-8", "surrogatepass"))


def batched(some: Iterable[T], size: int) -> Iterator[list[T]]:
    """Some in rows of `size`, the last with what is left. Each row is made when it is asked for."""
    left = iter(some)
    while row := list(islice(left, size)):
        yield row


def field(fields: Fields, name: str, kind: str, place: str) -> Any:
    """A field that must be there. kind: "a text", "a list", "a whole number" or "a number".

    Raises:
        InputError: it is not there, or is something else.
    """
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, _KINDS[kind]):
        raise InputError(f"{place}: {name} must be {kind}, not {value!r}")
    return value


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InputError(f"{place}: a JSON {type(fields).__name__}, not an object")
    return fields


def _known(one: Fields) -> dict[str, Any]:
    """JSON has no NaN: what is not known is null."""
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in one.items()}
