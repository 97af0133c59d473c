"""Options of a call: what of its pages is kept, and how that is written, in place of conf/dbce.toml."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypedDict, get_args

from dbce_spark.config import DbceConfig, default, fill
from dbce_spark.errors import ConfigError, InputError

KeepOrDrop = Literal["keep", "drop"]


class ExtractOptions(TypedDict, total=False):
    """Options by their names; conf/dbce.toml says what each means, and has its default."""

    content: Literal["whole", "article"]
    favor: Literal["precision", "balanced", "recall"]
    title: KeepOrDrop
    comments: bool
    classifier: str
    links: KeepOrDrop
    tables: KeepOrDrop
    images: KeepOrDrop


class TableOptions(ExtractOptions, total=False):
    """Options where pages are rows: beside those of a page, the formats that become columns."""

    formats: Sequence[str]


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
    return _filled(tuple(sorted(options.items())))


def _lack(kind: Any, value: object) -> str:
    """Return the values that an option takes, "" if this is one of them."""
    if kind is bool:
        return "" if isinstance(value, bool) else "True or False"
    if not get_args(kind):
        return "" if isinstance(value, str) else "the path of a file, as text"
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
