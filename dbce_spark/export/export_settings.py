"""Load the settings of an export, and select its rows: conf/export.toml, and what options lay over it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.config import PositiveInt, between, fill, one_of


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


def settings(given: Mapping[str, Any]) -> ExportSettings:
    """Load the shipped settings, overlaid by what is given and not None.

    Raises:
        ConfigError: an unknown setting, a value of the wrong type or out of its range.
    """
    return fill(ExportSettings, "export.toml", given=given)


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRows:
    """A selection of rows: those that fit one value of each of these that has any."""

    COLUMNS = ("site", "language", "status", "text_words")

    site: frozenset[str] = field(default_factory=frozenset)
    language: frozenset[str] = field(default_factory=frozenset)
    status: frozenset[str] = field(default_factory=frozenset)
    min_words: int = 0

    def select(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Select the wanted rows of a batch, which has COLUMNS."""
        lists = {"site": self.site, "language": self.language, "status": self.status}
        masks = [pc.is_in(batch.column(name), pa.array(sorted(values))) for name, values in lists.items() if values]
        if self.min_words:
            masks.append(pc.greater_equal(batch.column("text_words"), self.min_words))
        return batch.filter(reduce(pc.and_, masks)) if masks else batch
