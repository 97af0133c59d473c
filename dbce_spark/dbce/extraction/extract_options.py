"""Options of a call: what of its pages is kept, and how that is written, in place of conf/dbce.toml."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from os import PathLike, fsdecode
from typing import Any, Literal, TypedDict, get_args, get_origin

from dbce_spark.config import DbceConfig, default, fill
from dbce_spark.dbce.kept.kept_formats import FORMATS
from dbce_spark.errors import ConfigError, InputError

KeepOrDrop = Literal["keep", "drop"]


class ExtractOptions(TypedDict, total=False):
    """Options by their names; `help(dbce_spark.extract)` explains them. A function that passes them on takes
    `**options: Unpack[ExtractOptions]`."""

    content: Literal["whole", "article"]
    favor: Literal["precision", "balanced", "recall"]
    title: KeepOrDrop
    comments: bool
    classifier: str | PathLike[str]
    links: KeepOrDrop
    tables: KeepOrDrop
    images: KeepOrDrop


class TableOptions(ExtractOptions, total=False):
    """Options for pages that are rows of a table: those of `ExtractOptions`, and the formats that become columns."""

    formats: Sequence[str]


_NAMED = ("text", *FORMATS)
"""Formats that a call may name."""
_OF_FORMATS = ("links", "tables", "images")
_TYPES: Mapping[str, Any] = ExtractOptions.__annotations__


def with_options(options: Mapping[str, object]) -> DbceConfig:
    """Return the shipped parameters with some options in their place.

    Raises:
        InputError: there is no such option, or it has no such value.
    """
    if not options:
        return default()
    for name, value in options.items():
        if name not in _TYPES:
            raise InputError(f"there is no option {name}; there are {', '.join(_TYPES)}")
        if lack := _lack(_TYPES[name], value):
            raise InputError(f"{name} is {value!r}; it must be {lack}")
    plain = ((name, fsdecode(one) if isinstance(one, PathLike) else one) for name, one in options.items())
    return _filled(tuple(sorted(plain)))


def chosen_formats(formats: object) -> list[str]:
    """List some formats by which what is kept of a page is written, each once. "text" may be among them, as in
    `dbce extract --format`; it is always there, and so not listed.

    Raises:
        InputError: there is no such format.
    """
    if not isinstance(formats, Iterable):
        raise InputError(f"formats are some of {', '.join(_NAMED)}, not {type(formats).__name__}")
    chosen = [formats] if isinstance(formats, str) else [*formats]
    if unknown := [name for name in chosen if not isinstance(name, str) or name not in _NAMED]:
        raise InputError(f"there is no format {unknown[0]}; there are {', '.join(_NAMED)}")
    return [name for name in dict.fromkeys(chosen) if name in FORMATS]


def _lack(kind: Any, value: object) -> str:
    """Return the values that an option takes, "" if this is one of them."""
    if kind is bool:
        return "" if isinstance(value, bool) else "True or False"
    if get_origin(kind) is not Literal:
        return "" if isinstance(value, str | PathLike) else "the path of a file, str or PathLike"
    *others, last = (f'"{one}"' for one in get_args(kind))
    return "" if value in get_args(kind) else f"{', '.join(others)} or {last}"


@lru_cache(maxsize=64)
def _filled(options: tuple[tuple[str, object], ...]) -> DbceConfig:
    sections: dict[str, dict[str, object]] = {"label": {}, "formats": {}}
    for name, value in options:
        sections["formats" if name in _OF_FORMATS else "label"][name] = value
    try:
        return fill(DbceConfig, "dbce.toml", given=sections)
    except ConfigError as error:
        raise InputError(str(error)) from error
