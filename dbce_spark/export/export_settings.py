"""How an export is written, and which rows are: conf/export.toml, and what options lay over it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.config import given_over
from dbce_spark.errors import ConfigError

COMPRESSIONS = ("gz", "zst")
LEAST = {"shard_bytes": 1, "gzip_level": 1, "zstd_level": 1, "rows": 1, "name_bytes": 64}
MOST = {"gzip_level": 9, "zstd_level": 22, "name_bytes": 200}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """conf/export.toml, which says what each field means.

    Raises:
        ConfigError: a value out of its range.
    """

    source: str
    compression: str
    shard_bytes: int
    gzip_level: int
    zstd_level: int
    rows: int
    name_bytes: int

    def __post_init__(self) -> None:
        if self.compression not in COMPRESSIONS:
            raise ConfigError(f"compression is {self.compression!r}; it must be one of {', '.join(COMPRESSIONS)}")
        for name, least in LEAST.items():
            most = MOST.get(name, 1 << 62)
            if not least <= getattr(self, name) <= most:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must lie between {least} and {most}")


def settings(given: Mapping[str, Any]) -> Settings:
    """The shipped settings, with what is given, and not None, laid over them."""
    return Settings(**given_over("export.toml", given))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which rows are exported: those that fit one value of each of these that has any."""

    site: frozenset[str] = field(default_factory=frozenset)
    language: frozenset[str] = field(default_factory=frozenset)
    status: frozenset[str] = field(default_factory=frozenset)
    min_words: int = 0

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch that are wanted. It has COLUMNS."""
        lists = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "min_words"}
        masks = [pc.is_in(batch.column(name), pa.array(sorted(values))) for name, values in lists.items() if values]
        if self.min_words:
            masks.append(pc.greater_equal(batch.column("text_words"), self.min_words))
        return batch.filter(reduce(pc.and_, masks)) if masks else batch

    COLUMNS = ("site", "language", "status", "text_words")
