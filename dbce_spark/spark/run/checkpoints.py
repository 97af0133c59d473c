"""Checkpoints: results of stages and tasks that have ended, as small JSON files that are there only when whole.

A run that goes on after another was killed takes their results over. Each stands beside a digest of itself: one that a
disk has changed is no result.
"""

import json
import logging
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from dbce_spark.files import sources, storage
from dbce_spark.model import digest

T = TypeVar("T")
_LOGGER = logging.getLogger("dbce_spark.run")


def once(path: str, kind: type[T], work: Callable[[], T]) -> T:
    """Do `work` once: its result is kept at `path`; if it was kept there before, that is returned, and nothing is done.

    `kind` is its type: a dataclass, list, dict or Counter of such, or what JSON has itself.
    """
    before = kept(path, kind)
    if before is not None:
        return before
    result = work()
    write(path, result)
    return result


class BrokenCheckpoint(ValueError):
    """A file that is no checkpoint of this version: a disk has changed it, or another version wrote it."""


def kept(path: str, kind: type[T]) -> T | None:
    """Read the value at a path; None: there is none that is whole, so its work is to be done again."""
    try:
        return read(path, kind)
    except BrokenCheckpoint as error:
        _LOGGER.warning("%s is broken, and what it stands for is done again: %s", path, error)
        return None


def read(path: str, kind: type[T]) -> T | None:
    """Read the value at a path; None: there is none.

    Raises:
        BrokenCheckpoint: it is broken, or of another version.
    """
    try:
        with sources.open_binary(path) as file:
            stored = json.loads(file.read())
        if stored["digest"] != digest(text(stored["value"])):
            raise BrokenCheckpoint("its digest is that of something else")
        return cast(T, _built(kind, stored["value"]))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise BrokenCheckpoint(str(error)) from error


def write(path: str, value: object) -> None:
    plain = text(value)
    storage.write(path, f'{{"value": {plain}, "digest": "{digest(text(json.loads(plain)))}"}}\n'.encode())


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
