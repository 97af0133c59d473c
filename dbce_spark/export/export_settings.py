"""Load the settings of an export: conf/export.toml, and what options lay over it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from dbce_spark.config import PositiveInt, RowsConfig, between, fill, one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSettings:
    """The values of conf/export.toml, which describes each field."""

    source: str
    compression: Annotated[str, one_of("gz", "zst")]
    shard_bytes: PositiveInt
    gzip_level: Annotated[int, between(1, 9)]
    zstd_level: Annotated[int, between(1, 22)]
    rows: PositiveInt
    name_bytes: Annotated[int, between(64, 200)]
    filters: RowsConfig


def settings(given: Mapping[str, Any]) -> ExportSettings:
    """Load the shipped settings, overlaid by what is given and not None.

    Raises:
        ConfigError: an unknown setting, a value of the wrong type or out of its range.
    """
    return fill(ExportSettings, "export.toml", given=given)
