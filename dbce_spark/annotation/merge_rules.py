"""How labels of people are merged, and crosses chosen for them: conf/labels.toml, and what options lay over it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbce_spark.config import Fraction, NonNegativeFloat, PositiveInt, fill


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """conf/labels.toml, which says what each field means."""

    minimum_submissions: PositiveInt
    minimum_pages: PositiveInt
    whisker: NonNegativeFloat
    tolerated_bias: Fraction
    smoothing: PositiveInt
    urls_per_site: PositiveInt
    crosses_per_url: PositiveInt
    seed: int


def rules(given: Mapping[str, Any]) -> Rules:
    """Load the shipped rules, overlaid by what is given and not None.

    Raises:
        ConfigError: an unknown rule, a value of the wrong type or out of its range.
    """
    return fill(Rules, "labels.toml", given=given)
