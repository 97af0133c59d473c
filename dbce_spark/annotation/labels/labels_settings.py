"""Load the rules by which labels of people are merged, and crosses chosen: conf/labels.toml, and options laid over
it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbce_spark.config import Fraction, NonNegativeFloat, PositiveInt, fill


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelsSettings:
    """The parameters of conf/labels.toml, which explains each field."""

    minimum_submissions: PositiveInt
    minimum_pages: PositiveInt
    whisker: NonNegativeFloat
    tolerated_bias: Fraction
    smoothing: PositiveInt
    urls_per_site: PositiveInt
    crosses_per_url: PositiveInt
    seed: int


def rules(given: Mapping[str, Any]) -> LabelsSettings:
    """Load the shipped rules, overlaid by what is given and not None.

    Raises:
        ConfigError: an unknown rule, a value of the wrong type or out of its range.
    """
    return fill(LabelsSettings, "labels.toml", given=given)
