"""Options of a call: what of its pages is kept, and how that is written, in place of conf/dbce.toml."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypedDict

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
_NAMES = tuple(ExtractOptions.__annotations__)


def with_options(options: Mapping[str, object]) -> DbceConfig:
    """Return the shipped parameters with some options in their place.

    Raises:
        InputError: there is no such option, or it has no such value.
    """
    if not options:
        return default()
    for name, value in options.items():
        if name not in _NAMES:
            raise InputError(f"there is no option {name}; there are {', '.join(_NAMES)}")
        if not isinstance(value, str | bool):
            raise InputError(f"{name} is {value!r}; it must be a text, or True or False")
    return _filled(tuple(sorted(options.items())))


@lru_cache(maxsize=64)
def _filled(options: tuple[tuple[str, object], ...]) -> DbceConfig:
    sections: dict[str, dict[str, object]] = {"label": {}, "formats": {}}
    for name, value in options:
        sections["formats" if name in _OF_FORMATS else "label"][name] = value
    try:
        return fill(DbceConfig, "dbce.toml", given=sections)
    except ConfigError as error:
        raise InputError(str(error)) from error
