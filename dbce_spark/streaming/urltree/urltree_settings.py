"""The parameters of URL Tree: frozen dataclasses filled from conf/urltree.toml, where each default is written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from dbce_spark.config import filled
from dbce_spark.errors import ConfigError

HASHES = ("xxh3", "md5")
HEURISTICS = ("strict", "strict-support", "strict-at-domain", "relaxed-at-domain")
_MOST_DOCUMENTS = (1 << 16) - 1
"""Counts of a tree have 16 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which query parameters name a document, of URLs whose text behind the scheme `match` fits from its start."""

    match: str
    keep: tuple[str, ...]

    def __post_init__(self) -> None:
        try:
            re.compile(self.match)
        except re.error as error:
            raise ConfigError(f"keys.rules: {self.match!r} is no regular expression: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysConfig:
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlocksConfig:
    hash: str

    def __post_init__(self) -> None:
        if self.hash not in HASHES:
            raise ConfigError(f"blocks.hash is {self.hash!r}; it must be one of {', '.join(HASHES)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelConfig:
    heuristic: str
    n_min: int
    c_max: int
    support: int
    relaxed_above: int
    relaxed_c_max: int

    def __post_init__(self) -> None:
        if self.heuristic not in HEURISTICS:
            raise ConfigError(f"label.heuristic is {self.heuristic!r}; it must be one of {', '.join(HEURISTICS)}")
        _between("label.n_min", self.n_min, 1)
        for name in ("c_max", "support", "relaxed_above", "relaxed_c_max"):
            _between(f"label.{name}", getattr(self, name), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowConfig:
    max_documents: int
    max_age_days: int
    min_documents: int

    def __post_init__(self) -> None:
        _between("window.max_documents", self.max_documents, 1, _MOST_DOCUMENTS)
        _between("window.max_age_days", self.max_age_days, 0)
        _between("window.min_documents", self.min_documents, 1, self.max_documents)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelabelConfig:
    support: int

    def __post_init__(self) -> None:
        _between("relabel.support", self.support, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnConfig:
    documents: int
    scripts: int
    least: int
    same: float

    def __post_init__(self) -> None:
        _between("learn.scripts", self.scripts, 1)
        _between("learn.documents", self.documents, 2)
        _between("learn.least", self.least, 2, self.documents)
        if not 0 < self.same <= 1:
            raise ConfigError(f"learn.same is {self.same}; it must lie above 0 and be at most 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlTreeConfig:
    """All parameters of URL Tree; conf/urltree.toml says what each field means."""

    keys: KeysConfig
    blocks: BlocksConfig
    label: LabelConfig
    window: WindowConfig
    relabel: RelabelConfig
    learn: LearnConfig


def load(path: str | None = None, settings: Sequence[str] = ()) -> UrlTreeConfig:
    """The shipped parameters, with the file at `path` and then the `settings` ("label.n_min=3") laid over them.

    Raises:
        ConfigError: a file that cannot be read, an unknown key, a value of the wrong type or out of its range.
    """
    return filled(UrlTreeConfig, "urltree.toml", path, settings)


@cache
def default() -> UrlTreeConfig:
    """The shipped parameters."""
    return load()


def _between(name: str, value: int, least: int, most: int | None = None) -> None:
    if value < least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ConfigError(f"{name} is {value}; it must be {bounds}")
