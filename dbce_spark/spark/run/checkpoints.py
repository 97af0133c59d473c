"""Checkpoints: results of stages and tasks that have ended, as small JSON files that are there only when whole.

A run that goes on after another was killed takes their results over.
"""

import json
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from dbce_spark.files import sources, storage

T = TypeVar("T")


def once(path: str, kind: type[T], work: Callable[[], T]) -> T:
    """Do `work` once: its result is kept at `path`; if it was kept there before, that is returned, and nothing is done.

    `kind` is its type: a dataclass, list, dict or Counter of such, or what JSON has itself.
    """
    kept = read(path, kind)
    if kept is not None:
        return kept
    result = work()
    write(path, result)
    return result


def read(path: str, kind: type[T]) -> T | None:
    """Read the value at a path; None: there is none."""
    try:
        with sources.open_binary(path) as file:
            return parsed(file.read().decode(), kind)
    except FileNotFoundError:
        return None


def write(path: str, value: object) -> None:
    with storage.atomic_file(path) as file:
        file.write(text(value).encode())


def text(value: object) -> str:
    """Return a value as one line of JSON; a dataclass by the names of its fields."""
    return json.dumps(value, default=_fields, ensure_ascii=False)


def parsed(text: str, kind: type[T]) -> T:
    """Return the value that was written as `text`."""
    return cast(T, _built(kind, json.loads(text)))


def _fields(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in fields(value)}


def _built(kind: Any, plain: Any) -> Any:
    if is_dataclass(kind):
        hints = _hints(cast(Hashable, kind))
        return cast(Any, kind)(**{name: _built(hints[name], value) for name, value in plain.items()})
    origin = get_origin(kind)
    if origin is list:
        return [_built(get_args(kind)[0], one) for one in plain]
    return origin(plain) if isinstance(origin, type) and issubclass(origin, dict) else plain


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    return get_type_hints(kind)
