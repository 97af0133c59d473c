"""How labels of people are merged, and crosses chosen for them: conf/labels.toml, and what options lay over it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbce_spark.config import given_over
from dbce_spark.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """conf/labels.toml, which says what each field means.

    Raises:
        ConfigError: a value out of its range.
    """

    minimum_submissions: int
    minimum_pages: int
    whisker: float
    tolerated_bias: float
    smoothing: int
    urls_per_site: int
    crosses_per_url: int
    seed: int

    def __post_init__(self) -> None:
        for name in ("minimum_submissions", "minimum_pages", "smoothing", "urls_per_site", "crosses_per_url"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.whisker < 0:
            raise ConfigError(f"whisker is {self.whisker}; it must be at least 0")
        if not 0 <= self.tolerated_bias <= 1:
            raise ConfigError(f"tolerated_bias is {self.tolerated_bias}; it must lie between 0 and 1")


def rules(given: Mapping[str, Any]) -> Rules:
    """The shipped rules, with what is given, and not None, laid over them."""
    return Rules(**given_over("labels.toml", given))
