"""Hold the parameters of URL Tree: frozen dataclasses filled from conf/urltree.toml, where each default is written."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from dbce_spark.config import NonNegativeInt, PositiveInt, Share, at_least, between, fill, one_of
from dbce_spark.errors import ConfigError, Parameter

HEURISTICS = ("strict", "strict-support", "strict-at-domain", "relaxed-at-domain", "relaxed-at-domain-node")
_DOCUMENTS = between(1, (1 << 16) - 1)
"""Counts of a tree have 16 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The query parameters that name a document, for URLs whose text behind the scheme `match` fits from its start."""

    match: str
    keep: tuple[str, ...]

    def __post_init__(self) -> None:
        try:
            re.compile(self.match)
        except re.error as error:
            raise ConfigError(Parameter("keys.rules"), f": {self.match!r} is no regular expression: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysConfig:
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlocksConfig:
    hash: Annotated[str, one_of("xxh3", "md5")]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeuristicConfig:
    heuristic: Annotated[str, one_of(*HEURISTICS)]
    n_min: PositiveInt
    c_max: NonNegativeInt
    support: NonNegativeInt
    relaxed_above: NonNegativeInt
    relaxed_c_max: NonNegativeInt


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowConfig:
    max_documents: Annotated[int, _DOCUMENTS]
    max_age_days: NonNegativeInt
    min_documents: Annotated[int, _DOCUMENTS]
    confirmed_by: PositiveInt
    confirmed_among: PositiveInt

    def __post_init__(self) -> None:
        _at_most("window.confirmed_by", self.confirmed_by, "confirmed_among", self.confirmed_among)
        _at_most("window.min_documents", self.min_documents, "max_documents", self.max_documents)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelabelConfig:
    support: NonNegativeInt


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnConfig:
    documents: Annotated[int, at_least(2)]
    scripts: PositiveInt
    least: Annotated[int, at_least(2)]
    same: Share

    def __post_init__(self) -> None:
        _at_most("learn.least", self.least, "documents", self.documents)


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlTreeConfig:
    """All parameters of URL Tree; conf/urltree.toml explains each field."""

    keys: KeysConfig
    blocks: BlocksConfig
    label: HeuristicConfig
    window: WindowConfig
    relabel: RelabelConfig
    learn: LearnConfig


def load(
    path: str | None = None, settings: Sequence[str] = (), given: Mapping[str, Any] | None = None
) -> UrlTreeConfig:
    """Load the shipped parameters, overlaid by the file at `path`, by `settings` ("label.n_min=3") and by the values of
    `given`.

    Raises:
        ConfigError: a file that cannot be read, an unknown key, a value of the wrong type or out of its range.
    """
    return fill(UrlTreeConfig, "urltree.toml", path=path, settings=settings, given=given)


def _at_most(name: str, value: int, other: str, most: int) -> None:
    if value > most:
        raise ConfigError(Parameter(name), f" is {value}; it must be at most {other}, {most}")
